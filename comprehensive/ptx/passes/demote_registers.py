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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from comprehensive.machine.device import Device
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.build import ALONE, LEAST_REGISTERS, Build, tuning_of, with_cap
from comprehensive.ptx.module import Function, Module
from comprehensive.ptx.passes.demotion_choice import Strategy
from comprehensive.ptx.passes.demotion_code import DYNAMIC, SLOT_BYTES
from comprehensive.ptx.passes.demotion_memory import Room, call_obstacle, most_slots, rooms_of
from comprehensive.ptx.passes.demotion_plan import Plan, Planner
from comprehensive.ptx.passes.demotion_values import ROUNDS, Value
from comprehensive.ptx.passes.ptx_pass import FunctionPass, option, shown
from comprehensive.ptx.passes.register_cap import cliffs_below, is_register_count, limit_remark
from comprehensive.ptx.passes.remark import DYNAMIC_BYTES_PER_WARP, Kind, Remark
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
class DemoteRegisters(FunctionPass):
    name = "demote-registers"
    summary = (
        "values to shared memory where more are live than there are registers: --> st.shared ... ld.shared"
    )
    target: str = option(NEXT_CLIFF, "most registers, or next-cliff: those with which one more block fits")
    strategy: str = option("pressure", "what is demoted: pressure, static, liverange or conflicts")
    volatile: str = option("auto", "whether ptxas must keep every access: auto, true or false")
    dynamic: str = option("refuse", "allow: the launcher adds dynamic shared memory as remarks ask for")
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
        if self.calls < 3:
            raise ValueError("calls is 3 or more")

    def run(self, module: Module, build: Build = ALONE) -> tuple[Module, tuple[Remark, ...]]:
        after, remarks = super().run(module, build)
        changed = (new for name, new in after.functions.items() if new is not module.functions[name])
        return _with_dynamic_array(after, changed), remarks

    def rewrite(
        self, function: Function, module: Module, build: Build
    ) -> tuple[Function | None, tuple[Remark, ...]]:
        if not function.is_kernel:
            return None, ()
        search = _Search(self, function, module, build)
        made = search.demoted()
        if isinstance(made, str):
            return None, (self.missed(function, None, f"its registers stay: {made}"),)
        return made.function, tuple(search.remarks(made))


@dataclass(frozen=True)
class _Demotion:
    """What is demoted, and how."""

    planner: Planner
    room: Room
    plan: Plan
    volatile: bool


