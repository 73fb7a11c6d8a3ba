"""A body as analyses see it: names resolved, registers numbered, what each instruction defines and uses.

In: a :class:`Function`.  Out: a :class:`Flow`; a step is an instruction with the position of its statement::

    flow = flow_of(function)
    flow.steps[3].defines, flow.steps[3].uses      # (7,), (2, 5): numbers of registers
    flow.registers[7].name                         # "%r3"

Names have scopes, which ``{ }`` of inline assembly open: a name stands for the innermost register of that name, and a
label is known in its scope and in those within.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from comprehensive.diagnostics import CompileError, Span
from comprehensive.ptx.body import token_start
from comprehensive.ptx.module import Function, bytes_of
from comprehensive.ptx.opcodes import Role
from comprehensive.ptx.operands import SINK, Arguments, Expression, Name, Not, Operand
from comprehensive.ptx.special_registers import special_register
from comprehensive.ptx.statements import (
    MADE,
    Close,
    Declaration,
    Directive,
    Instruction,
    Label,
    Open,
    Statement,
)


@dataclass(frozen=True, slots=True)
class Register:
    """A register: ``type`` is as declared, which does not say what is in it.

    ``scope`` is 0 for the function's own.
    """

    number: int
    name: str
    type: str
    scope: int

    @property
    def words(self) -> int:
        """Registers of 32 bits that it takes; predicates have their own."""
        return 0 if self.type == "pred" else max(1, bytes_of(self.type) // 4)


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction; ``position`` is that of its statement in the body.

    With a guard definitions may not happen: what was in the register may stay.  ``targets`` are the steps that a branch
    may go to; ``symbols`` are names that are no registers.
    """

    position: int
    instruction: Instruction
    defines: tuple[int, ...]
    uses: tuple[int, ...]
    guard: int | None
    targets: tuple[int, ...]
    symbols: tuple[str, ...]

    @property
    def reads(self) -> tuple[int, ...]:
        """The registers that the step reads: its uses and the guard."""
        return self.uses if self.guard is None else (*self.uses, self.guard)


@dataclass(frozen=True)
class Flow:
    """A function with its names resolved.

    ``labels`` are steps by position of the label's statement; a label at the end is one step behind the last.

    ``free`` are names that the function does not declare, with the position of the statement that has one first: those
    of the module, if it is whole.
    """

    function: Function
    registers: tuple[Register, ...]
    steps: tuple[Step, ...]
    labels: Mapping[int, int]
    free: Mapping[str, int]

    @cached_property
    def names(self) -> Mapping[str, int]:
        """Numbers of the function's own registers."""
        return MappingProxyType({r.name: r.number for r in self.registers if r.scope == 0})

    @cached_property
    def definitions(self) -> Counter[int]:
        """The number of steps that define each register."""
        return Counter(register for step in self.steps for register in step.defines)

    @cached_property
    def step_at(self) -> Mapping[int, int]:
        """Steps by position of their statement."""
        return MappingProxyType({step.position: number for number, step in enumerate(self.steps)})


def roles_of(instruction: Instruction) -> tuple[Role, ...]:
    """Return the roles of an instruction's operands.

    For a call it matters whether there is a list of results.
    """
    code, operands = instruction.opcode, instruction.operands
    if code.base != "call":
        return code.roles(len(operands))
    return code.roles(len(operands), returns=bool(operands) and isinstance(operands[0], Arguments))


def role_of(name: str, role: Role) -> Role:
    """Return the role of a register within an operand.

    Where only a part is written (``v.x``), the other parts stay, so that all of it is read.
    """
    return Role.DEF_USE if role is Role.DEF and "." in name else role


def flow_of(function: Function) -> Flow:
    """Return the flow of a function.

    CompileError: CF1002 for a declaration that is not understood, CF1004 for a label that is there twice or
    not at all, CF1005 for an undeclared register.
    """
    known = function.results.get("flow")
    if known is None:
        known = function.results["flow"] = _resolved(function)
    return known


