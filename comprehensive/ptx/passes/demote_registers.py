"""Registers to shared memory, where a kernel has more live values than registers.

    fma.rn.f32 %f7, %f1, %f2, %f3;   -->   fma.rn.f32 %f7, %f1, %f2, %f3;
    ...  (%f7 is not used)                 st.shared.b32 [%at+384], %f7;
    add.f32 %f9, %f7, %f8;                 ...
                                           ld.shared.b32 %f7, [%at+384];
                                           add.f32 %f9, %f7, %f8;

Sakdhnagool, Sabne and Eigenmann, RegDem: Increasing GPU performance via shared memory register spilling, 2019, before
ptxas instead of behind it: the kernel gets ``.maxnreg``, values are chosen, and ptxas says how much it still spills to
local memory; more values are chosen until it is nothing.  On the H200 a kernel whose spills cannot be avoided takes 0.2
to 0.9 of the time that it takes with spills to local memory, which are written through to L2; one that has a limit of
registers without spills is faster there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from comprehensive.machine.device import Device
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.build import LEAST_REGISTERS, Build, tuning_of, with_cap
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.passes.call_graph import CallGraph, call_graph_of, callee_of
from comprehensive.ptx.passes.demotion_calls import SLOT_BYTES
from comprehensive.ptx.passes.demotion_choice import Strategy
from comprehensive.ptx.passes.demotion_code import DYNAMIC
from comprehensive.ptx.passes.demotion_memory import (
    Room,
    copy_obstacle,
    most_slots,
    register_obstacle,
    rooms_of,
)
from comprehensive.ptx.passes.demotion_plan import Plan, Planner
from comprehensive.ptx.passes.demotion_values import ROUNDS, Value
from comprehensive.ptx.passes.program_plan import ProgramPlan, ProgramPlanner
from comprehensive.ptx.passes.ptx_pass import WithinModulePass, option, shown
from comprehensive.ptx.passes.register_cap import cliffs_below, is_register_count, limit_remark
from comprehensive.ptx.passes.remark import DYNAMIC_BYTES_PER_WARP, Kind, Remark
from comprehensive.ptx.passes.stack_frames import Compression
from comprehensive.ptx.statements import Instruction
from comprehensive.toolchain.usage import MOST_REGISTERS, Usage

NEXT_CLIFF = "next-cliff"
# Without spills ptxas needs about 0.88 * ML2 + 7.4 registers (16 kernels of sm_90: r = 0.985).
_REGISTERS_A_WORD, _REGISTERS_BESIDE = 0.88, 7.4
# By how many words less is aimed at while ptxas still spills.
_LEAST_STEP, _MOST_STEP = 4, 16
_WEAK_CALLS = 3
"""So often values are demoted to weak accesses, before volatile ones are tried."""


@dataclass(frozen=True)
class DemoteRegisters(WithinModulePass):
    name = "demote-registers"
    summary = (
        "values to shared memory where more are live than there are registers: --> st.shared ... ld.shared"
    )
    target: str = option(NEXT_CLIFF, "most registers, or next-cliff: those with which one more block fits")
    strategy: str = option("pressure", "what is demoted: pressure, static, liverange or conflicts")
    volatile: str = option("auto", "whether ptxas must keep every access: auto, true or false")
    dynamic: str = option("refuse", "allow: the launcher adds dynamic shared memory as remarks ask for")
    frames: str = option(
        "room", "slots of callers at calls: none, direct, least or room (compressed where there is no room)"
    )
    calls: int = option(8, "how often ptxas is asked at most, 3 or more")

    @property
    def is_gated(self) -> bool:
        return False

    @property
    def changes_launch(self) -> bool:
        return self.dynamic == "allow"

    def __post_init__(self) -> None:
        if self.target != NEXT_CLIFF and not is_register_count(self.target):
            raise ValueError(f"target is {NEXT_CLIFF} or {LEAST_REGISTERS} to {MOST_REGISTERS} registers")
        if self.strategy not in {each.value for each in Strategy}:
            raise ValueError("strategy is pressure, static, liverange or conflicts")
        if self.volatile not in ("auto", "true", "false"):
            raise ValueError("volatile is auto, true or false")
        if self.dynamic not in ("allow", "refuse"):
            raise ValueError("dynamic is allow or refuse")
        if self.frames not in {each.value for each in Compression}:
            raise ValueError("frames is none, direct, least or room")
        if self.calls < 3:
            raise ValueError("calls is 3 or more")

    def rewritten(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Module, tuple[Remark, ...]]:
        if not function.is_kernel:
            return module, ()
        search = _Search(self, function, module, build)
        made = search.demoted()
        if isinstance(made, str):
            return module, (self.missed(function, None, f"its registers stay: {made}"),)
        return search.module_with(made.functions), tuple(search.remarks(made))


@dataclass(frozen=True)
class _Demotion:
    """The demotion that was chosen: its plan, and the memory that it has room in."""

    planner: ProgramPlanner
    room: Room
    plan: ProgramPlan
    volatile: bool


@dataclass(frozen=True)
class _Made:
    """A kernel with a limit of registers, what ptxas says of it, and what is demoted, nothing where that was enough.

    ``functions``: the kernel, and copies of what it calls, by the names of what they are made of.
    """

    functions: Mapping[str, Function]
    usage: Usage
    demotion: _Demotion | None

    @property
    def spilled(self) -> int:
        return self.usage.spill_bytes + self.usage.called_spill_bytes


class _Search:
    """The search for what to demote of a kernel."""

    def __init__(self, settings: DemoteRegisters, function: Function, module: Module, build: Build) -> None:
        self._settings = settings
        self._function = function
        self._module = module
        self._build = build
        self._calls = 0
        self._target = 0
        self._registers = 0
        self._stored_bytes = 0
        self._left_alone: dict[str, str] = {}

    def demoted(self) -> _Made | str:
        """Return the kernel, or why it stays as it is."""
        device = self._build.device(self._module)
        if self._build.assembler is None:
            return "there is no assembler to say how many it takes"
        if device is None:
            return f"'{self._module.target[0]}' is not known"
        graph = call_graph_of(self._function, self._module)
        if isinstance(graph, str):
            return graph
        reached = [self._module.functions[name] for name in graph.order]
        why = next((why for each in reached if (why := register_obstacle(each)) is not None), None)
        if why is not None:
            return why
        free = self._usage({self._function.symbol: self._function})
        if free is None:
            return "the assembler rejects the kernel as it is"
        self._registers = free.registers_per_thread
        target = self._target_of(free, device)
        if isinstance(target, str):
            return target
        self._target = target
        limited = {self._function.symbol: with_cap(self._function, target)}
        usage = self._usage(limited)
        if usage is None:
            return "the assembler rejects it with .maxnreg"
        if usage.registers_per_thread > target:
            return "its build does not heed .maxnreg"
        alone = _Made(limited, usage, None)
        if alone.spilled == 0:
            return alone
        planners = self._planners(graph)
        registers = (each for planner in planners.values() for each in planner.analyses.flow.registers)
        if any(register.name.startswith("%demoted") for register in registers):
            return "some of its values were demoted before"
        dynamic = self._settings.dynamic == "allow"
        rooms = rooms_of(reached, self._module, self._build, free, device, dynamic=dynamic)
        if isinstance(rooms, str):
            return rooms
        words = max(1, int((target - _REGISTERS_BESIDE) / _REGISTERS_A_WORD))
        found: tuple[Room, ProgramPlanner] | None = None
        compression = Compression(self._settings.frames)
        for room in rooms:
            slots = self._most_slots(room, free, device)
            if slots:
                graph = graph.without(self._left_alone.keys())
                found = room, ProgramPlanner(graph, planners, compression, room.region, slots)
                if not found[1].plan(words).is_cut:
                    break
        if found is None:
            return "slots would leave no more blocks on a multiprocessor than registers do now"
        return self._best(alone, *found, words)

    def _planners(self, graph: CallGraph) -> Mapping[str, Planner]:
        """Return the planners of the functions that may be copied; a remark tells why others may not."""
        found: dict[str, Planner] = {}
        for name in graph.order:
            function = self._module.functions[name]
            why = None if function.is_kernel else copy_obstacle(function, self._module)
            if why is None:
                found[name] = Planner(Analyses(function, self._module), Strategy(self._settings.strategy))
            else:
                self._left_alone[name] = why
        return found

    def _target_of(self, free: Usage, device: Device) -> int | str:
        if self._settings.target != NEXT_CLIFF:
            target = int(self._settings.target)
            if free.registers_per_thread <= target and not free.spill_bytes:
                return f"it takes {free.registers_per_thread}, not more than {target}"
            return min(target, free.registers_per_thread)
        if free.spill_bytes:
            # It has all that it may have, and they are not enough.
            return free.registers_per_thread
        stated = tuning_of(self._function, self._build.limits)
        if stated.registers is not None or stated.blocks > 1:
            return f"it takes {free.registers_per_thread}, as many as its build allows"
        cliffs = cliffs_below(free, self._build.threads_of(self._function), device)
        if not cliffs:
            return f"with fewer than {free.registers_per_thread} no more blocks fit a multiprocessor"
        return cliffs[0]

    def _most_slots(self, room: Room, free: Usage, device: Device) -> int:
        """To get to a cliff is of use only where the slots leave room for the blocks."""
        if self._settings.target != NEXT_CLIFF:
            return room.slots
        return most_slots(
            room,
            device,
            threads=self._build.threads_of(self._function),
            registers=self._target,
            shared_bytes=free.shared_bytes,
        )

    def _best(self, alone: _Made, room: Room, planner: ProgramPlanner, words: int) -> _Made | str:
        """Demote more and more until ptxas spills nothing."""
        best = alone
        modes = {"auto": (False, True), "false": (False,), "true": (True,)}[self._settings.volatile]
        for volatile in modes:
            left = self._settings.calls - self._calls
            calls = left if volatile == modes[-1] else min(left, _WEAK_CALLS)
            for plan in self._fewer_and_fewer(planner, words, calls):
                made = self._made(_Demotion(planner, room, plan, volatile))
                if made is None:
                    return "the assembler rejects what was made of it"
                if made.spilled == 0:
                    return made
                best = min(best, made, key=lambda each: each.spilled)
            if best.demotion is not None:
                words = best.demotion.plan.words
        if best is alone:
            return f"with {self._target} ptxas spills {alone.spilled} bytes, and no less with values in slots"
        return best

    def _fewer_and_fewer(self, planner: ProgramPlanner, words: int, calls: int) -> Iterator[ProgramPlan]:
        """Yield plans with fewer and fewer words live, as long as there is something more to demote."""
        last: ProgramPlan | None = None
        while calls and words > 0:
            plan = planner.plan(words)
            if plan == last:
                return
            if plan.values:
                yield plan
                calls -= 1
                last = plan
                # Of the words that ptxas still stores, a fourth.
                words = plan.words - max(_LEAST_STEP, min(_MOST_STEP, self._stored_bytes // 16))
            else:
                words -= _LEAST_STEP

    def _made(self, demotion: _Demotion) -> _Made | None:
        made = demotion.planner.functions(demotion.plan, self._module, volatile=demotion.volatile)
        kernel = self._function.symbol
        functions = {**made, kernel: with_cap(made[kernel], self._target)}
        usage = self._usage(functions)
        if usage is None:
            return None
        self._stored_bytes = usage.spill_store_bytes + usage.called_spill_store_bytes
        return _Made(functions, usage, demotion)

    def _usage(self, functions: Mapping[str, Function]) -> Usage | None:
        self._calls += 1
        return self._build.usage(self.module_with(functions), functions[self._function.symbol])

    def module_with(self, functions: Mapping[str, Function]) -> Module:
        """The module with the kernel, and before it with the copies of what it calls."""
        kernel = self._function.symbol
        copies = [each for name, each in functions.items() if name != kernel]
        module = self._module.with_functions_before(kernel, copies).with_functions(
            {kernel: functions[kernel]}
        )
        return _with_dynamic_array(module, functions[kernel])

    def remarks(self, made: _Made) -> Iterator[Remark]:
        """Yield what was done, of every value that was demoted, and of those that are live at the peak and were not."""
        if made.demotion is None:
            yield limit_remark(self._settings, self._function, self._target, made.usage)
            return
        plan, room = made.demotion.plan, made.demotion.room
        a_warp = plan.stack.slots * SLOT_BYTES
        static = room.region.static_warps is not None
        facts = (
            ("slots", plan.stack.slots),
            ("static_shared_bytes", room.warps * a_warp if static else 0),
            (DYNAMIC_BYTES_PER_WARP, 0 if static else a_warp),
            ("slot_accesses", plan.stores + plan.loads),
            ("moves_at_calls", plan.stack.moves),
        )
        where = (
            f"{room.warps * a_warp} bytes of shared memory a block"
            if static
            else f"{a_warp} bytes a warp at the end of dynamic shared memory"
        )
        how = "volatile " if made.demotion.volatile else ""
        now = made.usage.registers_per_thread
        text = (
            f".maxnreg {self._target}: {self._registers} registers to {now}, {made.spilled} bytes of spills; "
            f"{plan.values} values in {plan.stack.slots} slots, {where}, "
            f"{plan.stores} {how}stores and {plan.loads} {how}loads"
        )
        yield self._remark(text, made, facts)
        for name in plan.framed:
            yield from self._of_calls(name, made.demotion)
        for name, of in plan.of.items():
            yield from self._of_values(made.demotion.planner, plan, name, of)
        for name, why in self._left_alone.items():
            text = f"values of '{name}', and of what it calls, stay in registers: {why}"
            yield self._settings.missed(self._function, None, text)

    def _of_calls(self, name: str, demotion: _Demotion) -> Iterator[Remark]:
        """Yield what is moved at each call of a function that has a frame."""
        flow = demotion.planner.planners[name].analyses.flow
        placed = demotion.plan.stack.placed[name]
        for step, moves in placed.moves.items():
            call = flow.steps[step].instruction
            text = (
                f"the slots of '{callee_of(call)}' begin at {placed.bases[step]}: "
                f"{_counted(len(moves), 'word')} moved before the call, and back behind it"
            )
            yield self._settings.applied(flow.function, call, text)

    def _of_values(
        self, planner: ProgramPlanner, program: ProgramPlan, name: str, plan: Plan
    ) -> Iterator[Remark]:
        own = planner.planners[name]
        flow, pressure = own.analyses.flow, own.pressure(planner.called(name, program.of))
        for value in plan.values:
            places = program.stack.placed[name].places
            slots = " and ".join(str(places[color]) for color in plan.slots.of[value.register.number])
            excess = _excess(value, pressure, plan.words)
            text = (
                f"{value.register.name} goes to slot {slots}: "
                f"{_counted(len(value.stores), 'store')} and {_counted(len(value.reloads), 'load')}, "
                f"{_counted(value.cost, 'word')} moved if loops go round {ROUNDS} times; its register is free before "
                f"{_counted(excess, 'instruction')} where more than {plan.words} words are live"
            )
            first = flow.steps[value.stores[0]].instruction
            yield self._settings.applied(flow.function, first, text)
        if plan.words > self._target:
            peak = max(range(len(pressure)), key=lambda step: pressure[step])
            live = own.analyses.liveness.before[peak]
            for number, why in own.values(0).why_not.items():
                register = flow.registers[number]
                if live >> number & 1 and register.words:
                    at = flow.steps[peak].instruction
                    text = f"{register.name} stays in a register over {shown(at)}: {why}"
                    yield self._settings.missed(flow.function, at, text)

    def _remark(self, text: str, made: _Made, facts: Sequence[tuple[str, int]]) -> Remark:
        known = (
            ("registers_per_thread", made.usage.registers_per_thread),
            ("spill_bytes", made.spilled),
            *facts,
        )
        return Remark(Kind.APPLIED, self._settings.name, self._function.symbol, None, text, known)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _excess(value: Value, pressure: Sequence[int], words: int) -> int:
    return sum(pressure[step] > words for stretch in value.relieved for step in range(*stretch))


def _with_dynamic_array(module: Module, kernel: Function) -> Module:
    """Declare the dynamic shared memory under the name by which the kernel knows it and the module does not."""
    steps = (each for each in kernel.body if isinstance(each, Instruction))
    names = (name for step in steps for operand in step.operands for name in operand.names)
    for name in dict.fromkeys(name for name in names if name.startswith(DYNAMIC)):
        if name not in module.names:
            module = module.with_variable(name, f".extern .shared .align 4 .b8 {name}[];")
    return module
