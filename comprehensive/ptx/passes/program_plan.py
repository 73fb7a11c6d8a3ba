"""The values to demote in a kernel and in the functions that it calls, and the functions that come of it.

In: the calls of a kernel and how many slots there are.  Out: a :class:`ProgramPlan`, and the kernel with copies of the
functions that have slots, or call some that have::

    planner = ProgramPlanner(graph, planners, Compression.ROOM, region, most_slots=24)
    plan = planner.plan(58)
    planner.functions(plan, module, volatile=False)      # {"leaf": ..., "mid": ..., "k": ...}: by the old names

Callees are planned first: where a function calls, the words that the callee needs are live, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from comprehensive.ptx.module import Function, Module, Parameter
from comprehensive.ptx.passes.added_parameters import copied, with_parameters
from comprehensive.ptx.passes.call_graph import CallGraph
from comprehensive.ptx.passes.demotion_calls import FramedCall
from comprehensive.ptx.passes.demotion_code import Region, demoted_body
from comprehensive.ptx.passes.demotion_plan import Plan, Planner
from comprehensive.ptx.passes.demotion_slots import live_slots
from comprehensive.ptx.passes.demotion_values import ROUNDS
from comprehensive.ptx.passes.ptx_pass import unused
from comprehensive.ptx.passes.stack_frames import Compression, Frame, Site, Stack, stack_of


@dataclass(frozen=True)
class ProgramPlan:
    """``of`` are the plans of all functions, ``framed`` those with slots or with callees that have some.

    ``words`` are still live where most are, ``is_cut`` says that there were not slots for all that was chosen.
    """

    of: Mapping[str, Plan]
    framed: tuple[str, ...]
    stack: Stack
    words: int
    is_cut: bool

    @property
    def loads(self) -> int:
        return sum(plan.loads for plan in self.of.values())

    @property
    def stores(self) -> int:
        return sum(plan.stores for plan in self.of.values())

    @property
    def values(self) -> int:
        return sum(len(plan.values) for plan in self.of.values())


@dataclass(frozen=True, eq=False)
class ProgramPlanner:
    """Plans for one kernel and what it calls; ``planners`` are those of the functions that may have slots."""

    graph: CallGraph
    planners: Mapping[str, Planner]
    compression: Compression
    region: Region
    most_slots: int

    @property
    def kernel(self) -> str:
        return self.graph.order[-1]

    def called(self, name: str, plans: Mapping[str, Plan]) -> Mapping[int, int]:
        """The words that are live in the callee, by step of the call."""
        return {step: plans[callee].words for step, callee in self.graph.calls[name] if callee in plans}

    def plan(self, words: int) -> ProgramPlan:
        """Return the plan after which at most so many words are live, or as few as can be.

        Where the stack would be too high, all functions get fewer slots.
        """
        best = self._plan(words, self.most_slots)
        low, high = 0, self.most_slots
        if best.stack.slots <= high:
            return best
        while high - low > 1:
            middle = (low + high) // 2
            plan = self._plan(words, middle)
            if plan.stack.slots <= self.most_slots:
                low, best = middle, plan
            else:
                high = middle
        return best if low else self._plan(words, 0)

    def _plan(self, words: int, most_slots: int) -> ProgramPlan:
        plans: dict[str, Plan] = {}
        framed: dict[str, None] = {}
        for name in self.graph.order:
            if name not in self.planners:
                continue
            plans[name] = self.planners[name].plan(words, most_slots, self.called(name, plans))
            if plans[name].values or any(callee in framed for _, callee in self.graph.calls[name]):
                framed[name] = None
        frames = {name: self._frame(name, plans[name], framed) for name in framed}
        stack = stack_of(frames, self.kernel, self.compression, self.most_slots) if frames else Stack(0, {})
        return ProgramPlan(
            plans,
            tuple(framed),
            stack,
            plans[self.kernel].words,
            most_slots < self.most_slots or any(plan.is_cut for plan in plans.values()),
        )

    def _frame(self, name: str, plan: Plan, framed: Mapping[str, None]) -> Frame:
        analyses = self.planners[name].analyses
        return Frame(
            plan.slots.count,
            tuple(
                Site(
                    step,
                    callee,
                    live_slots(plan.values, plan.slots, analyses, step),
                    ROUNDS ** analyses.loops.depth(analyses.cfg.block_of[step]),
                )
                for step, callee in self.graph.calls[name]
                if callee in framed
            ),
        )

    def functions(self, plan: ProgramPlan, module: Module, *, volatile: bool) -> Mapping[str, Function]:
        """Return the functions with their values in slots, by the names of those that they are made of.

        Those that are called are copies, and get the address of their frame as their last parameter: other kernels go
        on with the functions as they were.
        """
        names = {name: name for name in plan.framed}
        for name in plan.framed[:-1]:
            names[name] = unused(f"{name}_in_{self.kernel}", module.names)
        made: dict[str, Function] = {}
        for name in plan.framed:
            analyses, placed = self.planners[name].analyses, plan.stack.placed[name]
            values = plan.of[name].values
            slots = {
                number: tuple(placed.places[color] for color in colors)
                for number, colors in plan.of[name].slots.of.items()
            }
            calls = tuple(
                FramedCall(step, names[callee], placed.bases[step], placed.moves[step])
                for step, callee in self.graph.calls[name]
                if callee in names
            )
            function = analyses.flow.function
            if function.is_kernel:
                entry = self.region, plan.stack.slots
            else:
                entry = Parameter(f"{names[name]}_slots", "b32", 4, 4)
            body = demoted_body(analyses.flow, values, slots, entry, calls, volatile=volatile)
            made[name] = function.with_body(body)
            if isinstance(entry, Parameter):
                made[name] = with_parameters(copied(made[name], names[name]), (entry,))
        return made
