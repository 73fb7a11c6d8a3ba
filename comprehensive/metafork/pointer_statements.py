"""The effect of declarations, assignments and calls of host code on pointers: a statement and states in, states out.

::

    float *tmp = a;  a = b;  b = tmp;        a at A, b at B   -->   a at B, b at A, tmp at A
    swap(&a, &b);                            followed into the body of the function, where it is one of the file

A statement that speaks of a variable in other words is not understood, and its place is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import Address, Call, Expr, HostPointer, Index, IntLiteral, ScalarType
from comprehensive.metafork.attempt import expression_of
from comprehensive.metafork.brackets import between_commas
from comprehensive.metafork.extents import Extents
from comprehensive.metafork.helpers import name_of
from comprehensive.metafork.items import Item
from comprehensive.metafork.literals import scalar_type
from comprehensive.metafork.pointer_expressions import Pointer, PointerExpressions, pointer_of
from comprehensive.metafork.pointer_values import (
    UNKNOWN,
    Read,
    Reference,
    State,
    Value,
    Variable,
    at,
    forgetting,
    substituted,
    values,
)
from comprehensive.metafork.stability import changes
from comprehensive.metafork.tokens import Token
from comprehensive.metafork.walk import names, subexpressions

States = frozenset[State]
Calls = Callable[[Item, Mapping[str, Variable], States], States | None]
"""The effect of a call of a function on states in which its parameters have values; None where it is not understood."""

_LONGEST_NUMBER = 1000


class Findings(Struct):
    """The findings of a text about pointers.

    ``understood`` are positions of names that are only copied, moved or compared there, ``failed`` the others with
    their variables; ``pointing`` says for each variable, by key, to whose data it may point; ``texts`` are pieces as
    they read where all data is behind plain pointers, by the positions of their tokens.
    """

    understood: set[int] = field(default_factory=lambda: set())
    failed: dict[int, Variable] = field(default_factory=lambda: {})
    pointing: dict[str, set[str]] = field(default_factory=lambda: {})
    texts: dict[tuple[int, int], tuple[Span, str]] = field(default_factory=lambda: {})
    asked: set[str] = field(default_factory=lambda: set())
    """The variables of which is asked whether they are null, by key."""

    def note(self, states: States) -> None:
        for state in states:
            for key, value in state:
                if isinstance(value, Address) and value.base is not None:
                    self.pointing.setdefault(key, set()).add(value.base)


class PointerStatements:
    """Statements that govern no others, in one sequence of tokens; ``scopes`` are the open ones, innermost last."""

    def __init__(
        self,
        tokens: Sequence[Token],
        extents: Extents,
        scopes: list[dict[str, Variable | None]],
        changed: AbstractSet[str],
        functions: Mapping[str, Item],
        calls: Calls,
        depth: int,
    ) -> None:
        """``changed`` are scalars that may change where no text shows it; ``depth`` counts the calls around a text."""
        self._tokens = tokens
        self._extents = extents
        self.scopes = scopes
        self._changed = changed
        self._functions = functions
        self._calls = calls
        self._depth = depth
        self.expressions = PointerExpressions(tokens, self.variable, self._number)
        self.findings = Findings()
        self.is_pure = True
        """Whether nothing has been done but to copy pointers."""

    def variable(self, name: str) -> Variable | None:
        """Return the variable that a name stands for here, if it is data or a pointer."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def _number(self, text: Sequence[Token]) -> Expr | None:
        """An expression of scalars whose changes are seen."""
        found = expression_of(text) if len(text) <= _LONGEST_NUMBER else None
        if found is None or any(isinstance(node, Index | Call) for node in subexpressions(found)):
            return None
        # In a function that is called names mean other variables than in the one that calls it.
        unseen = any(name in self._changed or self._depth > 0 for name in names(found))
        return None if unseen else found

    # --- one statement -----------------------------------------------------------------------------------

    def run(self, first: int, last: int, states: States) -> States:
        """A declaration, or expressions with commas between them."""
        self.findings.asked |= {variable.key for variable in self.expressions.questions(first, last)}
        type_ends = self._type(first, last)
        if type_ends is not None:
            return self._declaration(first, type_ends, last, states)
        for begin, end in between_commas(self._tokens, first, last) if first < last else ():
            states = self._behind(begin, end, self._expression(begin, end, states))
        return states

    def _behind(self, first: int, last: int, states: States) -> States:
        """States behind tokens that may change what conditions read."""
        written = changes(self._tokens[first:last], frozenset(), frozenset(), frozenset()).names
        return frozenset(forgetting(state, written) for state in states)

    def condition(self, first: int, last: int, states: States) -> tuple[States, States]:
        """The states where a condition holds and those where it does not; comparisons of pointers decide."""
        if last - first == 1 and self._tokens[first].type == "INT_LITERAL":
            nothing: States = frozenset()
            return (nothing, states) if self._tokens[first].text == "0" else (states, nothing)
        self.findings.asked |= {variable.key for variable in self.expressions.questions(first, last)}
        spoken = list(self.expressions.mentions(first, last))
        compared = self.expressions.comparison(first, last)
        if compared is None:
            self._fail(spoken)
            states = self._behind(first, last, states)
            return states, states
        self.findings.understood |= {position for position, _ in spoken}
        operator, left, right = compared
        holds: set[State] = set()
        fails: set[State] = set()
        for state in states:
            found = {_are_equal(x, y) for x, _ in values(left, state) for y, _ in values(right, state)}
            if found != {False}:
                holds.add(state)
            if found != {True}:
                fails.add(state)
        equal, other = frozenset(holds), frozenset(fails)
        return (equal, other) if operator == "==" else (other, equal)

    def _fail(self, spoken: Sequence[tuple[int, Variable]]) -> None:
        for position, variable in spoken:
            self.findings.failed.setdefault(position, variable)

    def _expression(self, first: int, last: int, states: States) -> States:
        """One expression; a pointer that it may change in a way not understood may point anywhere behind it."""
        spoken = list(self.expressions.mentions(first, last))
        if not spoken:
            self.is_pure &= first >= last
            return states
        done = self._done(first, last, states)
        if done is None:
            self.is_pure = False
            self._fail(spoken)
            written = changes(self._tokens[first:last], frozenset(), frozenset(), frozenset()).names
            lost = {v.key: UNKNOWN for _, v in spoken if v.name in written}
            return frozenset(substituted(state, lost) for state in states)
        self.findings.understood |= {position for position, _ in spoken}
        self.findings.note(done)
        return done

    def _done(self, first: int, last: int, states: States) -> States | None:
        """Return the states after an expression; None where it is not understood."""
        if [token.text for token in self._tokens[first : first + 3]] == ["(", "void", ")"]:
            return None if self.expressions.pointer(first + 3, last) is None else states
        called = self._call(first, last, states)
        if called is not None:
            return called
        for position in range(first, last):
            match self._tokens[position].type:
                case "ASSIGN":
                    target = self.expressions.pointer(first, position)
                    value = self.expressions.pointer(position + 1, last)
                    if (
                        value is not None
                        and value.is_flattened
                        and not self._rewrite(position + 1, last, value.text)
                    ):
                        return None
                    return self._stored(target, value, states)
                case "COMPOUND" if self._tokens[position].text in ("+=", "-="):
                    target = self.expressions.pointer(first, position)
                    if target is None or any(self.expressions.mentions(position + 1, last)):
                        return None
                    value = self.expressions.moved(target, position + 1, last, self._tokens[position].text[0])
                    if target.rows and not self._rewrite(position, last, f"= {value.text}"):
                        return None
                    return self._stored(target, value, states)
                case _:
                    pass
        return None

    def _stored(self, target: Pointer | None, value: Pointer | None, states: States) -> States | None:
        """The states after an assignment."""
        if target is None or value is None or not isinstance(target.tree, Read):
            return None
        if value.type not in (None, target.type) or value.levels != target.levels:
            return None
        result: set[State] = set()
        for state in states:
            key = target.tree.variable.key
            if target.tree.through:
                there = at(state, key)
                if not isinstance(there, Reference):
                    return None
                key = there.key
            result |= {substituted(after, {key: found}) for found, after in values(value.tree, state)}
        return frozenset(result)

    # --- declarations --------------------------------------------------------------------------------------

    def _type(self, first: int, last: int) -> int | None:
        """Return the position where the type of a declaration ends, if these tokens are one."""
        position = first
        while position < last and self._tokens[position].type in ("TYPE_WORD", "QUALIFIER", "STRUCT"):
            position += 1
        if position < last and self._tokens[position].text in ("typeof", "__typeof__", "__typeof"):
            position = self._extents.group(position + 1)
        return position if position > first else None

    def _declaration(self, first: int, type_ends: int, last: int, states: States) -> States:
        head = self._tokens[first:type_ends]
        kind = scalar_type(token.text for token in head if token.type == "TYPE_WORD")
        const = any(token.text == "const" for token in head)
        like: Variable | None = None
        if head[-1].type == "RPAR":  # __typeof__(a)
            spoken = list(self.expressions.mentions(first, type_ends))
            self.findings.understood |= {position for position, _ in spoken}
            like = spoken[0][1] if len(spoken) == 1 else None
        if any(token.text in ("static", "extern") for token in head):
            self.is_pure = False
            self._fail(list(self.expressions.mentions(type_ends, last)))
            kind = like = None
        for begin, end in between_commas(self._tokens, type_ends, last):
            states = self._declarator(begin, end, kind, const, like, states)
        return states

    def _declarator(
        self,
        first: int,
        last: int,
        kind: ScalarType | None,
        const: bool,
        like: Variable | None,
        states: States,
    ) -> States:
        equals = next((p for p in range(first, last) if self._tokens[p].type == "ASSIGN"), last)
        name = next((p for p in range(first, equals) if self._tokens[p].type == "NAME"), None)
        spoken = list(self.expressions.mentions(equals, last))
        if name is not None:
            states = frozenset(forgetting(state, {self._tokens[name].text}) for state in states)
        value = self.expressions.pointer(equals + 1, last) if spoken else None
        declared = None if name is None else self._declared(first, name, equals, kind, const, like)
        if declared is None or name is None:
            self.is_pure = False
            self._fail(spoken)
            if name is not None:
                self.scopes[-1][self._tokens[name].text] = None
            return states
        self.scopes[-1][declared.name] = declared
        found: States | None = None
        if value is not None:
            found = self._stored(pointer_of(declared), value, states)
        changed = bool(declared.rows) or (value is not None and value.is_flattened)
        changed |= any("restrict" in token.text for token in self._tokens[first:equals])
        if changed and (found is not None or equals == last):
            text = f"{'' if like else '*' * declared.levels}{declared.name}"
            text += "" if value is None else f" = {value.text}"
            if not self._rewrite(first, last, text):
                found = None
        if found is None:
            self.is_pure &= equals == last
            self._fail(spoken)
            return frozenset(substituted(state, {declared.key: UNKNOWN}) for state in states)
        self.findings.understood |= {position for position, _ in spoken}
        self.findings.note(found)
        return found

    def _declared(
        self, first: int, name: int, equals: int, kind: ScalarType | None, const: bool, like: Variable | None
    ) -> Variable | None:
        """``*p``, ``**p``, ``(*p)[n]``, or ``p`` behind ``__typeof__(a)``; None for anything else."""
        token = self._tokens[name]
        key = f"{token.text} {name} {self._depth}"
        before = [t.text for t in self._tokens[first:name] if t.type != "QUALIFIER"]
        if like is not None and not before and name + 1 == equals:
            pointer = HostPointer(token.text, like.type, const, _open(like.rows), token.span)
            return Variable(key, token.text, like.type, like.rows, like.row_texts, like.levels, pointer)
        if kind is None:
            return None
        if before and set(before) == {"*"} and len(before) <= 2 and name + 1 == equals:
            pointer = HostPointer(token.text, kind, const, (), token.span)
            return Variable(key, token.text, kind, levels=len(before), declared=pointer)
        if before != ["(", "*"] or name + 1 >= equals or self._tokens[name + 1].type != "RPAR":
            return None
        rows, texts = self.expressions.rows(name + 2, equals)
        pointer = HostPointer(token.text, kind, const, _open(rows), token.span)
        return Variable(key, token.text, kind, rows, texts, 1, pointer) if rows else None

    def _rewrite(self, first: int, last: int, text: str) -> bool:
        """Whether the tokens, which the user has written there, can have another text."""
        within = self._tokens[first:last]
        is_written = all(token.span.text == token.text for token in within)
        if self._depth > 0 or not is_written:
            return False
        span = within[0].span.to(within[-1].span)
        self.findings.texts[first, last] = (span, text)
        return True

    # --- calls ---------------------------------------------------------------------------------------------

    def _call(self, first: int, last: int, states: States) -> States | None:
        """A call of a function of the file as what it does to pointers."""
        item = self._functions.get(self._tokens[first].text)
        if item is None or first + 1 >= last or self._extents.group(first + 1) != last:
            return None
        given = between_commas(self._tokens, first + 2, last - 1)
        wanted = _parameters(item, self._depth)
        if wanted is None or len(given) != len(wanted):
            return None
        bound: dict[str, Variable] = {}
        passed: list[tuple[str, Pointer]] = []
        for (begin, end), variable in zip(given, wanted, strict=True):
            if variable is None:
                if any(self.expressions.mentions(begin, end)):
                    return None
                continue
            value = self.expressions.pointer(begin, end)
            if value is None or value.is_flattened or value.levels != variable.levels:
                return None
            if value.type not in (None, variable.type) or value.rows != variable.rows:
                return None
            bound[variable.name] = variable
            passed.append((variable.key, value))
        entering: set[State] = set()
        for state in states:
            within = {state}
            for key, value in passed:
                within = {substituted(after, {key: v}) for s in within for v, after in values(value.tree, s)}
            entering |= within
        return self._calls(item, bound, frozenset(entering))


