"""Host code around regions: what of it establishes something that a region can use.

In: the tokens of a function body.  Out: for each region the scalars, arrays and asserts that are visible where it
stands, and the asserts as parts of the body::

    int dim = n / B; for (int t = 0; t < T; t++) meta_schedule { ... }
        -->  HostScalar("dim", INT, n / B), HostScalar("t", INT, None)

Statements are cut lexically and only declarations, loop headers and asserts are looked into; anything else is
opaque and no error.  A definition counts only where it certainly reaches the region (see :mod:`stability`): for the
whole function, or as a fact from where it stands to the next change of what it reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from msgspec import Struct

from comprehensive.metafork.ast import (
    Binary,
    Call,
    Cast,
    Expr,
    HostArray,
    HostAssert,
    HostLoop,
    HostPointer,
    HostScalar,
    Index,
    Name,
    Parameter,
    ScalarType,
    Unary,
)
from comprehensive.metafork.attempt import expression_of
from comprehensive.metafork.brackets import between_commas
from comprehensive.metafork.extents import Extents
from comprehensive.metafork.functions import MATH, TRUTHS
from comprehensive.metafork.host_loops import Exchange, LoopText, host_loop
from comprehensive.metafork.host_scopes import Fact, HostScope, HostScopes, Opaque, Precondition
from comprehensive.metafork.literals import scalar_type
from comprehensive.metafork.locate import FoundRegion
from comprehensive.metafork.scope import Scope
from comprehensive.metafork.stability import Changes
from comprehensive.metafork.tokens import Token
from comprehensive.metafork.walk import names, subexpressions

_MOST_LOOPS = 16
"""Loops around a region whose turns are understood."""
_LEAVING = frozenset(
    ("return", "goto", "break", "continue", "throw", "exit", "_Exit", "quick_exit", "abort", "longjmp")
)
"""Words after which what follows may not run; so may a macro that looks like a call."""
_LONGEST_EXPRESSION = 1000
"""Tokens of the longest host expression that is looked into."""

Inlined: TypeAlias = Callable[[Expr, Scope], Expr]
"""An expression with calls of functions of the file as what they return, where that is one expression."""


class Surroundings(Struct, frozen=True):
    """The scalars, arrays and facts that host code establishes for one region."""

    scalars: tuple[HostScalar, ...]
    arrays: tuple[HostArray, ...]
    preconditions: tuple[Expr, ...]
    facts: tuple[Expr, ...]
    guards: tuple[Expr, ...]
    loops: tuple[HostLoop, ...]
    opaque: frozenset[str]
    is_certain: bool
    is_repeated: bool
    """Whether host code may come here more than once in a call."""
    pointers: tuple[HostPointer, ...] = ()
    """The pointers to data, which are found by :mod:`host_pointers`."""


class HostCode(Struct, frozen=True):
    """``surroundings`` and ``asserts`` in the order of the text; ``definitions`` are positions of names."""

    surroundings: tuple[Surroundings, ...]
    asserts: tuple[HostAssert, ...]
    definitions: frozenset[int]


def host_code(
    tokens: Sequence[Token],
    regions: tuple[FoundRegion, ...],
    parameters: tuple[Parameter, ...],
    changes: Changes,
    inlined: Inlined,
    exchanges: Mapping[int, Exchange],
) -> HostCode:
    """Reads ``tokens``, the body of a function; the positions in ``regions`` are those of this sequence.

    ``changes`` are those of names after their definition; ``exchanges`` what a turn of a loop does to pointers, for
    loops that do nothing else beside their regions, by position.
    """
    closings = {r.keyword: r.closing for r in regions}
    reader = _Reader(tokens, closings, parameters, changes, inlined, exchanges)
    position = 0
    while position < len(tokens):
        position = reader.statement(position)
    return HostCode(tuple(reader.surroundings), tuple(reader.asserts), frozenset(reader.definitions))


class _Reader:
    """One pass over a body that keeps the open scopes; ``closings`` are the last positions of regions by keyword."""

    def __init__(
        self,
        tokens: Sequence[Token],
        closings: dict[int, int],
        parameters: tuple[Parameter, ...],
        changes: Changes,
        inlined: Inlined,
        exchanges: Mapping[int, Exchange],
    ) -> None:
        self._tokens = tokens
        self._exchanges = exchanges
        self._closings = closings
        self._inlined = inlined
        self._changes = changes
        self._changed = changes.names
        self._qualified: set[str] = set()
        self._conditionals = 0
        """The number of ``#if`` that are open."""
        self._extents = Extents(tokens, closings)
        self._first_exit = _first_exit(tokens, closings)
        """The position where host code may first leave the function on its own."""
        self._scopes = HostScopes({p.name: p.type for p in parameters if not p.is_data})
        self._refused: Expr | None = None
        """The condition of the ``if`` to which an ``else`` that comes next belongs."""
        self.surroundings: list[Surroundings] = []
        self.asserts: list[HostAssert] = []
        self.definitions: set[int] = set()

    # --- statements --------------------------------------------------------------------------------------

    def statement(self, position: int) -> int:
        """Reads a statement, or as much of one as opens or closes a scope; the position after it."""
        if position in self._closings:
            self.surroundings.append(self._visible(position))
            return self._ended(self._closings[position] + 1)
        token = self._tokens[position]
        match token.type:
            case "DIRECTIVE":
                self._conditionals += _opened(token.text)
                return position + 1
            case "SEMI":
                return self._ended(position + 1)
            case "LBRACE":
                self._scopes.open.append(HostScope("brace"))
                return position + 1
            case "RBRACE":
                while len(self._scopes.open) > 1 and self._scopes.leave() != "brace":
                    pass
                return self._ended(position + 1)
            case "FOR":
                return self._for(position)
            case "IF":
                return self._governed(position, "if")
            case "WHILE":
                return self._governed(position, "statement")
            case "SWITCH" if token.text == "switch":
                return self._governed(position, "switch")
            case "ELSE":
                self._scopes.open.append(HostScope("statement", position, len(self._tokens)))
                self._hold(None if self._refused is None else Unary("!", self._refused), position + 1)
                return position + 1
            case "DO":
                self._scopes.open.append(HostScope("statement", position, len(self._tokens)))
                return position + 1
            case _:
                return self._simple(position)

    def _ended(self, position: int) -> int:
        """A statement has ended before ``position``: so have the loops and conditions that govern it."""
        if position < len(self._tokens) and self._tokens[position].type == "ELSE":
            while self._scopes.open[-1].kind in ("statement", "switch"):
                self._scopes.leave()
            if self._scopes.open[-1].kind == "if":
                self._refused = self._scopes.open[-1].condition
                self._scopes.leave()
            return position
        while self._scopes.open[-1].kind != "brace":
            self._scopes.leave()
        return position

    def _governed(self, position: int, kind: str) -> int:
        end = self._extents.group(position + 1)
        condition = None if kind == "switch" else self._expression(position + 2, end - 1)
        self._scopes.open.append(
            HostScope(kind, position, self._extents.statement(position), condition=condition)
        )
        self._hold(condition, end)
        return end

    def _hold(self, condition: Expr | None, position: int) -> None:
        """Add the fact that a condition holds at ``position``, which it governs; not within an ``#if``, where it may
        govern another statement."""
        if condition is not None and self._conditionals == 0:
            self._scopes.add(Fact(condition, position, governs=True))

    def _for(self, position: int) -> int:
        scope = HostScope("statement", position, self._extents.statement(position))
        is_followed = sum(outer.kind == "statement" for outer in self._scopes.open) < _MOST_LOOPS
        self._scopes.open.append(scope)
        end = self._extents.group(position + 1)
        first = position + 2
        last = self._extents.semicolon(first, end)
        if first < last < end:
            self._declare(first, last, keep_values=False)
            scope.loop = self._loop(scope, last, end) if is_followed else None
        return end

    def _loop(self, scope: HostScope, first: int, body: int) -> HostLoop | None:
        """The loop with the first ``;`` of its header at ``first``, if the header declares one scalar or gives one a
        value."""
        second = self._extents.semicolon(first + 1, body)
        counting = [item.name for item in scope.items if isinstance(item, HostScalar)]
        exchange = self._exchanges.get(scope.start)
        if not counting and self._tokens[scope.start + 3].type == "ASSIGN":
            # Host code may read such a scalar behind the loop, so that no launch does all turns.
            counting, exchange = [self._tokens[scope.start + 2].text], None
        if len(counting) != 1 or second >= body:
            return None
        if not isinstance(self._scopes.binding(counting[0]), HostScalar):
            return None
        text = LoopText(counting[0], scope.start, first, second, body, scope.end)
        return host_loop(self._tokens, self._closings, text, self._expression, self._loses, exchange)

    def _simple(self, position: int) -> int:
        """A declaration, an assert or opaque text to its ``;`` or to a brace that opens a scope."""
        start = position
        depth = 0
        is_type = self._tokens[start].type in ("STRUCT", "QUALIFIER")
        while position < len(self._tokens) and position not in self._closings:
            kind = self._tokens[position].type
            if kind == "SEMI" and depth == 0:
                self._understand(start, position)
                return self._ended(position + 1)
            if depth == 0 and kind == "RBRACE":
                return position
            if (
                depth == 0
                and kind == "LBRACE"
                and not is_type
                and self._tokens[position - 1].type != "ASSIGN"
            ):
                return position
            depth += (kind in ("LPAR", "LSQB", "LBRACE")) - (kind in ("RPAR", "RSQB", "RBRACE"))
            depth = max(0, depth)
            position += 1
        return position

    def _understand(self, start: int, end: int) -> None:
        first = self._tokens[start]
        if first.type == "NAME" and first.text == "assert" and self._assertion(start, end):
            return
        self._declare(start, end, keep_values=self._always_passed())

    def _always_passed(self) -> bool:
        """Whether a statement here surely runs before those after it: no ``case`` or ``#if`` leaves it out."""
        return self._conditionals == 0 and all(scope.kind != "switch" for scope in self._scopes.open)

    # --- asserts -----------------------------------------------------------------------------------------

    def _assertion(self, start: int, end: int) -> bool:
        if end - start < 4 or self._tokens[start + 1].type != "LPAR" or self._extents.group(start + 1) != end:
            return False
        last = end - 1
        if self._tokens[last - 1].type == "STRING" and self._tokens[last - 2].text == "&&":
            last -= 2  # the message of assert(condition && "message")
        condition = self._expression(start + 2, last)
        span = self._tokens[start].span.to(self._tokens[end].span)
        self.asserts.append(HostAssert(condition, span))
        if condition is not None and self._always_passed():
            self._scopes.add(Precondition(condition) if self._is_stable(condition) else Fact(condition, end))
        return True

    # --- declarations ------------------------------------------------------------------------------------

    def _declare(self, start: int, end: int, keep_values: bool) -> None:
        """``int i = 0, a[n]`` as items of the innermost scope; what is not understood leaves its names opaque."""
        position = start
        while position < end and self._tokens[position].type in ("TYPE_WORD", "QUALIFIER"):
            position += 1
        head = self._tokens[start:position]
        if not any(token.type == "TYPE_WORD" for token in head):
            self._opaque_declaration(start, end)
            return
        kind = scalar_type(token.text for token in head if token.type == "TYPE_WORD")
        qualifiers = {token.text for token in head if token.type == "QUALIFIER"}
        # What is static keeps its value from one call to the next, unless it never has another.
        plain = qualifiers <= {"const", "register"} or qualifiers == {"static", "const"}
        for first, last in between_commas(self._tokens, position, end):
            if not plain:
                self._qualified |= {t.text for t in self._tokens[first:last] if t.type == "NAME"}
            self._declarator(kind, first, last, keep_values and plain)

    def _opaque_declaration(self, start: int, end: int) -> None:
        """``size_t k = 0``, ``struct s *p``: a name after a word that can be a type."""
        for position in range(start + 1, end):
            token, before = self._tokens[position], self._tokens[position - 1]
            if token.type != "NAME":
                if token.type not in ("STAR", "QUALIFIER", "STRUCT"):
                    return
            elif before.type in ("NAME", "STAR"):
                self._scopes.add(Opaque(token.text))

    def _declarator(self, kind: ScalarType | None, first: int, last: int, keep_value: bool) -> None:
        tokens = self._tokens
        if first >= last:
            return
        name = tokens[first]
        plain = name.type == "NAME" and kind is not None
        dims: list[Expr | None] = []
        position = first + 1
        while plain and position < last and tokens[position].type == "LSQB":
            closing = self._extents.brackets(position, last)
            dims.append(self._expression(position + 1, closing - 1))
            position = closing
        initialised = position < last and tokens[position].type == "ASSIGN"
        if not plain or kind is None or (position < last and not initialised) or (dims and initialised):
            names_here = [t.text for t in tokens[first:last] if t.type == "NAME"]
            if names_here:
                self._scopes.add(Opaque(names_here[0]))
            return
        self.definitions.add(first)
        if not dims:
            value = self._expression(position + 1, last) if initialised and keep_value else None
            stable = value is not None and name.text not in self._changed and self._is_stable(value)
            self._scopes.add(HostScalar(name.text, kind, value if stable else None, name.span))
            if (
                value is not None
                and not stable
                and kind.is_integer
                and not kind.is_narrow
                and name.text not in names(value)
            ):
                # The conversion to the type of the scalar may change the value: who uses the fact has to look.
                self._scopes.add(Fact(Binary("==", Name(name.text), Cast(kind, value)), last))
            return
        known = tuple(dim for dim in dims if dim is not None and self._is_stable(dim))
        if len(known) == len(dims):
            self._scopes.add(HostArray(name.text, kind, known, name.span.to(tokens[position - 1].span)))
        else:
            self._scopes.add(Opaque(name.text))

    # --- values ------------------------------------------------------------------------------------------

    def _expression(self, start: int, end: int) -> Expr | None:
        """The expression at these positions if it is in the language and reads visible scalars only."""
        if not 0 < end - start <= _LONGEST_EXPRESSION:
            return None
        found = expression_of(self._tokens[start:end])
        if found is None:
            return None
        if any(isinstance(node, Call) for node in subexpressions(found)):
            found = self._inlined(found, self._scopes.visible_scalars())
        for node in subexpressions(found):
            if isinstance(node, Index):
                return None
            if isinstance(node, Call) and (
                node.function not in MATH.keys() - TRUTHS
                or len(MATH[node.function].arguments) != len(node.arguments)
            ):
                return None
        return found if all(self._scopes.is_scalar(name) for name in names(found)) else None

    def _is_stable(self, expression: Expr) -> bool:
        """Whether an expression keeps its value: nothing that it reads changes or is set by a loop."""
        for name in names(expression):
            item = self._scopes.binding(name)
            if name in self._changed or (isinstance(item, HostScalar) and item.value is None):
                return False
        return True

    def _loses(self, read: AbstractSet[str], first: int, last: int) -> bool:
        """Whether one of the names may get another value between two positions."""
        return bool(read & self._qualified) or self._changes.within(read, first, last)

    def _reaches(self, fact: Fact, position: int) -> bool:
        """Whether a fact still holds at ``position``: also when it comes there around a loop."""
        read = set(names(fact.condition))
        around = (s for s in self._scopes.open if s.kind == "statement" and s.start >= fact.position)
        return not self._loses(read, fact.position, position) and not any(
            self._loses(read, scope.start, scope.end) for scope in around
        )

    def _visible(self, position: int) -> Surroundings:
        items = self._scopes.in_force()
        reaching = [f for f in items if isinstance(f, Fact) and self._reaches(f, position)]
        return Surroundings(
            tuple(item for item in items if isinstance(item, HostScalar)),
            tuple(item for item in items if isinstance(item, HostArray)),
            tuple(item.condition for item in items if isinstance(item, Precondition)),
            tuple(f.condition for f in reaching if not f.governs),
            tuple(f.condition for f in reaching if f.governs),
            self._scopes.governing(),
            frozenset(item.name for item in items if isinstance(item, Opaque)),
            self._is_certain(position),
            any(scope.kind == "statement" for scope in self._scopes.open),
        )

    def _is_certain(self, position: int) -> bool:
        """Whether a region here runs whenever its loops turn: nothing else governs it, and nothing before it leaves."""
        if self._conditionals or any(
            scope.kind != "brace" and scope.loop is None for scope in self._scopes.open
        ):
            return False
        return position <= self._first_exit


def _first_exit(tokens: Sequence[Token], closings: dict[int, int]) -> int:
    """The position of the first word outside of regions that may leave a function; the end where there is none."""
    position = 0
    while position < len(tokens):
        if position in closings:
            position = closings[position]
        elif tokens[position].text in _LEAVING or _may_be_macro_call(tokens, position):
            return position
        position += 1
    return position


def _may_be_macro_call(tokens: Sequence[Token], position: int) -> bool:
    is_called = position + 1 < len(tokens) and tokens[position + 1].type == "LPAR"
    return is_called and tokens[position].text.isupper()


def _opened(directive: str) -> int:
    """Return the change of the number of open conditionals by a preprocessor line."""
    word = re.match(r"#\s*(if|ifdef|ifndef|endif)\b", directive)
    return 0 if word is None else -1 if word[1] == "endif" else 1
