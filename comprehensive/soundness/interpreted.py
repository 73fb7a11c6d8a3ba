"""Definition 2 (ii) on the IR: a leaf computes what the source computes, under the reference interpreter.

In: two nests and parameters, the source's first.  Out: the first difference, or None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from comprehensive.loops.interpreter import Order, UndefinedBehaviour, run
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import ScalarType
from comprehensive.soundness.difference import first_difference
from comprehensive.soundness.sampling import all_scalars


def result(
    source: Nest, arguments: Mapping[str, int | float], data: Mapping[str, Any], step: int
) -> Mapping[str, Any] | None:
    """The arrays after a run of the source; None where it has undefined behaviour."""
    try:
        return run(
            source, all_scalars(source, arguments, step), {a.name: data[a.name] for a in source.arrays}
        )
    except UndefinedBehaviour:
        return None


def difference(
    expected: Mapping[str, Any],
    leaf: Nest,
    arguments: Mapping[str, int | float],
    data: Mapping[str, Any],
    step: int,
    *,
    order: Order = "forward",
    tolerance: Mapping[str, float] | None = None,
) -> str | None:
    """Return what differs from ``expected`` after a run of the leaf; None where nothing does.

    Numbers may differ by the tolerance of their type.
    """
    given = {name: data[name] for name in expected}
    try:
        actual = run(leaf, all_scalars(leaf, arguments, step), given, order=order)
    except UndefinedBehaviour as error:
        return f"the leaf has undefined behaviour: {error}"
    bits = {array.pointer for array in leaf.arrays if array.type is ScalarType.BFLOAT16}
    return first_difference(expected, actual, tolerance, bits)
