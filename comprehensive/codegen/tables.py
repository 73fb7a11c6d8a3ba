"""Constant arrays of the file that regions read at subscripts which only the kernel knows: data of the device.

In: regions.  Out: a :class:`Table` for each array, from which its definition is printed::

    static const float w[3] = {1, 2, 1};   -->  __device__ const float cf_table_w[3] = { 1, 2, 1, };
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from comprehensive.metafork.printer import print_expr
from comprehensive.plan.plan import RegionPlan

_A_LINE = 8
"""Elements of a constant array in one line."""


class Table(Struct, frozen=True):
    """A constant array of the file in the memory of the device: ``symbol`` there, ``name`` in regions that read it."""

    type: str
    name: str
    length: int
    lines: tuple[str, ...]
    """The elements, a few a line, with a comma behind each."""

    @property
    def symbol(self) -> str:
        return f"cf_table_{self.name}"


def tables_of(regions: Iterable[RegionPlan]) -> tuple[Table, ...]:
    """The constant arrays of regions, of all their nests, by name."""
    found: dict[str, Table] = {}
    for array in (a for region in regions for nest in region.nests for a in nest.arrays):
        if array.values is not None:
            texts = [f"{print_expr(value)}," for value in array.values]
            lines = tuple(" ".join(texts[k : k + _A_LINE]) for k in range(0, len(texts), _A_LINE))
            found[array.pointer] = Table(array.type.value, array.pointer, len(texts), lines)
    return tuple(found[name] for name in sorted(found))
