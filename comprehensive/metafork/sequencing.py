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

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from comprehensive.diagnostics import DiagnosticSink
from comprehensive.metafork.ast import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Expr,
    FloatLiteral,
    For,
    If,
    Index,
    Initialiser,
    IntLiteral,
    MetaFor,
    Name,
    ScalarType,
    Stmt,
    While,
)
from comprehensive.metafork.headers import parallel_header
from comprehensive.metafork.jumps import negated, without_jumps
from comprehensive.metafork.loop_forms import Variable, counted_while, form
from comprehensive.metafork.rewrite import with_bodies, with_operands
from comprehensive.metafork.sizes import size_of
from comprehensive.metafork.substitution import Part, Substitution
from comprehensive.metafork.switches import chain
from comprehensive.metafork.walk import leaves_loop
from comprehensive.metafork.written import (
    Evaluate,
    Label,
    Loop,
    Sequence,
    SizeOf,
    Switch,
    Update,
    effect,
    known,
    nodes,
    steps_may_follow,
)

_ONE = IntLiteral(1)


def sequenced(
    body: tuple[Stmt, ...],
    variables: Mapping[str, ScalarType],
    name: Callable[[str], str],
    sink: DiagnosticSink,
    *,
    has_parallel: bool,
) -> tuple[Stmt, ...]:
    """The statements without effects in expressions, with loops that count or ask, and without ``switch``.

    ``variables`` are the scalars around them, ``name`` gives names that are free.  ``has_parallel``: the outermost
    ``for`` may be parallel loops.
    """
    around = {each: Variable(kind) for each, kind in variables.items()}
    return _Sequencer(around, {}, name, sink, outermost=has_parallel).body(body, has_parallel)


