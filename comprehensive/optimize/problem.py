"""The problem that the algorithm is given, and the questions that it asks about it, each answered once.

In: counters, strategies, assumptions on the parameters, a solver.  Out: the initial quintuple, values of counters,
atoms of the two edges, and the outcome of a strategy, checked against the law of section 3.4::

    problem.outcome(granularity, registers, nest)   # NotTaken("raises registers from 14 to 16", for_good=False)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Generic, assert_never

from msgspec import Struct

from comprehensive.algebra import (
    Atom,
    Consistent,
    Inconsistent,
    Polynomial,
    Quotient,
    RationalFunction,
    Solver,
    System,
    Verdict,
    at_least,
    at_most,
    equal,
)
from comprehensive.algebra.comparison import DenominatorError
from comprehensive.algebra.quotients import monotone
from comprehensive.algebra.simplify import simplify
from comprehensive.optimize.orders import Orders
from comprehensive.optimize.protocols import (
    Applied,
    Counter,
    CounterError,
    Evaluation,
    Fragment,
    Kind,
    NotApplicable,
    Strategy,
    Value,
)
from comprehensive.optimize.quintuple import Quintuple
from comprehensive.optimize.space import Space
from comprehensive.optimize.tree import Performance, Point

_MOST_FAR_POINTS = 16


class Edges(Struct, frozen=True):
    """The atoms that the two branches of a counter add."""

    accept: tuple[Atom, ...]
    refuse: tuple[Atom, ...]


class NotTaken(Struct, frozen=True):
    """The reason why a strategy is passed over.

    It is `for_good` when it does not depend on the counter that asked.
    """

    reason: str
    for_good: bool


class Known(Struct, frozen=True):
    """The verdict on a system, and the same region in fewer atoms."""

    verdict: Verdict
    simplified: System
    quotients: tuple[Quotient, ...] = ()
    """The symbols of the system that are no parameters."""


class Problem(Generic[Fragment]):
    """Counters, strategies and assumptions of one run; evaluations and applications are memoised by fragment.

    `assumptions` are what always holds for program and data parameters (``B >= 1``); those on the limits
    (``R_i >= 0``, ``0 <= P_i <= 1``) are added here, as section 3.6 asks.  `order` names the symbols that stand
    first in printed products.  ValueError where two counters or two strategies share a name.
    """

    def __init__(
        self,
        counters: Sequence[Counter[Fragment]],
        strategies: Sequence[Strategy[Fragment]],
        assumptions: Sequence[Atom],
        solver: Solver,
        *,
        performance: Performance = "demanded",
        order: Sequence[str] = (),
        sigma: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        _demand_distinct("counters", [counter.name for counter in counters])
        _demand_distinct("strategies", [strategy.name for strategy in strategies])
        self.resources = tuple(counter for counter in counters if counter.kind is Kind.RESOURCE)
        self.counters = self.resources + tuple(c for c in counters if c.kind is Kind.PERFORMANCE)
        """r_1, ..., r_s, p_1, ..., p_t."""
        self.strategies = tuple(strategies)
        self.solver = solver
        self.performance: Performance = performance
        self.order = tuple(order)
        self._sigma = dict(sigma or {})
        ranges = [atom for counter in self.counters for atom in _range(counter)]
        self.space = System((*assumptions, *ranges))
        """Everything that the assumptions allow: what leaves and dead ends divide among themselves."""
        self._orders = Orders()
        self._evaluations: dict[tuple[str, Fragment], Evaluation] = {}
        self._outcomes: dict[tuple[str, Fragment], Applied[Fragment] | NotApplicable] = {}
        self._far_points: deque[Point] = deque(maxlen=_MOST_FAR_POINTS)
        self._spaces: dict[tuple[tuple[Atom, ...], tuple[Quotient, ...]], Space] = {}

    def initial(self, fragment: Fragment) -> Quintuple[Fragment]:
        """Q(S): nothing applied, everything remaining, every counter waiting."""
        return Quintuple(fragment, (), self.strategies, self.counters, self.space)

    def known(self, system: System) -> Known:
        """The verdict on a system about which nothing is known yet."""
        verdict = self.solver.check(system)
        return Known(verdict, system if isinstance(verdict, Inconsistent) else simplify(system))

    def known_after(self, parent: Known, system: System, added: Sequence[Atom]) -> Known:
        """The verdict on a parent's system plus `added`."""
        if all(atom in parent.simplified.all_atoms for atom in added):
            return parent
        verdict = self._verdict(parent, system, parent.quotients)
        if isinstance(verdict, Inconsistent):
            return Known(verdict, system)
        return Known(verdict, self._without_dominated(parent.simplified, added), parent.quotients)

    def known_assuming(self, parent: Known, system: System, evaluation: Evaluation) -> Known:
        """The verdict on a parent's system where what a counter assumes is assumed too."""
        if not evaluation.assumed:
            return parent
        quotients = tuple(dict.fromkeys((*parent.quotients, *evaluation.quotients)))
        verdict = self._verdict(parent, system, quotients)
        return Known(verdict, parent.simplified.assume(*evaluation.assumed), quotients)

    def _verdict(self, parent: Known, system: System, quotients: Sequence[Quotient]) -> Verdict:
        if not (quotients and isinstance(parent.verdict, Consistent)):
            return self.solver.check(system)
        if self.solver.glance(system) is not None:
            return self.solver.check(system)
        # numpy takes time to load, and most trees of users have no quotients.
        from comprehensive.optimize.nearby import LITTLE, nearby

        starts = (parent.verdict.point, *self._far_points)
        # Most systems have a point that is found in a few milliseconds; elimination takes longer to find nothing.
        point = nearby(system, starts, quotients, LITTLE)
        is_far = point is None
        if point is None and not self._refuted(system, tuple(quotients)):
            point = nearby(system, starts, quotients)
        if point is not None:
            self.solver.enter(system, point)
        verdict = self.solver.check(system)
        if is_far and isinstance(verdict, Consistent):
            # What took long to find helps where the same counters meet on another branch.
            self._far_points.append(verdict.point)
        return verdict

    def _refuted(self, system: System, quotients: tuple[Quotient, ...]) -> bool:
        """Whether elimination finds a contradiction, which the solver then knows."""
        if self.solver.refuted(system) is not None:
            return True
        found = self._orders.refuted(system, quotients)
        if found is not None:
            self.solver.enter_contradiction(system, found)
        return found is not None

    def _without_dominated(self, simplified: System, added: Sequence[Atom]) -> System:
        """Return `simplified` plus `added`, compared with what bounds the same limits.

        The rest was compared before.
        """
        limits = {counter.limit for counter in self.counters} & {n for atom in added for n in atom.symbols}
        related = [atom for atom in simplified.atoms if not limits.isdisjoint(atom.symbols)]
        rest = [atom for atom in simplified.atoms if limits.isdisjoint(atom.symbols)]
        kept = simplify(System(simplified.assumptions, (*related, *added)))
        return kept.add(*rest)

    def evaluate(self, counter: Counter[Fragment], fragment: Fragment) -> Evaluation:
        """Return f_i(S) or g_i(S).

        CounterError where that is no value, or one that is not defined everywhere.
        """
        key = (counter.name, fragment)
        if key not in self._evaluations:
            self._evaluations[key] = self._checked(counter, counter.evaluate(fragment))
        return self._evaluations[key]

    def _checked(self, counter: Counter[Fragment], given: object) -> Evaluation:
        """Return what a counter returned, if it is an Evaluation as it should be; CounterError if not.

        Counters are written by others and may return anything.
        """
        if not isinstance(given, Evaluation):
            raise CounterError(
                f"counter '{counter.name}' returned {given!r}",
                "a counter returns an Evaluation: value and source",
            )
        value = given.value
        if not _is_value(value):
            raise CounterError(
                f"counter '{counter.name}' gave {value!r}, which is a {type(value).__name__}",
                "a value is a Polynomial or a RationalFunction of the parameters, also where it is a number",
            )
        try:
            self._space(given.assumed, given.quotients).demand_defined(value)
        except DenominatorError as error:
            zero = self._zero_of(error.denominator, given.assumed)
            raise CounterError(
                f"counter '{counter.name}' gave {self.format(value)}, and {zero}",
                "divide by what the assumptions keep from 0, such as a product of parameters that are at least 1",
            ) from error
        return given

    def _zero_of(self, denominator: Polynomial, assumed: tuple[Atom, ...]) -> str:
        text = denominator.format(self.order)
        verdict = self.solver.check(self.space.assume(*assumed).add(equal(denominator, 0)))
        if not isinstance(verdict, Consistent):
            return f"it is not known whether {text} may be 0"
        point = ", ".join(f"{name} = {verdict.point[name]}" for name in denominator.symbols)
        return f"{text} is 0 at {point}"

    def sigma(
        self, counter: Counter[Fragment], among: Sequence[Strategy[Fragment]]
    ) -> tuple[Strategy[Fragment], ...]:
        """The strategies of sigma(counter) that are in `among`, in the order in which they are tried."""
        served = tuple(strategy for strategy in among if counter.name in strategy.improves)
        ordered = self._sigma.get(counter.name)
        return served if ordered is None else tuple(sorted(served, key=lambda s: ordered.index(s.name)))

    def edges(self, counter: Counter[Fragment], evaluation: Evaluation) -> Edges:
        """Return the atoms that accept and refuse add.

        ``0 <= v`` and ``v <= 1`` are among them only where the assumptions leave them open.
        """
        limit, value, space = (
            Polynomial.symbol(counter.limit),
            evaluation.value,
            self._space(evaluation.assumed, evaluation.quotients),
        )
        is_share = counter.kind is Kind.PERFORMANCE
        if is_share and self.performance != "literal":
            # Read literally, a strategy that improves v contradicts its own refuse edge: P < v makes
            # v' <= P impossible. So P is the level that is demanded.
            return Edges((space.at_most(limit, value),), (space.less(value, limit),))
        least = _unless_implied(space, space.at_most(Polynomial(0), value))
        most = _unless_implied(space, space.at_most(value, Polynomial(1))) if is_share else ()
        return Edges((*least, space.at_most(value, limit)), (space.less(limit, value), *most))

    def apply(self, strategy: Strategy[Fragment], fragment: Fragment) -> Applied[Fragment] | NotApplicable:
        """O(S); a strategy that returns an equal fragment does not apply."""
        key = (strategy.name, fragment)
        if key not in self._outcomes:
            outcome = strategy.apply(fragment)
            if isinstance(outcome, Applied) and outcome.fragment == fragment:
                outcome = NotApplicable("changes nothing")
            self._outcomes[key] = outcome
        return self._outcomes[key]

    def outcome(
        self, strategy: Strategy[Fragment], counter: Counter[Fragment], fragment: Fragment
    ) -> Applied[Fragment] | NotTaken:
        """O(S) where it obeys the law of section 3.4 for this counter: f(O(S)) <= f(S), or g(O(S)) >= g(S).

        A strategy that breaks the law for one counter may still serve another.
        """
        applied = self.apply(strategy, fragment)
        if isinstance(applied, NotApplicable):
            return NotTaken(applied.reason, for_good=True)
        before = self.evaluate(counter, fragment)
        after = self.evaluate(counter, applied.fragment)
        broken = self._broken_law(counter, before, after)
        return applied if broken is None else NotTaken(broken, for_good=False)

    def is_no_worse(self, counter: Counter[Fragment], found: Evaluation, than: Evaluation) -> bool | None:
        """Whether the assumptions imply that `found` is at least as good as `than`; None when undecided."""
        smaller, larger = (found, than) if counter.kind is Kind.RESOURCE else (than, found)
        if smaller.value == larger.value:
            return True
        quotients = tuple(dict.fromkeys((*smaller.quotients, *larger.quotients)))
        assumed = tuple(dict.fromkeys((*smaller.assumed, *larger.assumed)))
        ordered = monotone(quotients, (*self.space.all_atoms, *assumed)) if quotients else ()
        space = self._space((*assumed, *ordered), quotients)
        return space.follows(space.at_most(smaller.value, larger.value))

    def format(self, value: Value) -> str:
        """The value in the symbol order of this run."""
        return value.format(self.order)

    def _broken_law(self, counter: Counter[Fragment], before: Evaluation, after: Evaluation) -> str | None:
        kept = self.is_no_worse(counter, after, before)
        if kept:
            return None
        change = f"{counter.name} from {self.format(before.value)} to {self.format(after.value)}"
        verb = "raises" if counter.kind is Kind.RESOURCE else "lowers"
        if kept is None:
            return f"perhaps {verb} {change} (undecided)"
        always = self.is_no_worse(counter, before, after)
        return f"{verb} {change}" if always else f"{verb} {change} for some parameters"

    def _space(self, assumed: tuple[Atom, ...], quotients: tuple[Quotient, ...] = ()) -> Space:
        key = assumed, quotients
        if key not in self._spaces:
            self._spaces[key] = Space(self.space.assume(*assumed), self.solver, quotients)
        return self._spaces[key]


def _unless_implied(space: Space, atom: Atom) -> tuple[Atom, ...]:
    return () if space.follows(atom) else (atom,)


def _is_value(given: object) -> bool:
    return isinstance(given, Polynomial | RationalFunction)


def _range(counter: Counter[Fragment]) -> tuple[Atom, ...]:
    limit = Polynomial.symbol(counter.limit)
    match counter.kind:
        case Kind.RESOURCE:
            return (at_least(limit, 0),)
        case Kind.PERFORMANCE:
            return at_least(limit, 0), at_most(limit, 1)
        case _:
            assert_never(counter.kind)


def _demand_distinct(what: str, names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"two {what} are named {repeated[0]}")
