"""Algorithms 1 and 2 of the paper: a quintuple in, the decision tree of a comprehensive optimization out.

::

    problem = Problem(counters, strategies, assumptions, PortfolioSolver())
    tree = comprehensive_optimization(problem.initial(nest), problem)

`optimize` is Algorithm 2: its recursive call is a tail call on the same counter, so it is a loop here, and each
`Split` is one execution of its body.  `comprehensive_optimization` is Algorithm 1; it explores what `optimize`
returns with a stack of its own, so that the height of a tree is not bounded by Python's.

Three things differ from the printed algorithm, each for a reason (README.md of this package): inconsistent systems
are pruned when met; a counter never waits twice; and after a strategy every resource counter waits again, so that a
leaf's system bounds every resource of the leaf's own code.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import count
from typing import Generic, Literal, TypeAlias

from msgspec import Struct

from comprehensive.algebra import Atom, Consistent, Inconsistent, System, Unknown, Verdict
from comprehensive.optimize.problem import Known, NotTaken, Problem
from comprehensive.optimize.protocols import Counter, Evaluation, Fragment, Kind
from comprehensive.optimize.quintuple import Quintuple
from comprehensive.optimize.tree import (
    Branch,
    DeadEnd,
    Decision,
    Leaf,
    Node,
    Open,
    Point,
    Pruned,
    Tree,
    TriedStrategy,
    walk,
)
from comprehensive.watch import UNWATCHED, Watch

History: TypeAlias = tuple[TriedStrategy, ...]
"""The strategies that the refuse edges on the way tried, in that order."""


class Split(Struct, Generic[Fragment], frozen=True):
    """One execution of the body of Algorithm 2: a counter is evaluated and the computation forks."""

    arrival: Quintuple[Fragment]
    arrival_known: Known
    counter: Counter[Fragment]
    evaluation: Evaluation
    accept_atoms: tuple[Atom, ...]
    refuse_atoms: tuple[Atom, ...]
    accept: Quintuple[Fragment] | Pruned
    accept_known: Known
    refuse: Quintuple[Fragment] | Pruned | System
    """The quintuple after a strategy, or the bare system of a dead end: no strategy is left."""
    refuse_known: Known
    tried: tuple[TriedStrategy, ...]

    @property
    def strategy(self) -> str | None:
        """The strategy that was taken on the refuse edge."""
        return next((tried.strategy for tried in self.tried if tried.taken), None)


def optimize(
    quintuple: Quintuple[Fragment],
    problem: Problem[Fragment],
    known: Known | None = None,
    watch: Watch = UNWATCHED,
) -> tuple[Split[Fragment], ...]:
    """Algorithm 2: the splits along the refuse edges for the next counter.

    The stack of quintuples that the paper returns is the `accept` of each split that is not pruned. `known` is
    what is known about the quintuple's system.  Where the time is over after a split, its `refuse` may be a quintuple
    that is left as it is.  ValueError on a processed quintuple.
    """
    splits: list[Split[Fragment]] = []
    known = problem.known(quintuple.system) if known is None else known
    arrival: Quintuple[Fragment] | Pruned | System = quintuple
    while isinstance(arrival, Quintuple) and not (splits and watch.is_over()):
        split = _split(arrival, known, problem)
        splits.append(split)
        arrival, known = split.refuse, split.refuse_known
    return tuple(splits)


def _split(arrival: Quintuple[Fragment], known: Known, problem: Problem[Fragment]) -> Split[Fragment]:
    counter, popped = arrival.pop_counter()
    evaluation = problem.evaluate(counter, arrival.fragment)
    edges = problem.edges(counter, evaluation)
    popped = popped.assuming(*evaluation.assumed)
    counted = problem.known_assuming(known, popped.system, evaluation)
    accepted, refused = popped.constrain(*edges.accept), popped.constrain(*edges.refuse)
    # Both verdicts stand before either branch is followed (Line 30 of Algorithm 2, done early).
    accept_known = problem.known_after(counted, accepted.system, edges.accept)
    refuse_known = problem.known_after(counted, refused.system, edges.refuse)
    tried: tuple[TriedStrategy, ...] = ()
    accept: Quintuple[Fragment] | Pruned = accepted
    if isinstance(accept_known.verdict, Inconsistent):
        accept = _pruned(accepted.system, accept_known.verdict, "accept", problem)
    refuse: Quintuple[Fragment] | Pruned | System
    if isinstance(refuse_known.verdict, Inconsistent):
        refuse = _pruned(refused.system, refuse_known.verdict, "refuse", problem)
    else:
        refuse, tried = _refuse(refused, counter, problem)
    return Split(
        arrival=arrival,
        arrival_known=known,
        counter=counter,
        evaluation=evaluation,
        accept_atoms=edges.accept,
        refuse_atoms=edges.refuse,
        accept=accept,
        accept_known=accept_known,
        refuse=refuse,
        refuse_known=refuse_known,
        tried=tried,
    )


def _pruned(
    system: System,
    verdict: Inconsistent,
    edge: Literal["accept", "refuse", "root"],
    problem: Problem[Fragment],
) -> Pruned:
    shown = problem.solver.minimal(verdict)
    return Pruned(system, shown.core, shown.certificate, edge)


def _refuse(
    refused: Quintuple[Fragment], counter: Counter[Fragment], problem: Problem[Fragment]
) -> tuple[Quintuple[Fragment] | System, tuple[TriedStrategy, ...]]:
    """Takes the first strategy of sigma(counter) in omega that helps; the system alone where there is none."""
    tried: list[TriedStrategy] = []
    for strategy in problem.sigma(counter, refused.remaining):
        outcome = problem.outcome(strategy, counter, refused.fragment)
        if isinstance(outcome, NotTaken):
            tried.append(TriedStrategy(strategy.name, counter.name, False, outcome.reason))
            if outcome.for_good:
                refused = refused.without(strategy)
            continue
        tried.append(TriedStrategy(strategy.name, counter.name, True, outcome.note))
        again = counters_to_evaluate_again(counter, refused, problem)
        return refused.transformed(outcome.fragment, strategy, again), tuple(tried)
    return refused.system, tuple(tried)


def counters_to_evaluate_again(
    counter: Counter[Fragment], refused: Quintuple[Fragment], problem: Problem[Fragment]
) -> tuple[Counter[Fragment], ...]:
    """Return what to push after a strategy for `counter`: ``r_1, ..., r_i``, or ``r_1, ..., r_s, p_i``.

    Remark 2 evaluates what was pushed in the order r_i, ..., r_1.  A strategy for r_1 then changes code on which
    r_2, ..., r_i were just accepted, and the printed algorithm never looks at them again.  So the counters that do
    not wait go below the printed sequence: resources, then performance below them.
    """
    printed: tuple[Counter[Fragment], ...]
    if counter.kind is Kind.PERFORMANCE:
        printed = (*problem.resources, counter)
    else:
        names = [resource.name for resource in problem.resources]
        printed = problem.resources[: names.index(counter.name) + 1]
    waiting = {other.name for other in (*refused.counters, *printed)}
    settled = [other for other in problem.counters if other.name not in waiting]
    performance = [other for other in settled if other.kind is Kind.PERFORMANCE]
    resources = [other for other in settled if other.kind is Kind.RESOURCE]
    # What is pushed first is evaluated last.
    return (*reversed(performance), *resources, *printed)


def comprehensive_optimization(
    quintuple: Quintuple[Fragment],
    problem: Problem[Fragment],
    watch: Watch = UNWATCHED,
    doing: str = "growing the tree",
) -> Tree[Fragment]:
    """Algorithm 1, keeping everything that it saw.

    The watch is told what is done, and how many nodes are decided; what there is no time for becomes open nodes.
    """
    growth = _Growth(problem, watch, doing)
    known = problem.known(quintuple.system)
    root: Node[Fragment]
    if isinstance(known.verdict, Inconsistent):
        root = _pruned(quintuple.system, known.verdict, "root", problem)
    else:
        root = growth.run(quintuple, known)
    nodes = tuple(node for node, _ in walk(root))
    return Tree(
        source=quintuple.fragment,
        root=root,
        assumptions=quintuple.system.assumptions,
        counters=problem.counters,
        strategies=problem.strategies,
        performance=problem.performance,
        order=problem.order,
        leaves=tuple(node for node in nodes if isinstance(node, Leaf)),
        dead_ends=tuple(node for node in nodes if isinstance(node, DeadEnd)),
        pruned=tuple(node for node in nodes if isinstance(node, Pruned)),
        undecided=tuple(
            node for node in nodes if not isinstance(node, Pruned) and node.undecided is not None
        ),
        open=tuple(node for node in nodes if isinstance(node, Open)),
    )


_Visit: TypeAlias = tuple[Quintuple[Fragment], Known, History]
_Walk: TypeAlias = Generator[_Visit[Fragment], "Node[Fragment] | None", "Node[Fragment]"]


class _Growth(Generic[Fragment]):
    """The recursion of Algorithm 1 as generators: each yields the quintuple of a subtree and is sent its node."""

    def __init__(self, problem: Problem[Fragment], watch: Watch, doing: str) -> None:
        self._problem = problem
        self._watch = watch
        self._doing = doing
        self._decided = 0
        self._branch_ids, self._leaf_indices, self._dead_end_indices = count(), count(), count()
        self._open_indices = count()

    def run(self, quintuple: Quintuple[Fragment], known: Known) -> Node[Fragment]:
        if self._watch.is_over():
            return self._open(quintuple, known)
        waiting: list[_Walk[Fragment]] = [self._explore(quintuple, known, ())]
        node: Node[Fragment] | None = None
        while waiting:
            self._watch.tell(self._doing, self._decided)
            try:
                visit = waiting[-1].send(node)
            except StopIteration as finished:
                waiting.pop()
                node = finished.value
            else:
                node = None
                if self._watch.is_over():
                    node = self._open(*visit[:2])
                else:
                    waiting.append(self._explore(*visit))
        assert node is not None, "the last walk to finish is the root's"
        return node

    def _explore(self, quintuple: Quintuple[Fragment], known: Known, history: History) -> _Walk[Fragment]:
        if quintuple.is_processed:
            self._decided += 1
            return self._leaf(quintuple, known, history)
        splits = optimize(quintuple, self._problem, known, self._watch)
        self._decided += len(splits)
        ids: list[int] = []
        accepted: list[Node[Fragment]] = []
        for split in splits:
            ids.append(next(self._branch_ids))
            if isinstance(split.accept, Pruned):
                accepted.append(split.accept)
            else:
                node = yield split.accept, split.accept_known, history
                assert node is not None, "a subtree is sent back as a node"
                accepted.append(node)
            history += split.tried
        end = splits[-1]
        below: Node[Fragment]
        match end.refuse:
            case Pruned():
                below = end.refuse
            case Quintuple():
                below = self._open(end.refuse, end.refuse_known)
            case System():
                below = self._dead_end(end, end.refuse, history)
        for number, split, accept in zip(reversed(ids), reversed(splits), reversed(accepted), strict=True):
            below = self._branch(number, split, accept, below)
        return below

    def _branch(
        self, number: int, split: Split[Fragment], accept: Node[Fragment], refuse: Node[Fragment]
    ) -> Branch[Fragment]:
        _, undecided = _point_or_reason(split.arrival_known.verdict)
        return Branch(
            id=number,
            counter=split.counter.name,
            kind=split.counter.kind,
            limit=split.counter.limit,
            evaluation=split.evaluation,
            accept_atoms=split.accept_atoms,
            refuse_atoms=split.refuse_atoms,
            fragment=split.arrival.fragment,
            applied=tuple(strategy.name for strategy in split.arrival.applied),
            remaining=tuple(strategy.name for strategy in split.arrival.remaining),
            waiting=tuple(counter.name for counter in split.arrival.counters),
            system=split.arrival.system,
            tried=split.tried,
            strategy=split.strategy,
            accept=accept,
            refuse=refuse,
            undecided=undecided,
        )

    def _leaf(self, quintuple: Quintuple[Fragment], known: Known, history: History) -> Leaf[Fragment]:
        sample, undecided = _point_or_reason(known.verdict)
        return Leaf(
            index=next(self._leaf_indices),
            fragment=quintuple.fragment,
            applied=tuple(strategy.name for strategy in quintuple.applied),
            system=quintuple.system,
            simplified=known.simplified,
            sample=sample,
            undecided=undecided,
            decisions=self._decisions(quintuple.fragment, history),
        )

    def _open(self, quintuple: Quintuple[Fragment], known: Known) -> Open:
        sample, undecided = _point_or_reason(known.verdict)
        return Open(
            index=next(self._open_indices),
            system=quintuple.system,
            simplified=known.simplified,
            sample=sample,
            undecided=undecided,
            waiting=tuple(counter.name for counter in quintuple.counters),
        )

    def _dead_end(self, split: Split[Fragment], system: System, history: History) -> DeadEnd:
        sample, undecided = _point_or_reason(split.refuse_known.verdict)
        last = {
            tried.strategy: tried
            for tried in sorted(history, key=lambda tried: (tried.taken, tried.counter == split.counter.name))
        }
        return DeadEnd(
            index=next(self._dead_end_indices),
            system=system,
            simplified=split.refuse_known.simplified,
            sample=sample,
            undecided=undecided,
            counter=split.counter.name,
            evaluation=split.evaluation,
            reasons=tuple(
                last[strategy.name]
                for strategy in self._problem.sigma(split.counter, self._problem.strategies)
            ),
        )

    def _decisions(self, fragment: Fragment, history: History) -> tuple[Decision, ...]:
        last = {tried.strategy: tried for tried in sorted(history, key=lambda tried: tried.taken)}
        strategies = self._problem.strategies
        taken = {s.name for s in strategies if s.name in last and last[s.name].taken}
        standing = {s.name for s in strategies if s.stands(fragment, s.name in taken)}
        denied = {s.decision[1] for s in strategies if s.name in standing}
        """The words that a strategy that does not stand may not say: another level of it stands."""
        decisions: list[Decision] = []
        for strategy in strategies:
            when_it_stands, otherwise = strategy.decision
            text = when_it_stands if strategy.name in standing else "" if otherwise in denied else otherwise
            note = last[strategy.name].note if strategy.name in last else ""
            decisions.append(Decision(strategy.name, strategy.name in taken, text, note))
        return tuple(decisions)


def _point_or_reason(verdict: Verdict) -> tuple[Point | None, str | None]:
    """The sample point of a node that is kept, or why there is none."""
    match verdict:
        case Consistent(point):
            return dict(sorted(point.items())), None
        case Unknown(reason):
            return None, reason
        case Inconsistent():
            raise AssertionError("an inconsistent system is pruned when it is met")
