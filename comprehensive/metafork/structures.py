"""Structures, as arrays: those whose members all have one type are that many elements of it.

In: the tokens of a preprocessed file, whose names of scalar types are resolved.  Out: the same without such structures
in its functions::

    typedef struct { float x, y; float v[3]; } body;

    body *p;            float p[][5];
    p[i].v[k]           p[i][2 + (k)]
    body q = p[i];      float q[5] = {p[i][0], p[i][1], p[i][2], p[i][3], p[i][4]};
    p[j] = q;           {p[j][0] = q[0]; p[j][1] = q[1]; ...}
    body *r = &p[j];    long r = (j);         and r->x is p[r][0], f(r) is f(&p[r])
    f(q)                f(q[0], q[1], ...)    for f(body b), which is f(float b_x, float b_y, ...)
    q = g(i);           {q[0] = g_x(i); q[1] = g_y(i); ...}    for body g(int i), in whose place is one for each element

A variable without arrays is a scalar for each member, ``float q_x = p[i][0];``.
Tokens have the spans of the words in whose place they stand, so that text and places stay those of the source.  What is
no such use of a structure is left as it is: the parser says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from comprehensive.metafork.brackets import closing_of
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.limits import too_deep_in_text
from comprehensive.metafork.preprocessor.stream import Preprocessed
from comprehensive.metafork.structure_places import (
    Function,
    Places,
    Text,
    Variable,
    between,
    number,
    sign,
    subscript,
    typed,
)
from comprehensive.metafork.structure_types import Layout, Structures, structures_of
from comprehensive.metafork.tokens import END, Token
from comprehensive.records import replace

_BEHIND = 16
_BEGINS_STATEMENT = frozenset(("SEMI", "LBRACE", "RBRACE", "RPAR", "ELSE", "COLON", "DO"))


def with_structures_as_arrays(text: Preprocessed) -> tuple[Preprocessed, Mapping[str, Token]]:
    """The text without structures of one type, and of each that has several the first member that differs."""
    together = (*text.included, *text.tokens)
    if all(token.text != "struct" for token in together) or too_deep_in_text(together) is not None:
        return text, {}
    behind = together[-1]._replace(type=END, text="")
    together = (*together, *[behind] * _BEHIND)
    found = structures_of(together)
    if not found.names and not found.tags:
        return text, found.differing
    fresh = Namer({token.text for token in together if token.type == "NAME"})
    before = len(text.included)
    included, tokens = _Reader(together, found, fresh).parts(before)
    skipped = {(text.tokens[k].start, text.tokens[k].end) for k in text.skipped}
    still = frozenset(k for k, token in enumerate(tokens) if (token.start, token.end) in skipped)
    changed = replace(text, tokens=tuple(tokens), included=tuple(included), skipped=still)
    return changed, found.differing


class _Reader:
    """Goes through a text, one part of it after the other; ``_result`` is what has come out so far."""

    def __init__(self, tokens: Sequence[Token], structures: Structures, fresh: Namer) -> None:
        self._tokens = tokens
        self._structures = structures
        self._fresh = fresh
        self._places = Places(tokens, structures)
        self._result: Text = []
        self._parameters: dict[str, Variable | None] = {}
        self._parentheses = 0
        self._has_region = False
        self._region_depth = 0
        """The scopes that are open around the region that is open; 0 for none."""
        self._returned: tuple[Layout, int] | None = None
        """The structure that the function returns, and which element of it the one in its place does."""

    def parts(self, before: int) -> tuple[Text, Text]:
        """Return what comes of the tokens before a position, and of those from it on."""
        position, first = 0, 0
        while self._tokens[position].type != END:
            if position <= before:
                first = len(self._result)
            position = self._next(position)
        return self._result[:first], self._result[first:]

    def _next(self, position: int) -> int:
        """Goes on from a position to the next one."""
        token, scopes = self._tokens[position], self._places.scopes
        if token.type == "STRUCT" and (end := self._end_of_definition(position)) is not None:
            return self._as_it_is(position, end)
        if token.type in ("NAME", "STRUCT") and (named := self._type_at(position)) is not None:
            return self._declared(position, *named)
        match token.type:
            case "LBRACE":
                if self._opens_region(position):
                    self._region_depth = len(scopes) + 1
                scopes.append({} if scopes else self._parameters)
            case "RBRACE" if scopes:
                if self._region_depth == len(scopes):
                    self._region_depth = 0
                scopes.pop()
            case "LPAR" if not scopes:
                if not self._parentheses:
                    self._parameters, self._has_region = {}, self._is_head_of_region(position)
                self._parentheses += 1
            case "RPAR" if not scopes:
                self._parentheses -= 1
            case "RETURN" if self._returned is not None:
                layout, element = self._returned
                value = self._places.value(position + 1, layout)
                if value is not None:
                    self._result += [token, *value[0][element]]
                    return value[1]
            case "NAME" if scopes and self._is_declared_otherwise(position):
                scopes[-1][token.text] = None
            case "NAME" | "LPAR" if scopes:
                changed, end = self._places.part(position)
                if changed is None:
                    changed, end = self._assigned(position) or ([token], position + 1)
                self._result += changed
                return end
            case _:
                pass
        return self._as_it_is(position, position + 1)

    def _as_it_is(self, position: int, end: int) -> int:
        self._result += self._tokens[position:end]
        return end

    # --- what a place is

    def _end_of_definition(self, position: int) -> int | None:
        """Return where a definition of types ends that begins here; None where there is none."""
        tokens = self._tokens
        if tokens[position].text == "typedef":
            end = position
            while tokens[end].type not in ("SEMI", END):
                end = closing_of(tokens, end) + 1 if tokens[end].type == "LBRACE" else end + 1
            return end
        opening = position + 2 if tokens[position + 1].type == "NAME" else position + 1
        return closing_of(tokens, opening) + 1 if tokens[opening].type == "LBRACE" else None

    def _type_at(self, position: int) -> tuple[Layout, int] | None:
        """Return the structure that is named at a place, and where its name ends; None for a variable of that name."""
        is_variable = any(self._tokens[position].text in scope for scope in self._places.scopes)
        is_member = position > 0 and self._tokens[position - 1].type == "DOT"
        return None if is_variable or is_member else self._structures.at(self._tokens, position)

    def _opens_region(self, position: int) -> bool:
        while position > 0 and self._tokens[position - 1].type not in ("SEMI", "LBRACE", "RBRACE"):
            position -= 1
            if self._tokens[position].type == "META_SCHEDULE":
                return True
        return False

    def _is_head_of_region(self, position: int) -> bool:
        """Whether a function with these parameters has a region."""
        opening = closing_of(self._tokens, position) + 1
        if self._tokens[opening].type != "LBRACE":
            return False
        inside = self._tokens[opening : closing_of(self._tokens, opening)]
        return any(token.type == "META_SCHEDULE" for token in inside)

    def _is_function(self, position: int) -> bool:
        """Whether the name of a function stands there that has a body, and no region."""
        if self._tokens[position].type != "NAME" or self._tokens[position + 1].type != "LPAR":
            return False
        opening = closing_of(self._tokens, position + 1) + 1
        return self._tokens[opening].type == "LBRACE" and not self._is_head_of_region(position + 1)

    def _is_declared_otherwise(self, position: int) -> bool:
        before = position - 1
        while before > 0 and self._tokens[before].type in ("STAR", "QUALIFIER"):
            before -= 1
        return self._tokens[before].type == "TYPE_WORD"

    # --- declarations

    def _declared(self, position: int, layout: Layout, end: int) -> int:
        """Goes on behind what a structure's name declares; behind the name where that is not understood."""
        scopes = self._places.scopes
        if not scopes and not self._parentheses and self._is_function(end):
            return self._functions(layout, end)
        if not scopes:
            made = self._parameter(self._tokens[position], layout, end) if self._parentheses == 1 else None
        else:
            # Host code keeps its text: what it declares is a structure there.
            is_host = self._has_region and not self._region_depth
            made = None if is_host else self._variables(layout, end)
        if made is None:
            return self._as_it_is(position, end)
        self._result += made[0]
        return made[1]

    def _functions(self, layout: Layout, position: int) -> int:
        """Goes on behind a function that returns a structure: one for each element stands in its place."""
        name = self._tokens[position]
        end = closing_of(self._tokens, closing_of(self._tokens, position + 1) + 1)
        own = tuple(map(self._fresh, layout.names(name.text)))
        head: Text = []
        while self._result and self._result[-1].type == "QUALIFIER":
            head.insert(0, self._result.pop())
        for element, called in enumerate(own):
            self._result += [*head, *typed(layout, name), name._replace(text=called)]
            self._returned = layout, element
            at = position + 1
            while at <= end and self._tokens[at].type != END:
                at = self._next(at)
        self._returned = None
        self._places.functions[name.text] = Function(layout, own)
        return end + 1 if self._tokens[end].type != END else end

    def _parameter(self, of: Token, layout: Layout, position: int) -> tuple[Text, int] | None:
        kinds = [token.type for token in self._tokens[position : position + 6]]
        name_at = position + next((k for k, kind in enumerate(kinds) if kind not in ("STAR", "QUALIFIER")), 0)
        name, stars = self._tokens[name_at], kinds[: name_at - position].count("STAR")
        if name.type != "NAME" or stars > 1:
            return None
        after = self._tokens[name_at + 1]
        size = subscript(name, [number(name, layout.size)])
        constant = of._replace(type="QUALIFIER", text="const")
        qualifiers = [constant for token in self._tokens[position:name_at] if token.text == "const"]
        if "STAR" in kinds and kinds.index("STAR") == 0:
            qualifiers = []  # It is the pointer that does not change.
        if stars == 1 and after.type in ("COMMA", "RPAR"):
            self._parameters[name.text] = Variable(layout, name.text, is_pointer=True)
            return [*qualifiers, *typed(layout, of), name, *subscript(name, []), *size], name_at + 1
        if stars == 0 and after.type == "LSQB":
            end, further = self._behind_extents(name_at + 1)
            if self._tokens[end].type in ("COMMA", "RPAR"):
                self._parameters[name.text] = Variable(layout, name.text, is_pointer=True, further=further)
                size = subscript(self._tokens[end - 1], [number(name, layout.size)])
                return [*typed(layout, of), *self._tokens[name_at:end], *size], end
        if stars == 0 and after.type in ("COMMA", "RPAR") and not self._has_region:
            names = tuple(map(self._fresh, layout.names(name.text)))
            self._parameters[name.text] = Variable(layout, name.text, scalars=names)
            each = [[*typed(layout, name), name._replace(text=own)] for own in names]
            return between(each, sign(name, ",")), name_at + 1
        return None

    def _behind_extents(self, position: int) -> tuple[int, int]:
        """Return where the extents of an array end, and how many there are behind the first one."""
        end, further = closing_of(self._tokens, position) + 1, 0
        while self._tokens[end].type == "LSQB":
            end, further = closing_of(self._tokens, end) + 1, further + 1
        return end, further

    def _variables(self, layout: Layout, position: int) -> tuple[Text, int] | None:
        """Variables of a region, or of a function that one calls."""
        result: Text = []
        scopes = self._places.scopes
        before = dict(scopes[-1])
        while True:
            made = self._variable(layout, position)
            end = self._tokens[position if made is None else made[2]]
            if made is None or end.type not in ("COMMA", "SEMI"):
                scopes[-1] = before
                return None
            variable, declaration, position = made
            scopes[-1][variable.name] = variable
            result += [*declaration, sign(end, ";")]
            position += 1
            if end.type == "SEMI":
                break
        while self._result and self._result[-1].text == "const":
            self._result.pop()
        return result, position

    def _variable(self, layout: Layout, position: int) -> tuple[Variable, Text, int] | None:
        """A variable, its declaration without the end, and where that ends."""
        first = self._tokens[position]
        if first.type == "STAR":
            name = self._tokens[position + 1]
            found = (
                self._places.address(position + 3) if self._tokens[position + 2].type == "ASSIGN" else None
            )
            if name.type != "NAME" or found is None or found.target.layout is not layout:
                return None
            rows = found.held or tuple(self._fresh(f"{name.text}_row") for _ in found.rows)
            own = Variable(layout, name.text, is_pointer=True, counts=found.target, rows=rows)
            kind = name._replace(type="TYPE_WORD", text="long")
            held = [
                [name._replace(text=row), sign(name, "="), *text]
                for row, text in zip(rows, found.rows, strict=False)
            ]
            numbers = between([*held, [name, sign(name, "="), *found.counted]], sign(name, ","))
            return own, [kind, *numbers], found.end
        if first.type != "NAME":
            return None
        size = subscript(first, [number(first, layout.size)])
        after = self._tokens[position + 1]
        if after.type == "LSQB":
            end, further = self._behind_extents(position + 1)
            several = Variable(layout, first.text, is_pointer=True, further=further)
            return several, [*typed(layout, first), *self._tokens[position:end], *size], end
        values, end = None, position + 1
        if after.type == "ASSIGN":
            found = self._places.value(position + 2, layout)
            if found is None:
                return None
            values, end = found
        if not layout.has_arrays:
            names = tuple(map(self._fresh, layout.names(first.text)))
            own = Variable(layout, first.text, scalars=names)
            return own, self._scalars(layout, first, names, values), end
        given = (
            []
            if values is None
            else [sign(first, "="), sign(first, "{"), *between(values, sign(first, ",")), sign(first, "}")]
        )
        return Variable(layout, first.text), [*typed(layout, first), first, *size, *given], end

    def _scalars(
        self, layout: Layout, at: Token, names: Sequence[str], values: Sequence[Text] | None
    ) -> Text:
        """The declaration of a scalar for each element."""
        named = [at._replace(type="NAME", text=name) for name in names]
        each = [[name] for name in named]
        if values is not None:
            each = [[name, sign(at, "="), *value] for name, value in zip(named, values, strict=True)]
        return [*typed(layout, at), *between(each, sign(at, ","))]

    # --- assignments

    def _assigned(self, position: int) -> tuple[Text, int] | None:
        """The assignment of a whole structure that begins at a place."""
        if self._tokens[position - 1].type not in _BEGINS_STATEMENT:
            return None
        found = self._places.place(position)
        if found is None or found[0].layout is None or self._tokens[found[1]].type != "ASSIGN":
            return None
        target, end = found
        assert target.layout is not None
        value = self._places.value(end + 1, target.layout) if target.is_steady else None
        if value is None or self._tokens[value[1]].type != "SEMI":
            return None
        at = self._tokens[end]
        parts, places = value[0], target.elements(at)
        before: Text = []
        # Elements of another place are those that are read in turn; values in braces may be any of them.
        is_listed = self._tokens[value[1] - 1].type == "RBRACE"
        spoken = chain(target.row, target.terms, *(part if is_listed else part[1:] for part in parts))
        if not target.variable.spoken.isdisjoint(token.text for token in spoken):
            names = [self._fresh(f"next_{target.variable.name}") for _ in parts]
            before = [*self._scalars(target.layout, at, names, parts), sign(at, ";")]
            parts = [[at._replace(type="NAME", text=name)] for name in names]
        assigned = chain.from_iterable(
            [*place, at, *part, sign(at, ";")] for place, part in zip(places, parts, strict=True)
        )
        return [sign(at, "{"), *before, *assigned, sign(at, "}")], value[1] + 1
