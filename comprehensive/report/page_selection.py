"""Selection of regions as JavaScript for a page: regions of a plan in, text out.

    selection_script((selection_of(region, tree, host), ...))    # const CF_REGIONS = { "matmul": { facts: [...], ...

The expressions are those of the generated header, printed in another language from the same
:class:`~comprehensive.codegen.dispatch.Dispatch`; what walks over them is `templates/report/arithmetic.js`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from comprehensive.algebra import Atom, Polynomial
from comprehensive.codegen.dispatch import Dispatch, Fact, dispatch, fact, quotient_text
from comprehensive.codegen.environment import render_template
from comprehensive.counters.residency import Limit, Residency
from comprehensive.kernel_ir.c_expr import difference, is_wide, wide
from comprehensive.kernel_ir.languages import JAVASCRIPT
from comprehensive.loops.definitions import names_behind
from comprehensive.loops.ir import Nest, Role, Scalar, Variant
from comprehensive.loops.normalize.counters import LARGEST_COUNT
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.metafork.printer import print_expr
from comprehensive.optimize.tree import Tree
from comprehensive.plan.interface import Interface
from comprehensive.plan.plan import RegionPlan, TilePlan
from comprehensive.report.tree_words import NOT_DECIDED


class TileSelection(Struct, frozen=True):
    """One tile: its sizes, and what must hold for it to run."""

    name: str
    sizes: tuple[tuple[str, int], ...]
    facts: tuple[Fact, ...]
    limits: tuple[str, ...]
    conditions: tuple[tuple[str, str], ...]
    """Conditions on scalars of the region: what they say, and their values."""


class ResidencyText(Struct, frozen=True):
    """The blocks that each resource of a multiprocessor allows of a leaf, and the warps of a block."""

    quotients: tuple[tuple[str, str, str], ...]
    warps: str
    blocks: tuple[tuple[str, str], ...]


class RegionSelection(Struct, frozen=True):
    """Everything that the page computes of a region while its sliders move."""

    name: str
    selection: Dispatch
    host: tuple[tuple[str, str], ...]
    """Scalars that host code computes, in order."""
    boundaries: tuple[Fact, ...]
    """Conditions that asserts are made of."""
    scanned: tuple[str, ...]
    """The parameters along which the case may change where no polynomial of theirs has a root."""
    tiles: tuple[TileSelection, ...]
    residencies: tuple[ResidencyText, ...]
    """One for each leaf."""
    largest_count: str
    otherwise: str
    """The text about points at which no case holds."""


def selection_script(regions: Sequence[RegionSelection]) -> str:
    """The text of a script that defines ``CF_REGIONS``."""
    return render_template("report/selection.js.j2", regions=regions)


def selection_of(
    region: RegionPlan,
    tree: Tree[Variant],
    host: Interface,
    asserted: Sequence[Atom] = (),
    opaque: Iterable[str] = (),
) -> RegionSelection:
    """Return the selection of a region.

    ``asserted`` are the polynomial conditions that asserts are made of, ``opaque`` the names that the other asserts
    read.  ValueError as of `dispatch`.
    """
    selection = dispatch(region, host, JAVASCRIPT)
    known, types = computed(region), {s.name: s.type for nest in region.nests for s in nest.scalars}
    values = tuple((s.name, wide(s.value, types, JAVASCRIPT)) for s in known if s.value is not None)
    return RegionSelection(
        region.name,
        selection,
        values,
        tuple(fact(atom, tree.order, {}, JAVASCRIPT) for atom in asserted),
        _scanned(region, selection, known, {*opaque}),
        tuple(
            _tile(region, plan, number) for plan in region.tilings for number in range(len(plan.instances))
        ),
        tuple(_residency(leaf.fragment, tree) for leaf in tree.leaves),
        JAVASCRIPT.integer(LARGEST_COUNT),
        NOT_DECIDED if tree.open else "no case of the discussion holds",
    )


def given(region: RegionPlan) -> tuple[Scalar, ...]:
    """The integers of a region that somebody has to give a value, in order of definition."""
    known = {scalar.name for scalar in computed(region)}
    return tuple(s for s in _integers(region) if s.name not in known)


def computed(region: RegionPlan) -> tuple[Scalar, ...]:
    """The integers of a region that host code computes from others before them, in order of definition."""
    types = {s.name: s.type for nest in region.nests for s in nest.scalars}
    return tuple(s for s in _integers(region) if s.value is not None and is_wide(s.value, types))


def _integers(region: RegionPlan) -> tuple[Scalar, ...]:
    scalars = {s.name: s for nest in region.nests for s in nest.scalars}
    return tuple(s for s in scalars.values() if s.type.is_integer and s.role is not Role.TILE)


def _scanned(
    region: RegionPlan, selection: Dispatch, known: Iterable[Scalar], opaque: set[str]
) -> tuple[str, ...]:
    """Return the names that opaque asserts, quotients and host code read: none has a polynomial of known degree."""
    plain = {s.name for s in given(region)} | MACHINE_PARAMETERS.keys()
    through = {name for each in selection.facts for name, _ in each.powers if name not in plain}
    for quotient in reversed(region.quotients):
        if quotient.symbol in through:
            through |= {*quotient.above.symbols, *quotient.below.symbols}
    read = opaque | {name for symbol in through for name in _names(symbol, region.nest)}
    return tuple(sorted(names_behind(read, known)))


def _names(symbol: str, nest: Nest) -> tuple[str, ...]:
    """The parameters in a symbol, which is one or is made of some, as in ``(n)/(2)``."""
    words = "".join(c if c.isalnum() or c == "_" else " " for c in symbol).split()
    scalars = {s.name for s in nest.scalars}
    return tuple(word for word in words if word in scalars or word in MACHINE_PARAMETERS)


def _tile(region: RegionPlan, plan: TilePlan, position: int) -> TileSelection:
    sizes = plan.sizes(plan.instances[position])
    types = {s.name: s.type for s in plan.nest.scalars}
    number = region.tile_of(plan.first + position)
    return TileSelection(
        f"{plan.kind} {number}",
        tuple(sizes.items()),
        tuple(fact(atom, plan.kernel.constants, {}, JAVASCRIPT) for atom in plan.system.atoms),
        tuple(wide(limit, types, JAVASCRIPT) for limit in dict.fromkeys(e for _, e in plan.kernel.limits)),
        tuple((print_expr(c), wide(c, types, JAVASCRIPT)) for c in plan.conditions_of(sizes)),
    )


def _residency(variant: Variant, tree: Tree[Variant]) -> ResidencyText:
    by_limit = {counter.limit: counter for counter in tree.counters}
    residency = Residency.of(variant, tuple(Limit), by_limit["R_B"], by_limit["Z_B"])
    warps, blocks = residency.warps(), {limit: residency.blocks(limit) for limit in Limit}
    own = {quotient.symbol: f"cf_held{number}" for number, quotient in enumerate(residency.quotients)}
    named = {symbol: Polynomial.symbol(name) for symbol, name in own.items()}

    def text(value: Polynomial) -> str:
        return difference(value.substitute(named), JAVASCRIPT)

    return ResidencyText(
        tuple(quotient_text(quotient, own, JAVASCRIPT) for quotient in residency.quotients),
        text(warps),
        tuple((limit.value.replace("_", " "), text(value)) for limit, value in blocks.items()),
    )
