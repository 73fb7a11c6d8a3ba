"""Nests for tests, built by hand from small texts: expressions in the part of C that Python shares."""

from __future__ import annotations

import ast

from comprehensive.loops.ir import Array, BlockStmt, Loop, Nest, Role, Scalar, Threads
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Conditional,
    Declare,
    Expr,
    FloatLiteral,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
)

_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.And: "&&", ast.Or: "||",
    ast.Not: "!", ast.USub: "-", ast.LShift: "<<", ast.BitAnd: "&",
}  # fmt: skip


def expr(text: str) -> Expr:
    """A C expression; ``and or not`` for ``&& || !``, ``x if c else y`` for ``c ? x : y``."""
    return _convert(ast.parse(text.strip(), mode="eval").body)


def _convert(node: ast.expr) -> Expr:
    match node:
        case ast.Constant(value=int(value)):
            return IntLiteral(value)
        case ast.Constant(value=float(value)):
            return FloatLiteral(str(value), ScalarType.FLOAT)
        case ast.Name():
            return Name(node.id)
        case ast.BinOp():
            return Binary(_OPERATORS[type(node.op)], _convert(node.left), _convert(node.right))
        case ast.UnaryOp():
            return Unary(_OPERATORS[type(node.op)], _convert(node.operand))
        case ast.Compare(ops=[operator], comparators=[right]):
            return Binary(_OPERATORS[type(operator)], _convert(node.left), _convert(right))
        case ast.BoolOp():
            result = _convert(node.values[0])
            for value in node.values[1:]:
                result = Binary(_OPERATORS[type(node.op)], result, _convert(value))
            return result
        case ast.IfExp():
            return Conditional(_convert(node.test), _convert(node.body), _convert(node.orelse))
        case ast.Subscript():
            subscripts: list[Expr] = []
            inner: ast.expr = node
            while isinstance(inner, ast.Subscript):
                subscripts.insert(0, _convert(inner.slice))
                inner = inner.value
            assert isinstance(inner, ast.Name)
            return Index(inner.id, tuple(subscripts))
        case _:
            raise ValueError(ast.dump(node))


def assign(text: str) -> Assign:
    """``c[i] = e`` or ``c[i] += e``."""
    operator = "+=" if "+=" in text else "="
    target, value = text.split(operator, 1)
    converted = expr(target)
    assert isinstance(converted, Name | Index)
    return Assign(converted, operator, expr(value))


def let(name: str, value: str) -> Declare:
    return Declare(ScalarType.INT, name, (), expr(value))


def when(condition: str, *body: Stmt, otherwise: tuple[Stmt, ...] = ()) -> If:
    return If(expr(condition), body, otherwise)


def loop(header: str, *body: Stmt) -> For:
    """``k from 0 to n`` or ``k from a to b by c``."""
    iterator, start, bound, step = _header(header)
    return For(ScalarType.INT, iterator, expr(start), "<", expr(bound), expr(step), body)


def step(header: str, *body: BlockStmt) -> For[BlockStmt]:
    iterator, start, bound, by = _header(header)
    return For(ScalarType.INT, iterator, expr(start), "<", expr(bound), expr(by), body)


def block_when(condition: str, *body: BlockStmt) -> If[BlockStmt]:
    return If(expr(condition), body)


def _header(header: str) -> tuple[str, str, str, str]:
    iterator, rest = header.split(" from ")
    start, rest = rest.split(" to ")
    bound, _, by = rest.partition(" by ")
    return iterator, start, bound, by or "1"


def threads(loops: str, *body: Stmt) -> Threads:
    return Threads(_loops(loops), body)


def _loops(text: str) -> tuple[Loop, ...]:
    pairs = [part.split("<") for part in text.split(";")]
    return tuple(Loop(iterator.strip(), expr(extent)) for iterator, extent in pairs)


def nest(
    *body: BlockStmt,
    grid: str,
    arrays: dict[str, str | None],
    data: str = "",
    program: str = "",
    scalar: str = "",
    host: dict[str, str | None] | None = None,
    given: tuple[str, ...] = (),
    cached: tuple[str, ...] = (),
) -> Nest:
    """A nest; ``arrays`` maps a name to its extents (``"n; m"``) or None behind a pointer."""
    scalars = [Scalar(n, ScalarType.INT, Role.DATA) for n in data.split()]
    scalars += [Scalar(n, ScalarType.INT, Role.PROGRAM) for n in program.split()]
    scalars += [Scalar(n, ScalarType.INT, Role.SCALAR) for n in scalar.split()]
    for name, value in (host or {}).items():
        scalars.append(Scalar(name, ScalarType.INT, Role.HOST, None if value is None else expr(value)))
    declared = tuple(
        Array(n, ScalarType.FLOAT, None if dims is None else tuple(expr(d) for d in dims.split(";")))
        for n, dims in arrays.items()
    )
    return Nest("test", tuple(scalars), declared, tuple(map(expr, given)), _loops(grid), body, cached)


# --- the programs of the paper ---------------------------------------------------------------------------------


