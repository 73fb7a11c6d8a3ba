"""Emulates a function for one thread whose inputs are symbols, along every way that it may take.

Matsumura, De Gonzalo, Peña: A symbolic emulator for shuffle synthesis on the NVIDIA PTX code, 2023, section 4.  In: the
analyses of a function.  Out: an :class:`Emulation`, which says of every load where it is sighted, flow by flow::

    emulation = emulate(analyses)
    emulation.sightings[17][0].address      # Form: the address in that flow
    emulation.sightings[17][0].earlier      # (Earlier(12, Form),): loads of that flow near it that are still valid

A register holds a :class:`Form`: special registers, parameters and what is loaded are symbols, equal terms are one
object's number, and sums wrap exactly.  What is loaded is a function of the address, as long as nothing may have
written there.  A flow takes a branch with what the branch says (:class:`Facts`), and does not take one that is known to
go the other way.  Loops are entered once: counters are ``first + step * count``, what else they carry is new, and loads
that the loop may overwrite are gone.  Where ways meet, what has been learnt since they parted is forgotten, and a block
that is entered with the same registers and loads as before is not emulated again; past :data:`MOST_ENTRIES`, registers
that differ are new there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from comprehensive.closure import reached
from comprehensive.ptx.analysis.accesses import Access
from comprehensive.ptx.analysis.alias import Relation
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.arithmetic import Arithmetic
from comprehensive.ptx.analysis.branches import Branches
from comprehensive.ptx.analysis.facts import Facts
from comprehensive.ptx.analysis.forms import Form, single
from comprehensive.ptx.analysis.integer_rules import RULES
from comprehensive.ptx.analysis.predicates import decided
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.analysis.ssa import NONE, Phi
from comprehensive.ptx.analysis.symbols import Symbol, Symbols
from comprehensive.ptx.operands import Not
from comprehensive.ptx.symbolic.lanes import Lanes

MOST_ENTRIES = 8
"""The number of times that a block is emulated with different registers."""
MOST_EARLIER = 256
"""The loads that are remembered of addresses that lie near one another, the latest ones."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A load that was done in the same flow, of whose bytes none may have been written since."""

    step: int
    address: Form


@dataclass(frozen=True, slots=True)
class Sighting:
    """A load as one flow, or several alike, comes to it.

    ``earlier`` are the valid loads whose addresses differ from its own by a constant if no index wraps; ``facts`` are
    what the branches on the way say.
    """

    address: Form | None
    earlier: tuple[Earlier, ...]
    facts: Facts


class Holding(NamedTuple):
    """A value that is a form and a constant."""

    value: int
    constant: int


@dataclass(frozen=True)
class Emulation:
    """The emulation of a function.

    ``sightings`` by step of a load, at least one where a flow comes to it; ``entries`` how often blocks were
    emulated; ``holding`` the values of less than 64 bits that have one form in all flows, by the form without
    its constant; ``arithmetic`` knows the symbols.
    """

    analyses: Analyses
    arithmetic: Arithmetic
    lanes: Lanes
    sightings: Mapping[int, tuple[Sighting, ...]]
    entries: tuple[int, ...]
    holding: Mapping[Form, tuple[Holding, ...]]


def emulate(analyses: Analyses) -> Emulation:
    """All flows of a function; none of one with cycles that have two entries.

    >>> emulate(analyses).sightings[17][0].earlier    # doctest: +SKIP
    (Earlier(step=12, address=Form(64, ((0, 1), (3, 4)), 4)),)
    """
    found = _Emulator(analyses)
    if not analyses.loops.irregular:
        found.run()
    sightings = {step: tuple(each) for step, each in sorted(found.sightings.items())}
    return Emulation(
        analyses, found.arithmetic, found.lanes, sightings, tuple(found.entries), found.holding()
    )


_SPACES = frozenset({Space.GLOBAL, Space.SHARED})
_Near = tuple[tuple[tuple[int, int], ...], int]
"""The common part of addresses that lie near one another: the terms of the sum, and its bits."""
_Loads = dict[_Near, tuple[Earlier, ...]]
_Truths = dict[int, bool]
"""The truth of predicates, by value."""
_Epoch = tuple[str, int]
"""The place since which memory has not been written: a step, or a block where ways join and one wrote it."""


_T = TypeVar("_T")
_Known = tuple[Form, bool, int, int]


class _State(NamedTuple):
    """The knowledge where a block is entered; ``forms`` are those of its live values."""

    forms: tuple[Form | None, ...]
    loads: frozenset[Earlier]
    epoch: _Epoch
    truths: frozenset[tuple[int, bool]]
    facts: frozenset[_Known]


