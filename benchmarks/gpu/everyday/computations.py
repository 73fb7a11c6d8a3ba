"""All computations, in the order of the report."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.gpu.everyday.computation import Computation
from benchmarks.gpu.everyday.grids import CONVOLUTIONS, STENCILS
from benchmarks.gpu.everyday.halves import HALVES
from benchmarks.gpu.everyday.moves import ELEMENTS, IRREGULAR, MOVES
from benchmarks.gpu.everyday.products import PRODUCTS, VECTORS
from benchmarks.gpu.everyday.rows import REDUCTIONS

GROUPS: Mapping[str, tuple[Computation, ...]] = {
    "products": PRODUCTS,
    "matrices and vectors": VECTORS,
    "sums and rows": REDUCTIONS,
    "convolutions": CONVOLUTIONS,
    "stencils": STENCILS,
    "moves": MOVES,
    "elements": ELEMENTS,
    "irregular": IRREGULAR,
    "elements of 16 bits": HALVES,
}
COMPUTATIONS: Mapping[str, Computation] = {each.name: each for group in GROUPS.values() for each in group}
GROUP_OF: Mapping[str, str] = {each.name: name for name, group in GROUPS.items() for each in group}