def jacobi(*, s: bool = True, odd: bool = True, whole: bool = False) -> Nest:
    """Figure 7, one parity cell (or both with ``whole``)."""
    p = "i*s*B + k*B + j" if s else "i*B + j"
    one = assign("a[p + 1] = (a[N + p] + a[N + p + 1] + a[N + p + 2])/3")
    two = assign("a[N + p + 1] = (a[p] + a[p + 1] + a[p + 2])/3")
    cell: Stmt = one if odd else two
    if whole:
        cell = when("t % 2", one, otherwise=(two,))
    inner: tuple[Stmt, ...] = (let("p", p), cell)
    return nest(
        threads("j < B", *((loop("k from 0 to s", *inner),) if s else inner)),
        grid="i < dim",
        arrays={"a": "2*N"},
        data="N",
        program="s B" if s else "B",
        host={"dim": "(N - 2)/(s*B)" if s else "(N - 2)/B", "t": None},
        cached=("a",),
    )


def jacobi_scaled() -> Nest:
    """Figure 7 after granularity reduction: the grid is scaled, not recomputed."""
    return nest(
        threads(
            "j < B", let("p", "i*B + j"), assign("a[p + 1] = (a[N + p] + a[N + p + 1] + a[N + p + 2])/3")
        ),
        grid="i < dim*s",
        arrays={"a": "2*N"},
        data="N",
        program="s B",
        host={"dim": "(N - 2)/(s*B)"},
        cached=("a",),
    )


def transposition(*, s: bool = True, true_transpose: bool = True) -> Nest:
    """Figure 8, as printed (a copy) or a real transposition."""
    j = "(v1*s + k)*B1 + u1" if s else "v1*B1 + u1"
    body: tuple[Stmt, ...] = (
        let("i", "v0*B0 + u0"),
        let("j", j),
        assign("c[j*N + i] = a[i][j]" if true_transpose else "c[i*N + j] = a[i][j]"),
    )
    return nest(
        threads("u0 < B0; u1 < B1", *((loop("k from 0 to s", *body),) if s else body)),
        grid="v0 < dim0; v1 < dim1",
        arrays={"a": "N; N", "c": "N*N"},
        data="N",
        program="B0 B1 s" if s else "B0 B1",
        host={"dim0": "N/B0", "dim1": "N/(s*B1)" if s else "N/B1"},
        cached=("a", "c"),
    )


def matmul() -> Nest:
    """Figure 3."""
    return nest(
        step(
            "k from 0 to n/B0",
            threads(
                "v < B0; u < ub1",
                let("p", "i*B0 + v"),
                let("q", "j*ub1*s + u"),
                loop(
                    "z from 0 to B0",
                    loop(
                        "w from 0 to s",
                        let("x", "w*ub1"),
                        assign("c[p][q + x] += a[p][B0*k + z]*b[B0*k + z][q + x]"),
                    ),
                ),
            ),
        ),
        grid="i < dim0; j < dim1",
        arrays={"a": "n; n", "b": "n; n", "c": "n; n"},
        data="n",
        program="B0 ub1 s",
        host={"dim0": "n/B0", "dim1": "n/(ub1*s)"},
        given=("B0 <= ub1*s",),
        cached=("a", "b", "c"),
    )


def matadd() -> Nest:
    """Figure 1."""
    return nest(
        threads(
            "u < B0; q < B1",
            let("i", "v*B0 + u"),
            let("j", "p*B1 + q"),
            when(
                "i < N and j < N/2",
                assign("c[i][j] = a[i][j] + b[i][j]"),
                assign("c[i][j + N/2] = a[i][j + N/2] + b[i][j + N/2]"),
            ),
        ),
        grid="v < dim0; p < dim1",
        arrays={"a": "N; N", "b": "N; N", "c": "N; N"},
        data="N",
        program="B0 B1",
        host={"dim0": "N/B0", "dim1": "N/(2*B1)"},
        cached=("a", "b", "c"),
    )


def stencil(*, ceiling: bool = False, pointer: bool = False) -> Nest:
    """A 5-point stencil, floor or ceiling grid, declared extents or a pointer with a row length."""

    def at(array: str, i: str, j: str) -> str:
        return f"{array}[({i})*m + {j}]" if pointer else f"{array}[{i}][{j}]"

    source = " + ".join(
        at("a", i, j)
        for i, j in (
            ("i + 1", "j + 1"),
            ("i", "j + 1"),
            ("i + 2", "j + 1"),
            ("i + 1", "j"),
            ("i + 1", "j + 2"),
        )
    )
    statement: Stmt = assign(f"{at('b', 'i + 1', 'j + 1')} = {source}")
    if ceiling:
        statement = when("i < n - 2 and j < m - 2", statement)
    return nest(
        threads("u < B0; v < B1", let("i", "p*B0 + u"), let("j", "q*B1 + v"), statement),
        grid="p < dim0; q < dim1",
        arrays={"a": None, "b": None} if pointer else {"a": "n; m", "b": "n; m"},
        data="n m",
        program="B0 B1",
        host={"dim0": "(n - 2 + B0 - 1)/B0", "dim1": "(m - 2 + B1 - 1)/B1"}
        if ceiling
        else {"dim0": "(n - 2)/B0", "dim1": "(m - 2)/B1"},
        cached=("a", "b"),
    )
