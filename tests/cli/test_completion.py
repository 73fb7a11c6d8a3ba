"""The shell asks the command for its completion, as `docs/guides/editors.md` says."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from comprehensive.cli import cli


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str) -> None:
    environment = {"_COMPREHENSIVE_COMPLETE": f"{shell}_source"}
    # click looks for bash to know its version; what it prints on stderr is no part of the script.
    result = CliRunner().invoke(cli, [], prog_name="comprehensive", env=environment)
    assert "_COMPREHENSIVE_COMPLETE" in result.stdout
    assert "comprehensive" in result.stdout


def test_commands_are_completed() -> None:
    environment = {
        "_COMPREHENSIVE_COMPLETE": "bash_complete",
        "COMP_WORDS": "comprehensive ge",
        "COMP_CWORD": "1",
    }
    result = CliRunner().invoke(cli, [], prog_name="comprehensive", env=environment)
    assert "plain,gen" in result.stdout
