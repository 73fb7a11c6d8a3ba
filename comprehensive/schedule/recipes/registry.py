"""The recipes that there are.

:data:`ROWS` are recipes that exclude each other: of each row the first one that fits stands at the root of the tree.
Behind them stand those for loops of the host.
"""

from __future__ import annotations

from enum import Flag, auto

from msgspec import Struct

from comprehensive.loops.ir import RegisterTile
from comprehensive.schedule.instances import table
from comprehensive.schedule.recipe import LoopRecipe, Recipe, RegionRecipe
from comprehensive.schedule.recipes.byte_product import ByteProduct
from comprehensive.schedule.recipes.jammed_product import JammedProduct
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
from comprehensive.schedule.recipes.walked_rows import WalkedRows
from comprehensive.schedule.recipes.window_product import WindowProduct


class Where(Flag):
    """The points for which a recipe is tried."""

    IN_ORDER = auto()
    """Points whose sums keep the order of the source, and points whose sums need not."""
    IN_ANY_ORDER = auto()
    """Points whose sums need not."""
    ATOMIC = auto()
    """Points that update elements atomically, whose order no tile may rely on."""
    ON_A_LINE = auto()
    """Points whose coordinates are collapsed (`schedule/collapse_coordinates.py`)."""
    OF_MEMBERS = auto()
    """Points that read members of elements as neighbours (`schedule/joined_members.py`)."""


class Choice(Struct, frozen=True):
    recipe: RegionRecipe
    where: Where = Where.IN_ORDER


ROWS: tuple[tuple[Choice, ...], ...] = (
    (Choice(Transposition()),),
    (
        Choice(SplitRows(), Where.IN_ANY_ORDER),
        Choice(Product()),
        Choice(WindowProduct(), Where.IN_ORDER | Where.OF_MEMBERS),
        Choice(Rows()),
        Choice(Points(), Where.IN_ORDER | Where.ATOMIC),
    ),
    (Choice(PrivateCopies(), Where.ATOMIC),),
    (Choice(TensorCoreProduct()),),
    (Choice(ByteProduct()),),
    (Choice(ResidentLoops(in_another_order=True), Where.IN_ANY_ORDER), Choice(ResidentLoops())),
    *((Choice(SpecializedWindow(*found.sizes)),) for found in table("specialized_window")),
    *((Choice(JammedProduct(*found.sizes)),) for found in table("jammed_product")),
    (Choice(LongRows(in_another_order=True), Where.IN_ANY_ORDER), Choice(LongRows())),
    (Choice(WalkedRows()),),
    (Choice(MixedPrecisionProduct(), Where.IN_ANY_ORDER),),
    (Choice(Points("collapsed points"), Where.ON_A_LINE),),
)
OF_LOOPS: tuple[LoopRecipe, ...] = (OverlappedSweeps(),)


def rows(where: Where) -> tuple[tuple[RegionRecipe, ...], ...]:
    """The recipes for such points, row by row."""
    found = (tuple(choice.recipe for choice in row if choice.where & where) for row in ROWS)
    return tuple(row for row in found if row)


def only_in_any_order() -> tuple[RegionRecipe, ...]:
    """The recipes whose row has none that keeps the order of sums."""
    alone = (row for row in ROWS if all(choice.where is Where.IN_ANY_ORDER for choice in row))
    return tuple(choice.recipe for row in alone for choice in row)


def every() -> tuple[Recipe, ...]:
    return (*(choice.recipe for row in ROWS for choice in row), *OF_LOOPS)


def recipe_of(tile: RegisterTile) -> Recipe:
    """The recipe by which a tile is cut."""
    return next(recipe for recipe in every() if recipe.name == tile.recipe)
