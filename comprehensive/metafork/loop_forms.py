"""Loops of any form as loops that count, or as ``while`` loops.

In: the header of a ``for`` as written.  Out: statements before it, a loop over one iterator with one bound, and what
its body gets in front and at its end::

    for (i = 0, j = n - 1; i < n && a[i]; i++, j--) S
        -->   j = n - 1;  for (i = 0; i < n; i++) { if (!a[i]) break;  S;  j--; }
    for (size_t j = n; j-- > 0;) S(j)
        -->   for (size_t j = n; j > 0; j--) S(j - 1)
    for (; x > 0; x >>= 1) S
        -->   while (x > 0) { S;  x >>= 1; }

The iterator is the first variable that a step adds to, or subtracts from, and that a condition bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import NamedTuple

from comprehensive.metafork.ast import (
    Binary,
    Break,
    Call,
    Cast,
    Declare,
    Expr,
    For,
    If,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.headers import MOST_AHEAD, condition_of, looking_ahead, step_of
from comprehensive.metafork.jumps import negated
from comprehensive.metafork.rewrite import substitute
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.substitution import Substitution
from comprehensive.metafork.terms import conjuncts
from comprehensive.metafork.written import (
    Evaluate,
    Loop,
    Sequence,
    Update,
    effect,
    known,
    nodes,
    updates,
)
from comprehensive.records import replace


class Variable(NamedTuple):
    """The variable that a name stands for; the type is that of the elements where it is a pointer."""

    type: ScalarType
    is_pointer: bool = False


class Form(NamedTuple):
    """A loop without its own body: that goes between ``first`` and ``last``.

    All three read the iterator of the source, of which that of the loop is so much ``ahead``.
    """

    before: tuple[Stmt, ...]
    loop: For | While
    first: tuple[Stmt, ...] = ()
    last: tuple[Stmt, ...] = ()
    ahead: int = 0


class _Counter(NamedTuple):
    iterator: str
    relation: str
    bound: Expr
    step: Expr
    update: Update
    conjunct: Expr
    ahead: int = 0
    begins_ahead: bool = False
    """Whether the iterator of the source begins where that of the loop does, and steps before its body."""


def form(loop: Loop, variables: Mapping[str, Variable], name: Callable[[str], str], outermost: bool) -> Form:
    """The form of a ``for``; ``variables`` are those around it, ``name`` gives names that are free.

    One that is ``outermost`` may be parallel: it counts also where its body changes its iterator, which is an error.
    """
    steps = [] if loop.step is None else updates(loop.step)
    tested = [] if loop.condition is None else list(conjuncts(loop.condition))
    own = {
        **variables,
        **{d.name: Variable(d.type, d.is_pointer) for d in loop.start if isinstance(d, Declare)},
    }
    in_header = {d.name for d in loop.start if isinstance(d, Declare)}
    counter = None
    if steps is not None:
        counter = _counted_down(steps, tested, own, in_header) or _counter(steps, tested, own, in_header)
    if counter is None or steps is None:
        return _uncounted(loop)
    if not outermost and any(_changes(node, counter.iterator) for s in loop.body for node in nodes(s)):
        return _uncounted(loop)
    started = _started(loop, counter, own, name)
    if started is None:
        return _uncounted(loop)
    before, kind, start = started
    rest = [c for c in tested if c is not counter.conjunct]
    computed: tuple[Declare, ...] = ()
    declared = own.get(counter.iterator)
    if isinstance(start, IntLiteral) and declared is not None and declared.type is ScalarType.INT:
        fixed = (counter.bound, *rest)
        every = (
            _computed(d, start, steps, counter, loop.body, fixed) for d in before if isinstance(d, Declare)
        )
        computed = tuple(found for found in every if found is not None)
    names = {declare.name for declare in computed}
    before = tuple(s for s in before if not (isinstance(s, Declare) and s.name in names))
    last = _other_steps(
        [u for u in steps if not (isinstance(u.target, Name) and u.target.identifier in names)], counter
    )
    first: tuple[Stmt, ...] = tuple(If(negated(c), (Break(c.span),), (), c.span) for c in rest)
    later = start
    if counter.ahead and not counter.begins_ahead:
        later = begun_later(start, counter.ahead, own[counter.iterator].type, own)
    fields = (kind, counter.iterator, later, counter.relation, counter.bound, counter.step, (), loop.span)
    return Form(before, For(*fields), (*computed, *first), last, counter.ahead)


def begun_later(start: Expr, ahead: int, kind: ScalarType, variables: Mapping[str, Variable]) -> Expr:
    """Return the start of an iterator of a ``kind`` that is so much ahead: a sum in the type of the iterator."""
    if ahead == 0:
        return start
    if isinstance(start, IntLiteral) and start.type is ScalarType.INT and start.value < MOST_AHEAD:
        return replace(start, value=start.value + ahead)
    if not _is_computed_in(start, kind, variables):
        start = Cast(kind, start, start.span)
    return Binary("+", start, IntLiteral(ahead, span=start.span), start.span)


def _is_computed_in(expression: Expr, kind: ScalarType, variables: Mapping[str, Variable]) -> bool:
    """Whether an expression is a sum or a product of variables of a type, and perhaps of literals of ``int``."""
    every = list(nodes(expression))
    names = [variables.get(node.identifier) for node in every if isinstance(node, Name)]
    return (
        all(v is not None and v.type is kind and not v.is_pointer for v in names)
        and bool(names)
        and all(
            isinstance(node, Name)
            or (isinstance(node, IntLiteral) and node.type is ScalarType.INT)
            or (isinstance(node, Binary) and node.operator in ("+", "-", "*"))
            for node in every
        )
    )


def _computed(
    declare: Declare,
    start: IntLiteral,
    steps: list[Update],
    counter: _Counter,
    body: tuple[Stmt, ...],
    fixed: tuple[Expr, ...],
) -> Declare | None:
    """``j = n - 1, ... j--`` beside ``i = 0, ... i++`` as ``int j = n - 1 - i`` in the body; None where that is not so.

    Nothing overflows: ``i`` only grows from a start that is not negative.
    """
    value = declare.initial
    own = [u for u in steps if isinstance(u.target, Name) and u.target.identifier == declare.name]
    if (
        value is None
        or declare.type is not ScalarType.INT
        or declare.is_pointer
        or declare.const
        or len(own) != 1
    ):
        return None
    step = step_of(declare.name, own[0].target, own[0].operator, own[0].value)
    if step not in (IntLiteral(1), IntLiteral(-1)) or counter.step != IntLiteral(1) or start.value < 0:
        return None
    spoken = _names(value)
    changed = {u.target.identifier for u in steps if isinstance(u.target, Name)}
    if (
        effect(value) is not None
        or any(isinstance(n, Index | Call) for n in nodes(value))
        or changed & spoken
    ):
        return None
    if any(declare.name in _names(each) for each in fixed):
        return None
    if any(
        _changes(node, name) for s in body for node in nodes(s) for name in (*sorted(spoken), declare.name)
    ):
        return None
    turns: Expr = Name(counter.iterator, declare.span)
    if start.value > 0:
        turns = Binary("-", turns, start, declare.span)
    sign = "+" if step == IntLiteral(1) else "-"
    return replace(declare, initial=Binary(sign, value, turns, declare.span))


def counted_while(loop: While, variables: Mapping[str, Variable]) -> Loop | None:
    """``while (i < n) { S; i++; }`` as ``for (; i < n; i++) S``; None for a loop that does not end so.

    What stands behind the step may be anything that does not speak of the iterator.
    """
    for place in reversed(range(len(loop.body))):
        match known(loop.body[place : place + 1]):
            case (Evaluate() as step,):
                counted = _counted(loop, place, variables, step)
            case _:
                return None
        if counted is not None:
            return counted
    return None


def _counted(loop: While, place: int, variables: Mapping[str, Variable], step: Evaluate) -> Loop | None:
    """Return a loop that counts by the statement at a place of its body; None where it does not."""
    steps = updates(step.expression)
    if steps is None or len(steps) != 1:
        return None
    counter = _counter(steps, list(conjuncts(loop.condition)), variables, ())
    if counter is None or counter.iterator not in variables or not isinstance(counter.step, IntLiteral):
        return None
    body, behind = (*loop.body[:place], *loop.body[place + 1 :]), loop.body[place + 1 :]
    if any(_changes(node, counter.iterator) for s in body for node in nodes(s)):
        return None
    if any(_speaks_of(node, counter.iterator) for s in behind for node in nodes(s)):
        return None
    down = counter.step.value < 0
    if (counter.relation == "!=" and abs(counter.step.value) != 1) or (
        counter.relation != "!=" and down != (counter.relation in (">", ">="))
    ):
        return None
    return Loop((), loop.condition, known(step.expression), body, False, step.sign, step.span, loop.span)


def _speaks_of(node: object, name: str) -> bool:
    """Whether a node is a variable, or an element that a pointer of this name points to."""
    match node:
        case Name(found) | Index(array=found):
            return found == name
        case _:
            return False


def _changes(node: object, name: str) -> bool:
    match node:
        case Update(Name(target)):
            return target == name
        case Declare(name=declared):
            return declared == name
        case _:
            return False


def _uncounted(loop: Loop) -> Form:
    """``for (start; condition; step)`` as ``start; while (condition) { ...; step; }``"""
    condition = loop.condition if loop.condition is not None else IntLiteral(1, span=loop.keyword.span)
    step: tuple[Stmt, ...] = ()
    if loop.step is not None:
        step = (known(Evaluate(loop.step, loop.header, loop.keyword)),)
    return Form(known(loop.start), While(condition, (), loop.span), (), step)


def _counter(
    steps: list[Update], tested: list[Expr], variables: Mapping[str, Variable], own: Container[str]
) -> _Counter | None:
    """The iterator of a loop: a variable with a step and with a bound, neither of which has effects.

    Nothing reads its ``own`` ones behind the loop, so that they may be ahead of those of the source.
    """
    for update in steps:
        if not isinstance(update.target, Name) or effect(update.value) is not None:
            continue
        iterator = update.target.identifier
        variable = variables.get(iterator)
        increment = step_of(iterator, update.target, update.operator, update.value)
        if increment is None or (
            variable is not None and not (variable.is_pointer or variable.type.is_integer)
        ):
            continue
        for conjunct in tested:
            if effect(conjunct) is not None:
                continue
            ahead, condition = 0, _alone(conjunct, iterator, variables)
            if iterator in own and variable is not None and not variable.is_pointer:
                ahead, condition = looking_ahead(iterator, variable.type, condition)
            relation, bound = condition_of(iterator, condition)
            if relation is not None and iterator not in _names(increment):
                others = _names(increment)
                if not others & {u.target.identifier for u in steps if isinstance(u.target, Name)}:
                    return _Counter(iterator, relation, bound, increment, update, conjunct, ahead)
    return None


def _counted_down(
    steps: list[Update], tested: list[Expr], variables: Mapping[str, Variable], own: Container[str]
) -> _Counter | None:
    """The iterator of ``j-- > 0``, ``j-- != 0`` or ``j--``, which comes to 0 behind the last turn.

    It is one of the header's ``own``: in C its last value would be one less.
    """
    if not tested:
        return None
    first = tested[0]
    match first:
        case Binary(">" | "!=" as relation, decremented, IntLiteral(0) as bound):
            pass
        case _:
            relation, decremented, bound = "!=", first, IntLiteral(0)
    match known(decremented):
        case Sequence(None, Name(iterator), Update(Name(target), "-=", IntLiteral(1)) as update) if (
            target == iterator and iterator in own
        ):
            pass
        case _:
            return None
    variable = variables.get(iterator)
    if variable is None or variable.is_pointer or promote(variable.type) is not variable.type:
        return None
    if any(iterator in _names(u) for u in steps):
        return None
    return _Counter(iterator, relation, bound, IntLiteral(-1), update, first, 1, begins_ahead=True)


def _alone(condition: Expr, iterator: str, variables: Mapping[str, Variable]) -> Expr:
    """``i + c < bound`` as ``i < bound - c``, where both are computed in signed types: what overflows in one of
    them is undefined in C, or is not there in the other."""
    match condition:
        case Binary(
            "<" | "<=" | ">" | ">=" as relation,
            Binary("+" | "-" as sign, Name(name) as left, IntLiteral(value) as constant),
            bound,
        ) if name == iterator and 0 <= value < 2**16 and _is_signed(condition, variables):
            other = Binary("-" if sign == "+" else "+", bound, constant, bound.span)
            return Binary(relation, left, other, condition.span)
        case _:
            return condition


def _is_signed(expression: Expr, variables: Mapping[str, Variable]) -> bool:
    """Whether all that an expression speaks of is a scalar of type ``int`` or of a wider signed one."""
    for node in nodes(expression):
        match node:
            case Name(name):
                variable = variables.get(name)
                if variable is None or variable.is_pointer or not variable.type.is_exact:
                    return False
            case IntLiteral(type=kind):
                if not kind.is_exact:
                    return False
            case Binary("+" | "-" | "*" | "/" | "<" | "<=" | ">" | ">="):
                pass
            case _:
                return False
    return True


def _names(expression: object) -> set[str]:
    return {node.identifier for node in nodes(expression) if isinstance(node, Name)}


def _started(
    loop: Loop, counter: _Counter, variables: Mapping[str, Variable], name: Callable[[str], str]
) -> tuple[tuple[Stmt, ...], ScalarType | None, Expr] | None:
    """Return the statements before the loop, and the type and the start of its iterator in its header."""
    before: list[Stmt] = []
    start: Expr | None = None
    kind: ScalarType | None = None
    for statement in loop.start:
        match statement:
            case Declare(name=declared, initial=initial) if declared == counter.iterator:
                if initial is None or statement.const or effect(initial) is not None:
                    before.append(statement)
                elif statement.is_pointer:
                    before.append(statement)
                    start = initial
                else:
                    kind, start = statement.type, initial
            case Declare():
                before.append(statement if start is None else _at(statement, counter.iterator, start))
            case Evaluate(expression):
                every = updates(expression)
                if every is None:
                    return None
                for update in every:
                    match update:
                        case Update(Name(target), "=", value) if target == counter.iterator and start is None:
                            if effect(value) is not None:
                                return None
                            start = value
                        case _:
                            before.append(_evaluated(update, counter.iterator, start))
    done = (node for statement in before for node in nodes(statement) if isinstance(node, Update))
    changed = {update.target.identifier for update in done if isinstance(update.target, Name)}
    if start is not None and not changed & _names(start):
        return tuple(before), kind, start
    variable = variables.get(counter.iterator)
    if start is not None or variable is None or variable.is_pointer:
        return None
    first = name(f"{counter.iterator}_first")
    here = loop.header
    iterator = Name(counter.iterator, here)
    before.append(Declare(variable.type, first, initial=iterator, span=here))
    return tuple(before), None, Name(first, here)


def _at(statement: Declare, iterator: str, value: Expr) -> Declare:
    """A declaration behind that of the iterator, which has its first value there."""
    if statement.initial is None or effect(statement.initial) is not None:
        return statement
    changed = Substitution({iterator: value}, {}, None).statement(statement)
    assert isinstance(changed, Declare)
    return changed


def _evaluated(update: Update, iterator: str, start: Expr | None) -> Stmt:
    value = update.value
    if start is not None and effect(value) is None:
        value = substitute(value, {iterator: start})
    return known(Evaluate(replace(update, value=value), update.span, update.sign))


def _other_steps(steps: list[Update], counter: _Counter) -> tuple[Stmt, ...]:
    """The steps of other variables, at the end of the body: those behind that of the iterator see its next value."""
    found: list[Stmt] = []
    iterator = Name(counter.iterator, counter.update.span)
    following: Expr | None = None
    for update in steps:
        if update is counter.update:
            following = Binary("+", iterator, counter.step, counter.update.span)
        else:
            found.append(_evaluated(update, counter.iterator, following))
    return tuple(found)
