"""A kernel as three-address code over virtual registers: kernel IR in, a control-flow graph out.

Every register has a width in 32-bit words: 1 for ``int`` and ``float``, 2 for ``long``, ``double`` and addresses of
global memory, 0 for what ptxas keeps elsewhere: comparisons (predicates) and integers that are equal in a warp
(uniform registers).  Kernel parameters are operands in constant memory and cost nothing.  Example: in
``x = a[i*n + j]`` the product, the sum and the address are one register each, of 1, 1 and 2 words.

Equal pure expressions share a register where the first dominates the second, as in any optimizing compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, assert_never

from msgspec import Struct, field

from comprehensive.kernel_ir.kernel import Barrier, Comment, Kernel, KernelStmt, OfTiles, SharedTile
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    If,
    Index,
    IntLiteral,
    MetaFor,
    Name,
    ScalarType,
    Unary,
    While,
)
from comprehensive.metafork.functions import MATH
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.metafork.terms import value_left
from comprehensive.metafork.walk import assigned_scalars, statements_in

ADDRESS_WORDS = 2
"""A global address has 64 bits; a shared one has 32."""
_PREDICATES = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))


class Instruction(Struct, frozen=True):
    """An instruction: the registers that it writes and reads."""

    writes: tuple[int, ...]
    reads: tuple[int, ...]


class BasicBlock(Struct, frozen=True):
    instructions: tuple[Instruction, ...]
    successors: tuple[int, ...]


class ThreeAddressCode(Struct, frozen=True):
    """Blocks, the first one is the entry; ``words[r]`` is the width of register r."""

    blocks: tuple[BasicBlock, ...]
    words: tuple[int, ...]


def three_address(kernel: Kernel) -> ThreeAddressCode:
    """The code of one thread of a kernel."""
    builder = _Builder(kernel)
    builder.body(kernel.body)
    return builder.finish()


class _Value(Struct, frozen=True):
    """The result of an expression: a register, or None for a constant or a parameter."""

    register: int | None
    type: ScalarType
    uniform: bool
    key: object
    """Equal for equal values."""


class _OpenBlock(Struct):
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    successors: list[int] = field(default_factory=list[int])


class _Variable(Struct, frozen=True):
    register: int
    type: ScalarType
    uniform: bool


class _Pointer(Struct, frozen=True):
    """The pointer that an array name stands for; an address into it has ``words`` words."""

    type: ScalarType
    words: int
    const: bool


_Known: TypeAlias = dict[object, _Value]
_Action: TypeAlias = Callable[[], None]
_Body: TypeAlias = tuple[KernelStmt, ...]


class _Builder:
    def __init__(self, kernel: Kernel) -> None:
        self._blocks: list[_OpenBlock] = [_OpenBlock()]
        self._current = 0
        self._words: list[int] = []
        self._known: _Known = {}
        self._versions: dict[str, int] = {}
        self._variables: dict[str, _Variable] = {}
        self._parameters = {p.name: p.type for p in kernel.parameters if not p.pointer}
        self._pointers = {
            p.name: _Pointer(p.type, ADDRESS_WORDS, p.const) for p in kernel.parameters if p.pointer
        }
        self._loops: list[tuple[int, int]] = []
        """(block of ``continue``, block of ``break``) of the loops around the place."""
        self._assigned = _assigned(kernel.body)

    def finish(self) -> ThreeAddressCode:
        blocks = (BasicBlock(tuple(b.instructions), tuple(b.successors)) for b in self._blocks)
        return ThreeAddressCode(tuple(blocks), tuple(self._words))

    # --- blocks and registers

    def _new_block(self) -> int:
        self._blocks.append(_OpenBlock())
        return len(self._blocks) - 1

    def _jump(self, *targets: int) -> None:
        self._blocks[self._current].successors += targets

    def _register(self, type: ScalarType, uniform: bool, words: int | None = None) -> int:
        width = max(1, type.size_bytes // 4) if words is None else words
        self._words.append(0 if uniform and type.is_integer else width)
        return len(self._words) - 1

    def _emit(self, register: int | None, operands: Iterable[_Value]) -> None:
        reads = tuple(v.register for v in operands if v.register is not None)
        writes = () if register is None else (register,)
        self._blocks[self._current].instructions.append(Instruction(writes, reads))

    def _compute(
        self, key: object, operands: tuple[_Value, ...], type: ScalarType, words: int | None = None
    ) -> _Value:
        """The value of a pure operation, computed once in the scope."""
        known = self._known.get(key)
        if known is not None:
            return known
        uniform = all(v.uniform for v in operands) and type.is_integer
        register = self._register(type, uniform, words)
        self._emit(register, operands)
        value = _Value(register, type, uniform, key)
        self._known[key] = value
        return value

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._versions[name] = self._versions.get(name, 0) + 1

    # --- control flow

    def _if(self, condition: Expr, then: _Body, otherwise: _Body) -> None:
        self._emit(None, (self.value(condition),))
        start, known, after = self._current, self._known, self._new_block()
        ends: list[int] = []
        for branch in (then, otherwise):
            if not branch:
                ends.append(start)
                continue
            block = self._new_block()
            self._blocks[start].successors.append(block)
            self._current, self._known = block, dict(known)
            self.body(branch)
            ends.append(self._current)
        for end in ends:
            self._blocks[end].successors.append(after)
        self._forget(sorted(_assigned(then) | _assigned(otherwise)))
        self._current, self._known = after, known

    def _for(self, loop: For[KernelStmt]) -> None:
        start = self.value(loop.start)
        assigned = _assigned(loop.body)
        if loop.type is not None:
            bounds = (start, self.value(loop.bound), self.value(loop.step))
            uniform = all(v.uniform for v in bounds) and loop.iterator not in assigned
            self._declare(loop.iterator, loop.type, uniform)
        self._assign(loop.iterator, start)
        step = Binary("+", Name(loop.iterator), loop.step)

        def test() -> None:
            self._emit(None, (self.value(Binary(loop.relation, Name(loop.iterator), loop.bound)),))

        def advance() -> None:
            self._assign(loop.iterator, self.value(step))

        self._loop(test, loop.body, advance, assigned | {loop.iterator})

    def _loop(
        self,
        test: _Action,
        body: _Body,
        advance: _Action,
        assigned: frozenset[str],
    ) -> None:
        known = self._known
        head, inside, latch, after = (self._new_block() for _ in range(4))
        self._forget(sorted(assigned))
        self._jump(head)
        self._current, self._known = head, dict(known)
        test()
        self._jump(inside, after)
        self._current = inside
        self._loops.append((latch, after))
        self.body(body)
        self._loops.pop()
        self._jump(latch)
        self._current = latch
        advance()
        self._jump(head)
        self._forget(sorted(assigned))
        self._current, self._known = after, known

    # --- statements

    def body(self, body: _Body) -> None:
        for statement in body:
            match statement:
                case Declare():
                    self._declaration(statement)
                case Assign():
                    self._assignment(statement)
                case If():
                    self._if(statement.condition, statement.then, statement.otherwise)
                case For():
                    self._for(statement)
                case While() | DoWhile():
                    condition = statement.condition
                    self._loop(
                        lambda condition=condition: self._emit(None, (self.value(condition),)),
                        statement.body,
                        lambda: None,
                        _assigned(statement.body),
                    )
                case Block():
                    self.body(statement.body)
                case Break() | Continue():
                    target = self._loops[-1][isinstance(statement, Break)]
                    self._jump(target)
                    self._current = self._new_block()  # what follows is not reached
                case Barrier():
                    self._forget(("",))
                case Comment():
                    pass
                case SharedTile():
                    self._pointers[statement.name] = _Pointer(statement.type, 1, False)
                case OfTiles():
                    raise ValueError("kernels over register tiles have a model of their own")
                case MetaFor():
                    raise ValueError("a meta_for in a kernel")
                case _:
                    assert_never(statement)

    def _declaration(self, statement: Declare) -> None:
        if statement.dims:
            self._pointers[statement.name] = _Pointer(statement.type, 1, False)
            return
        if statement.initial is None:
            self._declare(statement.name, statement.type, False)
            return
        value = self.value(statement.initial)
        if statement.name not in self._assigned and value.type is statement.type:
            # A scalar with one definition is another name of its value.
            self._known["name", statement.name] = value
            return
        uniform = value.uniform and statement.name not in self._assigned
        self._declare(statement.name, statement.type, uniform)
        self._assign(statement.name, value)

    def _declare(self, name: str, type: ScalarType, uniform: bool) -> None:
        self._variables[name] = _Variable(self._register(type, uniform), type, uniform)
        self._forget((name,))

    def _assign(self, name: str, value: _Value) -> None:
        self._emit(self._variables[name].register, (value,))
        self._forget((name,))

    def _assignment(self, statement: Assign) -> None:
        target = statement.target
        if isinstance(target, Name):
            if target.identifier not in self._variables:
                raise ValueError(f"{target.identifier!r} is assigned and not declared")
            self._assign(target.identifier, self.value(value_left(statement)))
            return
        value = self.value(statement.value)
        if statement.operator != "=" and not statement.atomic:
            old = self.value(target)
            value = self._compute(
                (statement.operator, old.key, value.key), (old, value), common_type(old.type, value.type)
            )
        self._emit(None, (*self._address(target), value))
        self._forget(("", target.array))

    # --- expressions

    def value(self, expr: Expr) -> _Value:
        match expr:
            case IntLiteral() | FloatLiteral():
                text = expr.value if isinstance(expr, IntLiteral) else expr.text
                return _Value(None, expr.type, True, ("literal", text, expr.type))
            case Name():
                return self._name(expr.identifier)
            case Index():
                pointer = self._pointers[expr.array]
                address = self._address(expr)
                version = (
                    0 if pointer.const else (self._versions.get(expr.array, 0), self._versions.get("", 0))
                )
                loaded = self._compute(
                    ("load", expr.array, *(v.key for v in address), version), address, pointer.type
                )
                return self._as_vector(loaded)
            case Unary():
                operand = self.value(expr.operand)
                type = ScalarType.INT if expr.operator == "!" else promote(operand.type)
                words = 0 if expr.operator == "!" else None
                return self._compute((expr.operator, operand.key), (operand,), type, words)
            case Binary():
                left, right = self.value(expr.left), self.value(expr.right)
                operands = left, right
                if expr.operator in _PREDICATES:
                    return self._compute((expr.operator, left.key, right.key), operands, ScalarType.INT, 0)
                type = (
                    promote(left.type)
                    if expr.operator in ("<<", ">>")
                    else common_type(left.type, right.type)
                )
                return self._compute((expr.operator, left.key, right.key), operands, type)
            case Conditional():
                parts = self.value(expr.condition), self.value(expr.then), self.value(expr.otherwise)
                type = common_type(parts[1].type, parts[2].type)
                return self._compute(("?", *(v.key for v in parts)), parts, type)
            case Cast():
                operand = self.value(expr.operand)
                if operand.type is expr.type:
                    return operand
                return self._compute(("cast", expr.type, operand.key), (operand,), expr.type)
            case Call():
                arguments = tuple(self.value(a) for a in expr.arguments)
                key = (expr.function, *(v.key for v in arguments))
                return self._compute(key, arguments, MATH[expr.function].result)
            case _:
                assert_never(expr)

    def _name(self, name: str) -> _Value:
        alias = self._known.get(("name", name))
        if alias is not None:
            return alias
        variable = self._variables.get(name)
        if variable is not None:
            key = ("variable", name, self._versions.get(name, 0))
            return _Value(variable.register, variable.type, variable.uniform, key)
        if name in self._parameters:
            return _Value(None, self._parameters[name], True, ("parameter", name))
        # Anything else is a special register of the hardware; those of the thread differ within a warp.
        if name.startswith("threadIdx"):
            value = self._compute(("special", name), (), ScalarType.INT)
            self._words[_register_of(value)] = 1
            return _Value(value.register, value.type, False, value.key)
        return _Value(None, ScalarType.INT, True, ("special", name))

    def _as_vector(self, loaded: _Value) -> _Value:
        """Return a loaded value as one that is not uniform: memory never loads into a uniform register."""
        register = _register_of(loaded)
        self._words[register] = max(1, loaded.type.size_bytes // 4)
        return _Value(register, loaded.type, False, loaded.key)

    def _address(self, index: Index) -> tuple[_Value, ...]:
        """The registers of an address; a literal that is added stands in the instruction."""
        pointer = self._pointers[index.array]
        parts: list[_Value] = []
        for subscript in index.subscripts:
            offset = self.value(_without_literal(subscript))
            if offset.register is not None:
                words = 0 if offset.uniform else pointer.words
                parts.append(
                    self._compute(("address", index.array, offset.key), (offset,), ScalarType.LONG, words)
                )
        return tuple(parts)


def _register_of(value: _Value) -> int:
    assert value.register is not None
    return value.register


def _without_literal(expr: Expr) -> Expr:
    match expr:
        case Binary(operator="+" | "-", right=IntLiteral()):
            return _without_literal(expr.left)
        case Binary(operator="+", left=IntLiteral()):
            return _without_literal(expr.right)
        case _:
            return expr


def _assigned(body: _Body) -> frozenset[str]:
    """Scalars assigned after their declaration, and "" where memory is written."""
    writes = any(
        isinstance(s, Barrier) or (isinstance(s, Assign) and isinstance(s.target, Index))
        for s in statements_in(body)
    )
    return assigned_scalars(body) | frozenset[str](("",) if writes else ())