class _Merged(NamedTuple):
    """Assumptions under which a block was emulated for many states at once.

    ``forms`` are None where values were left open.
    """

    forms: tuple[Form | None, ...]
    loads: frozenset[Earlier]
    truths: frozenset[tuple[int, bool]]
    facts: frozenset[_Known]

    def covers(self, state: _State) -> bool:
        return (
            all(one is None or one == other for one, other in zip(self.forms, state.forms, strict=True))
            and self.loads <= state.loads
            and self.truths <= state.truths
            and self.facts <= state.facts
        )


@dataclass(slots=True)
class _Entry:
    """A block that is to be emulated, with what is known where it is entered."""

    block: int
    source: int
    facts: Facts
    truths: _Truths
    loads: _Loads
    epoch: _Epoch


_Forms = list[tuple[int, Form | None]]
"""Forms as they were before a block was entered with new registers, by value."""


class _Emulator:
    """Depth first: what a flow has put into ``forms`` stays until the flows that share it are done, since a flow comes
    to a block once, and the others begin where it branched."""

    def __init__(self, analyses: Analyses) -> None:
        self._analyses = analyses
        self._ssa = analyses.ssa
        self._cfg = analyses.cfg
        self._loops = analyses.loops
        self._symbols = Symbols(analyses.affine.symbols)
        self.arithmetic = Arithmetic(
            analyses.ssa, analyses.operand_values, analyses.loops, self._symbols, Facts()
        )
        self._forms = self.arithmetic.forms
        self._branches = Branches(analyses.ssa, analyses.operand_values, self.arithmetic)
        self._alias = replace(analyses.alias, affine=replace(analyses.affine, symbols=self._symbols.all))
        self.lanes = Lanes(self.arithmetic, analyses.variance, analyses.loops)
        self._live = _live_values(analyses)
        self._has_gates = any(access.gates for access in analyses.accesses.values())
        self._at_fork: dict[int, _Entry] = {}
        self._seen: dict[int, list[_State]] = defaultdict(list)
        self._merged: dict[int, _Merged] = {}
        self._held: dict[int, Form | None] = {}
        self.entries = [0] * len(self._cfg.blocks)
        self.sightings: dict[int, list[Sighting]] = defaultdict(list)

    def run(self) -> None:
        work: list[_Entry | _Forms] = [_Entry(0, NONE, Facts(), {}, {}, ("step", NONE))]
        while work:
            entry = work.pop()
            if isinstance(entry, list):
                self._undo(entry)
                continue
            changed: _Forms = []
            if not self._enter(entry, changed):
                self._undo(changed)
                continue
            work.append(changed)
            self.entries[entry.block] += 1
            self._block(entry)
            self._at_fork[entry.block] = entry
            work += reversed(self._onward(entry))

    def holding(self) -> Mapping[Form, tuple[Holding, ...]]:
        found: dict[Form, list[Holding]] = defaultdict(list)
        for value, one in self._held.items():
            if one is not None:
                found[one.varying].append(Holding(value, one.constant))
        return {one: tuple(values) for one, values in found.items()}

    def _remember(self, values: Sequence[int]) -> None:
        for value in values:
            one = self._forms[value]
            if one is not None and one.bits < 64:
                self._held[value] = one if self._held.get(value, one) == one else None

    def _undo(self, changed: _Forms) -> None:
        for value, was in reversed(changed):
            self._forms[value] = was

    def _set(self, value: int, found: Form | None, changed: _Forms) -> None:
        changed.append((value, self._forms[value]))
        self._forms[value] = found

    def _enter(self, entry: _Entry, changed: _Forms) -> bool:
        """Give phis their forms; return whether the block is to be emulated."""
        block = self._cfg.blocks[entry.block]
        loop = self._loops.headers.get(entry.block)
        if len(block.predecessors) < 2:
            return True
        if loop is not None and entry.source in loop.blocks:
            return False
        # What was learnt since the ways parted holds on one of them only.
        parent = self._analyses.dominators.parent[entry.block]
        if parent != NONE and parent in self._at_fork:
            fork = self._at_fork[parent]
            entry.facts = fork.facts
            entry.truths = {
                v: t for v, t in entry.truths.items() if v in self._live[entry.block]
            } | fork.truths
            if entry.epoch != fork.epoch:
                entry.epoch = ("block", entry.block)
        self.arithmetic.facts = entry.facts
        dominates = self._analyses.dominators.dominates
        entry.loads = _filtered(entry.loads, lambda e: dominates(self._cfg.block_of[e.step], entry.block))
        for phi in self._ssa.phis[entry.block]:
            found = self._entering(phi, block.predecessors, entry.source)
            if loop is not None:
                found = self._counted(phi, loop.number, found)
            self._set(phi.value, found, changed)
        if loop is not None:
            for inside in sorted(loop.blocks):
                for step in self._cfg.blocks[inside].steps:
                    self._overwrite(entry, step, Relation.ANY_VISIT, ("block", entry.block))
        return self._is_new(entry, changed)

    def _is_new(self, entry: _Entry, changed: _Forms) -> bool:
        """Return whether no state with which the block has been emulated stands for this one."""
        number, live = entry.block, sorted(self._live[entry.block])
        state = _State(
            tuple(self._forms[v] for v in live),
            frozenset(e for each in entry.loads.values() for e in each),
            entry.epoch,
            frozenset(entry.truths.items()),
            frozenset(entry.facts.known()),
        )
        seen, merged = self._seen[number], self._merged.get(number)
        if any(each == state for each in seen) if merged is None else merged.covers(state):
            return False
        seen.append(state)
        if len(seen) <= MOST_ENTRIES:
            return True
        # From the second time on, what is left open stands for all that may come.
        open_ = [merged is not None or len({each.forms[i] for each in seen}) > 1 for i in range(len(live))]
        known = (
            seen
            if merged is None
            else [*seen, _State((), frozenset(), entry.epoch, frozenset(), frozenset())]
        )
        for value, is_open in zip(live, open_, strict=True):
            if is_open:
                self._set(value, self.arithmetic.opaque(value), changed)
        loads = _common([each.loads for each in known])
        entry.loads = _filtered(entry.loads, lambda e: e in loads)
        entry.truths = dict(_common([each.truths for each in known]))
        entry.facts = Facts.of(_common([each.facts for each in known]))
        entry.epoch = ("block", number)
        self._merged[number] = _Merged(
            tuple(None if o else f for o, f in zip(open_, state.forms, strict=True)),
            loads,
            frozenset(entry.truths.items()),
            frozenset(entry.facts.known()),
        )
        return True

    def _entering(self, phi: Phi, predecessors: Sequence[int], source: int) -> Form | None:
        """The form that comes from the block before, where a loop is entered from outside."""
        argument = phi.arguments[predecessors.index(source)]
        found = self._forms[argument] if argument != NONE else None
        return self.arithmetic.opaque(phi.value) if found is None else found

    def _counted(self, phi: Phi, loop: int, first: Form | None) -> Form | None:
        """Return ``first + step * count`` for a counter; a symbol of its own where that is not known."""
        induction = self._analyses.affine.inductions.get(phi.value)
        if induction is None or first is None or first.bits != induction.first.bits:
            return self.arithmetic.opaque(phi.value)
        trips = self._analyses.affine.trips.get(loop)
        grown = self.arithmetic.counted(self._loops.loops[loop], trips, first, induction.step)
        return self.arithmetic.opaque(phi.value) if grown is None else grown

    def _block(self, entry: _Entry) -> None:
        """Loads and epoch become those at its end."""
        self.arithmetic.facts = entry.facts
        accesses = self._analyses.accesses
        for step in self._cfg.blocks[entry.block].steps:
            runs = self._runs(step, entry.truths)
            access = accesses.get(step) if runs is not False else None
            address = None if access is None else self.arithmetic.only_address(step)
            if access is not None:
                if access.reads and not access.writes:
                    earlier = () if address is None else entry.loads.get(self._near(address), ())
                    self.sightings[step].append(Sighting(address, earlier, entry.facts))
                self._overwrite(entry, step, Relation.SAME_VISIT, ("step", step), address)
            if self._ssa.defines[step]:
                self.arithmetic.define(step, RULES, runs)
                self._remember(self._ssa.defines[step])
            if access is not None and address is not None and runs and _is_plain(access):
                self._loaded(step, access, address, entry.epoch)
                near = self._near(address)
                latest = entry.loads.get(near, ())[-MOST_EARLIER + 1 :]
                entry.loads[near] = (*latest, Earlier(step, address))

    def _runs(self, step: int, truths: _Truths) -> bool | None:
        """Return whether the guard of a step lets it run; None where that is not known."""
        guard = self._ssa.guards[step]
        if guard == NONE:
            return True
        truth = self._truth(guard, truths)
        negated = isinstance(self._cfg.flow.steps[step].instruction.guard, Not)
        return None if truth is None else truth != negated

    def _truth(self, predicate: int, truths: _Truths) -> bool | None:
        """Return what a predicate is by what was learnt; None where that is not known."""
        known = truths.get(predicate)
        if known is not None:
            return known
        for truth in (True, False):
            # A conjunction of which a part cannot hold does not hold.
            for compared in self._branches.compared(predicate, truth):
                if decided(compared, self.arithmetic.number_bounds) is False:
                    return not truth
        return None

    def _loaded(self, step: int, access: Access, address: Form, epoch: _Epoch) -> None:
        """Give a loaded value the symbol of an earlier load from the same address in the same epoch.

        What is loaded is a function of the address.
        """
        defines = self._ssa.defines[step]
        own = self._forms[defines[0]] if len(defines) == 1 else None
        if own is None or self._symbols.all[own.terms[0][0]].kind != "value":
            return
        old = self._symbols.all[own.terms[0][0]]
        code = self._cfg.flow.steps[step].instruction.opcode
        since = None if access.is_constant and not self._has_gates else epoch
        key = (address, code.types[0], own.bits, access.space.name, since)
        loops = old.loops | self._symbols.loops(address)
        symbol = Symbol("load", key, old.low, old.high, loops, defines[0])
        self._forms[defines[0]] = single(own.bits, self._symbols.number(symbol))

    def _overwrite(
        self, entry: _Entry, step: int, relation: Relation, epoch: _Epoch, address: Form | None = None
    ) -> None:
        """Forget what a step writes, or what others may have written before it."""
        access = self._analyses.accesses.get(step)
        if access is None or not (access.writes or access.orders):
            return
        entry.epoch = epoch
        if address is not None:
            access = replace(access, address=address)
        stays = self._stays(access, relation)
        for near, loads in list(entry.loads.items()):
            kept = tuple(e for e in loads if stays(e))
            if len(kept) < len(loads):
                if kept:
                    entry.loads[near] = kept
                else:
                    del entry.loads[near]

    def _stays(self, access: Access, relation: Relation) -> Callable[[Earlier], bool]:
        """Whether a load is still valid behind an access; for arrays that are others whatever the index, it is enough
        to ask once."""
        different: dict[tuple[tuple[int, int], ...], bool] = {}
        accesses, alias, written = self._analyses.accesses, self._alias, access.address

        def stays(load: Earlier) -> bool:
            read = accesses[load.step]
            if read.is_constant:
                return not access.gates
            if access.orders:
                return False
            if written is not None and written.bits == load.address.bits:
                found = different.get(load.address.terms)
                if found is None:
                    found = different[load.address.terms] = alias.are_different(written, load.address)
                if found:
                    return True
            at = replace(read, address=load.address) if relation is Relation.SAME_VISIT else read
            return not alias.may_alias(access, at, relation)

        return stays

    def _near(self, address: Form) -> _Near:
        found = self.lanes.ideal(address)
        return found.terms, found.bits

    def _onward(self, entry: _Entry) -> list[_Entry]:
        """The blocks that a flow may come to next, each with what is known there."""
        found: list[_Entry] = []
        block = self._cfg.blocks[entry.block]
        for successor in block.successors:
            condition = self._branches.condition(entry.block, successor)
            facts, truths = entry.facts, entry.truths
            if condition is not None:
                predicate, truth = condition
                known = self._truth(predicate, truths)
                if known is not None and known != truth:
                    continue
                facts = facts.copy()
                self.arithmetic.facts = facts
                self._branches.learn(entry.block, successor)
                self.arithmetic.facts = entry.facts
                truths = {**truths, predicate: truth}
            found.append(_Entry(successor, entry.block, facts, truths, dict(entry.loads), entry.epoch))
        return found


