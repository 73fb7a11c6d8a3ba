"""The recipes that there are.

:data:`ALTERNATIVES` are rows of recipes that exclude each other: of each row the first one that fits stands at the root
of the tree.  Behind them stand those for loops of the host.
"""

from __future__ import annotations

from collections.abc import Mapping

from comprehensive.loops.ir import RegisterTile
from comprehensive.schedule.instances import table
from comprehensive.schedule.recipe import LoopRecipe, Recipe, RegionRecipe
from comprehensive.schedule.recipes.long_rows import LongRows
from comprehensive.schedule.recipes.mixed_precision_product import MixedPrecisionProduct
from comprehensive.schedule.recipes.overlapped_sweeps import OverlappedSweeps
from comprehensive.schedule.recipes.points import Points
from comprehensive.schedule.recipes.private_copies import PrivateCopies
from comprehensive.schedule.recipes.product import Product
from comprehensive.schedule.recipes.resident_rows import ResidentLoops
from comprehensive.schedule.recipes.rows import Rows
from comprehensive.schedule.recipes.specialized_window import SpecializedWindow
from comprehensive.schedule.recipes.split_rows import SplitRows
from comprehensive.schedule.recipes.tensor_core_product import TensorCoreProduct
from comprehensive.schedule.recipes.transposition import Transposition
from comprehensive.schedule.recipes.window_product import WindowProduct

IN_ANOTHER_ORDER: Mapping[str, RegionRecipe] = {
    "product": SplitRows(),
    "resident rows": ResidentLoops(in_another_order=True),
    "long rows": LongRows(in_another_order=True),
}
"""The recipes that add up sums in another order than that of the source, tried before the named ones where that is
allowed."""
ALSO_IN_ANOTHER_ORDER: tuple[tuple[RegionRecipe, ...], ...] = ((MixedPrecisionProduct(),),)
"""Rows of such recipes that stand beside those in the order of the source, where it is allowed."""
ALTERNATIVES: tuple[tuple[RegionRecipe, ...], ...] = (
    (Transposition(),),
    (Product(), WindowProduct(), Rows(), Points()),
    (TensorCoreProduct(),),
    (ResidentLoops(),),
    *((SpecializedWindow(*found.sizes),) for found in table("specialized_window")),
    (LongRows(),),
)
ON_A_LINE: tuple[tuple[RegionRecipe, ...], ...] = ((Points("collapsed points"),),)
"""The rows for points whose coordinates are collapsed (`schedule/collapse_coordinates.py`)."""
WITH_ATOMIC_UPDATES: tuple[tuple[RegionRecipe, ...], ...] = ((Points(),), (PrivateCopies(),))
"""The rows for points that update elements atomically, whose order no tile may rely on."""
OF_LOOPS: tuple[LoopRecipe, ...] = (OverlappedSweeps(),)


_ROWS = (*ALTERNATIVES, *ALSO_IN_ANOTHER_ORDER, *ON_A_LINE, *WITH_ATOMIC_UPDATES)
RECIPES: tuple[Recipe, ...] = (
    *IN_ANOTHER_ORDER.values(),
    *(recipe for row in _ROWS for recipe in row),
    *OF_LOOPS,
)
"""All of them."""


def recipe_of(tile: RegisterTile) -> Recipe:
    """The recipe by which a tile is cut."""
    return next(recipe for recipe in RECIPES if recipe.name == tile.recipe)