@dataclass(slots=True)
class _Sequencer:
    """One scope.  ``outermost``: nothing but ``for`` is around it, any of which a directive may call parallel."""

    variables: dict[str, Variable]
    arrays: dict[str, Declare]
    name: Callable[[str], str]
    sink: DiagnosticSink
    outermost: bool = False
    outer: frozenset[str] = frozenset()
    """Names that the scopes around this one declare."""
    called: dict[str, str] = field(default_factory=lambda: {})
    """The new names of what hides another variable."""
    own: set[str] = field(default_factory=lambda: set(), init=False)
    after: list[Stmt] | None = field(default=None, init=False)
    """The list for effects that come behind the statement at hand; None where they have to come at once."""

    def _inner(self, outermost: bool = False) -> _Sequencer:
        outer = self.outer | self.own
        return _Sequencer(
            dict(self.variables), dict(self.arrays), self.name, self.sink, outermost, outer, dict(self.called)
        )

    def _entered(self, name: str, variable: Variable | Declare) -> str:
        """The name of what this scope declares, from now on."""
        given = self.name(name) if name in self.outer and name not in self.own else name
        self.own.add(name)
        self.called.pop(name, None)
        if given != name:
            self.called[name] = given
        for each in (name, given):
            self.variables.pop(each, None)
            self.arrays.pop(each, None)
            if isinstance(variable, Variable):
                self.variables[each] = variable
            else:
                self.arrays[each] = variable
        return given

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
                test = self._expression(choice.condition, before)
                then, otherwise = self._inner().body(choice.then), self._inner().body(choice.otherwise)
                return [*before, replace(choice, condition=test, then=then, otherwise=otherwise)]
            case Loop() as loop if loop.parallel:
                return self._parallel(loop)
            case Loop() as loop:
                return self._loop(loop, None, outermost)
            case While() as loop:
                counted = counted_while(loop, self.variables)
                if counted is not None and not leaves_loop(self._chained(counted.body), Continue):
                    return self._loop(counted, previous, False)
                return [self._while(loop, loop.body, (), ())]
            case DoWhile() as loop:
                return [self._do_while(loop)]
            case Switch() as switch:
                return self._switch(switch)
            case Label(_, span):
                text = "a label of a switch stands outside of it"
                self.sink.error("CF0112", text, span, help="put it right between the braces of its switch")
                return []
            case Block(body):
                return [replace(statement, body=self._inner().body(body))]
            case _:
                return [statement]

    def _declared(self, declare: Declare) -> list[Stmt]:
        before: list[Stmt] = []
        after: list[Stmt] = []
        self.after = after if steps_may_follow(declare) else None
        dims = tuple(self._expression(dim, before) for dim in declare.dims)
        initial, elements = declare.initial, declare.elements
        if initial is not None:
            initial = self._expression(initial, before)
        self.after = None
        if elements is not None:
            elements = self._elements(elements, before)
        found = replace(declare, dims=dims, initial=initial, elements=elements)
        variable = found if dims else Variable(declare.type, declare.is_pointer)
        return [*before, replace(found, name=self._entered(declare.name, variable)), *after]

    def _elements(self, elements: Initialiser, before: list[Stmt]) -> Initialiser:
        items = tuple(
            self._elements(item, before) if isinstance(item, Initialiser) else self._expression(item, before)
            for item in elements.items
        )
        return replace(elements, items=items)

    def _evaluated(self, evaluate: Evaluate) -> list[Stmt]:
        """A statement that is an expression: its effects, one after the other."""
        expression = evaluate.expression
        before: list[Stmt] = []
        match expression:
            case Sequence(None, value, Update() as then) if then.target is value:
                return self._evaluated(replace(evaluate, expression=then))  # x++ and ++x are the same
            case Update(target, _, Conditional(condition, then, otherwise)) if (
                effect(then) or effect(otherwise)
            ) and not effect(target):
                # Only one of both runs, as in: x = c ? *p++ : *q++;
                test = self._expression(condition, before)
                branches = [
                    tuple(self._evaluated(replace(evaluate, expression=replace(expression, value=value))))
                    for value in (then, otherwise)
                ]
                return [*before, If(test, branches[0], branches[1], evaluate.span)]
            case Update() as update:
                after: list[Stmt] = []
                self.after = after if steps_may_follow(update) else None
                written = self._written(update, before)
                self.after = None
                if written is not None:
                    before.append(replace(written, atomic=evaluate.atomic))
                return [*before, *after]
            case _ if evaluate.atomic:
                text = "meta_atomic stands before the update of one element"
                self.sink.error("CF0225", text, evaluate.span, help="write 'meta_atomic h[k] += 1;'")
                return []
            case Sequence(first, value, then):
                found = [] if first is None else self._evaluated(replace(evaluate, expression=known(first)))
                if effect(value) is not None or then is None:
                    found += self._evaluated(replace(evaluate, expression=known(value)))
                if then is not None:
                    found += self._evaluated(replace(evaluate, expression=then))
                return found
            case Conditional(condition, then, otherwise) if effect(then) or effect(otherwise):
                test = self._expression(condition, before)
                branches = [
                    tuple(self._evaluated(replace(evaluate, expression=known(value))))
                    for value in (then, otherwise)
                ]
                return [*before, If(test, branches[0], branches[1], evaluate.span)]
            case _ if effect(expression) is not None and not isinstance(expression, Call):
                self._expression(expression, before)
                return before
            case _:
                sign = evaluate.sign
                help = (
                    "assign its value to a variable or an element of an array; functions are called for "
                    "their value, and memset and memcpy are written as loops"
                )
                text = "this statement has no effect: it assigns nothing"
                self.sink.error("CF0120", text, sign.span, help=help)
                return []

    def _written(self, update: Update, before: list[Stmt]) -> Assign | None:
        target = self._expression(update.target, before)
        value = self._expression(update.value, before)
        match target:
            case Name() | Index():
                return Assign(target, update.operator, value, update.span)
            case _:
                self.sink.error(
                    "CF0121",
                    "only a variable or an element of an array can be assigned",
                    target.span,
                    help="write the name of a variable, or an array with its subscripts, to the left of the sign",
                )
                return None

    # --- loops -------------------------------------------------------------------------------------------

    def _parallel(self, loop: Loop) -> list[Stmt]:
        header = parallel_header(loop)
        if header is None:
            return []
        inner = self._inner()
        start = self._pure(header.start)
        iterator = inner._entered(header.iterator, Variable(header.type))
        bound, step = inner._pure(header.bound), inner._pure(header.step)
        body = inner._inner().body(without_jumps(self._chained(loop.body), Continue, self.name))
        fields = (iterator, start, header.relation, bound, step, body, loop.span)
        return [MetaFor(header.type, *fields)]

    def _pure(self, expression: Expr) -> Expr:
        """An expression without effects."""
        return self._expression(expression, [])

    def _loop(self, loop: Loop, previous: Stmt | None, outermost: bool) -> list[Stmt]:
        scope = self._inner(outermost)
        found = form(loop, self.variables, self.name, outermost)
        before = scope.body(found.before)
        match found.loop:
            case While():
                inner: Stmt = scope._while(found.loop, loop.body, found.first, found.last)
            case For():
                start, iterator = scope._pure(found.loop.start), scope.called.get(found.loop.iterator)
                if found.loop.type is not None:
                    iterator = scope._entered(found.loop.iterator, Variable(found.loop.type))
                inner = replace(
                    found.loop,
                    iterator=iterator or found.loop.iterator,
                    start=start,
                    bound=scope._pure(found.loop.bound),
                    step=scope._pure(found.loop.step),
                    body=scope._loop_body(loop.body, found.first, found.last),
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
                case Name(read) if read != iterator and read in self.variables:
                    fits = self.variables[read].type.is_integer and not self.variables[read].is_pointer
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
        body = without_jumps(body, Continue, self.name if last or self.outermost else None)
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
                        self.sink.error("CF0112", text, value.span, help=help)
                    result += chain(replace(switch, body=inner), self.name)
                case If() | Block():
                    result.append(with_bodies(statement, self._chained))
                case _:
                    result.append(statement)
        return tuple(result)

    def _while(
        self, loop: While, body: tuple[Stmt, ...], first: tuple[Stmt, ...], last: tuple[Stmt, ...]
    ) -> While:
        before: list[Stmt] = []
        test = self._expression(loop.condition, before)
        inner = self._loop_body(body, first, last)
        if not before:
            return replace(loop, condition=test, body=inner)
        leave = If(negated(test), (Break(loop.span),), (), loop.span)
        return replace(loop, condition=replace(_ONE, span=loop.span), body=(*before, leave, *inner))

    def _do_while(self, loop: DoWhile) -> Stmt:
        body = without_jumps(self._chained(loop.body), Continue, self.name)
        if loop.condition == IntLiteral(0) and not leaves_loop(body, Break):
            return Block(self._inner().body(body), loop.span)  # how macros make one statement of several
        before: list[Stmt] = []
        test = self._expression(loop.condition, before)
        if not before:
            return replace(loop, condition=test, body=self._inner().body(body))
        leave = If(negated(test), (Break(loop.span),), (), loop.span)
        return While(replace(_ONE, span=loop.span), (*self._inner().body(body), *before, leave), loop.span)

    def _switch(self, switch: Switch) -> list[Stmt]:
        before: list[Stmt] = []
        value = self._expression(switch.value, before)
        return [*before, *self._inner().body(chain(replace(switch, value=value), self.name))]

    # --- expressions -------------------------------------------------------------------------------------

    def _expression(self, expression: Expr | Update | Sequence | SizeOf, before: list[Stmt]) -> Expr:
        """The value of an expression; its effects go to the end of ``before``, or behind the statement."""
        match expression:
            case Update():
                return self._updated(expression, before)
            case Sequence(first, value, then):
                if first is not None:
                    self._now(first, before)
                found = self._expression(value, before)
                if then is None:
                    return found
                target = found if then.target is value else then.target
                return self._stepped(found, replace(then, target=target), before)
            case SizeOf():
                return size_of(expression, self.variables, self.arrays, self.sink)
            case Name(identifier) if identifier in self.called:
                return replace(expression, identifier=self.called[identifier])
            case Index(array, subscripts):
                found = tuple(self._expression(each, before) for each in subscripts)
                return replace(expression, array=self.called.get(array, array), subscripts=found)
            case Binary("&&" | "||" as operator, left, right):
                return self._chosen(expression, operator, left, right, before)
            case Conditional(condition, then, otherwise):
                test = self._now(condition, before)
                inner: list[Stmt] = []
                first, second = self._now(then, inner), self._now(otherwise, inner)
                if inner:
                    found = effect(then) or effect(otherwise)
                    assert found is not None, "what is to be done comes from an effect"
                    text = "an assignment inside of a choice cannot be part of a larger expression"
                    help = "write if and else, with a statement of its own in each"
                    self.sink.error("CF0116", text, found.sign.span, help=help)
                return replace(expression, condition=test, then=first, otherwise=second)
            case _:
                return with_operands(expression, lambda operand: self._expression(operand, before))

    def _now(self, expression: Expr | Update, before: list[Stmt]) -> Expr:
        """The value of an expression all of whose effects come before what follows."""
        kept, self.after = self.after, None
        found = self._expression(expression, before)
        self.after = kept
        return found

    def _updated(self, update: Update, before: list[Stmt]) -> Expr:
        """The value of ``x = e`` after it is done: that of ``x``, or ``e`` where any type has that number."""
        kept, self.after = self.after, None
        written = self._written(update, before)
        self.after = kept
        if written is None:
            return IntLiteral(0, span=update.span)
        before.append(written)
        match written.operator, written.value:
            case "=", IntLiteral(0 | 1) as value:
                return value
            case "=", FloatLiteral() as value if _is_zero_or_one(value):
                return value
            case _:
                return written.target

    def _stepped(self, value: Expr, then: Update, before: list[Stmt]) -> Expr:
        """The value that ``x++`` has, with its step behind it."""
        written = self._written(then, before)
        if written is None:
            return value
        if self.after is not None:
            self.after.append(written)
            return value
        match written.target:
            case Name(stepped) if stepped in self.variables:
                variable = self.variables[stepped]
                old = self._holding(stepped, written.target, variable, before)
                before.append(written)
                return Substitution({stepped: old}, {stepped: Part(old.identifier)}, None).expression(value)
            case Index(array) if array in self.arrays:
                old = self._holding(array, written.target, Variable(self.arrays[array].type), before)
                before.append(written)
                return old
            case Name():
                before.append(written)  # of what cannot be changed, which is an error of its own
                return value
            case _:
                text = "a step of an element cannot be part of a condition"
                help = "write it as a statement of its own"
                self.sink.error("CF0116", text, then.sign.span, help=help)
                return value

    def _holding(self, wish: str, value: Expr, variable: Variable, before: list[Stmt]) -> Name:
        """A new variable that holds a value."""
        name = self.name(f"{wish}_before")
        declare = Declare(variable.type, name, initial=value, span=value.span, is_pointer=variable.is_pointer)
        before.append(declare)
        return Name(name, value.span)

    def _chosen(self, whole: Binary, operator: str, left: Expr, right: Expr, before: list[Stmt]) -> Expr:
        """``left && right``, of which the second may have effects that come to pass only sometimes."""
        test = self._now(left, before)
        inner: list[Stmt] = []
        last = self._now(right, inner)
        if not inner:
            return replace(whole, left=test, right=last)
        span = whole.span
        name = self.name("holds")
        result = Name(name, span)
        before.append(Declare(ScalarType.INT, name, initial=_truth(test), span=span))
        asks = result if operator == "&&" else negated(result)
        before.append(If(asks, (*inner, Assign(result, "=", _truth(last), span)), (), span))
        return result


def _is_zero_or_one(number: FloatLiteral) -> bool:
    text = number.text
    return (float.fromhex(text) if text[:2] in ("0x", "0X") else float(text)) in (0, 1)


def _truth(condition: Expr) -> Expr:
    """1 where a condition holds, else 0."""
    match condition:
        case Binary("<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||"):
            return condition
        case _:
            return Binary("!=", condition, IntLiteral(0, span=condition.span), condition.span)