def _common(sets: Sequence[frozenset[_T]]) -> frozenset[_T]:
    return sets[0].intersection(*sets[1:])


def _filtered(loads: _Loads, holds: Callable[[Earlier], bool]) -> _Loads:
    found = {near: tuple(e for e in each if holds(e)) for near, each in loads.items()}
    return {near: each for near, each in found.items() if each}


def _is_plain(access: Access) -> bool:
    """A load that may stand for another one."""
    return (
        access.space in _SPACES
        and access.reads
        and not access.writes
        and not access.orders
        and access.address is not None
    )


def _live_values(analyses: Analyses) -> list[frozenset[int]]:
    """Return the values of each block that are read in it or behind it and not defined there, phis included."""
    ssa, cfg = analyses.ssa, analyses.cfg
    found: list[set[int]] = [set() for _ in cfg.blocks]
    reads: dict[int, set[int]] = defaultdict(set)
    for value, readers in enumerate(ssa.readers):
        for step in readers:
            reads[value].add(cfg.block_of[step])
    for block, phis in enumerate(ssa.phis):
        for phi in phis:
            found[block].add(phi.value)
            for source, argument in zip(cfg.blocks[block].predecessors, phi.arguments, strict=True):
                if argument != NONE:
                    # At the end of the block before.
                    reads[argument].add(source)
    for value, blocks in reads.items():
        own = {ssa.values[value].block}
        for block in reached(blocks - own, lambda b, own=own: set(cfg.blocks[b].predecessors) - own):
            found[block].add(value)
    return [frozenset(each) for each in found]
