"""Concrete runs of the references of a nest over small parameters: the source of witnesses.

In: a nest.  Out: for each small choice of parameters, every element that every reference touches, evaluated
exactly as C does.  References under guards that depend on data are left out, so that whatever is found is real.
Example: ``a[i] = a[n-1-i]`` at n = 4 touches ``a[0]`` at i = 0 (written) and at i = 3 (read).

Each reference becomes one Python function of nested loops; ~10^6 evaluations a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, Protocol, assert_never

from msgspec import Struct

from comprehensive.loops.access import Access, SerialLoop, accesses
from comprehensive.loops.ir import Loop, Nest, Role
from comprehensive.metafork.ast import (
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    FloatLiteral,
    Index,
    IntLiteral,
    Name,
    Unary,
)
from comprehensive.metafork.c_integers import divided, remainder
from comprehensive.poly.indices import scope_of
from comprehensive.poly.memo import remembered
from comprehensive.poly.unsigned import unsigned_bits

Point = Mapping[str, int]


class TooLongError(Exception):
    """A loop runs longer than a search may take."""


class Run(Protocol):
    """Runs a reference; of each loop the turns that ``of`` leaves are done."""

    def __call__(
        self, point: Point, budget: int, of: Callable[[range], Sequence[int]] = ...
    ) -> list[tuple[tuple[int, ...], tuple[int, ...]]]: ...


class Runner(Struct, frozen=True):
    """A reference that can be evaluated: ``run(point, budget)`` yields ``(iteration, subscripts)`` pairs."""

    access: Access
    iterators: tuple[str, ...]
    """Grid, serial loops around the band, threads, serial loops inside: the order of an iteration tuple."""
    run: Run
    supposed: bool = False
    """Whether the subscripts depend on data, for which values are supposed."""


class NotEvaluableError(Exception):
    """An expression that reads data, or names that have no value before the loop runs."""


class Suppose(Protocol):
    """Values for data that subscripts read."""

    def text(self, names: frozenset[str]) -> Callable[[Expr], str]:
        """Return ``unknown`` of :func:`python_text` for what these names give values: calls of ``_data``."""
        ...

    def value(self, array: str, subscripts: tuple[int, ...]) -> int:
        """Return the value that ``_data`` gives for an element."""
        ...


_SCOPE: dict[str, Any] = {
    "_div": divided,
    "_mod": remainder,
    "_long": TooLongError,
    "range": range,
    "len": len,
}


def _refused(expr: Expr) -> str:
    raise NotEvaluableError(type(expr).__name__)


def python_text(expr: Expr, names: frozenset[str], unknown: Callable[[Expr], str] = _refused) -> str:
    """The expression in Python with C's meaning on integers.

    ``unknown`` gives the text of a part that reads data or unknown names; unless given, it raises NotEvaluableError.
    """

    def text(part: Expr) -> str:
        return python_text(part, names, unknown)

    match expr:
        case IntLiteral():
            return f"({expr.value})"
        case Name():
            return f"v_{expr.identifier}" if expr.identifier in names else unknown(expr)
        case Unary(operator="!"):
            return f"int(not {text(expr.operand)})"
        case Unary():
            return f"({expr.operator}{text(expr.operand)})"
        case Cast():
            if not expr.type.is_integer or expr.type.size_bytes < 4:
                return unknown(expr)
            return text(expr.operand)
        case Binary():
            left, right = text(expr.left), text(expr.right)
            match expr.operator:
                case "/":
                    return f"_div({left}, {right})"
                case "%":
                    return f"_mod({left}, {right})"
                case "&&":
                    return f"int(bool({left}) and bool({right}))"
                case "||":
                    return f"int(bool({left}) or bool({right}))"
                case "<" | "<=" | ">" | ">=" | "==" | "!=":
                    if (bits := unsigned_bits(expr)) is not None:
                        left, right = (f"({side} % {1 << bits})" for side in (left, right))
                    return f"int({left} {expr.operator} {right})"
                case _:
                    return f"({left} {expr.operator} {right})"
        case Conditional():
            return f"({text(expr.then)} if {text(expr.condition)} else {text(expr.otherwise)})"
        case Call(function="abs" | "min" | "max"):
            return f"{expr.function}({', '.join(text(a) for a in expr.arguments)})"
        case Index() | FloatLiteral() | Call():
            return unknown(expr)
        case _:
            assert_never(expr)


@remembered
def runners(nest: Nest) -> tuple[Runner, ...]:
    """The references of the nest that can be evaluated and surely happen when their guards hold."""
    found: list[Runner] = []
    for access in accesses(nest):
        if access.context.uncertain:
            continue
        try:
            found.append(runner(nest, access))
        except NotEvaluableError:
            continue
    return tuple(found)


def runner(nest: Nest, access: Access, suppose: Suppose | None = None) -> Runner:
    """The runs of one reference.  Raises NotEvaluableError.

    With ``suppose`` data has the values that this gives: conditions on data hold, and a loop whose range depends on
    data does one turn, in another place of the data for each thread.
    """
    grid, band = nest.grid, access.context.band
    threads = nest.bands[band].loops if band >= 0 else ()
    scalars = frozenset(s.name for s in nest.scalars if s.type.is_integer)
    tampered = scope_of(nest).tampered
    lines = ["def run(point, budget, of=_all):", "  found = []"]
    lines += [f"  v_{name} = point[{name!r}]" for name in sorted(scalars)]
    names = set(scalars)
    iterators: list[str] = []
    indent = "  "

    def enter(header: str, iterator: str) -> None:
        nonlocal indent
        lines.append(f"{indent}{header}")
        indent += "  "
        names.add(iterator)
        iterators.append(iterator)

    def parallel(loop: Loop) -> None:
        turns = f"range({python_text(loop.extent, frozenset(names))})"
        enter(f"for v_{loop.iterator} in of({turns}):", loop.iterator)

    def serial(loop: SerialLoop) -> None:
        here = frozenset(names)
        try:
            if loop.iterator in tampered:
                raise NotEvaluableError(loop.iterator)
            start, step = python_text(loop.start, here), python_text(loop.step, here)
            turns = f"of(_trips({start}, {loop.relation!r}, {python_text(loop.bound, here)}, {step}))"
        except NotEvaluableError:
            if suppose is None:
                raise
            turns = f"({' + '.join(f'v_{name}' for name in iterators) or '0'},)"
        enter(f"for v_{loop.iterator} in {turns}:", loop.iterator)

    for loop in grid:
        parallel(loop)
    for step in access.context.loops:
        if step.is_block:
            serial(step)
    for loop in threads:
        parallel(loop)
    for step in access.context.loops:
        if not step.is_block:
            serial(step)
    all_names = frozenset(names)
    for guard in access.context.guards:
        for condition in (guard,) if suppose is None else _conditions(guard, True):
            try:
                holds = python_text(condition, all_names)
            except NotEvaluableError:
                if suppose is None:
                    raise
                continue
            lines.append(f"{indent}if not {holds}: continue" if iterators else f"{indent}pass")
    unknown = _refused if suppose is None else suppose.text(all_names)
    subscripts = "".join(f"{python_text(s, all_names, unknown)}, " for s in access.subscripts)
    iteration = "".join(f"v_{name}, " for name in iterators)
    lines.append(f"{indent}found.append((({iteration}), ({subscripts})))")
    lines.append(f"{indent}if len(found) > budget: raise _long")
    lines.append("  return found")
    space = dict(_SCOPE, _trips=trips, _all=_all_turns)
    if suppose is not None:
        space["_data"] = suppose.value
    exec("\n".join(lines), space)
    return Runner(access, tuple(iterators), space["run"])


def _conditions(expr: Expr, wanted: bool) -> Iterator[Expr]:
    """Conditions that all hold where the expression is true, or, unless ``wanted``, false."""
    match expr:
        case Unary(operator="!"):
            yield from _conditions(expr.operand, not wanted)
        case Binary(operator="&&" | "||") if (expr.operator == "&&") == wanted:
            yield from _conditions(expr.left, wanted)
            yield from _conditions(expr.right, wanted)
        case _:
            yield expr if wanted else Unary("!", expr)


def _all_turns(turns: range) -> range:
    return turns


def ends(turns: range) -> Sequence[int]:
    """The first two turns of a loop and the last two."""
    return turns if len(turns) <= 4 else (*turns[:2], *turns[-2:])


def trips(start: int, relation: str, bound: int, step: int) -> range:
    """The values of a loop variable.  Raises TooLongError for a loop that runs away from its bound."""
    if step == 0:
        raise TooLongError
    match relation:
        case "<":
            stop = bound
        case "<=":
            stop = bound + 1
        case ">":
            stop = bound
        case ">=":
            stop = bound - 1
        case _:
            if (bound - start) % step or (bound - start) * step < 0:
                raise TooLongError
            stop = bound
    if (relation in ("<", "<=") and step < 0 and start < stop) or (
        relation in (">", ">=") and step > 0 and start > stop
    ):
        raise TooLongError
    return range(start, stop, step)


def arguments(nest: Nest, *, generous: bool) -> Iterator[Point]:
    """Small values of the integer arguments, host scalars left out.

    ``generous`` starts sizes of data at 0 and arguments at 0; otherwise at values that make loops run.
    """
    integers = [s for s in (*nest.scalars, *nest.state.scalars) if s.type.is_integer]
    program = [s.name for s in integers if s.role is Role.PROGRAM]
    data = [s.name for s in integers if s.role is Role.DATA]
    other = [s.name for s in integers if s.role is Role.SCALAR]
    sizes = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16) if generous else (8, 9, 5, 12, 16, 6, 4, 20, 3, 2)
    shapes = [(1,) * len(program), (2,) * len(program), (3,) * len(program)]
    shapes += [tuple(2 + (k + m) % 2 for k in range(len(program))) for m in (0, 1)]
    shapes += [tuple(1 + (k + m) % 3 for k in range(len(program))) for m in (0, 1, 2)]
    shapes = list(dict.fromkeys(shapes if generous else shapes[1:] + shapes[:1]))
    unequal = [tuple(size + (k * 3) % 4 for k in range(len(data))) for size in sizes[:4]]
    vectors = list(dict.fromkeys([(size,) * len(data) for size in sizes] + unequal))
    first = ((1, 0, 5) if generous else (5, 2, 1)) if other else (1,)
    amounts = [tuple(amount + k for k in range(len(other))) for amount in first]
    if len(other) > 1:
        amounts.append((3,) * len(other))
    for shape, vector, amount in product(shapes, vectors, amounts):
        point = dict(zip(program, shape, strict=True)) | dict(zip(data, vector, strict=True))
        yield point | dict(zip(other, amount, strict=True))


def evaluate(expr: Expr, point: Point) -> int:
    """The value of an integer expression over scalars, as C computes it."""
    compiled = _compiled(expr, frozenset(point))
    return int(
        eval(compiled, _SCOPE | {"abs": abs, "min": min, "max": max}, {f"v_{k}": v for k, v in point.items()})
    )


@lru_cache(maxsize=1024)
def _compiled(expr: Expr, names: frozenset[str]) -> Any:
    return compile(python_text(expr, names), "<nest>", "eval")
