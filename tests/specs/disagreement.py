"""A leaf beside its source in the reference interpreter: two nests and parameters in, the first difference out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from comprehensive.loops.ir import Nest
from comprehensive.soundness.interpreted import difference, result


def disagreement(
    source: Nest, leaf: Nest, arguments: Mapping[str, int | float], data: Mapping[str, Any], step: int
) -> str | None:
    """Return what differs bit by bit after a run of each, if anything; ``step`` stands for host scalars.

    Only the host knows their values. Where the source itself has undefined behaviour, nothing is asked of the leaf.
    """
    expected = result(source, arguments, data, step)
    return None if expected is None else difference(expected, leaf, arguments, data, step)
