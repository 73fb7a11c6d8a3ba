"""The run of one thread on all paths at once: states go in at the top of a body, and come out at its end.

In: a body of a nest, the iterators of a thread and the scalars that are known.  Out: nothing; a listener hears of the
reads and subscripts on the way.  A condition on data sends a state both ways; a loop whose range is not known does one
turn, and what it assigns has some value then::

    int t; if (x[i] > 0) t = 1; o[i] = t;   -->   read of t, with a value where x[i] > 0, else without
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from comprehensive.loops.ir import Threads
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    Index,
    MetaFor,
    Name,
    While,
)
from comprehensive.metafork.own_statement import OwnStatement
from comprehensive.metafork.walk import Statement, all_statements_in, assigned_scalars, declared
from comprehensive.poly.path_values import Values
from comprehensive.poly.paths import State, merged, shares_roots
from comprehensive.poly.search import TooLongError
from comprehensive.poly.unknowns import Unknown, Unset, Value

_MOST_STATES = 24
_MOST_TURNS = 4000


class Thread(Struct):
    """Runs bodies as the thread that has these iterators."""

    values: Values
    iterators: dict[str, int]

    def body(self, statements: Sequence[Statement], states: list[State]) -> list[State]:
        """The states behind a body; paths beyond the first ones are left."""
        for statement in statements:
            on_the_way = [state for state in states if state.jump]
            here = [state for state in states if not state.jump]
            if not here:
                break
            states = merged([*on_the_way, *self._statement(statement, here)], self.values.unknowns)
            states = states[:_MOST_STATES]
        names = {name for statement in statements for name in declared(statement)}
        for state in states:
            for name in names:
                _leave(state, name)
        return states

    def _statement(self, statement: Statement, states: list[State]) -> list[State]:
        if not isinstance(statement, OwnStatement):
            self.values.place = statement.span
        match statement:
            case Declare():
                for state in states:
                    self._declare(statement, state)
                return states
            case Assign():
                for state in states:
                    self._assign(statement, state)
                return states
            case If():
                then, otherwise = self._ways(statement.condition, states)
                return self.body(statement.then, then) + self.body(statement.otherwise, otherwise)
            case For():
                return self._for(statement, states)
            case While():
                return self._loop(statement, states, statement.condition, lambda state: None)
            case DoWhile():
                once = self._turn(statement, states)
                left = self._landed([state for state in once if state.jump])
                again = [state for state in once if state not in left]
                return left + self._loop(statement, again, statement.condition, lambda state: None)
            case Block():
                return self.body(statement.body, states)
            case Break() | Continue():
                for state in states:
                    state.jump = "break" if isinstance(statement, Break) else "continue"
                return states
            case Threads():
                self.values.types.update(statement.declared)
                for state in states:
                    state.cells.update(
                        {loop.iterator: self.iterators[loop.iterator] for loop in statement.loops}
                    )
                return self.body(statement.body, states)
            case MetaFor() | OwnStatement():
                raise ValueError(f"{type(statement).__name__} in a nest that loops.build has not built")

    def _declare(self, declare: Declare, state: State) -> None:
        self.values.types[declare.name] = declare.type
        if declare.dims:
            extents = [self.values.value(dim, state) for dim in declare.dims]
            state.forget(declare.name)
            state.extents[declare.name] = tuple(e for e in extents if isinstance(e, int))
            if len(state.extents[declare.name]) < len(extents):
                raise TooLongError
            return
        initial = declare.initial
        state.cells[declare.name] = (
            Unset(declare.name) if initial is None else self._kept(initial, declare, state)
        )

    def _kept(self, value: Expr, place: Declare | Assign, state: State) -> Value:
        """Return what a variable holds after it was given a value."""
        types = self.values.types
        to = place.type if isinstance(place, Declare) else type_of(place.target, types)
        return self.values.converted(self.values.kept(value, state), type_of(value, types), to)

    def _assign(self, statement: Assign, state: State) -> None:
        target, values = statement.target, self.values
        is_local = isinstance(target, Name) or target.array in state.extents
        if statement.operator == "=" and is_local:
            result = self._kept(statement.value, statement, state)
        elif statement.operator == "=":
            result = values.value(statement.value, state)
        else:
            # What is added comes first, as in the order of the text of `accesses`.
            whole = Binary(statement.operator[:-1], target, statement.value, statement.span)
            kind = type_of(target, values.types)
            result = values.converted(values.value(whole, state), type_of(whole, values.types), kind)
        if isinstance(target, Name):
            state.cells[target.identifier] = result
            return
        subscripts = values.subscripts(target, state)
        if not is_local:
            state.versions[target.array] = values.unknowns.fresh().number
        elif values.is_inside(target, subscripts, state):
            state.cells[target.array, tuple(s for s in subscripts if isinstance(s, int))] = result
        elif not all(isinstance(s, int) for s in subscripts):
            state.blurred.add(target.array)

    def _ways(self, condition: Expr, states: list[State]) -> tuple[list[State], list[State]]:
        """The states in which a condition is true, and those in which it is not."""
        yes: list[State] = []
        no: list[State] = []
        for state in states:
            answer = self.values.answer(condition, state)
            if isinstance(answer, bool):
                (yes if answer else no).append(state)
                continue
            asked, wanted = answer
            yes.append(state.copy().given((asked, wanted)))
            no.append(state.given((asked, not wanted)))
        return yes, no

    # --- loops -------------------------------------------------------------------------------------------

    def _for(self, loop: For[Statement], states: list[State]) -> list[State]:
        values, iterator = self.values, loop.iterator
        if loop.type is not None:
            values.types[iterator] = loop.type
        kind = values.types[iterator]
        step = Binary("+", Name(iterator), loop.step)
        for state in states:
            state.cells[iterator] = values.converted(
                values.value(loop.start, state), type_of(loop.start, values.types), kind
            )

        def further(state: State) -> None:
            value = values.value(step, state)
            state.cells[iterator] = values.converted(value, type_of(step, values.types), kind)

        test = Binary(loop.relation, Name(iterator), loop.bound, loop.bound.span)
        after = self._loop(loop, states, test, further)
        if loop.type is not None:
            for state in after:
                _leave(state, iterator)
        return after

    def _loop(
        self,
        loop: For[Statement] | While | DoWhile,
        states: list[State],
        test: Expr,
        further: Callable[[State], None],
    ) -> list[State]:
        """Turns of a loop as long as it is known that there are more, and one where it is not."""
        done: list[State] = []
        for _ in range(_MOST_TURNS):
            more: list[State] = []
            for state in states:
                answer = self.values.answer(test, state)
                if isinstance(answer, bool):
                    (more if answer else done).append(state)
                else:
                    done += self._supposed(loop, state, answer[0])
            if not more:
                return merged(done, self.values.unknowns)[:_MOST_STATES]
            states = []
            for state in self._turn(loop, more):
                if state.jump:
                    done += self._landed([state])
                else:
                    further(state)
                    states.append(state)
        return merged(done, self.values.unknowns)[:_MOST_STATES]

    def _supposed(self, loop: For[Statement] | While | DoWhile, state: State, asked: Unknown) -> list[State]:
        """The states behind a loop of which it is not known whether it has one more turn: that is supposed."""
        outside = state.is_doubtful
        state.is_doubtful = outside or shares_roots(state, asked)
        after = self._landed(self._turn(loop, [state]))
        for each in after:
            each.is_doubtful = outside
            self._blur(loop, each)
        return after

    def _turn(self, loop: For[Statement] | While | DoWhile, states: list[State]) -> list[State]:
        """The states behind one turn; ``left`` is the jump of those that have left the loop."""
        after = self.body(loop.body, states)
        for state in after:
            state.jump = "left" if state.jump == "break" else ""
        return after

    def _landed(self, states: list[State]) -> list[State]:
        for state in states:
            state.jump = ""
        return states

    def _blur(self, loop: For[Statement] | While | DoWhile, state: State) -> None:
        """Everything that the loop may assign has some value."""
        for name in assigned_scalars([loop]) & state.cells.keys():
            state.cells[name] = self.values.unknowns.fresh()
        for statement in all_statements_in(loop.body):
            if isinstance(statement, Assign) and isinstance(statement.target, Index):
                array = statement.target.array
                if array in state.extents:
                    state.blurred.add(array)
                else:
                    state.versions[array] = self.values.unknowns.fresh().number


def _leave(state: State, name: str) -> None:
    """A variable at the end of its scope."""
    state.cells.pop(name, None)
    if name in state.extents:
        state.forget(name)
        del state.extents[name]