@dataclass(frozen=True)
class _Made:
    """A kernel with a limit of registers, what ptxas says of it, and what is demoted, nothing where that was enough."""

    function: Function
    usage: Usage
    demotion: _Demotion | None

    @property
    def spilled(self) -> int:
        return self.usage.spill_bytes


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

    def demoted(self) -> _Made | str:
        """Return the kernel, or why it stays as it is."""
        device = self._build.device(self._module)
        if self._build.assembler is None:
            return "there is no assembler to say how many it takes"
        if device is None:
            return f"'{self._module.target[0]}' is not known"
        why = call_obstacle(self._function, self._module)
        if why is not None:
            return why
        free = self._usage(self._function)
        if free is None:
            return "the assembler rejects the kernel as it is"
        self._registers = free.registers_per_thread
        target = self._target_of(free, device)
        if isinstance(target, str):
            return target
        self._target = target
        limited = with_cap(self._function, target)
        usage = self._usage(limited)
        if usage is None:
            return "the assembler rejects it with .maxnreg"
        if usage.registers_per_thread > target:
            return "its build does not heed .maxnreg"
        alone = _Made(limited, usage, None)
        if alone.spilled == 0:
            return alone
        analyses = Analyses(self._function, self._module)
        if any(register.name.startswith("%demoted") for register in analyses.flow.registers):
            return "some of its values were demoted before"
        rooms = rooms_of(
            analyses, self._module, self._build, free, device, dynamic=self._settings.dynamic == "allow"
        )
        if isinstance(rooms, str):
            return rooms
        words = max(1, int((target - _REGISTERS_BESIDE) / _REGISTERS_A_WORD))
        found: tuple[Room, Planner] | None = None
        for room in rooms:
            slots = self._most_slots(room, free, device)
            if slots:
                found = room, Planner(analyses, Strategy(self._settings.strategy), room.region, slots)
                if not found[1].plan(words).is_cut:
                    break
        if found is None:
            return "slots would leave no more blocks on a multiprocessor than registers do now"
        return self._best(alone, *found, words)

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

    def _best(self, alone: _Made, room: Room, planner: Planner, words: int) -> _Made | str:
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

    def _fewer_and_fewer(self, planner: Planner, words: int, calls: int) -> Iterator[Plan]:
        """Yield plans with fewer and fewer words live, as long as there is something more to demote."""
        last: Plan | None = None
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
        bare = demotion.planner.function(demotion.plan, volatile=demotion.volatile)
        function = with_cap(bare, self._target)
        usage = self._usage(function)
        if usage is None:
            return None
        self._stored_bytes = usage.spill_store_bytes
        return _Made(function, usage, demotion)

    def _usage(self, function: Function) -> Usage | None:
        self._calls += 1
        return self._build.usage(_with_dynamic_array(self._module, (function,)), function)

    def remarks(self, made: _Made) -> Iterator[Remark]:
        """Yield what was done, of every value that was demoted, and of those that are live at the peak and were not."""
        if made.demotion is None:
            yield limit_remark(self._settings, self._function, self._target, made.usage)
            return
        plan, room = made.demotion.plan, made.demotion.room
        a_warp = plan.slots.count * SLOT_BYTES
        static = room.region.static_warps is not None
        facts = (
            ("slots", plan.slots.count),
            ("static_shared_bytes", room.warps * a_warp if static else 0),
            (DYNAMIC_BYTES_PER_WARP, 0 if static else a_warp),
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
            f"{len(plan.values)} values in {plan.slots.count} slots, {where}, "
            f"{plan.stores} {how}stores and {plan.loads} {how}loads"
        )
        yield self._remark(text, made, facts)
        yield from self._of_values(made.demotion.planner, plan)

    def _of_values(self, planner: Planner, plan: Plan) -> Iterator[Remark]:
        flow = planner.analyses.flow
        for value in plan.values:
            slots = " and ".join(map(str, plan.slots.of[value.register.number]))
            excess = _excess(value, planner.pressure, plan.words)
            text = (
                f"{value.register.name} goes to slot {slots}: "
                f"{_counted(len(value.stores), 'store')} and {_counted(len(value.reloads), 'load')}, "
                f"{_counted(value.cost, 'word')} moved if loops go round {ROUNDS} times; its register is free before "
                f"{_counted(excess, 'instruction')} where more than {plan.words} words are live"
            )
            first = flow.steps[value.stores[0]].instruction
            yield self._settings.applied(self._function, first, text)
        if plan.words > self._target:
            peak = max(range(len(planner.pressure)), key=lambda step: planner.pressure[step])
            live = planner.analyses.liveness.before[peak]
            for number, why in planner.values(0).why_not.items():
                register = flow.registers[number]
                if live >> number & 1 and register.words:
                    at = flow.steps[peak].instruction
                    text = f"{register.name} stays in a register over {shown(at)}: {why}"
                    yield self._settings.missed(self._function, at, text)

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


def _with_dynamic_array(module: Module, functions: Iterable[Function]) -> Module:
    """Declare the dynamic shared memory under the names by which the functions know it and the module does not."""
    for function in functions:
        steps = (each for each in function.body if isinstance(each, Instruction))
        names = (name for step in steps for operand in step.operands for name in operand.names)
        for name in dict.fromkeys(name for name in names if name.startswith(DYNAMIC)):
            if name not in module.names:
                module = module.with_variable(name, f".extern .shared .align 4 .b8 {name}[];")
    return module
