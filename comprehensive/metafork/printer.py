"""Trees to text that people read: MetaFork, and the statements of CUDA C.

In: expressions, statements, programs.  Out: C text with as few parentheses as its precedence allows; what is
printed parses back to the same tree::

    print_expr(Binary("-", Name("a"), Binary("-", Name("b"), Name("c")))) == "a - (b - c)"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from msgspec import Struct

from comprehensive.diagnostics import GENERATED, Span
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
    HostAssert,
    If,
    Index,
    IntLiteral,
    MetaFor,
    Name,
    Parameter,
    Program,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.own_statement import OwnCall, OwnStatement
from comprehensive.metafork.precedence import CONDITIONAL, PRECEDENCE, PRIMARY, UNARY
from comprehensive.metafork.walk import Statement

INDENT = "  "


# --- expressions ---------------------------------------------------------------------------------------------


def assert_words(assertion: HostAssert) -> str:
    """Return the condition of an assert as its author wrote it, comments and all; printed where it was generated."""
    if assertion.span is GENERATED:
        return "1" if assertion.condition is None else print_expr(assertion.condition)
    return re.sub(r"(?s)\A\s*assert\s*\((.*)\)\s*;?\s*\Z", r"\1", assertion.span.text)


def print_expr(expr: Expr) -> str:
    """An expression in C."""
    return _expr(expr, CONDITIONAL)


def _expr(expr: Expr, least: int) -> str:
    """The text of ``expr`` where an operand must bind at least as tightly as ``least``."""
    text, level = _text_and_level(expr)
    return f"({text})" if level < least else text


def _text_and_level(expr: Expr) -> tuple[str, int]:
    match expr:
        case IntLiteral():
            return _integer(expr)
        case FloatLiteral():
            return _floating(expr), PRIMARY
        case Name(identifier):
            return identifier, PRIMARY
        case Index(array, subscripts):
            return array + "".join(f"[{print_expr(s)}]" for s in subscripts), PRIMARY
        case Call(function, arguments):
            return f"{function}({', '.join(print_expr(a) for a in arguments)})", PRIMARY
        case Unary(operator, operand):
            text = _expr(operand, UNARY)
            # '- -a' and not '--a', which C reads as a decrement.
            space = " " if operator in "+-" and text.startswith(operator) else ""
            return f"{operator}{space}{text}", UNARY
        case Cast(kind, operand):
            return f"({kind.value}){_expr(operand, UNARY)}", UNARY
        case Binary(operator, left, right):
            level = PRECEDENCE[operator]
            return f"{_expr(left, level)} {operator} {_expr(right, level + 1)}", level
        case Conditional(condition, then, otherwise):
            test = _expr(condition, CONDITIONAL + 1)
            return f"{test} ? {print_expr(then)} : {print_expr(otherwise)}", CONDITIONAL
        case _:
            assert_never(expr)


def _integer(literal: IntLiteral) -> tuple[str, int]:
    suffix = ("u" if literal.type.wraps else "") + "L" * (literal.type.rank - ScalarType.INT.rank)
    # C has no negative literals, and 2147483648 is no int: the smallest numbers are differences.
    if literal.value == literal.type.lowest < 0:
        return f"-{-literal.value - 1}{suffix} - 1", PRECEDENCE["-"]
    return f"{literal.value}{suffix}", PRIMARY if literal.value >= 0 else UNARY


def _floating(literal: FloatLiteral) -> str:
    if literal.text == "nan":
        return "NAN" if literal.type is ScalarType.FLOAT else "((double)NAN)"
    is_marked = any(c in ".pP" for c in literal.text) or (
        any(c in "eE" for c in literal.text) and not literal.text.lower().startswith("0x")
    )
    text = literal.text if is_marked else literal.text + ".0"
    return text + ("f" if literal.type is ScalarType.FLOAT else "")


# --- statements ----------------------------------------------------------------------------------------------


Mark: TypeAlias = Callable[[Statement], str]
"""The function for the lines of their own before a statement: complete lines, or nothing."""


Own: TypeAlias = Callable[[OwnStatement, str], str]
"""The text of a statement that only one IR has, behind a margin: complete lines."""


Assignment: TypeAlias = Callable[[Assign], str]
"""An assignment without margin and semicolon."""


def print_assignment(stmt: Assign) -> str:
    """``c[i][j] += a * b``, without a semicolon; steps by one are ``i++`` and ``i--``.

    An atomic update keeps its keyword: ``meta_atomic h[k]++``.
    """
    target = f"meta_atomic {print_expr(stmt.target)}" if stmt.atomic else print_expr(stmt.target)
    if stmt.operator in ("+=", "-=") and stmt.value == IntLiteral(1):
        return target + 2 * stmt.operator[0]
    return f"{target} {stmt.operator} {print_expr(stmt.value)}"


def _none_of_programs(statement: OwnStatement, margin: str) -> str:
    raise TypeError(f"programs have no {statement}")


def print_stmts(
    body: Sequence[Statement],
    indent: int = 0,
    mark: Mark = lambda _: "",
    assignment: Assignment = print_assignment,
    own: Own = _none_of_programs,
) -> str:
    """Statements, one or more lines each, ``indent`` levels deep; every line ends with a newline."""
    return _Statements(mark, assignment, own).all(body, indent)


class _Statements(Struct, frozen=True):
    mark: Mark
    assignment: Assignment
    own: Own

    def all(self, body: Sequence[Statement], indent: int) -> str:
        return "".join(self.mark(statement) + self.one(statement, indent) for statement in body)

    def one(self, stmt: Statement, indent: int) -> str:
        margin = INDENT * indent
        match stmt:
            case Declare(kind, name, dims, initial, const):
                shape = "".join(f"[{print_expr(dim)}]" for dim in dims)
                value = "" if initial is None else f" = {print_expr(initial)}"
                return f"{margin}{'const ' if const else ''}{kind.value} {name}{shape}{value};\n"
            case Assign():
                return f"{margin}{self.assignment(stmt)};\n"
            case If(condition, then, otherwise):
                return margin + self.branches(condition, then, otherwise, indent)
            case For() | MetaFor():
                pragma = _unrolling(stmt, margin)
                return f"{pragma}{margin}{print_header(stmt)}{self.inner(stmt.body, indent)}"
            case While(condition, body):
                return f"{margin}while ({print_expr(condition)}){self.inner(body, indent)}"
            case DoWhile(body, condition):
                end = f"{margin}}} while ({print_expr(condition)});\n"
                return f"{margin}do {{\n{self.all(body, indent + 1)}{end}"
            case Break():
                return f"{margin}break;\n"
            case Continue():
                return f"{margin}continue;\n"
            case Block(body):
                return f"{margin}{{\n{self.all(body, indent + 1)}{margin}}}\n"
            case OwnStatement():
                return self.own(stmt, margin)
            case _:
                assert_never(stmt)

    def branches(
        self,
        condition: Expr,
        then: tuple[Statement, ...],
        otherwise: tuple[Statement, ...],
        indent: int,
        *,
        braces: bool = False,
    ) -> str:
        """Return the text from ``if`` to the end of the last branch; the first line has no margin.

        Where a branch needs braces, all have some; so does one that ends with an ``if``, to which an else would go.
        """
        head = f"if ({print_expr(condition)})"
        if not otherwise:
            return head + self.inner(then, indent, braces=braces)
        each = tuple(_chain(then, otherwise))
        braces = braces or any(len(b) != 1 or _needs_braces(b[0]) for b in each) or _ends_with_if(then[-1])
        text = head + self.inner(then, indent, braces=braces)
        text = text.removesuffix("\n") + " " if braces else text + INDENT * indent
        match otherwise:
            case (If(inner, inner_then, inner_otherwise),):
                return (
                    f"{text}else {self.branches(inner, inner_then, inner_otherwise, indent, braces=braces)}"
                )
            case _:
                return f"{text}else{self.inner(otherwise, indent, braces=braces)}"

    def inner(self, body: tuple[Statement, ...], indent: int, *, braces: bool = False) -> str:
        """The body of a loop or a branch, from the space after its head; braces only where they are needed."""
        if not body:
            return " {\n" + INDENT * indent + "}\n"
        if len(body) == 1 and not braces and not _needs_braces(body[0]):
            return "\n" + self.all(body, indent + 1)
        return f" {{\n{self.all(body, indent + 1)}{INDENT * indent}}}\n"


def _unrolling(loop: For[Statement] | MetaFor, margin: str) -> str:
    if isinstance(loop, For) and (loop.unrolled or loop.rolled):
        return f"{margin}#pragma unroll{' 1' if loop.rolled else ''}\n"
    return ""


def _chain(then: tuple[Statement, ...], otherwise: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    """Yield the branches of an ``if`` with an ``else``, those of an ``else if`` among them."""
    yield then
    match otherwise:
        case (If(_, inner_then, inner_otherwise),):
            yield from _chain(inner_then, inner_otherwise)
        case ():
            pass
        case _:
            yield otherwise


def _needs_braces(stmt: Statement) -> bool:
    """Whether a statement that is a whole body stands in braces: so does a loop under a line of its own."""
    match stmt:
        case For():
            return stmt.unrolled or stmt.rolled
        case _:
            return isinstance(stmt, Declare | Block | OwnStatement) and not isinstance(stmt, OwnCall)


def _ends_with_if(stmt: Statement) -> bool:
    match stmt:
        case If():
            return True
        case For() | MetaFor() | While():
            return len(stmt.body) == 1 and _ends_with_if(stmt.body[0])
        case _:
            return False


def print_header(loop: For[Statement] | MetaFor) -> str:
    """``for (int i = 0; i < n; i++)``"""
    keyword = "meta_for" if isinstance(loop, MetaFor) else "for"
    kind = "" if loop.type is None else f"{loop.type.value} "
    start, bound = print_expr(loop.start), _expr(loop.bound, PRECEDENCE[loop.relation] + 1)
    condition = f"{loop.iterator} {loop.relation} {bound}"
    return f"{keyword} ({kind}{loop.iterator} = {start}; {condition}; {_step(loop.iterator, loop.step)})"


def _step(iterator: str, step: Expr) -> str:
    match step:
        case IntLiteral(1, ScalarType.INT):
            return f"{iterator}++"
        case IntLiteral(-1, ScalarType.INT):
            return f"{iterator}--"
        case IntLiteral(value, kind) if value < 0:
            return f"{iterator} -= {print_expr(IntLiteral(-value, kind))}"
        case Unary("-", operand):
            return f"{iterator} -= {print_expr(operand)}"
        case _:
            return f"{iterator} += {print_expr(step)}"


# --- regions and programs ------------------------------------------------------------------------------------


def print_region(cache: Sequence[str] | None, body: Sequence[Stmt], indent: int = 0) -> str:
    """A ``meta_schedule`` with its clause; the first line has no margin, and there is no newline at the end."""
    clause = f" cache({', '.join(cache)})" if cache else ""
    return f"meta_schedule{clause} {{\n{print_stmts(body, indent + 1)}{INDENT * indent}}}"


def print_program(program: Program, regions: Mapping[int, str]) -> str:
    """The text of the file with regions replaced; ``regions`` are keyed by their number in order of the text.

    Everything else is kept to the byte.  Raises IndexError for the number of a region that is not there.
    """
    text = program.file.text
    pieces: list[str] = []
    position = 0
    for span, printed in print_regions(program, regions):
        pieces += [text[position : span.start], printed]
        position = span.end
    return "".join([*pieces, text[position:]])


def print_regions(program: Program, regions: Mapping[int, str]) -> list[tuple[Span, str]]:
    """Return the text in the place of each region that is replaced, in order of the text.

    Several regions of one place are printed together, those that are not replaced as they are.  Where a parameter is
    respelled, all regions of its function are printed, and it is, too.
    """
    found = [region for function in program.functions for region in function.regions]
    spans = {found[number].span for number in regions}
    parameters: dict[Span, str] = {}
    for function in program.functions:
        own = {region.span for region in function.regions}
        respelled = [p for p in function.parameters if p.respelled]
        if respelled and not own.isdisjoint(spans):
            spans |= own
            parameters |= {p.span: _print_parameter(p) for p in respelled}
    places: list[tuple[Span, str]] = list(parameters.items())
    for span in spans:
        here = [number for number, region in enumerate(found) if region.span == span]
        printed = [regions.get(n) or print_region(found[n].cache, found[n].body) for n in here]
        places.append((span, printed[0] if len(printed) == 1 else "{\n" + "\n".join(printed) + "\n}"))
    return sorted(places, key=lambda place: place[0].start)


def _print_parameter(parameter: Parameter) -> str:
    extents = "".join(f"[{'' if extent is None else print_expr(extent)}]" for extent in parameter.dims)
    return f"{'const ' if parameter.const else ''}{parameter.type.value} {parameter.name}{extents}"
