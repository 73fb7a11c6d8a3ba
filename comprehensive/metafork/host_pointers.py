"""The targets of pointers of host code when it comes to a region: statements in, all that may be out.

::

    float *cur = a, *next = b;
    for (int t = 0; t < n; t++) {
      meta_schedule { ... next[i] = cur[i] ... }           cur at a, next at b, or cur at b, next at a
      float *tmp = cur; cur = next; next = tmp;            a turn exchanges cur and next
    }

Statements are followed along all paths, whatever their conditions, comparisons of pointers excepted, until no new
addresses come up.  What is said of pointers in other words is not understood, and its place is part of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from comprehensive.diagnostics import Span
from comprehensive.metafork.ast import Address, Addresses, HostPointer, Parameter
from comprehensive.metafork.extents import Extents
from comprehensive.metafork.helpers import name_of
from comprehensive.metafork.items import Item
from comprehensive.metafork.pointer_statements import PointerStatements, States
from comprehensive.metafork.pointer_values import UNKNOWN, State, Value, Variable, at, substituted
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.tokens import Token

_MOST_STATES = 128
"""Ways in which pointers may point at one place; of more, nothing is known."""
_MOST_ROUNDS = 20
"""Turns of a loop that are followed before offsets that go on changing are given up."""
_DEEPEST_CALL = 4
_DEEPEST_NEST = 100
_MOST_STATEMENTS = 50_000
"""Statements that are followed, each as often as it is come to."""
_LEAVING = frozenset(("exit", "_Exit", "quick_exit", "abort"))
_NOTHING: States = frozenset()


class AtRegion(Struct, frozen=True):
    """The pointers of host code that a region can see, and all ways in which variables may point there, by name."""

    pointers: tuple[HostPointer, ...]
    addresses: tuple[Addresses, ...]


class HostPointers(Struct, frozen=True):
    """``regions`` in the order of the text; ``understood`` are positions of names of data or of pointers that are only
    copied, moved or compared there; ``others`` those of other words about them, with the parameters to which they may
    point.  ``exchanges`` say for loops, by position, what a turn does that does nothing else.  ``rewritten`` are
    declarations and values of pointers to rows as they read where all data is behind plain pointers."""

    regions: tuple[AtRegion, ...]
    understood: frozenset[int]
    others: Mapping[int, frozenset[str]]
    exchanges: Mapping[int, tuple[tuple[str, str], ...]]
    rewritten: tuple[tuple[Span, str], ...]
    spoken: frozenset[str]
    """The names at the places that are understood."""
    asked: frozenset[str] = frozenset()
    """The parameters of which host code asks whether they are null."""


def host_pointers(
    tokens: Sequence[Token],
    regions: Mapping[int, int],
    parameters: Sequence[Parameter],
    changed: AbstractSet[str],
    functions: Iterable[Item],
) -> HostPointers:
    """Reads the body of a function; ``regions`` maps the position of each region's keyword to its last one.

    ``changed`` are scalars that may change where no text shows it; ``functions`` are those of the file.
    """
    scope: dict[str, Variable | None] = {}
    start: dict[str, Value] = {}
    for p in parameters:
        scope[p.name] = None
        if p.is_data:
            texts = tuple("" if extent is None else print_expr(extent) for extent in p.dims[1:])
            scope[p.name] = Variable(p.name, p.name, p.type, p.dims[1:], texts)
            start[p.name] = Address(p.name)
    named = {name.text: item for item in functions if (name := name_of(item)) is not None}
    steps = _Steps(tokens, regions, [scope], changed, named, 0)
    states: States = frozenset((substituted((), start),))
    steps.statements.findings.note(states)
    try:
        steps.sequence(0, len(tokens), states)
    except _GivenUpError:
        return _not_followed(tokens, regions, start.keys())
    return steps.result()


def _not_followed(
    tokens: Sequence[Token], regions: Mapping[int, int], data: AbstractSet[str]
) -> HostPointers:
    """Return the result for a text that is too long: it may do anything with parameters where it speaks of them, and
    nothing elsewhere."""
    inside = {p for first, last in regions.items() for p in range(first, last + 1)}
    others = {
        position: frozenset((token.text,))
        for position, token in enumerate(tokens)
        if token.type == "NAME" and token.text in data and position not in inside
    }
    at_each = tuple(AtRegion((), ((),)) for _ in regions)
    return HostPointers(at_each, frozenset(), others, {}, (), frozenset())


class _GivenUpError(Exception):
    """The text is nested too deeply, or has too many paths."""


class _Jumps(Struct):
    """The states that leave a loop or a switch, and those that go on to its next turn."""

    out: set[State] = field(default_factory=lambda: set())
    on: set[State] = field(default_factory=lambda: set())


class _Steps:
    """The statements of one text, which is a body of a function."""

    def __init__(
        self,
        tokens: Sequence[Token],
        regions: Mapping[int, int],
        scopes: list[dict[str, Variable | None]],
        changed: AbstractSet[str],
        functions: Mapping[str, Item],
        depth: int,
    ) -> None:
        self._tokens = tokens
        self._regions = regions
        self._scopes = scopes
        self._changed = changed
        self._functions = functions
        self._depth = depth
        self._extents = Extents(tokens, regions)
        self.statements = PointerStatements(
            tokens, self._extents, scopes, changed, functions, self._called, depth
        )
        self.returned: States = _NOTHING
        self._jumps: list[_Jumps] = []
        self._entering: list[States] = []
        """The states that come to each open switch."""
        self._conditionals = 0
        self._nested = 0
        self._followed = 0
        self._is_trial = False
        self._pointers: dict[int, tuple[HostPointer, ...]] = {}
        self._addresses: dict[int, dict[Addresses, None]] = {}
        self._exchanges: dict[int, tuple[tuple[str, str], ...]] = {}

    def result(self) -> HostPointers:
        """Return what has been found in all statements so far."""
        findings = self.statements.findings
        others = {
            position: frozenset(findings.pointing.get(variable.key, ()))
            for position, variable in sorted(findings.failed.items())
        }
        regions = tuple(
            AtRegion(
                self._pointers.get(position, ()), tuple(sorted(self._addresses.get(position, {}), key=repr))
            )
            for position in sorted(self._regions)
        )
        rewritten = tuple(findings.texts[place] for place in sorted(findings.texts))
        understood = frozenset(findings.understood - findings.failed.keys())
        spoken = frozenset(self._tokens[position].text for position in understood)
        asked = frozenset(findings.asked)
        return HostPointers(regions, understood, others, self._exchanges, rewritten, spoken, asked)

    # --- statements --------------------------------------------------------------------------------------

    def sequence(self, first: int, last: int, states: States) -> States:
        """Return the states after statements that run one after the other."""
        position = first
        while position < last:
            position, states = self._statement(position, last, states)
        return states

    def _statement(self, position: int, last: int, states: States) -> tuple[int, States]:
        """The position after a statement, and the states there; inside an ``#if`` it may be left out."""
        inside = self._conditionals > 0
        self._nested += 1
        self._followed += 1
        if self._nested > _DEEPEST_NEST or self._followed > _MOST_STATEMENTS:
            raise _GivenUpError
        end, after = self._one(position, last, states)
        self._nested -= 1
        return end, self._limited(after | states) if inside else after

    def _one(self, position: int, last: int, states: States) -> tuple[int, States]:
        if position in self._regions:
            self._arrive(position, states)
            return self._regions[position] + 1, states
        token = self._tokens[position]
        if token.type not in ("SEMI", "LBRACE") and token.type in _GOVERNING:
            self.statements.is_pure = False
        match token.type:
            case "DIRECTIVE":
                word = token.text.lstrip("# \t")
                self._conditionals += word.startswith("if") - word.startswith("endif")
                return position + 1, states
            case "SEMI" | "ELSE" | "RBRACE":
                return position + 1, states
            case "LBRACE":
                end = min(self._extents.brackets(position, last), last)
                return end, self._scoped(lambda: self.sequence(position + 1, end - 1, states))
            case "FOR":
                return self._for(position, last, states)
            case "WHILE":
                end = self._extents.group(position + 1)
                return self._loop(end, last, states, (position + 2, end - 1))
            case "DO":
                return self._loop(position + 1, last, states, None)
            case "IF":
                return self._if(position, last, states)
            case "SWITCH":
                return self._switch(position, last, states)
            case "BREAK" | "CONTINUE":
                if self._jumps:
                    (self._jumps[-1].out if token.type == "BREAK" else self._jumps[-1].on).update(states)
                return self._extents.semicolon(position, last) + 1, _NOTHING
            case "RETURN":
                end = self._extents.semicolon(position, last)
                self.returned |= self.statements.run(position + 1, end, states)
                return end + 1, _NOTHING
            case _:
                return self._simple(position, last, states)

    def _simple(self, position: int, last: int, states: States) -> tuple[int, States]:
        """A declaration or expressions to the ``;``; words before a brace begin a loop, for all that is known."""
        depth, end = 0, position
        while end < last and end not in self._regions:
            kind = self._tokens[end].type
            is_value = end > position and self._tokens[end - 1].type == "ASSIGN"
            if depth == 0 and (kind == "SEMI" or (kind == "LBRACE" and not is_value)):
                break
            depth += (kind in ("LPAR", "LSQB", "LBRACE")) - (kind in ("RPAR", "RSQB", "RBRACE"))
            end += 1
        states = self.statements.run(position, end, states)
        if end < last and self._tokens[end].type == "LBRACE" and end > position:
            self.statements.is_pure = False
            return self._loop(end, last, states, (end, end))
        leaves = self._tokens[position].text in _LEAVING
        return end if end in self._regions else end + 1, _NOTHING if leaves else self._limited(states)

    def _scoped(self, run: Callable[[], States]) -> States:
        """Return the states after statements in a scope of their own."""
        self._scopes.append({})
        states = run()
        own = {variable.key for variable in self._scopes.pop().values() if variable is not None}
        return frozenset(_without(state, own) for state in states) if own else states

    def _body(self, position: int, last: int, states: States) -> tuple[int, States]:
        """Run the body that a loop or a condition governs; return the position behind it and the states."""
        if position >= last:
            return last, states
        end = position

        def run() -> States:
            nonlocal end
            end, after = self._statement(position, last, states)
            return after

        after = self._scoped(run)
        return end, after

    def _if(self, position: int, last: int, states: States) -> tuple[int, States]:
        end = self._extents.group(position + 1)
        holds, fails = self.statements.condition(position + 2, end - 1, states)
        end, after = self._body(end, last, holds)
        if end < last and self._tokens[end].type == "ELSE":
            end, fails = self._body(end + 1, last, fails)
        return end, self._limited(after | fails)

    def _switch(self, position: int, last: int, states: States) -> tuple[int, States]:
        if self._tokens[position].text != "switch":  # a label: whatever comes to the switch may go on there
            while position < last and self._tokens[position].type != "COLON":
                position += 1
            return position + 1, states | (self._entering[-1] if self._entering else _NOTHING)
        end = self._extents.group(position + 1)
        self.statements.condition(position + 2, end - 1, states)
        jumps = _Jumps(on=self._jumps[-1].on if self._jumps else set())
        self._jumps.append(jumps)
        self._entering.append(states)
        end, after = self._body(end, last, _NOTHING)
        self._entering.pop()
        self._jumps.pop()
        return end, self._limited(after | states | jumps.out)

    # --- loops ---------------------------------------------------------------------------------------------

    def _for(self, position: int, last: int, states: States) -> tuple[int, States]:
        end = self._extents.group(position + 1)
        first = self._extents.semicolon(position + 2, end - 1)
        second = self._extents.semicolon(min(first + 1, end - 1), end - 1)
        after = end

        def run() -> States:
            nonlocal after
            before = self.statements.run(position + 2, first, states)
            self._exchange(position, end, last, before)
            after, out = self._loop(end, last, before, (first + 1, second), (second + 1, end - 1))
            return out

        out = self._scoped(run)
        return after, out

    def _loop(
        self,
        body: int,
        last: int,
        states: States,
        condition: tuple[int, int] | None,
        step: tuple[int, int] = (0, 0),
    ) -> tuple[int, States]:
        """Turns until no new states come up; without a ``condition`` it stands behind the body."""
        known, out, end, rounds = _NOTHING, _NOTHING, body, 0
        while rounds == 0 or not states <= known:
            known |= states
            if condition is not None:
                states, left = self.statements.condition(*condition, states)
                out |= left
            jumps = _Jumps()
            self._jumps.append(jumps)
            end, after = self._body(body, last, states)
            self._jumps.pop()
            out |= jumps.out
            states = after | jumps.on
            if condition is None:
                group = end + 1
                end = self._extents.group(group)
                self.statements.is_pure &= [t.text for t in self._tokens[group:end]] == ["(", "0", ")"]
                states, left = self.statements.condition(group + 1, end - 1, states)
                out |= left
            states = _widened(self.statements.run(*step, states), rounds)
            rounds += 1
        return end, self._limited(out)

    def _exchange(self, loop: int, body: int, last: int, states: States) -> None:
        """Finds what a turn of a loop makes of pointers, if it does nothing but to run regions and copy pointers."""
        if self._is_trial:
            return
        found = next(iter(states), ())
        symbolic: State = tuple((key, Address(key)) for key, value in found if isinstance(value, Address))
        statements = self.statements
        was_pure, was_trial = statements.is_pure, self._is_trial
        statements.is_pure, self._is_trial = True, True
        _, after = self._body(body, last, frozenset((symbolic,)))
        is_pure = statements.is_pure
        statements.is_pure, self._is_trial = was_pure, was_trial
        if not is_pure or len(after) != 1:
            return
        (state,) = after
        called = {variable.key: variable.name for variable in self._visible().values()}
        moved = [(key, value) for key, value in state if value != Address(key) and key in called]
        pairs: list[tuple[str, str]] = []
        for key, value in moved:
            match value:
                case Address(str() as before) if value == Address(before) and before in called:
                    pairs.append((called[key], called[before]))
                case _:
                    return
        self._exchanges[loop] = tuple(pairs)

    def _limited(self, states: States) -> States:
        """Return the states if there are few enough to follow; else variables may point anywhere."""
        if len(states) <= _MOST_STATES:
            return states
        keys = sorted({key for state in states for key, _ in state})
        return frozenset((tuple((key, UNKNOWN) for key in keys),))

    # --- regions and calls ---------------------------------------------------------------------------------

    def _visible(self) -> dict[str, Variable]:
        """The variables in force here, by name."""
        found: dict[str, Variable | None] = {}
        for scope in self._scopes:
            found |= scope
        return {name: v for name, v in found.items() if v is not None and v.levels == 1}

    def _arrive(self, position: int, states: States) -> None:
        if self._is_trial:
            return
        visible = self._visible()
        self._pointers[position] = tuple(v.declared for v in visible.values() if v.declared is not None)
        ways = self._addresses.setdefault(position, {})
        for state in states:
            found: list[tuple[str, Address]] = []
            for name, variable in visible.items():
                value = at(state, variable.key)
                address = value if isinstance(value, Address) else UNKNOWN
                if variable.declared is not None or address != Address(name):
                    found.append((name, address))
            ways[tuple(found)] = None

    def _called(self, item: Item, parameters: Mapping[str, Variable], states: States) -> States | None:
        """The states behind a call of a function; None where it does other things with pointers."""
        if self._depth >= _DEEPEST_CALL:
            return None
        opening = next(k for k, token in enumerate(item.tokens) if token.type == "LBRACE")
        scopes: list[dict[str, Variable | None]] = [dict(parameters)]
        within = _Steps(
            item.tokens[opening + 1 : -1], {}, scopes, self._changed, self._functions, self._depth + 1
        )
        after = within.sequence(0, len(item.tokens) - opening - 2, states) | within.returned
        self.statements.is_pure &= within.statements.is_pure
        if within.statements.findings.failed:
            return None
        own = {variable.key for variable in parameters.values()}
        return frozenset(_without(state, own) for state in after)


_GOVERNING = frozenset(("FOR", "WHILE", "IF", "ELSE", "SWITCH", "BREAK", "CONTINUE", "RETURN", "DIRECTIVE"))
"""The words that make a statement more than a copy of pointers."""


def _without(state: State, keys: AbstractSet[str]) -> State:
    return tuple(item for item in state if item[0] not in keys)


def _widened(states: States, rounds: int) -> States:
    """States whose offsets no longer change, after many turns."""
    if rounds < _MOST_ROUNDS:
        return states
    return frozenset(tuple((key, _somewhere(value)) for key, value in state) for state in states)


def _somewhere(value: Value) -> Value:
    is_moved = isinstance(value, Address) and value.offset is not None and value != Address(value.base)
    return Address(value.base, None) if is_moved and isinstance(value, Address) else value
