"""Constant arrays of the file that regions read: tables such as the weights of a stencil.

In: declarations at file level, and the statements of a region.  Out: the statements with numbers for elements::

    static const float w[3] = {0.25, 0.5, 0.25};
    for (int k = 0; k < 3; k++) s += w[k] * a[i + k];
        -->  s += 0.25f * a[i + 0]; s += 0.5f * a[i + 1]; s += 0.25f * a[i + 2];

A short loop of constant bounds that runs over a table is written out: its elements become operands of instructions.
A table that is read at other subscripts stays data, which the generated program has in the memory of the device.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import prod

from comprehensive.diagnostics import DiagnosticSink, Note
from comprehensive.metafork.ast import (
    Assign,
    Block,
    Break,
    Cast,
    ConstantArray,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.attempt import attempt
from comprehensive.metafork.brackets import depths, parts
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.items import Item, declarators
from comprehensive.metafork.literals import stored_literal
from comprehensive.metafork.named_constants import Constants, declarations
from comprehensive.metafork.preprocessor.conditions import NoValueError, evaluated
from comprehensive.metafork.rewrite import with_bodies, with_operands, with_own_expressions
from comprehensive.metafork.substitution import Substitution
from comprehensive.metafork.tokens import Token
from comprehensive.metafork.walk import (
    arrays,
    elements_in,
    names,
    statements_in,
)
from comprehensive.records import replace

MOST_DEEP = 50
"""Brackets in each other of an element that is looked at."""
MOST_TURNS = 64
"""Turns of a loop over a table that is written out, those of loops in it included."""


def constant_arrays(declarations: Iterable[Item], constants: Constants) -> dict[str, ConstantArray]:
    """The arrays that are const and whose elements are numbers."""
    found: dict[str, ConstantArray] = {}
    for item in declarations:
        declared = None if item.has_body else declarators(item.tokens)
        if declared is not None and "const" in declared[0]:
            tables = (_table(declarator, declared[1], constants) for declarator in declared[2])
            found |= {table.name: table for table in tables if table is not None}
    return found


def constant_arrays_inside(body: Sequence[Token], constants: Constants) -> dict[str, ConstantArray]:
    """Return the arrays that a function declares between its outermost braces: ``static const float w[3] = {...};``.

    ``body`` are its tokens, those of regions blanked.  A name that it declares again is not among them.
    """
    found: dict[str, ConstantArray] = {}
    often = Counter(declarations(body))
    first = 0
    behind = islice(depths(body), 1, None)
    for position, (token, depth) in enumerate(zip(body, behind, strict=True)):
        if depth > 0 or token.type not in ("SEMI", "RBRACE"):
            continue
        words = tuple(body[first : position + 1])
        if token.type == "SEMI" or (words and words[0].type not in ("TYPE_WORD", "QUALIFIER")):
            first = position + 1
        if token.type == "SEMI" and words[0].type in ("TYPE_WORD", "QUALIFIER"):
            tables = constant_arrays([Item(words, frozenset(), False, False)], constants)
            found |= {name: table for name, table in tables.items() if often[name] == 1}
    return found


# --- definitions ---------------------------------------------------------------------------------------------


def _table(words: Sequence[Token], kind: ScalarType, constants: Constants) -> ConstantArray | None:
    """``w[2][2] = {{1, 2}, {3}}``; None where that is not understood."""
    if len(words) < 5 or words[0].type != "NAME" or words[1].type != "LSQB":
        return None
    equals = next((k for k, token in enumerate(words) if token.type == "ASSIGN"), len(words))
    initial = words[equals + 1 :]
    lengths = lengths_of(words[1:equals], constants)
    if lengths is None or len(initial) < 2 or initial[0].type != "LBRACE" or initial[-1].type != "RBRACE":
        return None
    if lengths[0] is None:
        inner = prod(length for length in lengths[1:] if length is not None)
        parts_of_list = _parts(initial)
        nested = bool(parts_of_list) and parts_of_list[0][0].type == "LBRACE"
        count = len(parts_of_list) if nested else -(-len(parts_of_list) // inner)
        lengths = (count, *lengths[1:])
    sizes = tuple(length for length in lengths if length is not None)
    values = _filled(initial, sizes, kind, constants)
    if values is None or len(sizes) < len(lengths) or min(sizes) < 1:
        return None
    return ConstantArray(words[0].text, kind, sizes, tuple(values), words[0].span)


def lengths_of(words: Sequence[Token], constants: Constants) -> tuple[int | None, ...] | None:
    """Return the values in brackets, None for an empty first pair; None where another one is not constant."""
    found: list[int | None] = []
    position = 0
    while position < len(words):
        closing = next((k for k in range(position, len(words)) if words[k].type == "RSQB"), None)
        if words[position].type != "LSQB" or closing is None:
            return None
        inside = words[position + 1 : closing]
        if not inside and not found:
            found.append(None)
        else:
            tree = _expression(inside, constants)
            try:
                found.append(None if tree is None else evaluated(tree))
            except NoValueError:
                return None
            if found[-1] is None:
                return None
        position = closing + 1
    return tuple(found) or None


def _parts(group: Sequence[Token]) -> list[Sequence[Token]]:
    """Return the parts between the commas of a list in braces; a comma at its end is followed by nothing."""
    return [part for part in parts(group[1:-1]) if part]


def _filled(
    group: Sequence[Token], lengths: Sequence[int], kind: ScalarType, constants: Constants
) -> list[Expr] | None:
    """The elements of a list in braces, zeros where it has none; None where it has too many or other things."""
    found: list[Expr] = []
    inner = prod(lengths[1:])
    for part in _parts(group):
        if part[0].type == "LBRACE":
            if len(lengths) < 2 or len(found) % inner:
                return None
            below = _filled(part, lengths[1:], kind, constants)
            if below is None:
                return None
            found += below
            continue
        tree = _expression(part, constants)
        value = None if tree is None or any(True for _ in names(tree)) else _element(tree, kind)
        if value is None:
            return None
        found.append(value)
    zero = _element(IntLiteral(0), kind)
    assert zero is not None, "zero is a number of every type"
    missing = prod(lengths) - len(found)
    return None if missing < 0 else [*found, *[zero] * missing]


def _expression(words: Sequence[Token], constants: Constants) -> Expr | None:
    if not words:
        return None
    plain = [
        token._replace(start=word.start, end=word.end, origin=words[0].origin)
        for word in words
        for token in constants.get(word.text, (word,))
    ]
    return None if max(depths(plain)) > MOST_DEEP else attempt("condition", plain).tree


def _element(value: Expr, kind: ScalarType) -> Expr | None:
    """A number as an element has it: converted to its type."""
    if kind.is_integer:
        try:
            # A byte computes as int.
            computed = ScalarType.INT if kind is ScalarType.UNSIGNED_CHAR else kind
            return IntLiteral(kind.wrapped(evaluated(value)), computed, value.span)
        except NoValueError:
            return Cast(kind, value, value.span)
    match value:
        case Unary("-", operand):
            inner = _element(operand, kind)
            return None if inner is None else Unary("-", inner, value.span)
        case FloatLiteral() | IntLiteral() if kind.is_storage:
            return stored_literal(value, kind)
        case FloatLiteral(text) if kind is ScalarType.DOUBLE or _is_exact(text):
            return FloatLiteral(text, kind, value.span)
        case IntLiteral(number) if number < 2**24:
            return FloatLiteral(f"{number}.0", kind, value.span)
        case _:
            return Cast(kind, value, value.span)


def _is_exact(text: str) -> bool:
    """Whether a decimal number is one of ``float``: written with ``f`` or not, it is the same."""
    if text.lower().startswith("0x"):
        return False
    try:
        return Fraction(struct.unpack("f", struct.pack("f", float(text)))[0]) == Fraction(text)
    except (OverflowError, ValueError):
        return False


# --- uses ----------------------------------------------------------------------------------------------------


def with_tables(
    body: tuple[Stmt, ...], tables: Mapping[str, ConstantArray], sink: DiagnosticSink
) -> tuple[tuple[Stmt, ...], tuple[ConstantArray, ...]]:
    """The statements of a region with the elements of tables as numbers, and those tables of which elements are read
    that are not known; CF0209 and CF0234 for what cannot be."""
    used = {name: tables[name] for name in sorted(arrays(body)) if name in tables}
    if not used:
        return body, ()
    resolver = _Resolver(used, sink)
    resolved = resolver.body(body)
    return resolved, tuple(used[name] for name in resolver.unresolved)


class _Resolver:
    def __init__(self, tables: Mapping[str, ConstantArray], sink: DiagnosticSink) -> None:
        self._tables = tables
        self._sink = sink
        self.unresolved: dict[str, None] = {}

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(inner for statement in body for inner in self._statement(statement))

    def _statement(self, statement: Stmt) -> tuple[Stmt, ...]:
        match statement:
            case For():
                turns = self._turns(statement)
                if turns is not None:
                    return tuple(inner for value in turns for inner in self._turn(statement, value))
            case Declare(initial=initial):
                return (replace(statement, initial=None if initial is None else self._value(initial)),)
            case Assign():
                self._is_written(statement.target)
            case _:
                pass
        return (with_bodies(with_own_expressions(statement, self._value), self.body),)

    def _turn(self, loop: For, value: int) -> tuple[Stmt, ...]:
        turn = self.body(Substitution({loop.iterator: IntLiteral(value)}, {}, None).body(loop.body))
        return (Block(turn, loop.span),) if any(isinstance(s, Declare) for s in turn) else turn

    def _turns(self, loop: For) -> list[int] | None:
        """The values of the iterator of a loop that is to be written out."""
        within = list(statements_in(loop.body))
        if loop.type is None or any(isinstance(s, Break | Continue | While | DoWhile) for s in within):
            return None
        runs_over = any(
            n.array in self._tables and loop.iterator in {x for s in n.subscripts for x in names(s)}
            for n in elements_in(loop.body)
        )
        turns = _values(loop)
        if not runs_over or turns is None:
            return None
        inside = prod(len(_values(s) or ()) or 1 for s in within if isinstance(s, For))
        return turns if len(turns) * inside <= MOST_TURNS else None

    def _value(self, expression: Expr) -> Expr:
        found = with_operands(expression, self._value)
        if not isinstance(found, Index) or found.array not in self._tables:
            return found
        table = self._tables[found.array]
        places = [constant_value(subscript) for subscript in found.subscripts]
        known = [place for place in places if place is not None]
        if len(known) < len(places) or len(places) != len(table.lengths):
            self.unresolved[table.name] = None
            return found
        position = 0
        for place, length in zip(known, table.lengths, strict=True):
            if not 0 <= place < length:
                shown = "".join(f"[{number}]" for number in known)
                text = f"'{table.name}' has no element {shown}"
                notes = (Note("defined here", table.span),)
                help = f"its subscripts are below {', '.join(map(str, table.lengths))}"
                self._sink.error("CF0234", text, found.span, notes=notes, help=help)
                return table.values[0]
            position = position * length + place
        return table.values[position]

    def _is_written(self, target: Name | Index) -> None:
        if isinstance(target, Index) and target.array in self._tables:
            table = self._tables[target.array]
            text = f"'{target.array}' is const and is changed here"
            notes = (Note("declared here", table.span),)
            help = "write to an array that is a parameter of the function"
            self._sink.error("CF0209", text, target.span, notes=notes, help=help)


def _values(loop: For) -> list[int] | None:
    """The values of an iterator between constants; None where there are none, or more than a few."""
    start, bound, step = (constant_value(e) for e in (loop.start, loop.bound, loop.step))
    if start is None or bound is None or step is None or step == 0 or loop.relation == "!=":
        return None
    found: list[int] = []
    holds = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}[loop.relation]
    while holds(start, bound) and len(found) <= MOST_TURNS:
        found.append(start)
        start += step
    return found if len(found) <= MOST_TURNS else None
