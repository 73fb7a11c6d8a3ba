"""The architectures that compiled kernels are for: the text of ``--embed`` in, architectures out.

    targets_of("sm_80,sm_90,ptx")      # Targets(("sm_80", "sm_90"), has_ptx=True)

The names are those that nvcc takes.
"""

from __future__ import annotations

import re

from msgspec import Struct

from comprehensive.diagnostics import CommandLineError
from comprehensive.machine.architectures import demand_architecture

AUTO = "auto"
"""The word for passes that are chosen for each kernel."""


class Targets(Struct, frozen=True):
    """Architectures in ascending order; with ``has_ptx`` also the text of the last one, for devices that come later."""

    archs: tuple[str, ...]
    has_ptx: bool

    def __str__(self) -> str:
        later = ["PTX for later devices"] if self.has_ptx else []
        return ", ".join((*self.archs, *later))


def targets_of(text: str) -> Targets:
    """Return the targets that a text names, with commas between them.

    CommandLineError: CF0808 for an architecture that is not known, CF1401 where none is named or one is named twice, or
    where PTX is asked for of an architecture whose code is for its devices alone.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    archs = [name for name in names if name != "ptx"]
    for arch in archs:
        demand_architecture(arch)
    if not archs:
        raise _error("no architecture is named", "name some, as in --embed sm_80,sm_90,ptx")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _error(f"'{twice[0]}' is named twice", "name each target once")
    archs.sort(key=_number)
    if "ptx" in names and not archs[-1][-1].isdigit():
        raise _error(
            f"PTX for {archs[-1]} runs on no later device",
            f"leave 'ptx' out, or name sm_{_number(archs[-1])[0]} beside it",
        )
    return Targets(tuple(archs), "ptx" in names)


def _number(arch: str) -> tuple[int, bool]:
    """Return the place of an architecture among others; sm_90 is behind sm_90a, since its PTX runs on later devices."""
    digits = re.search(r"\d+", arch)
    assert digits is not None
    return int(digits[0]), arch[-1].isdigit()


def _error(text: str, help: str) -> CommandLineError:
    return CommandLineError.of("CF1401", f"--embed: {text}", help=help)
