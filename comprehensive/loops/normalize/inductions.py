"""Induction variables: integers that a loop changes by the same in every turn, as functions of its iterator.

In: a nest.  Out: the same with such variables fixed while the loop runs; behind it they get their last value::

    for (int j = 0; j < n; j++) { s += a[p] * b[q];  p++;  q += n; }   y[p] = s;
        -->   for (int j = 0; j < n; j++) s += a[p + j] * b[q + (long)j * n];   p += 0 < n ? n : 0;   y[p] = s;
    int j;  for (j = 0; j + 3 < n; j += 4) S(j);  for (; j < n; j++) T(j);
        -->   for (int j = 0; j < n - 3; j += 4) S(j);  int j_1 = 0 < n - 3 ? n / 4 * 4 : 0;
              for (int j = j_1; j < n; j++) T(j);

Pointers that walk are such variables (`metafork/local_pointers.py`), and so is what counts beside a loop.  Loops are
taken from the inside out: what an inner loop adds in all of its turns is what the outer one adds in each.

Legal where the body leaves the iterator alone, and all that changes the variable are sums with what the loop does not
change, in every turn; where its last value is read, the loop may not be left by ``break``. What is added up to a turn
is the difference of two values of the variable, and is computed in a type that is at least as wide.
Source: Aho, Lam, Sethi and Ullman, Compilers: principles, techniques, and tools, 2006, section 9.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial, reduce

from comprehensive.algebra import Polynomial
from comprehensive.algebra.whole import integral_quotient
from comprehensive.loops.access import names_read
from comprehensive.loops.integers import Ring
from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize.counted_whiles import counted
from comprehensive.loops.normalize.counting import counted_from_zero, end_of
from comprehensive.loops.normalize.iterators import tidy
from comprehensive.loops.traverse import all_names, declared_names, map_bands, names_read_in, rename
from comprehensive.loops.types import as_type, environment_of, type_of, with_declarations
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Cast,
    Conditional,
    Declare,
    Expr,
    For,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Stmt,
    Unary,
    While,
)
from comprehensive.metafork.constants import constant_value
from comprehensive.metafork.fresh import Namer
from comprehensive.metafork.headers import step_of
from comprehensive.metafork.rewrite import (
    map_expression,
    map_expressions,
    substitute,
    with_bodies,
    with_own_expressions,
)
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.terms import plus, times
from comprehensive.metafork.walk import (
    assigned_scalars,
    declared,
    leaves_loop,
    reads_data,
    statements_in,
    subexpressions,
)
from comprehensive.records import replace


def with_closed_forms(nest: Nest) -> Nest:
    """The nest without induction variables in the loops of its threads."""
    name = Namer(all_names(nest))
    return map_bands(nest, lambda number, body: _body(body, environment_of(nest, number), name))


def _body(body: tuple[Stmt, ...], types: Mapping[str, ScalarType], name: Namer) -> tuple[Stmt, ...]:
    """Return statements with closed forms; ``types`` are those of the names around them, ``name`` gives free ones."""
    result: list[Stmt] = []
    rest: tuple[Stmt, ...] = _without_braces(body, name)
    own = {s.name for s in rest if isinstance(s, Declare) and not s.dims}
    written, gone = (
        dict[str, str](),
        set[str](),
    )  # what the program calls variables; those that are not there any more
    while rest:
        statement, rest = rest[0], rest[1:]
        types = with_declarations(types, (statement,))
        inside = {**types, **declared(statement)}
        statement = with_bodies(statement, partial(_body, types=inside, name=name))
        if (
            isinstance(statement, While)
            and (found := counted(statement, _values(result, types), types, name)) is not None
        ):
            result.append(found.first)
            own.add(found.first.name)
            types = with_declarations(types, (found.first,))
            later = names_read_in(rest) | assigned_scalars(rest)
            idle = set(map(Name, own - later))
            done = (s for s in found.behind if s.target not in idle)
            statement, rest = found.loop, (*done, *rest)
            inside = {**types, **declared(statement)}
        if not isinstance(statement, For):
            result.append(statement)
            continue
        later = names_read_in(rest) | assigned_scalars(rest)
        last: list[Assign] = []
        iterator = statement.iterator
        if (
            statement.type is None
            and iterator in own
            and (iterator in later or iterator in _values(result, types))
        ):
            owning = _with_own_iterator(statement, _values(result, types), inside)
            if owning is not None:
                result = _without_idle(result, names_read(statement.start) - {iterator}, (owning[0], *rest))
                result = _without_idle(result, {iterator}, ())
                of_program = written.get(iterator, iterator)
                gone |= {iterator} - _names_in(result) - written.keys()
                own_name = of_program if of_program in gone else name(iterator)
                statement = _over(owning[0], own_name, of_program)
                inside |= declared(statement)
                last = [owning[1]] if iterator in later else []
        loop, behind = _Loop(statement, inside).closed(frozenset(own - later))
        result.append(loop)
        for assign in (*last, *behind):
            value: Stmt = assign
            if isinstance(assign.target, Name) and (old := assign.target.identifier) in own:
                new = assign.value if assign.operator == "=" else plus(assign.target, assign.value)
                of_program = written.get(old, old)
                value = Declare(types[old], name(of_program), initial=new, span=assign.span)
                rest, own = rename(rest, {old: value.name}), own | {value.name}
                written[value.name] = of_program
            result.append(value)
            types = with_declarations(types, (value,))
    return tuple(result)


def _without_braces(body: tuple[Stmt, ...], name: Namer) -> tuple[Stmt, ...]:
    """Return statements with those of blocks among them, whose variables get names of their own."""
    result: list[Stmt] = []
    for statement in body:
        if isinstance(statement, Block):
            inner = _without_braces(statement.body, name)
            names = [s.name for s in inner if isinstance(s, Declare)]
            result += rename(inner, {old: name(old) for old in names if _is_elsewhere(old, statement, body)})
        else:
            result.append(statement)
    return tuple(result)


def _is_elsewhere(name: str, block: Block, body: tuple[Stmt, ...]) -> bool:
    others = tuple(s for s in body if s is not block)
    return name in declared_names(others) | names_read_in(others) | assigned_scalars(others)


def _values(body: Sequence[Stmt], types: Mapping[str, ScalarType]) -> dict[str, Expr]:
    """Return the values of variables behind statements that give them one, once, without data."""
    changed, found = assigned_scalars(body), dict[str, Expr]()
    for statement in body:
        match statement:
            case Declare(initial=initial, name=name) if initial is not None and name not in changed:
                if not names_read(initial) & changed and not reads_data(initial):
                    found[name] = as_type(substitute(initial, found), statement.type, types)
            case _:
                pass
    return found


def _without_idle(body: Sequence[Stmt], names: Set[str], rest: Sequence[Stmt]) -> list[Stmt]:
    """Return statements without the declarations of such names that nothing else of them, or behind them, speaks of."""
    result = list(body)
    for place in reversed(range(len(body))):
        match body[place]:
            case Declare(name=name, initial=initial) if initial is None or not reads_data(initial):
                if name in names - _names_in((*result[:place], *result[place + 1 :], *rest)):
                    del result[place]
            case _:
                pass
    return result


def _names_in(body: Sequence[Stmt]) -> frozenset[str]:
    return names_read_in(body) | assigned_scalars(body) | declared_names(body)


def _with_own_iterator(
    loop: For, values: Mapping[str, Expr], types: Mapping[str, ScalarType]
) -> tuple[For, Assign] | None:
    """Return a loop over a variable that is read behind it as one that declares its iterator, and what gives the
    variable its last value; None where that is not known."""
    kind = types.get(loop.iterator, ScalarType.FLOAT)
    changed = _Loop(loop, types)
    known = as_type(substitute(loop.start, values), type_of(loop.start, types), types)
    start = known if changed.is_fixed(known) else loop.start
    own = replace(loop, type=kind, start=start)
    if not kind.is_exact or kind.is_narrow or loop.iterator in assigned_scalars(loop.body):
        return None
    if not kind.holds(promote(type_of(loop.start, types))):
        return None
    if not all(changed.is_fixed(e) for e in (loop.start, loop.bound)) or leaves_loop(loop.body, Break):
        return None
    last = end_of(own, own.iterator, kind, types)
    if last is None:
        return None
    end = Conditional(Binary(own.relation, start, own.bound), last, as_type(start, kind, types))
    return own, Assign(Name(loop.iterator), "=", end, loop.span)


def _over(loop: For, iterator: str, written: str) -> For:
    """Return a loop with another name of its iterator, which the program has ``written`` so."""
    place = {loop.iterator: Name(iterator)}
    body = tuple(map_expressions(loop.body, lambda e: substitute(e, place)))
    return replace(loop, iterator=iterator, body=body, written=written)


@dataclass(frozen=True)
class _Loop:
    """A loop whose inner loops have closed forms already."""

    loop: For
    types: Mapping[str, ScalarType]
    _changed: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        every = tuple(statements_in((self.loop,)))
        changed = assigned_scalars((self.loop,)) | {s.iterator for s in every if isinstance(s, For)}
        object.__setattr__(self, "_changed", changed.union(*map(declared, every)))

    def closed(self, dead: frozenset[str]) -> tuple[For, list[Assign]]:
        """Return the loop with closed forms, and what gives variables their last values that are not ``dead`` then."""
        behind: list[Assign] = []
        changes: dict[str, dict[int, Expr]] = {}
        for name, steps in self._inductions().items():
            last = None if name in dead else self._last(name, steps)
            if name in dead or last is not None:
                changes[name] = steps
                behind += [] if last is None else [last]
        if not changes:
            return self.loop, []
        removed = {place for steps in changes.values() for place in steps}
        kept: list[Stmt] = []
        for place, statement in enumerate(self.loop.body):
            if place not in removed:
                values = {name: self._value(name, steps, place) for name, steps in changes.items()}
                kept += _with_values((statement,), values, ())
        return replace(self.loop, body=tuple(kept)), behind

    def _inductions(self) -> dict[str, dict[int, Expr]]:
        """Return the variables that all turns change by the same, with what they add, by place in the body."""
        found: dict[str, dict[int, Expr]] = {}
        for place, statement in enumerate(self.loop.body):
            match statement:
                case Assign(target=Name(identifier=name), operator=operator, value=value):
                    step = step_of(name, statement.target, operator, value)
                    if step is not None and self.is_fixed(step):
                        subtracts = operator == "-=" or (isinstance(value, Binary) and value.operator == "-")
                        found.setdefault(name, {})[place] = self._in_type_of(name, step, subtracts=subtracts)
                case _:
                    pass
        return {name: steps for name, steps in found.items() if self._is_induction(name, steps)}

    def _in_type_of(self, name: str, step: Expr, *, subtracts: bool) -> Expr:
        """Return a step of an unsigned type that is less wide than the variable in the type of that, where it is
        subtracted."""
        kind = self.types.get(name)
        match step:
            case Unary(operator="-", operand=operand) if (
                subtracts and kind is not None and self._wraps_below(operand, kind)
            ):
                return replace(step, operand=Cast(kind, operand, step.span))
            case _ if kind is not None and self._wraps_below(step, kind):
                return Cast(kind, step, step.span)
            case _:
                return step

    def _wraps_below(self, step: Expr, kind: ScalarType) -> bool:
        found = promote(type_of(step, self.types))
        return found.wraps and found.rank < kind.rank

    def _is_induction(self, name: str, steps: Mapping[int, Expr]) -> bool:
        inside = statements_in(self.loop.body)
        others = [s for k, s in enumerate(self.loop.body) if k not in steps]
        kind = self.types.get(name)
        header = names_read(self.loop.start) | names_read(self.loop.bound) | names_read(self.loop.step)
        return (
            kind is not None
            and name not in header
            and kind.is_integer
            and not kind.is_narrow
            and all(type_of(step, self.types).is_integer for step in steps.values())
            and not any(name in declared(s) for s in inside)
            and not any(
                (isinstance(s, Assign) and s.target == Name(name))
                or (isinstance(s, For) and s.iterator == name)
                for s in (*statements_in(others), replace(self.loop, body=()))
            )
            and self._added(name, reduce(plus, steps.values()), self._distance()) is not None
        )

    def is_fixed(self, expression: Expr) -> bool:
        """Whether an expression has one value in all turns: it reads no data, and nothing that they change."""
        parts = tuple(subexpressions(expression))
        return not names_read(expression) & self._changed and not any(isinstance(e, Index) for e in parts)

    # --- values

    @property
    def _start(self) -> Expr:
        """The value with which the loop begins, in the type of its iterator."""
        start, kind = self.loop.start, self.types[self.loop.iterator]
        if isinstance(start, IntLiteral) and kind.lowest <= start.value <= kind.highest:
            return start
        return as_type(start, kind, self.types)

    def _distance(self) -> Expr | None:
        """Return how far the iterator has come from its start; None where that is not known."""
        step, iterator = constant_value(self.loop.step), self.loop.iterator
        if not step or not self.is_fixed(self.loop.start) or iterator in assigned_scalars(self.loop.body):
            return None
        return _difference(Name(self.loop.iterator), self._start, step)

    def _added(self, name: str, change: Expr, distance: Expr | None) -> Expr | None:
        """Return what turns over a distance add to a variable, each of them ``change``."""
        step = constant_value(self.loop.step)
        if distance is None or not step:
            return None
        if abs(step) > 1:
            ring = Ring()
            part = integral_quotient(ring.read(change), Polynomial.constant(abs(step)))
            if part is None:
                return None
            change = ring.write(part)
        kind = self.types[name]
        together = type_of(Binary("*", change, distance), self.types)
        overflows = kind.wraps and not together.wraps and constant_value(change) != -1
        if (together.rank < kind.rank or overflows) and constant_value(change) != 1:
            distance = Cast(kind, distance)
        return times(distance, change)

    def _value(self, name: str, steps: Mapping[int, Expr], place: int) -> Expr:
        """Return the value that a variable has at a place of the body, in terms of that before the loop."""
        added = self._added(name, reduce(plus, steps.values()), self._distance())
        assert added is not None
        before = (step for k, step in steps.items() if k < place)
        value = reduce(plus, before, plus(Name(name), added))
        return as_type(value, self.types[name], self.types)

    def _last(self, name: str, steps: Mapping[int, Expr]) -> Assign | None:
        """Return the statement that gives a variable its value behind the loop; None where that is not known."""
        loop, step = self.loop, constant_value(self.loop.step)
        if (
            not step
            or not self.is_fixed(loop.bound)
            or leaves_loop(loop.body, Break)
            or loop.relation == "!="
        ):
            return None
        if abs(step) == 1:
            distance = _difference(loop.bound, self._start, step)
            if loop.relation in ("<=", ">="):
                distance = plus(distance, IntLiteral(1))
        else:
            header = replace(loop, start=self._start)
            counted = counted_from_zero(header, ScalarType.INT, loop.iterator, self.types)
            if counted is None:
                return None
            distance = times(tidy(counted.extent, self.types), IntLiteral(abs(step)))
        added = self._added(name, reduce(plus, steps.values()), distance)
        assert added is not None
        kind = self.types[name]
        runs = Binary(loop.relation, self._start, loop.bound)
        value = Conditional(runs, as_type(added, kind, self.types), as_type(IntLiteral(0), kind, self.types))
        return Assign(Name(name), "+=", value, loop.span)


def _difference(end: Expr, start: Expr, step: int) -> Expr:
    """Return how far it is from a start to an end in the direction of a step."""
    if constant_value(start) == 0:
        return end if step > 0 else times(end, IntLiteral(-1))
    return Binary("-", end, start) if step > 0 else Binary("-", start, end)


def _with_values(
    body: Sequence[Stmt], values: Mapping[str, Expr], held: tuple[Expr, ...]
) -> tuple[Stmt, ...]:
    """Return statements with values for names; conditions that are ``held`` choose the first of two values."""

    def chosen(e: Expr) -> Expr:
        return e.then if isinstance(e, Conditional) and e.condition in held else e

    def read(e: Expr) -> Expr:
        found = values.get(e.identifier) if isinstance(e, Name) else None
        return e if found is None else map_expression(found, chosen)

    def one(statement: Stmt) -> Stmt:
        inside = held
        if isinstance(statement, For):
            inside = (*held, Binary(statement.relation, statement.start, statement.bound))
        changed = with_own_expressions(statement, lambda e: map_expression(e, read))
        return with_bodies(changed, lambda inner: _with_values(inner, values, inside))

    return tuple(map(one, body))
