"""The part of `templates/runtime/cf_runtime.h` that is printed from `comprehensive/machine`.

``python -m tests.printed_cost`` writes it anew; `tests/specs/test_runtime_files.py` compares.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from comprehensive.codegen.counts_in_c import cost_functions
from comprehensive.codegen.runtime_files import RUNTIME
from comprehensive.data import template_directory

BEGIN = "/* ---- printed from the rules of machine/cost.py, up to the next such line: python -m tests.printed_cost */\n"
END = "/* ---- the end of what is printed */\n"


def find_formatter() -> str | None:
    """Return the path of clang-format, of the environment before others; None where there is none."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return shutil.which("clang-format", path=path)


def with_functions(formatter: str, text: str) -> str:
    """Return the text of the file with the functions as they are printed today, formatted."""
    name = template_directory() / "runtime" / RUNTIME
    command = [formatter, "--style=file", f"--assume-filename={name}"]
    done = subprocess.run(command, input=cost_functions(), capture_output=True, text=True, check=True)
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}{done.stdout}{END}{rest.split(END)[1]}"


def _main() -> None:
    formatter = find_formatter()
    if formatter is None:
        sys.exit("clang-format is not installed: pip install -e '.[dev]'")
    path = template_directory() / "runtime" / RUNTIME
    path.write_text(with_functions(formatter, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    _main()