def _resolved(function: Function) -> Flow:
    scopes = _Scopes(function)
    steps: list[_Unresolved] = []
    labels: dict[int, int] = {}
    for position, statement in enumerate(function.body):
        match statement:
            case Instruction():
                steps.append(scopes.resolve(position, statement))
            case Label(name):
                labels[position] = len(steps)
                scopes.label(name, position, len(steps))
            case Directive(name, text, label) if label is not None:
                scopes.table(label, name, text)
            case Declaration(".reg", text):
                scopes.declare(text, position)
            case Declaration(_, text):
                scopes.variable(text, position)
            case Open():
                scopes.open()
            case Close():
                scopes.close()
            case _:
                pass
    found = tuple(step.finished(scopes) for step in steps)
    return Flow(
        function, tuple(scopes.registers), found, MappingProxyType(labels), MappingProxyType(scopes.free)
    )


@dataclass(slots=True)
class _Scope:
    number: int
    outer: _Scope | None
    registers: dict[str, int] = field(default_factory=dict[str, int])
    families: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    """``%r<5>``: how many, and of which type."""
    variables: set[str] = field(default_factory=set[str])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(frozen=True, slots=True)
class _Unresolved:
    """A step whose labels may stand further down."""

    step: Step
    scope: _Scope
    labels: tuple[str, ...]

    def finished(self, scopes: _Scopes) -> Step:
        if not self.labels:
            return self.step
        step = self.step
        targets = tuple(scopes.target(name, self.scope, step.position) for name in self.labels)
        return Step(
            step.position, step.instruction, step.defines, step.uses, step.guard, targets, step.symbols
        )


_FAMILY = re.compile(r"([%$\w]+?)\s*<\s*(\d{1,9})\s*>")
_MEMBER = re.compile(r"(.*?)(0|[1-9]\d{0,8})")
_SCALAR = re.compile(r"(?:\.v[248]\s*)?\.(\w+)\s+(.*)", re.DOTALL)
_REGISTER = re.compile(r"[A-Za-z_$%][\w$]*")
# `.align 4 .b8 tile[64], .u32 x = 3`: names and numbers that no operator keeps apart are two statements.
_VARIABLE = (
    r"\s*(?:\.align\s+\d+\s*|\.attribute\s*\([^;]*?\)\s*|\.\w+\s*)*"
    r"[A-Za-z_$%][\w$]*\s*(?:<\s*\d+\s*>\s*)?(?:\[[^\[\]]*\]\s*)*"
)
_VARIABLES = re.compile(rf"{_VARIABLE}(?:,{_VARIABLE})*(?:=.*)?", re.DOTALL)


