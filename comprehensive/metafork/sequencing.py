"""Effects inside of expressions as statements of their own, in the order in which C has them.

In: statements as parsed.  Out: the same in the nodes of :mod:`ast` alone, whose expressions change nothing::

    s += *p++ * h[k++];            -->   s += *p * h[k];  p += 1;  k += 1;
    if ((v = a[i]) > best) S       -->   v = a[i];  if (v > best) S
    while (n--) S                  -->   while (1) { int n_before = n;  n -= 1;  if (!n_before) break;  S }

Two effects that C does not put in an order, or an effect and a read of the same variable, have no meaning in C (ISO C
6.5p2): any order will do there.  What runs only sometimes (behind ``&&``) does so afterwards.  A variable of a region
that hides another one of it gets a name of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from msgspec import Struct

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Conditional,
    ConstantArray,
    Continue,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    Initialiser,
    IntLiteral,
    MetaFor,
    Name,
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.effects import RegionScope
from comprehensive.metafork.headers import parallel_header
from comprehensive.metafork.jumps import negated, without_jumps
from comprehensive.metafork.loop_forms import Variable, begun_later, counted_while, form
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.metafork.substitution import Substitution
from comprehensive.metafork.switches import chain
from comprehensive.metafork.walk import leaves_loop
from comprehensive.metafork.written import (
    CALLED,
    Discarded,
    Evaluate,
    Label,
    Loop,
    Sequence,
    Switch,
    Update,
    effect,
    known,
    nodes,
    report_no_effect,
    steps_may_follow,
)
from comprehensive.records import replace

_ONE = IntLiteral(1)


def sequenced(
    body: tuple[Stmt, ...],
    variables: Mapping[str, ScalarType],
    name: Callable[[str], str],
    sink: DiagnosticSink,
    *,
    has_parallel: bool,
    tables: Iterable[ConstantArray] = (),
) -> tuple[Stmt, ...]:
    """The statements without effects in expressions, with loops that count or ask, and without ``switch``.

    ``variables`` are the scalars around them and ``tables`` constant arrays, ``name`` gives names that are free.
    ``has_parallel``: the outermost ``for`` may be parallel loops.
    """
    around = {each: Variable(kind) for each, kind in variables.items()}
    arrays = {each.name: Declare(each.type, each.name, each.dims, const=True) for each in tables}
    return _Sequencer(RegionScope(around, arrays, name, sink), has_parallel).body(body, has_parallel)


class _Sequencer(Struct, frozen=True):
    """The statements of one scope.

    ``outermost``: nothing but ``for`` is around it, any of which a directive may call parallel.
    """

    scope: RegionScope
    outermost: bool = False

    def _inner(self, outermost: bool = False) -> _Sequencer:
        return _Sequencer(self.scope.inner(), outermost)

    # --- statements --------------------------------------------------------------------------------------

    def body(self, body: tuple[Stmt, ...], is_region: bool = False) -> tuple[Stmt, ...]:
        """The statements of a scope; those of a whole region may stand behind its parallel loops."""
        result: list[Stmt] = []
        for statement in body:
            previous = result[-1] if result else None
            result += self._statement(statement, previous, self.outermost and (is_region or len(body) == 1))
        return tuple(result)

    def _statement(self, statement: Stmt, previous: Stmt | None, outermost: bool) -> list[Stmt]:
        match known(statement):
            case Declare() as declare:
                return self._declared(declare)
            case Evaluate() as evaluate:
                return self._evaluated(evaluate)
            case If():
                choice = cast("If", statement)
                before: list[Stmt] = []
                test = self.scope.expression(choice.condition, before)
                then, otherwise = self._inner().body(choice.then), self._inner().body(choice.otherwise)
                return [*before, replace(choice, condition=test, then=then, otherwise=otherwise)]
            case Loop() as loop if loop.parallel:
                return self._parallel(loop)
            case Loop() as loop:
                return self._loop(loop, None, outermost)
            case While() as loop:
                counted = counted_while(loop, self.scope.variables)
                if counted is not None and not leaves_loop(self._chained(counted.body), Continue):
                    return self._loop(counted, previous, False)
                return [self._while(loop, loop.body, (), ())]
            case DoWhile() as loop:
                return [self._do_while(loop)]
            case Switch() as switch:
                return self._switch(switch)
            case Label(_, span):
                text = "a label of a switch stands outside of it"
                self.scope.sink.error(
                    "CF0112", text, span, help="put it right between the braces of its switch"
                )
                return []
            case Block(body):
                return [replace(statement, body=self._inner().body(body))]
            case _:
                return [statement]

    def _declared(self, declare: Declare) -> list[Stmt]:
        before: list[Stmt] = []
        after: list[Stmt] = []
        self.scope.after = after if steps_may_follow(declare) else None
        dims = tuple(self.scope.expression(dim, before) for dim in declare.dims)
        initial, elements = declare.initial, declare.elements
        if initial is not None:
            initial = self.scope.expression(initial, before)
        self.scope.after = None
        if elements is not None:
            elements = self._elements(elements, before)
        found = replace(declare, dims=dims, initial=initial, elements=elements)
        variable = found if dims else Variable(declare.type, declare.is_pointer)
        return [*before, replace(found, name=self.scope.entered(declare.name, variable)), *after]

    def _elements(self, elements: Initialiser, before: list[Stmt]) -> Initialiser:
        items = tuple(
            self._elements(item, before)
            if isinstance(item, Initialiser)
            else self.scope.expression(item, before)
            for item in elements.items
        )
        return replace(elements, items=items)

    def _evaluated(self, evaluate: Evaluate) -> list[Stmt]:
        """A statement that is an expression: its effects, one after the other."""
        expression = evaluate.expression
        before: list[Stmt] = []
        match expression:
            case Discarded(operand) if not any(isinstance(node, Call) for node in nodes(operand)):
                if isinstance(operand, Discarded) or effect(operand) is not None:
                    return self._evaluated(replace(evaluate, expression=operand))
                return []  # `(void)x;` says that x is used
            case Sequence(None, value, Update() as then) if then.target is value:
                return self._evaluated(replace(evaluate, expression=then))  # x++ and ++x are the same
            case Update(target, _, Conditional(condition, then, otherwise)) if (
                effect(then) or effect(otherwise)
            ) and not effect(target):
                # Only one of both runs, as in: x = c ? *p++ : *q++;
                test = self.scope.expression(condition, before)
                branches = [
                    tuple(self._evaluated(replace(evaluate, expression=replace(expression, value=value))))
                    for value in (then, otherwise)
                ]
                return [*before, If(test, branches[0], branches[1], evaluate.span)]
            case Update() as update:
                after: list[Stmt] = []
                self.scope.after = after if steps_may_follow(update) else None
                written = self.scope.written(update, before)
                self.scope.after = None
                if written is not None:
                    before.append(replace(written, atomic=evaluate.atomic))
                return [*before, *after]
            case _ if evaluate.atomic:
                text = "meta_atomic stands before the update of one element"
                self.scope.sink.error("CF0225", text, evaluate.span, help="write 'meta_atomic h[k] += 1;'")
                return []
            case Sequence(first, value, then):
                found = [] if first is None else self._evaluated(replace(evaluate, expression=known(first)))
                if effect(value) is not None or then is None:
                    found += self._evaluated(replace(evaluate, expression=known(value)))
                if then is not None:
                    found += self._evaluated(replace(evaluate, expression=then))
                return found
            case Conditional(condition, then, otherwise) if (
                effect(then) or effect(otherwise) or isinstance(then, Call | Discarded)
            ):
                test = self.scope.expression(condition, before)
                branches = [
                    tuple(self._evaluated(replace(evaluate, expression=known(value))))
                    for value in (then, otherwise)
                ]
                return [*before, If(test, branches[0], branches[1], evaluate.span)]
            case Call():
                call = self.scope.expression(expression, before)
                return [*before, Assign(Name(CALLED), "=", call, evaluate.sign.span)]
            case Discarded(Call() as call):
                return self._evaluated(replace(evaluate, expression=call))
            case _ if effect(expression) is not None and not isinstance(expression, Discarded):
                self.scope.expression(expression, before)
                return before
            case _:
                report_no_effect(evaluate.sign.span, self.scope.sink)
                return []

    # --- loops -------------------------------------------------------------------------------------------

    def _parallel(self, loop: Loop) -> list[Stmt]:
        header = parallel_header(loop)
        if header is None:
            return []
        inner = self._inner()
        start = begun_later(header.start, header.ahead, header.type, self.scope.variables)
        start = self.scope.pure(start)
        iterator = inner.scope.entered(header.iterator, Variable(header.type))
        bound, step = inner.scope.pure(header.bound), inner.scope.pure(header.step)
        body = inner._inner().body(without_jumps(self._chained(loop.body), Continue, self.scope.name))
        body = _behind(body, iterator, header.ahead)
        fields = (iterator, start, header.relation, bound, step, body, loop.span)
        return [MetaFor(header.type, *fields)]

    def _loop(self, loop: Loop, previous: Stmt | None, outermost: bool) -> list[Stmt]:
        inside = self._inner(outermost)
        found = form(loop, self.scope.variables, self.scope.name, outermost)
        before = inside.body(found.before)
        match found.loop:
            case While():
                inner: Stmt = inside._while(found.loop, loop.body, found.first, found.last)
            case For():
                start, iterator = (
                    inside.scope.pure(found.loop.start),
                    inside.scope.called.get(found.loop.iterator),
                )
                if found.loop.type is not None:
                    iterator = inside.scope.entered(found.loop.iterator, Variable(found.loop.type))
                inner = replace(
                    found.loop,
                    iterator=iterator or found.loop.iterator,
                    start=start,
                    bound=inside.scope.pure(found.loop.bound),
                    step=inside.scope.pure(found.loop.step),
                    body=_behind(
                        inside._loop_body(loop.body, found.first, found.last),
                        iterator or found.loop.iterator,
                        found.ahead,
                    ),
                )
                given = None if previous is None else self._given(previous, inner.iterator)
                if given is not None and not loop.start and len(before) == 1:
                    before, inner = (), replace(inner, start=given)
        if any(isinstance(s, Declare) for s in before):
            return [Block((*before, inner), loop.span)]
        return [*before, inner]

    def _given(self, previous: Stmt, iterator: str) -> Expr | None:
        """The value that the statement before a loop gives its iterator, if that is a sum or product of integers."""
        match previous:
            case Declare(name=name, initial=value) if value is not None and not previous.is_pointer:
                pass
            case Assign(Name(name), "=", value):
                pass
            case _:
                return None
        for node in nodes(value):
            match node:
                case Name(read) if read != iterator and read in self.scope.variables:
                    fits = (
                        self.scope.variables[read].type.is_integer
                        and not self.scope.variables[read].is_pointer
                    )
                case IntLiteral() | Binary("+" | "-" | "*"):
                    fits = True
                case _:
                    fits = False
            if not fits:
                return None
        return value if name == iterator else None

    def _loop_body(
        self, body: tuple[Stmt, ...], first: tuple[Stmt, ...], last: tuple[Stmt, ...]
    ) -> tuple[Stmt, ...]:
        """The body of a loop between what its header adds."""
        body = self._chained(body)
        body = without_jumps(body, Continue, self.scope.name if last or self.outermost else None)
        return self._inner(self.outermost).body((*first, *body, *last))

    def _chained(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The body with chains for those switches that a ``continue`` leaves."""
        result: list[Stmt] = []
        for statement in body:
            match known(statement):
                case Switch(value) as switch:
                    inner = self._chained(switch.body)
                    if not leaves_loop(inner, Continue):
                        result.append(statement)
                        continue
                    if effect(value) is not None:
                        text = "the value of a switch with 'continue' in it has effects"
                        help = "compute it into a variable before the switch"
                        self.scope.sink.error("CF0112", text, value.span, help=help)
                    result += chain(replace(switch, body=inner), self.scope.name)
                case If() | Block():
                    result.append(with_bodies(statement, self._chained))
                case _:
                    result.append(statement)
        return tuple(result)

    def _while(
        self, loop: While, body: tuple[Stmt, ...], first: tuple[Stmt, ...], last: tuple[Stmt, ...]
    ) -> While:
        before: list[Stmt] = []
        test = self.scope.expression(loop.condition, before)
        inner = self._loop_body(body, first, last)
        if not before:
            return replace(loop, condition=test, body=inner)
        leave = If(negated(test), (Break(loop.span),), (), loop.span)
        return replace(loop, condition=replace(_ONE, span=loop.span), body=(*before, leave, *inner))

    def _do_while(self, loop: DoWhile) -> Stmt:
        body = without_jumps(self._chained(loop.body), Continue, self.scope.name)
        if loop.condition == IntLiteral(0) and not leaves_loop(body, Break):
            return Block(self._inner().body(body), loop.span)  # how macros make one statement of several
        before: list[Stmt] = []
        test = self.scope.expression(loop.condition, before)
        if not before:
            return replace(loop, condition=test, body=self._inner().body(body))
        leave = If(negated(test), (Break(loop.span),), (), loop.span)
        return While(replace(_ONE, span=loop.span), (*self._inner().body(body), *before, leave), loop.span)

    def _switch(self, switch: Switch) -> list[Stmt]:
        before: list[Stmt] = []
        value = self.scope.expression(switch.value, before)
        return [*before, *self._inner().body(chain(replace(switch, value=value), self.scope.name))]


def _behind(body: tuple[Stmt, ...], iterator: str, ahead: int) -> tuple[Stmt, ...]:
    """The body where it reads an iterator that is so much ahead of the one of the source."""
    if ahead == 0:
        return body
    value = Binary("-", Name(iterator), IntLiteral(ahead))
    return Substitution({iterator: value}, {}, None).body(body)
