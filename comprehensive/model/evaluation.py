"""Expressions of a kernel as functions that compute them for the threads of a block.

In: an expression.  Out: a function of the threads as they stand (:class:`Threads`) and of how often the code is done::

    Expressions(kernel).of(`threadIdx.x + 2*r`)(threads, times)   -->  [0, 1, .., 31] + 2 * the value of r

An expression is gone through once, however many turns of loops and blocks it is computed for; what depends on its types
alone is decided there.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Protocol, TypeAlias, assert_never

import numpy as np
from msgspec import Struct, field

from comprehensive.kernel_ir.kernel import (
    BLOCK_FIRST,
    BLOCK_STEPS,
    CONTRACTS,
    MULTIPLIES_BYTES,
    MULTIPLIES_HALVES,
    OPAQUE,
    Kernel,
    KernelStmt,
    SharedTile,
)
from comprehensive.loops.ir import AXES
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Declare,
    Expr,
    FloatLiteral,
    For,
    Index,
    IntLiteral,
    Name,
    Unary,
)
from comprehensive.metafork.walk import (
    all_statements_in,
    assigned_scalars,
    declared,
    statements_in,
    subexpressions,
)
from comprehensive.model.accesses import Mask
from comprehensive.model.depth import LOADED, Data, taken_for
from comprehensive.model.integers import HALF, calculate, is_unsigned, kept
from comprehensive.model.thread_values import Value, converted, merged, wide_unsigned_names

CUDA_NAMES = tuple(
    f"{base}.{axis}" for base in ("threadIdx", "blockIdx", "blockDim", "gridDim") for axis in AXES
)
"""The names that CUDA has for places and extents."""
Element: TypeAlias = tuple[str, tuple[int, ...]]
"""An element of a local array, as far as it is the same for all threads: other subscripts are -1."""


class Threads(Protocol):
    """The threads of a block where they stand: what expressions are computed from, and what counts them."""

    values: dict[str, Value]
    """Variables, and what CUDA has of the block."""
    registers: dict[Element, Data]
    """Elements of local arrays."""
    fixed: dict[int, Value]
    """The values of expressions that do not change while the block is gone through, by their identities."""

    def load(self, reference: Index, place: Value, times: float) -> Data:
        """Count a load of an element of memory and return what it is."""
        ...

    def operated(
        self, operator: str, left: tuple[Expr, Value], right: tuple[Expr, Value], times: float
    ) -> Data:
        """Count an operation on data and return what it is."""
        ...

    def called(self, function: str, values: Sequence[Value], times: float) -> Data:
        """Count a function and return what it is."""
        ...

    def own(self, times: float, *, stores: bool) -> None:
        """Count an access of an array that each thread has for itself, of which data decides the element."""
        ...

    def ways(self, held: Value) -> Iterator[tuple[Mask | None, bool]]:
        """The two ways of a condition with this value, for the threads that go them."""
        ...


Evaluate: TypeAlias = Callable[[Threads, float], Value]
FindElement: TypeAlias = Callable[[Threads, float, bool], Element]
"""The element that a reference to a local array is, to store it or else to read it."""
Combine: TypeAlias = Callable[[Threads, Value, Value, float], Value]
"""An operator: it makes one value of two."""


class Expressions(Struct, frozen=True, dict=True):
    """The expressions of a kernel as functions, each made when it is first asked for."""

    kernel: Kernel
    made: dict[int, tuple[Expr, Evaluate]] = field(default_factory=dict[int, "tuple[Expr, Evaluate]"])
    """The functions by the identity of the expression, which is kept so that no other one gets it."""
    _elements: dict[int, tuple[Index, FindElement]] = field(
        default_factory=dict[int, "tuple[Index, FindElement]"]
    )
    _alike: dict[int, tuple[For[KernelStmt], bool]] = field(
        default_factory=dict[int, "tuple[For[KernelStmt], bool]"]
    )

    def of(self, expression: Expr) -> Evaluate:
        """Return the function of an expression."""
        found = self.made.get(id(expression))
        if found is None:
            found = self.made[id(expression)] = (expression, self._function(expression))
        return found[1]

    def is_memory(self, array: str) -> bool:
        """Whether an array lies in memory, and not in registers."""
        return array in self.memory

    @cached_property
    def memory(self) -> frozenset[str]:
        """The arrays that lie in global or shared memory."""
        shared = (s.name for s in all_statements_in(self.kernel.body) if isinstance(s, SharedTile))
        return frozenset((*(p.name for p in self.kernel.parameters if p.pointer), *shared))

    @cached_property
    def fixed(self) -> frozenset[str]:
        """The names that keep their values while a block is gone through: parameters, and constants of the body."""
        statements = list(all_statements_in(self.kernel.body))
        declared_names = Counter(name for s in statements for name in declared(s))
        outside = (s.name for s in self.kernel.body if isinstance(s, Declare))
        changed = assigned_scalars(self.kernel.body) | {s.iterator for s in statements if isinstance(s, For)}
        constants = {name for name in outside if declared_names[name] == 1} - changed
        return frozenset(
            (*(p.name for p in self.kernel.parameters), *self.kernel.constants, *constants, *CUDA_NAMES)
        )

    def _is_fixed(self, expression: Expr) -> bool:
        """Whether an expression has one value for all that is done; a choice may have none for threads that rest."""
        parts = list(subexpressions(expression))
        is_computed = all(isinstance(e, Binary | Name | IntLiteral | Unary) for e in parts)
        return is_computed and all(e.identifier in self.fixed for e in parts if isinstance(e, Name))

    @cached_property
    def unsigned(self) -> frozenset[str]:
        """The scalars of unsigned types of 64 bits."""
        return wide_unsigned_names(self.kernel)

    def count_alike(self, loop: For[KernelStmt]) -> bool:
        """Whether turns access no memory and have no statement under a condition, so that they count alike."""
        found = self._alike.get(id(loop))
        if found is None:
            found = self._alike[id(loop)] = (loop, all(map(self._counts_alike, statements_in(loop.body))))
        return found[1]

    def _counts_alike(self, statement: KernelStmt) -> bool:
        match statement:
            case Declare(initial=initial):
                expressions = () if initial is None else (initial,)
            case Assign():
                expressions = (statement.target, statement.value)
            case For(unrolled=True):
                expressions = ()
            case _:
                return False
        read = (e for expression in expressions for e in subexpressions(expression))
        return not any(isinstance(e, Index) and self.is_memory(e.array) for e in read)

    def combine(self, written: Binary) -> Combine:
        """Return what the operator of an expression makes of the values of its operands."""
        symbol, left, right = written.operator, written.left, written.right
        unsigned = is_unsigned(written, self.unsigned)

        def combined(threads: Threads, one: Value, other: Value, times: float) -> Value:
            if isinstance(one, Data) or isinstance(other, Data):
                return threads.operated(symbol, (left, one), (right, other), times)
            return calculate(symbol, one, other, unsigned=unsigned)

        return combined

    def element(self, reference: Index) -> FindElement:
        """Return what tells the element of a local array, as far as it is the same for all threads."""
        known = self._elements.get(id(reference))
        if known is not None:
            return known[1]
        array, subscripts = reference.array, tuple(map(self.of, reference.subscripts))

        def found(threads: Threads, times: float, stores: bool) -> Element:
            places = tuple([subscript(threads, times) for subscript in subscripts])
            if all([type(place) is int for place in places]):
                return array, places
            if any(isinstance(place, Data) for place in places):
                threads.own(times, stores=stores)
            return array, tuple(place if isinstance(place, int) else -1 for place in places)

        self._elements[id(reference)] = (reference, found)
        return found

    def _function(self, expression: Expr) -> Evaluate:
        match expression:
            case Name(identifier=name):
                return lambda threads, _: threads.values.get(name, LOADED)
            case IntLiteral(value=value):
                return _constant(kept(value))
            case Binary():
                return self._binary(expression)
            case Index() if self.is_memory(expression.array):
                place = self.of(expression.subscripts[0])
                return lambda threads, times: threads.load(expression, place(threads, times), times)
            case Index():
                element = self.element(expression)
                return lambda threads, times: threads.registers.get(element(threads, times, False), LOADED)
            case FloatLiteral():
                return _constant(LOADED)
            case Unary():
                return self._unary(expression)
            case Conditional():
                return self._conditional(expression)
            case Cast(type=type):
                operand = self.of(expression.operand)
                return lambda threads, times: converted(type, operand(threads, times))
            case Call():
                return self._call(expression)
            case _:
                assert_never(expression)

    def _binary(self, expression: Binary) -> Evaluate:
        left, right, combined = self.of(expression.left), self.of(expression.right), self.combine(expression)
        is_unsigned_one = is_unsigned(expression, self.unsigned)
        of_integers = None if is_unsigned_one else _OF_INTEGERS.get(expression.operator)
        if of_integers is None:
            return lambda threads, times: combined(
                threads, left(threads, times), right(threads, times), times
            )
        of_arrays = _OF_ARRAYS.get(expression.operator)

        def found(threads: Threads, times: float) -> Value:
            one, other = left(threads, times), right(threads, times)
            kind, kind_of_other = one.__class__, other.__class__
            if kind is int and kind_of_other is int:
                value = of_integers(one, other)
                if -HALF <= value < HALF:
                    return value
            elif of_arrays is not None and kind in _INTEGERS and kind_of_other in _INTEGERS:
                return of_arrays(one, other)
            return combined(threads, one, other, times)

        if not self._is_fixed(expression):
            return found
        number = id(expression)

        def fixed(threads: Threads, times: float) -> Value:
            value = threads.fixed.get(number)
            if value is None:
                value = found(threads, times)
                if not isinstance(value, Data):
                    threads.fixed[number] = value
            return value

        return fixed

    def _unary(self, expression: Unary) -> Evaluate:
        operand, symbol = self.of(expression.operand), expression.operator

        def found(threads: Threads, times: float) -> Value:
            value = operand(threads, times)
            like = taken_for(value)
            result = None if like is None else calculate(symbol, 0, like)
            return Data(value.depth, result) if isinstance(value, Data) else result

        return found

    def _conditional(self, expression: Conditional) -> Evaluate:
        condition, then, otherwise = map(
            self.of, (expression.condition, expression.then, expression.otherwise)
        )

        def found(threads: Threads, times: float) -> Value:
            held = condition(threads, times)
            if type(held) is int:
                return (then if held else otherwise)(threads, times)
            chosen: Value = held if isinstance(held, Data) else None
            for mask, taken in threads.ways(held):
                value = (then if taken else otherwise)(threads, times)
                chosen = value if chosen is None else merged(mask, value, chosen)
            return LOADED if chosen is None else chosen

        return found

    def _call(self, expression: Call) -> Evaluate:
        function, arguments = expression.function, tuple(map(self.of, expression.arguments))
        if function in (CONTRACTS, MULTIPLIES_HALVES, MULTIPLIES_BYTES):
            return _constant(1)  # by default it does, and it is chosen where there are such cores
        if function in (OPAQUE, BLOCK_STEPS):  # a block is taken to do all steps
            return arguments[0]
        if function == BLOCK_FIRST:
            return _constant(0)
        return lambda threads, times: threads.called(function, [a(threads, times) for a in arguments], times)


@lru_cache(maxsize=64)
def expressions_of(kernel: Kernel) -> Expressions:
    """Return the expressions of a kernel, the same for all its blocks."""
    return Expressions(kernel)


def _constant(value: Value) -> Evaluate:
    return lambda _threads, _times: value


_OF_INTEGERS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "<": lambda left, right: 1 if left < right else 0,
    "<=": lambda left, right: 1 if left <= right else 0,
    ">": lambda left, right: 1 if left > right else 0,
    ">=": lambda left, right: 1 if left >= right else 0,
    "==": lambda left, right: 1 if left == right else 0,
    "!=": lambda left, right: 1 if left != right else 0,
    "/": lambda left, right: left // right if left >= 0 < right else calculate("/", left, right),
    "%": lambda left, right: left % right if left >= 0 < right else calculate("%", left, right),
}
"""The operators on two numbers that all threads have, which are most of what a block computes."""
_INTEGERS: frozenset[object] = frozenset((int, np.ndarray))
"""The types of what is computed, and is no data."""


def _divided(symbol: str, quick: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """A division of integers with a quick way for those without a sign."""

    def divided(left: Value, right: Value) -> Value:
        if type(right) is int and right > 0 and left.min() >= 0:
            return quick(left, right)
        return calculate(symbol, left, right)

    return divided


_OF_ARRAYS: Mapping[str, Callable[[Value, Value], Value]] = {
    **{symbol: _OF_INTEGERS[symbol] for symbol in ("+", "-", "*", "&", "|", "^")},
    "/": _divided("/", lambda left, right: left // right),
    "%": _divided("%", lambda left, right: left % right),
}
"""The operators on integers of which at least one is an array with one for each thread."""