class _Scopes:
    """The scopes around a statement: they say what names mean where it stands."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._scope = _Scope(0, None)
        self._count = 1
        self.free: dict[str, int] = {}
        self.registers: list[Register] = []
        for parameter in (*function.returns, *function.parameters):
            if parameter.is_register:
                self._new(self._scope, parameter.name, parameter.type)
            else:
                self._scope.variables.add(parameter.name)

    def open(self) -> None:
        self._scope = _Scope(self._count, self._scope)
        self._count += 1

    def close(self) -> None:
        self._scope = self._scope.outer or self._scope

    def declare(self, text: str, position: int) -> None:
        found = _SCALAR.fullmatch(text)
        if found is None:
            raise self._strange(position)
        for part in map(str.strip, found[2].split(",")):
            family = _FAMILY.fullmatch(part)
            if family:
                self._scope.families[family[1]] = (int(family[2]), found[1])
            elif _REGISTER.fullmatch(part):
                self._new(self._scope, part, found[1])
            else:
                raise self._strange(position)

    def variable(self, text: str, position: int) -> None:
        if _VARIABLES.fullmatch(text) is None:
            raise self._strange(position)
        head = text.split("=")[0]
        self._scope.variables.update(re.findall(r"(?<![.\w%$])[A-Za-z_$%][\w$]*", head))

    def table(self, label: str, name: str, text: str) -> None:
        if name == ".branchtargets":
            self._scope.tables[label] = tuple(part.strip() for part in text.split(","))
        self._scope.variables.add(label)

    def label(self, name: str, position: int, step: int) -> None:
        if name in self._scope.labels:
            raise self._error("CF1004", f"label '{name}' is there twice", position, "rename one of them")
        self._scope.labels[name] = step

    def target(self, name: str, scope: _Scope, position: int) -> int:
        for each in _outwards(scope):
            if name in each.labels:
                return each.labels[name]
        raise self._error("CF1004", f"there is no label '{name}'", position, "see that the file is whole")

    def resolve(self, position: int, instruction: Instruction) -> _Unresolved:
        defines: list[int] = []
        uses: list[int] = []
        symbols: list[str] = []
        labels: list[str] = []
        own = self._scope.registers
        for operand, role in zip(instruction.operands, roles_of(instruction), strict=True):
            if role is Role.LABEL or role is Role.TARGETS:
                labels += self._labels(operand)
                continue
            for name in operand.names:
                number = own.get(name)
                if number is None:
                    number = self._lookup(name)
                if number is None:
                    self._demand_symbol(name, position, operand)
                    symbols.append(name)
                elif role is Role.DEF and "." not in name:
                    defines.append(number)
                else:
                    # Where only a part of a register is defined, the other parts are read, see role_of.
                    if role is Role.DEF or role is Role.DEF_USE:
                        defines.append(number)
                    uses.append(number)
        guard = None if instruction.guard is None else self._guard(instruction.guard, position)
        step = Step(position, instruction, tuple(defines), tuple(uses), guard, (), tuple(symbols))
        return _Unresolved(step, self._scope, tuple(labels))

    def _labels(self, operand: Operand) -> Iterable[str]:
        for name in operand.names:
            for scope in _outwards(self._scope):
                if name in scope.tables:
                    yield from scope.tables[name]
                    break
            else:
                yield name

    def _guard(self, guard: Name | Not, position: int) -> int:
        (name,) = guard.names
        number = self._lookup(name)
        if number is None:
            raise self._undeclared(name, position)
        return number

    def _lookup(self, name: str) -> int | None:
        scope: _Scope | None = self._scope
        while scope is not None:
            found = scope.registers.get(name)
            if found is not None:
                return found
            if scope.families:
                member = _MEMBER.fullmatch(name)
                if member and member[1] in scope.families:
                    count, type_ = scope.families[member[1]]
                    if int(member[2]) < count:
                        return self._new(scope, name, type_)
            if name in scope.variables:
                return None
            scope = scope.outer
        whole, dot, _ = name.rpartition(".")  # a part of a register: %r1.b0, %v.x
        return self._lookup(whole) if dot and special_register(name) is None else None

    def _new(self, scope: _Scope, name: str, type_: str) -> int:
        number = scope.registers[name] = len(self.registers)
        self.registers.append(Register(number, name, type_, scope.number))
        return number

    def _demand_symbol(self, name: str, position: int, operand: Operand) -> None:
        """Names with a percent sign are registers, unless they are declared otherwise."""
        if special_register(name) is not None or name == SINK:
            return
        if any(name in scope.variables for scope in _outwards(self._scope)):
            return
        if name.startswith("%"):
            raise self._undeclared(name, position)
        # Of an expression also the words of its operators are among the names.
        if not isinstance(operand, Expression) and name != "WARP_SZ":
            self.free.setdefault(name, position)

    def _strange(self, position: int) -> CompileError:
        help = "see that the file is whole, and that ptxas accepts it"
        return self._error("CF1002", "this declaration is not understood", position, help)

    def _undeclared(self, name: str, position: int) -> CompileError:
        help = "declare it with .reg, or see that the file is whole"
        return self._error("CF1005", f"register '{name}' is not declared", position, help)

    def _error(self, code: str, message: str, position: int, help: str) -> CompileError:
        statement = self._function.body[position]
        return CompileError.of(code, message, span_of(self._function, statement), help=help)


def _outwards(scope: _Scope | None) -> Iterator[_Scope]:
    while scope is not None:
        yield scope
        scope = scope.outer


def span_of(function: Function, statement: Statement) -> Span | None:
    """Return where a statement stands, without what stands before it; None for one that a pass has made."""
    if statement.end == MADE:
        return None
    return Span(function.file, token_start(function.file, statement), statement.end)


def registers_in(operands: Sequence[Operand]) -> tuple[str, ...]:
    """All names in operands, in order."""
    return tuple(name for operand in operands for name in operand.names)
