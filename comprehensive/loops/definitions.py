"""The scalars of which scalars are made, through their definitions on the host.

n = rows * cols, with rows = 2 * k:    names_behind(["n"], nest.scalars)      # n, rows, cols and k
"""

from __future__ import annotations

from collections.abc import Iterable, KeysView

from comprehensive.closure import reached
from comprehensive.loops.access import names_read
from comprehensive.loops.ir import Scalar


def names_behind(names: Iterable[str], scalars: Iterable[Scalar]) -> KeysView[str]:
    """Return the names and all that definitions of these scalars read for them, one behind the other."""
    definitions = {scalar.name: scalar.value for scalar in scalars if scalar.value is not None}
    return reached(names, lambda name: names_read(definitions[name]) if name in definitions else ())