def _parameters(item: Item, depth: int) -> list[Variable | None] | None:
    """The parameters of a function, None for each that is no pointer to numbers or to such a pointer."""
    name = name_of(item)
    if name is None:
        return None
    opening = item.tokens.index(name) + 1
    extents = Extents(item.tokens, {})
    found: list[Variable | None] = []
    for first, last in between_commas(item.tokens, opening + 1, extents.group(opening) - 1):
        words = item.tokens[first:last]
        kind = scalar_type(token.text for token in words if token.type == "TYPE_WORD")
        stars = sum(token.type == "STAR" for token in words)
        called = [token.text for token in words if token.type == "NAME"]
        plain = all(token.type in ("TYPE_WORD", "QUALIFIER", "STAR", "NAME") for token in words)
        if kind is None or len(called) != 1 or not plain or not 1 <= stars <= 2:
            found.append(None)
        else:
            found.append(Variable(f"{called[0]} {name.text} {depth + 1}", called[0], kind, levels=stars))
    return found


def _open(rows: tuple[Expr | None, ...]) -> tuple[Expr | None, ...]:
    """The extents of a parameter that is declared like a pointer to rows."""
    return (None, *rows) if rows else ()


def _are_equal(left: Value, right: Value) -> bool | None:
    """Whether two pointers point to one place; None where that is not known.

    Data of two parameters does not overlap.
    """
    match left, right:
        case (Address(str() as one, first), Address(str() as other, second)):
            if one != other:
                return False
            if first is None or second is None:
                return None
            if first == second:
                return True
            are_numbers = isinstance(first, IntLiteral) and isinstance(second, IntLiteral)
            return False if are_numbers else None
        case _:
            return None
