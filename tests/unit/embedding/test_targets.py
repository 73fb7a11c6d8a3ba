"""The text of ``--embed``: architectures in order, or what is wrong with it."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import CommandLineError
from comprehensive.embedding.targets import Targets, targets_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sm_90", Targets(("sm_90",), False)),
        ("sm_100,sm_80, sm_90 ,ptx", Targets(("sm_80", "sm_90", "sm_100"), True)),
        ("sm_90,sm_90a,ptx", Targets(("sm_90a", "sm_90"), True)),
    ],
)
def test_targets_are_in_ascending_order(text: str, expected: Targets) -> None:
    assert targets_of(text) == expected


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", "CF1401", "no architecture is named"),
        ("ptx", "CF1401", "no architecture is named"),
        ("sm_90,sm_80,sm_90", "CF1401", "'sm_90' is named twice"),
        ("sm_90a,ptx", "CF1401", "PTX for sm_90a runs on no later device"),
        ("sm_90,compute_90", "CF0808", "architecture 'compute_90' is not known"),
        ("sm_12", "CF0808", "architecture 'sm_12' is not known"),
    ],
)
def test_what_names_no_targets_is_refused(text: str, code: str, message: str) -> None:
    with pytest.raises(CommandLineError) as raised:
        targets_of(text)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == code
    assert message in diagnostic.message
    assert diagnostic.help
