"""Machine parameters and the rest of the tool agree about their names."""

from __future__ import annotations

from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.metafork.reserved import MACHINE_SYMBOLS


def test_the_front_end_keeps_the_symbols_of_the_machine_free() -> None:
    assert MACHINE_PARAMETERS.keys() == MACHINE_SYMBOLS
