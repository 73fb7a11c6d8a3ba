"""The oracle: every reference of a nest, evaluated iteration by iteration as C does, independent of the package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from comprehensive.loops.access import Access, SerialLoop, accesses
from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Binary, Conditional, Expr, IntLiteral, Name, Unary
from comprehensive.poly.model import Condition, Tile


@dataclass(frozen=True)
class Touch:
    access: Access
    grid: tuple[int, ...]
    steps: tuple[int, ...]
    threads: tuple[int, ...]
    serial: dict[str, int]
    element: tuple[int, ...]


def value(expr: Expr, point: Mapping[str, int]) -> int:
    match expr:
        case IntLiteral():
            return expr.value
        case Name():
            return point[expr.identifier]
        case Unary(operator="-"):
            return -value(expr.operand, point)
        case Unary(operator="!"):
            return int(not value(expr.operand, point))
        case Conditional():
            return value(expr.then if value(expr.condition, point) else expr.otherwise, point)
        case Binary(operator="&&"):
            return int(bool(value(expr.left, point)) and bool(value(expr.right, point)))
        case Binary(operator="||"):
            return int(bool(value(expr.left, point)) or bool(value(expr.right, point)))
        case Binary():
            left, right = value(expr.left, point), value(expr.right, point)
            match expr.operator:
                case "+":
                    return left + right
                case "-":
                    return left - right
                case "*":
                    return left * right
                case "/":
                    return int(left / right)
                case "%":
                    return left - right * int(left / right)
                case "&":
                    return left & right
                case "<":
                    return int(left < right)
                case "<=":
                    return int(left <= right)
                case ">":
                    return int(left > right)
                case ">=":
                    return int(left >= right)
                case "==":
                    return int(left == right)
                case _:
                    return int(left != right)
        case _:
            raise TypeError(expr)


def host(nest: Nest, point: Mapping[str, int]) -> dict[str, int]:
    """The point with the host scalars computed."""
    full = dict(point)
    for scalar in nest.scalars:
        if scalar.name not in full:
            assert scalar.value is not None
            full[scalar.name] = value(scalar.value, full)
    return full


def admissible(nest: Nest, point: Mapping[str, int]) -> bool:
    return all(value(c, point) for c in nest.preconditions)


def touches(nest: Nest, point: Mapping[str, int], *, guarded: bool = True) -> Iterator[Touch]:
    """All references in all iterations at a complete point, in those that no guard lets through, too, on demand."""
    for access in accesses(nest):
        band = nest.bands[access.context.band].loops
        steps = [s for s in access.context.loops if s.is_block]
        serial = [s for s in access.context.loops if not s.is_block]
        for grid in _boxes([g.iterator for g in nest.grid], [g.extent for g in nest.grid], point):
            for at_step in _serial(steps, {**point, **grid}):
                for thread in _boxes([t.iterator for t in band], [t.extent for t in band], point):
                    for here in _serial(serial, {**at_step, **thread}):
                        if not guarded or all(value(g, here) for g in access.context.guards):
                            yield Touch(
                                access,
                                tuple(grid.values()),
                                tuple(at_step[s.iterator] for s in steps),
                                tuple(thread.values()),
                                {s.iterator: here[s.iterator] for s in serial},
                                tuple(value(s, here) for s in access.subscripts),
                            )


def _boxes(names: list[str], extents: list[Expr], point: Mapping[str, int]) -> Iterator[dict[str, int]]:
    if not names:
        yield {}
        return
    for x in range(value(extents[0], point)):
        for rest in _boxes(names[1:], extents[1:], point):
            yield {names[0]: x, **rest}


def _serial(loops: list[SerialLoop], point: dict[str, int]) -> Iterator[dict[str, int]]:
    if not loops:
        yield point
        return
    first = loops[0]
    x, step = value(first.start, point), value(first.step, point)
    while value(Binary(first.relation, IntLiteral(x), first.bound), point):
        yield from _serial(loops[1:], {**point, first.iterator: x})
        x += step


def quotients(symbols: set[str], point: Mapping[str, int]) -> dict[str, int]:
    """Values of the symbols that are C divisions, from their text alone."""
    values: dict[str, int] = {}
    for symbol in symbols:
        if not symbol.isidentifier() and not symbol.startswith("@"):
            numerator, denominator = symbol.split(")/(")
            top = eval(numerator[1:], {}, dict(point))
            values[symbol] = int(top / eval(denominator[:-1], {}, dict(point)))
    return values


def holds(condition: Condition, point: Mapping[str, int]) -> bool:
    symbols = {s for piece in condition.pieces for c in piece for s in c.polynomial.symbols}
    full = {**point, **quotients(symbols, point)}
    return any(
        all(
            (c.polynomial.evaluate(full) == 0 if c.equality else c.polynomial.evaluate(full) >= 0)
            for c in piece
        )
        for piece in condition.pieces
    )


def elements_of(tile: Tile, point: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    """The virtual coordinates of all elements of a tile at a point that gives scalars and fixed iterators."""
    symbols = {s for p in (*tile.origin, *tile.extent, *tile.stride) for s in p.symbols}
    full = {**point, **quotients(symbols, point)}

    def walk(k: int) -> Iterator[tuple[int, ...]]:
        if k == len(tile.origin):
            yield ()
            return
        origin, stride = tile.origin[k].evaluate(full), tile.stride[k].evaluate(full)
        for x in range(int(tile.extent[k].evaluate(full))):
            for rest in walk(k + 1):
                yield (int(origin + stride * x), *rest)

    return walk(0)


def subscripts(tile: Tile, element: tuple[int, ...], point: Mapping[str, int]) -> tuple[int, ...]:
    """The C subscripts of a virtual element."""
    return tuple(
        int(sum(weight.evaluate(point) * x for weight, x in zip(row, element, strict=True)))
        for row in tile.weights
    )
