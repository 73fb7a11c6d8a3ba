"""Functions of the file, or of a file that it includes, that regions call.

In: a definition at file level.  Out: a :class:`Helper`, or errors (CF0230 to CF0232) at its text::

    static inline float relu(float x) { return x > 0 ? x : 0; }
        -->  Helper("relu", FLOAT, (float x,), (return = x > 0 ? x : 0,))

A ``return`` is an assignment to the name ``return``, which no program can have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink, Note, Span
from comprehensive.metafork.ast import (
    Assign,
    Block,
    ConstantArray,
    Declare,
    If,
    Index,
    MetaFor,
    Name,
    Parameter,
    ScalarType,
    Stmt,
)
from comprehensive.metafork.attempt import attempt
from comprehensive.metafork.brackets import closing_of, depths, parts
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.items import Item
from comprehensive.metafork.literals import SUPPORTED_TYPES, scalar_type
from comprehensive.metafork.local_pointers import without_pointers
from comprehensive.metafork.named_constants import Constants, declared_names
from comprehensive.metafork.region_body import region_body
from comprehensive.metafork.substitution import Part, Substitution
from comprehensive.metafork.tokens import Token
from comprehensive.metafork.walk import assigned_scalars, declared, statements_in, subexpressions_in
from comprehensive.records import replace

_IGNORED = frozenset(("static", "inline", "extern", "const", "register"))


class Helper(Struct, frozen=True):
    """A function that can be part of a region: it computes a value from its arguments, or writes to arrays among them.

    ``result`` is None for one that returns nothing.
    """

    name: str
    result: ScalarType | None
    parameters: tuple[Parameter, ...]
    body: tuple[Stmt, ...]
    span: Span
    """The place of its name."""

    @property
    def type(self) -> ScalarType:
        """The type of the value of a call; ``int`` of one that has none."""
        return ScalarType.INT if self.result is None else self.result

    @property
    def size(self) -> int:
        """The number of statements and operations in its body."""
        return sum(1 for _ in statements_in(self.body)) + sum(1 for _ in subexpressions_in(self.body))

    @property
    def variables(self) -> tuple[tuple[str, ScalarType, int], ...]:
        """The variables that it declares, with types and ranks, in order."""
        found: dict[tuple[str, ScalarType, int], None] = {}
        for statement in statements_in(self.body):
            rank = len(statement.dims) if isinstance(statement, Declare) else 0
            found |= {(name, kind, rank): None for name, kind in declared(statement).items()}
        return tuple(found)

    def store(self) -> tuple[Assign, Parameter] | None:
        """The first statement that writes through a parameter, which it is returned with."""
        pointers = {p.name: p for p in self.parameters if p.is_data}
        for statement in statements_in(self.body):
            match statement:
                case Assign(target=Index(array)) if array in pointers:
                    return statement, pointers[array]
                case _:
                    pass
        return None


def name_of(item: Item) -> Token | None:
    """The name of the function that an item defines."""
    if not item.has_body:
        return None
    opening = next(k for k, token in enumerate(item.tokens) if token.type == "LBRACE")
    for position, depth in zip(range(opening), depths(item.tokens), strict=False):
        before = item.tokens[position - 1]
        opens = item.tokens[position].type == "LPAR" and depth == 0
        if opens and before.type == "NAME" and not _is_attribute(before):
            return before
    return None


def _is_attribute(token: Token) -> bool:
    """Whether a word of the head of a function speaks to a compiler only: ``__attribute__((pure))``, ``__device__``."""
    if token.type == "TYPE_WORD":
        return False
    return token.text.startswith("__") or token.text in ("_Noreturn", "_Alignas")


def _without_attributes(head: Sequence[Token]) -> list[Token]:
    found: list[Token] = []
    depth = 0
    for before, token in zip((None, *head), head, strict=False):
        opens = token.type == "LPAR" and (depth > 0 or (before is not None and _is_attribute(before)))
        depth += opens
        if depth == 0 and not _is_attribute(token):
            found.append(token)
        depth -= token.type == "RPAR" and depth > 0
    return found


def read_helper(item: Item, constants: Constants, tables: Iterable[ConstantArray] = ()) -> Helper | None:
    """The function that an item defines; None after errors, which go to the sink of its tokens.

    ``tables`` are the constant arrays of the file.
    """
    name = name_of(item)
    assert name is not None, "only definitions of functions are read"
    sink = name.origin.sink
    position = item.tokens.index(name)
    before = sink.errors
    result = _result(_without_attributes(item.tokens[:position]), name)
    closing = closing_of(item.tokens, position + 1)
    parameters = _parameters(item.tokens[position + 2 : closing], name)
    opening = next(k for k in range(closing, len(item.tokens)) if item.tokens[k].type == "LBRACE")
    own = declared_names(item.tokens[position + 2 : -1])
    inside = _with_constants(item.tokens[opening + 1 : -1], constants, own)
    taken = {t.text for t in item.tokens if t.type == "NAME"}
    fresh = Namer(taken)
    scalars = {p.name: p.type for p in parameters or () if not p.is_data}
    seen = [table for table in tables if table.name not in own]
    body = region_body(
        _with_returns(inside, result), item.tokens[-1], scalars, fresh, has_parallel=False, tables=seen
    )
    types = {p.name: p.type for p in parameters or () if p.is_data}
    body = _with_own_pointers(body, parameters or (), fresh)
    body = without_pointers(body, types, fresh, sink)
    if parameters is None or sink.errors > before:
        return None
    _check_body(body, result, name)
    if sink.errors > before:
        return None
    return Helper(name.text, result, parameters, body, name.span)


def _with_own_pointers(
    body: tuple[Stmt, ...], parameters: Sequence[Parameter], fresh: Namer
) -> tuple[Stmt, ...]:
    """The body with a local pointer for each parameter that it moves: ``while (n--) s += *p++;``"""
    moved = assigned_scalars(body)
    for p in parameters:
        if p.pointer and p.name in moved:
            own = fresh(p.name)
            body = Substitution({p.name: Name(own)}, {p.name: Part(own)}, None).body(body)
            body = (Declare(p.type, own, initial=Name(p.name), span=p.span, is_pointer=True), *body)
    return body


def _result(head: Sequence[Token], name: Token) -> ScalarType | None:
    """The type of the value of a function; None for one without, and after an error."""
    words = [token.text for token in head if token.type == "TYPE_WORD"]
    others = [t for t in head if t.type != "TYPE_WORD" and t.text not in _IGNORED]
    kind = scalar_type(words)
    if words == ["void"] and not others:
        return None
    if kind is None or others:
        shown = " ".join(token.text for token in (*head, name))
        text = f"the type of '{shown}' is not one that a region can compute with"
        _not_a_helper(name, text, f"return one of {SUPPORTED_TYPES}")
        return None
    return kind


def _parameters(words: Sequence[Token], name: Token) -> tuple[Parameter, ...] | None:
    if [word.text for word in words] in ([], ["void"]):
        return ()
    found: list[Parameter] = []
    for part in parts(words):
        span = part[0].span.to(part[-1].span) if part else name.span
        parameter: Parameter | None = attempt("parameter", part).tree if part else None
        if parameter is None:
            if part and part[0].text == "...":
                text = f"'{name.text}' takes any number of arguments, and a region cannot call it"
            else:
                text = f"a parameter of '{name.text}', which a region calls, is not understood"
            _not_a_helper(name, text, "parameters are scalars, 'const float *a' and 'float a[n][m]'", span)
            return None
        found.append(replace(parameter, span=span))
    return tuple(found)


def _with_constants(inside: Sequence[Token], constants: Constants, own: frozenset[str]) -> list[Token]:
    found: list[Token] = []
    for token in inside:
        value = constants.get(token.text) if token.type == "NAME" and token.text not in own else None
        made = (token,) if value is None else value
        found += [t._replace(start=token.start, end=token.end, origin=token.origin) for t in made]
    return found


def _with_returns(inside: Sequence[Token], result: ScalarType | None) -> list[Token]:
    """``return e;`` as ``return = e;``, of which ``e`` is 0 where a function has no value."""
    found: list[Token] = []
    for position, token in enumerate(inside):
        if token.type == "RETURN":
            found += [token._replace(type="NAME"), token._replace(type="ASSIGN", text="=")]
            if result is None and [t.type for t in inside[position + 1 : position + 2]] == ["SEMI"]:
                found.append(token._replace(type="INT_LITERAL", text="0"))
        else:
            found.append(token)
    return found


def _not_a_helper(name: Token, message: str, help: str, span: Span | None = None) -> None:
    name.origin.sink.error("CF0232", message, span or name.span, help=help)


def _check_body(body: tuple[Stmt, ...], result: ScalarType | None, name: Token) -> None:
    for statement in statements_in(body):
        match statement:
            case MetaFor(span=span):
                text = f"'{name.text}', which a region calls, has parallel loops"
                _not_a_helper(name, text, "write its loops into the region", span)
            case _:
                pass
    if result is not None and not always_returns(body):
        text = f"'{name.text}', which a region calls, does not return a value on every path"
        _not_a_helper(name, text, "end it with 'return value;'")


def has_value(helper: Helper, place: Span, sink: DiagnosticSink, *, may_write: bool) -> bool:
    """Whether a function can be called at a place for its value, which is computed once there if it ``may_write``."""
    if helper.result is None:
        text = f"'{helper.name}' returns nothing, and a value is needed here"
        help = "write the call as a statement of its own, or return the value"
        sink.error("CF0232", text, place, notes=(Note("its definition", helper.span),), help=help)
        return False
    if not may_write and (store := helper.store()) is not None:
        statement, p = store
        sink.error(
            "CF0231",
            f"'{helper.name}', whose value is asked for several times here, writes through its parameter '{p.name}'",
            statement.span,
            notes=(Note("the parameter", p.span), Note("called here", place)),
            help=f"compute the value into a variable before: '{helper.type.value} value = {helper.name}(...);'",
        )
        return False
    return True


def is_return(statement: Stmt) -> bool:
    match statement:
        case Assign(target=Name("return")):
            return True
        case _:
            return False


def may_return(statement: Stmt) -> bool:
    """Whether there is a ``return`` in a statement."""
    return any(is_return(inner) for inner in statements_in((statement,)))


def always_returns(body: tuple[Stmt, ...]) -> bool:
    """Whether the end of a body is never reached."""
    for statement in body:
        match statement:
            case If(_, then, otherwise):
                if always_returns(then) and always_returns(otherwise):
                    return True
            case Block(inner):
                if always_returns(inner):
                    return True
            case _:
                if is_return(statement):
                    return True
    return False
