"""The decision tree: what the algorithm saw at every node, kept for code generation and for inspection.

In: nodes, built by `comprehensive.optimize.algorithm`.  Out: the leaves (the case discussion), the regions without
a variant, the pruned branches with the reason, and the case that a point belongs to::

    match leaf_for(tree, {"B": 32, "s": 4, "Z_B": 12288, "R_B": 255}):
        case Leaf() as leaf: ...         # the variant to run
        case DeadEnd() as dead_end: ...  # the counter that no strategy could bring under its limit
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, Literal, TypeAlias, assert_never

from msgspec import Struct

from comprehensive.algebra import Atom, Certificate, Quotient, System, with_quotients
from comprehensive.algebra.polynomial import Scalar
from comprehensive.optimize.protocols import Counter, Evaluation, Fragment, Kind, NotApplicable, Strategy

Performance: TypeAlias = Literal["demanded", "literal"]
"""The reading of P_i. ``demanded``: the level asked for, accept is ``P <= v``. ``literal``: as printed, ``v <= P``."""

Point: TypeAlias = Mapping[str, Scalar]


class TriedStrategy(Struct, frozen=True):
    """A strategy that a refuse edge came to: taken (`note` says what changed) or not (`note` says why)."""

    strategy: str
    counter: str
    taken: bool
    note: str


class Decision(Struct, frozen=True):
    """The decision of a leaf about one strategy of the run: the paper's ``(3b)``.

    `text` is the strategy's own wording of the outcome, empty where it has none or where another level of the strategy
    says it; `note` says what changed or why nothing did, and is empty where no refuse edge ever asked for the strategy.
    """

    strategy: str
    taken: bool
    text: str
    note: str


class Pruned(Struct, frozen=True):
    """A branch that no point reaches: `core` is a contradictory part of `system`, `proof` shows it without a solver."""

    system: System
    core: tuple[Atom, ...]
    proof: Certificate | None
    edge: Literal["accept", "refuse", "root"]
    """``root``: the assumptions contradict each other."""


class DeadEnd(Struct, frozen=True):
    """A region without a variant: the counter is refused there and no strategy is left that could help."""

    index: int
    system: System
    simplified: System
    sample: Point | None
    """A point of the region; None where the solver could not decide whether there is one."""
    undecided: str | None
    """The reason why it could not; None where it could."""
    counter: str
    evaluation: Evaluation
    reasons: tuple[TriedStrategy, ...]
    """One for each strategy of sigma(counter), in the order of the run."""


class Open(Struct, frozen=True):
    """A region that was not decided, since the time for it was over: what is below it is not known."""

    index: int
    system: System
    simplified: System
    sample: Point | None
    """A point of the region; None where the solver could not decide whether there is one."""
    undecided: str | None
    """The reason why it could not; None where it could."""
    waiting: tuple[str, ...]
    """gamma: the counters that were still to be evaluated."""


class Leaf(Struct, Generic[Fragment], frozen=True):
    """A case of the discussion: where `system` holds, `fragment` is the variant to run."""

    index: int
    """Its place in `Tree.leaves`."""
    fragment: Fragment
    applied: tuple[str, ...]
    """lambda: the strategies applied to the IR, the last one first."""
    system: System
    simplified: System
    """The same region in fewer atoms."""
    sample: Point | None
    """A point that satisfies the system; None where the solver could not decide whether there is one."""
    undecided: str | None
    """The reason why it could not; None where it could."""
    decisions: tuple[Decision, ...]
    """One for each strategy of the run, in the order of the run."""


class Branch(Struct, Generic[Fragment], frozen=True):
    """A counter's value against its limit (comprehensive, figure 5), with the quintuple that arrived there.

    With `strategy` None the refuse edge found none left, and `refuse` is a dead end or pruned.
    """

    id: int
    """Number in preorder, accept edges first; the root is 0."""
    counter: str
    kind: Kind
    limit: str
    evaluation: Evaluation
    accept_atoms: tuple[Atom, ...]
    refuse_atoms: tuple[Atom, ...]
    fragment: Fragment
    """G_C, the code that is evaluated here."""
    applied: tuple[str, ...]
    """lambda: the strategies applied to the IR so far, the last one first."""
    remaining: tuple[str, ...]
    """omega: the strategies that were not used so far."""
    waiting: tuple[str, ...]
    """gamma: the counters still to be evaluated, that of this branch first."""
    system: System
    """C: what holds on arrival, before either edge."""
    tried: tuple[TriedStrategy, ...]
    strategy: str | None
    accept: Node[Fragment]
    refuse: Node[Fragment]
    undecided: str | None
    """The reason why the solver could not tell whether a point arrives here; None where one does."""


class Alternative(Struct, Generic[Fragment], frozen=True):
    """Another form of the source at the root of a tree, by the name of the recipe that makes it.

    `tree` is its own case discussion, or why there is none.  It excludes nothing: where the machine has room for
    several alternatives, what they cost decides.
    """

    recipe: str
    tree: Tree[Fragment] | NotApplicable


# A string: the classes refer to each other, and a recursive alias is not a value at run time.
Node: TypeAlias = "Branch[Fragment] | Leaf[Fragment] | DeadEnd | Pruned | Open"


class Tree(Struct, Generic[Fragment], frozen=True):
    """A comprehensive optimization of `source` with everything that was seen on the way.

    Leaves and dead ends stand in preorder, accept edges first.
    """

    source: Fragment
    root: Node[Fragment]
    assumptions: tuple[Atom, ...]
    counters: tuple[Counter[Fragment], ...]
    strategies: tuple[Strategy[Fragment], ...]
    performance: Performance
    order: tuple[str, ...]
    """The symbols that stand first in printed products."""
    leaves: tuple[Leaf[Fragment], ...]
    dead_ends: tuple[DeadEnd, ...]
    pruned: tuple[Pruned, ...]
    undecided: tuple[Branch[Fragment] | Leaf[Fragment] | DeadEnd | Open, ...]
    """Nodes kept because the solver could not decide whether a point arrives there."""
    open: tuple[Open, ...] = ()
    """The regions that the time did not suffice for; no code is to be made of a tree that has any."""
    alternatives: tuple[Alternative[Fragment], ...] = ()
    """The alternatives that stand at the root beside `source`, for any values of program parameters."""

    @property
    def limits(self) -> tuple[str, ...]:
        """The machine parameters R_1, ..., R_s, P_1, ..., P_t, in the order of the counters."""
        return tuple(dict.fromkeys(counter.limit for counter in self.counters))

    @property
    def quotients(self) -> tuple[Quotient, ...]:
        """The symbols in systems that are no parameters, each after those that it is made of."""
        return tuple(dict.fromkeys(q for evaluation in self._evaluations() for q in evaluation.quotients))

    @property
    def assumed(self) -> tuple[Atom, ...]:
        """The atoms that counters assumed besides `assumptions`: facts, and definitions of the quotients."""
        return tuple(dict.fromkeys(atom for evaluation in self._evaluations() for atom in evaluation.assumed))

    @property
    def symbols(self) -> frozenset[str]:
        """The limits, and the symbols of values of counters and of what these assume."""
        said = (part for e in self._evaluations() for part in (e.value, *e.assumed))
        return frozenset(self.limits).union(*(part.symbols for part in said))

    def _evaluations(self) -> Iterator[Evaluation]:
        return (node.evaluation for node, _ in walk(self.root) if isinstance(node, Branch))

    @property
    def height(self) -> int:
        """The number of edges of the longest path to a leaf or a dead end; pruned branches do not count."""
        return max((depth for node, depth in walk(self.root) if not isinstance(node, Pruned)), default=0)


def walk(root: Node[Fragment]) -> Iterator[tuple[Node[Fragment], int]]:
    """Every node with its depth, in preorder, accept edges first."""
    waiting: list[tuple[Node[Fragment], int]] = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        if isinstance(node, Branch):
            waiting.append((node.refuse, depth + 1))
            waiting.append((node.accept, depth + 1))


def leaf_for(tree: Tree[Fragment], point: Point) -> Leaf[Fragment] | DeadEnd:
    """The case that a point belongs to, found by evaluating the edges on the way down.

    KeyError names a symbol that the point does not give; ValueError tells of a point that no edge admits, which
    violates an assumption or gives a counter a value out of its range.
    """
    node = tree.root
    while True:
        match node:
            case Leaf() | DeadEnd():
                return node
            case Branch():
                point = with_quotients(point, node.evaluation.quotients)
                if all(atom.holds(point) for atom in node.accept_atoms):
                    node = node.accept
                elif all(atom.holds(point) for atom in node.refuse_atoms):
                    node = node.refuse
                else:
                    raise ValueError(
                        f"{node.counter} = {node.evaluation.value} is out of its range at {dict(point)}"
                    )
            case Open():
                raise ValueError(f"the point {dict(point)} is in a region that was not decided")
            case Pruned():
                violated = [str(atom) for atom in node.core if not atom.holds(point)]
                raise ValueError(f"the point {dict(point)} violates the assumption {' and '.join(violated)}")
            case _:
                assert_never(node)
