"""Addresses and other integers as sums ``{symbol: coefficient} + constant``, exactly as they wrap.

In: an :class:`Ssa`, loops, dominators.  Out: :class:`Affine`, a form of every integer value and of every address::

    affine = affine_of(ssa, operand_values, loops, tree)
    affine.addresses[7]             # Form(64, ((2, 1), (5, 4)), 8): [symbol 2 + 4 * symbol 5 + 8]
    affine.symbols[5]               # Symbol("signed", (form,), ...): what symbol 5 is
    affine.show(affine.addresses[7])    # "a + 4*s(%ctaid.x*%ntid.x + %tid.x) + 8"

A value of so many bits is its form modulo 2^bits.  A sum is made wider (``cvt.s64.s32``, ``mul.wide``) only where it is
proved not to wrap: from bounds of special registers and launches, of counters of loops, and from comparisons in
branches that were taken.  Otherwise the wide value is a symbol of its own, the same for equal sums.

Loops: a phi of a header that grows by what does not change in the loop is ``first + step * count``.  A form is that of
one visit: a symbol that changes in a loop is the one of the current iteration, behind the loop of the last one.
What is loaded, merged or not understood is a symbol.  Generic addresses are a ``window`` more than those in a memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType

from comprehensive.closure import reached
from comprehensive.ptx.analysis.arithmetic import Arithmetic
from comprehensive.ptx.analysis.branches import Branches
from comprehensive.ptx.analysis.dominators import Tree
from comprehensive.ptx.analysis.facts import Facts
from comprehensive.ptx.analysis.forms import Form, add, constant, form, scaled, subtract
from comprehensive.ptx.analysis.integer_rules import RULES
from comprehensive.ptx.analysis.loops import Loop, Loops
from comprehensive.ptx.analysis.predicates import Comparison
from comprehensive.ptx.analysis.ssa import NONE, Phi, Ssa
from comprehensive.ptx.analysis.symbols import Symbol, Symbols, bounds
from comprehensive.ptx.analysis.trips import Induction, Trips, trips_of


@dataclass(frozen=True)
class Affine:
    """The values and addresses of a function as sums.

    ``values`` are by value (None: a predicate, or of a width that is no 16, 32 or 64); ``addresses`` by step
    (None: it accesses none, or more than one); ``inductions`` by value of the phi; ``trips`` by number of the
    loop.
    """

    ssa: Ssa
    values: tuple[Form | None, ...]
    addresses: tuple[Form | None, ...]
    symbols: Sequence[Symbol]
    inductions: Mapping[int, Induction]
    trips: Mapping[int, Trips]

    def bounds(self, form: Form) -> tuple[int, int]:
        """Return the least and the greatest value of the sum as an integer, before it wraps."""
        return bounds(self.symbols, form)

    def show(self, form: Form) -> str:
        """Return the form as text for people, such as ``a + 4*s(%tid.x) + 8``."""
        parts = [(coefficient, self.name(symbol)) for symbol, coefficient in form.terms]
        shown = [name if c == 1 else f"{c}*{name}" for c, name in parts]
        if form.constant or not shown:
            shown.append(str(form.constant))
        return " + ".join(shown)

    def name(self, symbol: int) -> str:
        """Return the name that is shown to people for a symbol."""
        found = self.symbols[symbol]
        match found.kind, found.key:
            case "product", numbers:
                return "*".join(self.name(number) for number in numbers if isinstance(number, int))
            case ("signed" | "unsigned") as kind, (Form() as inner,):
                return f"{kind[0]}({self.show(inner)})"
            case "value", (int(value),):
                return f"{self.ssa.cfg.flow.registers[self.ssa.values[value].register].name}.{value}"
            case "operation", (opcode, *_):
                return f"{opcode}#{symbol}"
            case "load", (Form() as inner, *_):
                return f"[{self.show(inner)}]"
            case ("count" | "window") as kind, (what,):
                return f"{kind}({what})"
            case "parameter", (name, offset, *_):
                return f"{name}+{offset}" if offset else f"{name}"
            case _, (name, *_):
                return f"{name}"
            case _:
                return f"{found.kind}"


def affine_of(ssa: Ssa, operand_values: Sequence[Sequence[int]], loops: Loops, tree: Tree) -> Affine:
    """Return the values and addresses of a function as sums.

    Where there are loops, a first pass finds their counters, and a second one puts them in.

    >>> affine.show(affine_of(ssa, operand_values, loops, tree).addresses[7])    # doctest: +SKIP
    'a + 4*s(%tid.x) + 8'
    """
    symbols = Symbols()
    inductions: dict[int, Induction] = {}
    trips: dict[int, Trips] = {}
    if loops.loops:
        first = _Pass(ssa, operand_values, loops, tree, symbols, {}, {})
        first.run(_needed(ssa, loops))
        inductions = first.inductions()
        by_symbol = {
            symbol: inductions[phi]
            for phi in inductions
            if (symbol := symbols.find("value", (phi,))) is not None
        }
        trips = trips_of(loops, tree, symbols, by_symbol, first.staying)
    last = _Pass(ssa, operand_values, loops, tree, symbols, inductions, trips)
    last.run()
    return Affine(
        ssa,
        tuple(last.forms),
        tuple(last.addresses),
        tuple(symbols.all),
        MappingProxyType(last.found),
        MappingProxyType(trips),
    )


def _needed(ssa: Ssa, loops: Loops) -> Set[int]:
    """The values that counters and the conditions of loops are made of."""
    starts = {a for loop in loops.loops for phi in ssa.phis[loop.header] for a in phi.arguments}
    starts |= {ssa.guards[ssa.cfg.blocks[block].end - 1] for loop in loops.loops for block, _ in loop.exits}

    def made_of(value: int) -> tuple[int, ...]:
        if value == NONE:
            return ()
        definition = ssa.values[value]
        if definition.is_phi:
            return ssa.phi_of[value].arguments
        return () if definition.step == NONE else ssa.inputs(definition.step)

    return reached(starts, made_of)


class _Pass:
    """A pass over the blocks, once, down the dominator tree, with what the branches on the way say."""

    def __init__(
        self,
        ssa: Ssa,
        operand_values: Sequence[Sequence[int]],
        loops: Loops,
        tree: Tree,
        symbols: Symbols,
        inductions: Mapping[int, Induction],
        trips: Mapping[int, Trips],
    ) -> None:
        self._ssa = ssa
        self._operand_values = operand_values
        self._loops = loops
        self._tree = tree
        self._symbols = symbols
        self._inductions = inductions
        self._trips = trips
        self._facts = Facts()
        self.found: dict[int, Induction] = {}
        """The counters of this pass, in its forms."""
        self._arithmetic = Arithmetic(ssa, operand_values, loops, symbols, self._facts)
        self._branches = Branches(ssa, operand_values, self._arithmetic)
        self.forms = self._arithmetic.forms
        self.addresses: list[Form | None] = [None] * len(ssa.uses)

    def run(self, needed: Set[int] | None = None) -> None:
        """Give values their forms; ``needed`` are those that a first pass is for.

        A first pass finds counters, which need no facts, no addresses, and not all values.
        """
        place = {block: index for index, block in enumerate(self._ssa.cfg.order)}
        # A number forgets what was learnt since; every block comes before those that it dominates, and these in the
        # order in which control comes to them, so that only headers of loops meet values that are not known yet.
        work: list[tuple[int, bool]] = [(0, True)]
        while work:
            item, enters = work.pop()
            if not enters:
                self._facts.forget(item)
                continue
            work.append((self._facts.mark(), False))
            into = self._ssa.cfg.blocks[item].predecessors
            if needed is None and len(into) == 1:
                self._branches.learn(into[0], item)
            self._block(item, needed)
            children = self._tree.children[item]
            if len(children) > 1:
                children = sorted(children, key=place.__getitem__, reverse=True)
            work += [(child, True) for child in children]

    def inductions(self) -> dict[int, Induction]:
        """Phis of headers that grow by what does not change."""
        found: dict[int, Induction] = {}
        for loop in self._loops.loops:
            for phi in self._ssa.phis[loop.header]:
                induction = self._induction(loop, phi)
                if induction is not None:
                    found[phi.value] = induction
        return found

    def staying(self, loop: Loop, block: int) -> Comparison | None:
        """Return the comparison that keeps control in the loop at the end of a block.

        None where there is not exactly one.
        """
        cfg = self._ssa.cfg
        stay = [s for s in cfg.blocks[block].successors if s in loop.blocks]
        if len(stay) != 1 or cfg.blocks[block].leaves:
            return None
        found = tuple(self._branches.holding(block, stay[0]))
        return found[0] if len(found) == 1 else None

    def _block(self, number: int, needed: Set[int] | None) -> None:
        ssa = self._ssa
        for phi in ssa.phis[number]:
            self.forms[phi.value] = self._phi(number, phi)
        for index in ssa.cfg.blocks[number].steps:
            defines = ssa.defines[index]
            if defines and (needed is None or not needed.isdisjoint(defines)):
                self._arithmetic.define(index, RULES)
            if needed is None:
                self.addresses[index] = self._arithmetic.only_address(index)

    def _phi(self, block: int, phi: Phi) -> Form | None:
        arithmetic = self._arithmetic
        loop = self._loops.headers.get(block)
        if loop is not None:
            counted = self._counted(loop, phi)
            return arithmetic.opaque(phi.value) if counted is None else counted
        found = _only(self.forms[argument] if argument != NONE else None for argument in phi.arguments)
        return arithmetic.opaque(phi.value) if found is None else found

    def _counted(self, loop: Loop, phi: Phi) -> Form | None:
        induction = self._inductions.get(phi.value)
        first = _only(self._coming(loop, phi, back=False))
        if induction is None or first is None:
            return None
        step = self._replaced(induction.step)
        grown = self._arithmetic.counted(loop, self._trips.get(loop.number), first, step)
        if grown is not None:
            self.found[phi.value] = Induction(loop.number, first, step)
        return grown

    def _replaced(self, one: Form) -> Form:
        """Phis that have become counters since."""
        found = constant(one.bits, one.constant)
        for number, coefficient in one.terms:
            symbol = self._symbols.all[number]
            now = self.forms[symbol.value] if symbol.kind == "value" else None
            if now is None or now.bits != one.bits:
                now = form(one.bits, {number: 1})
            found = add(found, scaled(now, coefficient))
        return found

    def _coming(self, loop: Loop, phi: Phi, *, back: bool) -> Iterator[Form | None]:
        """Yield the forms with which a loop is entered, or those with which control comes back to its header."""
        into = self._ssa.cfg.blocks[loop.header].predecessors
        for source, argument in zip(into, phi.arguments, strict=True):
            if (source in loop.blocks) == back and argument != NONE:
                yield self.forms[argument]

    def _induction(self, loop: Loop, phi: Phi) -> Induction | None:
        first = _only(self._coming(loop, phi, back=False))
        own = self.forms[phi.value]
        if first is None or own is None:
            return None
        latched = self._coming(loop, phi, back=True)
        step = _only(None if each is None else subtract(each, own) for each in latched)
        if step is None or loop.number in self._symbols.loops(step):
            return None
        return Induction(loop.number, first, step)


def _only(forms: Iterable[Form | None]) -> Form | None:
    """The form that all of them are; None where one is not known, they differ, or there are none."""
    found = set(forms)
    return found.pop() if len(found) == 1 else None
