"""Out of SSA, to be run beside the original: values get registers of their own, phis become copies on the ways to them.

In: an :class:`Ssa`.  Out: the function with another body::

    destructed(ssa).body        # .reg .b32 %ssa_b32_<41>; ... mov.b32 %ssa_b32_40, %ssa_b32_12; ...

The copies of one edge happen at once (swaps take one more register).  Where a block has several ways on, an edge to a
phi gets a block of its own behind the branch::

    @p bra L;   -->   @p bra E; (copies of falling through) bra.uni S; E: (copies) bra.uni L; S:
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from comprehensive.ptx.analysis.cfg import Block
from comprehensive.ptx.analysis.ssa import NONE, Ssa, is_vector_declaration
from comprehensive.ptx.flow import Flow, Step, role_of, roles_of
from comprehensive.ptx.module import Function, bytes_of
from comprehensive.ptx.opcodes import Role, opcode
from comprehensive.ptx.operands import Name, Not, Operand
from comprehensive.ptx.operands import renamed as with_names
from comprehensive.ptx.statements import MADE, Declaration, Directive, Instruction, Label, Statement

_JUMP = opcode("bra.uni")


def destructed(ssa: Ssa) -> Function:
    """The function with statements for the values of ``ssa``.

    >>> destructed(ssa).body[0]    # doctest: +SKIP
    Declaration(kind='.reg', text='.b32 %ssa_b32_<2>')
    """
    return _Writer(ssa).function()


class _Writer:
    def __init__(self, ssa: Ssa) -> None:
        self._ssa = ssa
        self._flow = ssa.cfg.flow
        taken = {register.name for register in self._flow.registers}
        taken |= {s.name for s in self._flow.function.body if isinstance(s, Label)}
        self._prefix = "ssa"
        while any(self._prefix in name for name in taken):
            self._prefix += "_"
        self._counts: dict[str, int] = {}
        self._types: dict[str, str] = {}
        self._labels = 0
        self._names = [
            register.name if register.number in ssa.fixed else "" for register in self._flow.registers
        ] + [""] * (len(ssa.values) - len(self._flow.registers))

    def function(self) -> Function:
        steps = self._flow.step_at
        ends = {block.end - 1: block for block in self._ssa.cfg.blocks if block.start < block.end}
        body: list[Statement] = []
        empty = self._ssa.cfg.blocks[0]
        if empty.start == empty.end:
            body += self._edge(empty, empty.successors[0]) if empty.successors else []
        for position, statement in enumerate(self._flow.function.body):
            match statement:
                case Declaration(".reg", _) if not is_vector_declaration(statement):
                    pass
                case Instruction():
                    number = steps[position]
                    body += self._step(number, ends.get(number))
                case _:
                    body.append(statement)
        families = sorted(self._counts.items())
        declared = [Declaration(".reg", f".{type_} %{self._prefix}_{type_}_<{n}>") for type_, n in families]
        return self._flow.function.with_body([*declared, *body])

    def _name(self, value: int) -> str:
        name = self._names[value]
        if not name:
            name = self._fresh(self._flow.registers[self._ssa.values[value].register].type)
            self._names[value] = name
        return name

    def _fresh(self, type_: str) -> str:
        number = self._counts.get(type_, 0)
        self._counts[type_] = number + 1
        name = f"%{self._prefix}_{type_}_{number}"
        self._types[name] = type_
        return name

    def _spare(self, name: str) -> str:
        return self._fresh(self._types[name])

    def _step(self, number: int, ending: Block | None) -> list[Statement]:
        step = self._flow.steps[number]
        instruction = self._renamed(number, step)
        before = self._kept(number, step)
        if ending is None or not any(self._ssa.phis[s] for s in ending.successors):
            return [*before, instruction]
        is_branch = bool(step.targets)
        if not ending.is_fork:
            copies = self._edge(ending, ending.successors[0])
            return [*before, *copies, instruction] if is_branch else [*before, instruction, *copies]
        return [*before, *self._fork(ending, step, instruction)]

    def _renamed(self, number: int, step: Step) -> Instruction:
        ssa = self._ssa
        guard = None if step.guard is None else self._name(ssa.guards[number])
        defines = [self._name(value) for value in ssa.defines[number]]
        uses = [self._name(value) for value in ssa.uses[number]]
        return renamed(self._flow, step, defines, uses, guard)

    def _kept(self, number: int, step: Step) -> list[Statement]:
        """Return copies for what stays where the guard is false, or what an operand reads and defines."""
        ssa = self._ssa
        before = dict(zip(ssa.defines[number], ssa.previous[number], strict=False))
        operands = step.instruction.operands
        roles = roles_of(step.instruction)
        both = {
            name.partition(".")[0]
            for operand, role in zip(operands, roles, strict=True)
            for name in operand.names
            if role_of(name, role) is Role.DEF_USE
        }
        if both:
            held = dict(zip(step.uses, ssa.uses[number], strict=True))
            for register, value in zip(step.defines, ssa.defines[number], strict=True):
                if self._flow.registers[register].name in both:
                    before[value] = held[register]
        return self._copies([(new, old) for new, old in before.items() if new != old])

    def _edge(self, block: Block, successor: int) -> list[Statement]:
        place = self._ssa.cfg.blocks[successor].predecessors.index(block.number)
        return self._copies([(phi.value, phi.arguments[place]) for phi in self._ssa.phis[successor]])

    def _copies(self, pairs: Sequence[tuple[int, int]]) -> list[Statement]:
        """Return the copies as statements, in an order that loses no value.

        What is undefined is not copied.
        """
        ssa = self._ssa
        wanted = [
            (self._name(to), self._name(from_))
            for to, from_ in pairs
            if from_ != NONE and (not ssa.is_entry(from_) or from_ in ssa.fixed)
        ]
        for value in {v for pair in pairs for v in pair if v in ssa.fixed}:
            self._types[self._name(value)] = self._flow.registers[value].type
        return [self._copy(to, from_) for to, from_ in in_sequence(wanted, self._spare)]

    def _copy(self, to: str, from_: str) -> Statement:
        type_ = self._types[to]
        code = "mov.pred" if type_ == "pred" else f"mov.b{8 * bytes_of(type_)}"
        return Instruction(opcode(code), (Name(to), Name(from_)))

    def _fork(self, block: Block, step: Step, instruction: Instruction) -> list[Statement]:
        """Each edge to a phi with its own copies; a block may be both fallen into and branched to."""
        cfg = self._ssa.cfg
        falls = step.guard is not None or not step.targets
        through: list[Statement] = []
        if falls and block.end < len(cfg.block_of):
            through = self._edge(block, cfg.block_of[block.end])
        landings: list[Statement] = []
        names: dict[str, str] = {}
        for name, target in self._targets(step):
            if target < len(cfg.block_of) and name not in names:
                copies = self._edge(block, cfg.block_of[target])
                if copies:
                    names[name] = self._label("edge")
                    landings += [Label(names[name]), *copies, Instruction(_JUMP, (Name(name),))]
        if not landings:
            return [instruction, *through]
        skip = self._label("skip")
        around: list[Statement] = [Instruction(_JUMP, (Name(skip),))] if falls else []
        return [*self._retargeted(instruction, names), *through, *around, *landings, Label(skip)]

    def _targets(self, step: Step) -> list[tuple[str, int]]:
        instruction = step.instruction
        roles = roles_of(instruction)
        for operand, role in zip(instruction.operands, roles, strict=True):
            if role in (Role.LABEL, Role.TARGETS) and step.targets:
                table = self._table(operand.names[0])
                names = table if table else operand.names
                return list(zip(names, step.targets, strict=True))
        return []

    def _table(self, label: str) -> tuple[str, ...]:
        for statement in self._flow.function.body:
            if isinstance(statement, Directive) and statement.label == label:
                return tuple(part.strip() for part in statement.text.split(","))
        return ()

    def _retargeted(self, instruction: Instruction, names: dict[str, str]) -> list[Statement]:
        roles = roles_of(instruction)
        before: list[Statement] = []
        operands = list(instruction.operands)
        for place, (operand, role) in enumerate(zip(instruction.operands, roles, strict=True)):
            if role not in (Role.LABEL, Role.TARGETS):
                continue
            table = self._table(operand.names[0])
            if table:
                label = self._label("table")
                text = ", ".join(names.get(name, name) for name in table)
                before.append(Directive(".branchtargets", text, label))
                operands[place] = Name(label)
            else:
                operands[place] = with_names(operand, lambda name: names.get(name, name))
        return [*before, instruction._replace(operands=tuple(operands))]

    def _label(self, kind: str) -> str:
        self._labels += 1
        return f"${self._prefix}_{kind}_{self._labels}"


def in_sequence(pairs: Sequence[tuple[str, str]], spare: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    """Return copies in an order that does what all at once do (Boissinot et al. 2009, algorithm 1).

    ``spare`` names a place that can hold what stands in the given one.
    """
    source = {to: from_ for to, from_ in pairs if to != from_}
    readers: dict[str, int] = {}
    for from_ in source.values():
        readers[from_] = readers.get(from_, 0) + 1
    found: list[tuple[str, str]] = []
    ready = [to for to in source if to not in readers]
    while source:
        if not ready:
            kept = next(iter(source))
            other = spare(kept)
            found.append((other, kept))
            for to, from_ in source.items():
                if from_ == kept:
                    source[to] = other
            readers[other] = readers.pop(kept)
            ready.append(kept)
        to = ready.pop()
        from_ = source.pop(to)
        found.append((to, from_))
        readers[from_] -= 1
        if not readers[from_]:
            del readers[from_]
            if from_ in source:
                ready.append(from_)
    return tuple(found)


def renamed(
    flow: Flow, step: Step, defines: Sequence[str], uses: Sequence[str], guard: str | None = None
) -> Instruction:
    """The step's instruction with new names, which are in the order of its registers; what is both defined and used
    by one operand takes the name of the definition."""
    instruction = step.instruction
    operands = instruction.operands
    roles = roles_of(instruction)
    places = _Places(flow, step, defines, uses)
    changed = tuple(
        operand if role in (Role.LABEL, Role.TARGETS) else places.operand(operand, role)
        for operand, role in zip(operands, roles, strict=True)
    )
    guarded = instruction.guard
    if guard is not None and guarded is not None:
        guarded = Not(Name(guard)) if isinstance(guarded, Not) else Name(guard)
    return Instruction(instruction.opcode, changed, guarded, MADE, MADE)


class _Places:
    """The names of a step come in the order in which :func:`flow_of` met them."""

    def __init__(self, flow: Flow, step: Step, defines: Sequence[str], uses: Sequence[str]) -> None:
        self._defines = self._pairs(flow, step.defines, defines)
        self._uses = self._pairs(flow, step.uses, uses)
        self._symbols = list(reversed(step.symbols))

    def _pairs(self, flow: Flow, registers: Sequence[int], names: Sequence[str]) -> list[tuple[str, str]]:
        found: Iterator[tuple[str, str]] = zip(
            (flow.registers[number].name for number in registers), names, strict=True
        )
        return list(found)[::-1]

    def operand(self, operand: Operand, role: Role) -> Operand:
        """Equal names of one operand are one register."""
        names: dict[str, str] = {}
        for name in operand.names:
            names[name] = self._new_name(name, role_of(name, role))
        return with_names(operand, lambda name: names.get(name, name)) if names else operand

    def _new_name(self, name: str, role: Role) -> str:
        if self._symbols and self._symbols[-1] == name and not self._is_next(name, role):
            return self._symbols.pop()
        # A part of a register is named behind it: %r1.b0.
        whole, dot, part = name.partition(".")
        new = whole
        if role is not Role.DEF and self._is_next(whole, Role.USE):
            new = self._uses.pop()[1]
        if role in (Role.DEF, Role.DEF_USE) and self._is_next(whole, Role.DEF):
            new = self._defines.pop()[1]
        return f"{new}{dot}{part}"

    def _is_next(self, name: str, role: Role) -> bool:
        pairs = self._defines if role is Role.DEF else self._uses
        return bool(pairs) and pairs[-1][0] == name
