"""Functions of Python over counts, printed as functions of C: those of `machine/sites.py`, for generated headers.

In: a function of a module, with all that it calls there.  Out: the same in C, what is called before what calls it::

    functions_of(sites, "warps")

        def warps(block: Block) -> Count:                               static inline cf_count cf_warps(...)
            return rounded_up(product(block.extents), WARP_THREADS)     { return cf_rounded_up(cf_product(...), ...); }

Counts saturate, integers have 64 bits and a sign, and other numbers are small.  Operators on counts are those of C:
where a result may be too large, the Python calls ``plus`` and ``times``.  There are records of all these, lists of
steps, which C passes by value, and tables.  Those of an access are parts of tables of all accesses.  Statements are
assignments, ``if``, ``return``, ``break``, and loops over ranges, tables and lists; what else there is is refused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getsource
from textwrap import wrap
from types import ModuleType

from comprehensive.codegen.dispatch import MACHINE_FIELDS
from comprehensive.machine.parameters import GRANULES, MACHINE_PARAMETERS
from comprehensive.machine.speeds import SPEEDS

COUNT, INTEGER, INT, LITERAL = "Count", "Integer", "int", "a literal"
"""Types; a literal is a number of any of them."""
ALSO = {"float": COUNT, "bool": INT}
"""The counts of a block are fractions only where tiles are ranked."""
IN_C = {
    COUNT: "cf_count ",
    INTEGER: "long long ",
    INT: "int ",
    "Step": "cf_step ",
    "list[Step]": "cf_steps ",
    "Work": "cf_work ",
    "BlockWork": "cf_block_work ",
    "Access": "const cf_access *",
    "Block": "const cf_block *",
    "Context": "const cf_context *",
    "Region": "const cf_region *",
    "Sites": "const cf_sites *",
    "tuple[Count, Count, Count]": "const cf_count *",
}
FROM_ELSEWHERE = {
    "plus": ("cf_plus", COUNT),
    "times": ("cf_times", COUNT),
    "rounded_up": ("cf_rounded_up", COUNT),
    "number_of": ("cf_number_of", INTEGER),
    "product": ("cf_product", COUNT),
    "resident_blocks": ("cf_resident", COUNT),
}
"""Functions of other modules, which return counts: their names in C, and the type that they take."""
ONE_OF_TWO = {"min": {COUNT: "cf_least", INTEGER: "cf_fewer"}, "max": {COUNT: "cf_most", INTEGER: "cf_more"}}
SINGULAR = {
    "contexts": "context",
    "regions": "region",
    "accesses": "access",
    "loops": "loop",
    "origins": "origin",
}
FOLDS = {"total": ("plus", 0), "product": ("times", 1)}
"""The functions that put the values of a loop together, and the values before the first one."""
NO_STEPS = "cf_steps {} = {{ {{ {{ 0, 0 }} }}, 0 }};"
OR, AND, COMPARED, ADDED, MULTIPLIED, OPERAND = range(1, 7)
OPERATORS: Mapping[type[ast.AST], tuple[str, int]] = {
    **{ast.Or: ("||", OR), ast.And: ("&&", AND), ast.Add: ("+", ADDED), ast.Sub: ("-", ADDED)},
    **{ast.Mult: ("*", MULTIPLIED), ast.FloorDiv: ("/", MULTIPLIED), ast.Mod: ("%", MULTIPLIED)},
    **{ast.Eq: ("==", COMPARED), ast.Lt: ("<", COMPARED), ast.LtE: ("<=", COMPARED)},
    **{ast.NotEq: ("!=", COMPARED), ast.Gt: (">", COMPARED), ast.GtE: (">=", COMPARED)},
}


def of_machine(name: str) -> tuple[str, str]:
    """Return the member for a parameter, and what reads it: at least 1 where it may divide, whatever a machine says."""
    divides = name in SPEEDS or (name in GRANULES and MACHINE_PARAMETERS[name].minimum)
    return MACHINE_FIELDS.get(name, name), "cf_speed" if divides else "cf_amount"


def functions_of(module: ModuleType, name: str) -> str:
    """Return the text of the function of this name and of all that it calls in the module."""
    known = {n.name: n for n in ast.parse(getsource(module)).body if isinstance(n, ast.FunctionDef)}
    records = {
        each.__name__: {member: _type(said) for member, said in each.__annotations__.items()}
        for each in vars(module).values()
        if isinstance(each, type) and each.__module__.startswith("comprehensive.machine")
    }
    order: dict[str, None] = {}

    def add(function: str) -> None:
        for node in ast.walk(known[function]):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in known:
                add(node.func.id)
        order[function] = None

    add(name)
    return "\n".join(_Function(known[each], known, records).text() for each in order)


def _type(annotation: object) -> str:
    """Return an annotation, or what a tuple with names has in its place, as it is written."""
    said = getattr(annotation, "__forward_arg__", annotation)
    text = ast.unparse(said) if isinstance(said, ast.AST) else str(said)
    return ALSO.get(text, text)


@dataclass(frozen=True, slots=True)
class Text:
    """An expression of C; the tighter its operator ``binds`` its operands the larger is that number."""

    text: str
    type: str
    binds: int = OPERAND

    def beside(self, operator: int) -> str:
        """Return the expression as an operand of an operator that binds as tightly as this number says."""
        return self.text if self.binds >= operator else f"({self.text})"

    def as_type(self, wanted: str) -> str:
        """Return the expression where a value of that type is wanted."""
        return f"(cf_count){self.beside(OPERAND)}" if (self.type, wanted) == (INT, COUNT) else self.text


@dataclass(slots=True)
class _Function:
    node: ast.FunctionDef
    known: Mapping[str, ast.FunctionDef]
    records: Mapping[str, Mapping[str, str]]
    types: dict[str, str] = field(default_factory=dict[str, str])
    """The types of the variables that there are so far."""

    def text(self) -> str:
        self.types = {a.arg: _type(a.annotation) for a in self.node.args.args}
        parameters = ", ".join(f"{IN_C[type_]}{name}" for name, type_ in self.types.items())
        said = ast.get_docstring(self.node)
        head = f"static inline {IN_C[_type(self.node.returns)]}cf_{self.node.name}({parameters})"
        body = self._block(self.node.body[1 if said else 0 :])
        return "\n".join((*_comment(said or ""), head, "{", *body, "}", ""))

    # --- statements

    def _block(self, body: Sequence[ast.stmt]) -> list[str]:
        return [line for statement in body for line in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> Iterator[str]:
        match node:
            case ast.AnnAssign(ast.Name(name), _, ast.List([])):
                self.types[name] = "list[Step]"
                yield NO_STEPS.format(name)
            case ast.Assign([ast.Name(name)], ast.BinOp(ast.List([ast.Constant(0)]), ast.Mult(), size)):
                self.types[name] = "list[Count]"
                yield f"cf_count {name}[{self._value(size).text}] = {{ 0 }};"
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name(fold), [ast.GeneratorExp(element, [each])])):
                yield from self._folded(name, fold, element, each)
            case ast.Return(ast.Call(ast.Name(fold), [ast.GeneratorExp(element, [each])])):
                yield from self._folded("found", fold, element, each)
                yield "return found;"
            case ast.Assign([ast.Name(name)], ast.ListComp(element, [each])):
                self.types[name] = "list[Step]"
                yield NO_STEPS.format(name)
                yield from self._each(each, f"{name}.append({ast.unparse(element)})")
            case ast.AugAssign(ast.Name(name), ast.Add(), ast.ListComp(element, [each])):
                yield from self._each(each, f"{name}.append({ast.unparse(element)})")
            case ast.Assign([ast.Name(name)], ast.Subscript(ast.Attribute(_, table)) as place) if (
                table in SINGULAR
            ):
                element = self._value(place)
                self.types[name] = element.type
                yield f"{IN_C[element.type]}{name} = &{element.text};"
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name(record), arguments)) if (
                record in self.records
            ):
                self.types[name] = record
                yield f"const {IN_C[record]}{name} = {self._members(record, arguments)};"
            case ast.AnnAssign(ast.Name(name), annotation, ast.expr() as value):
                yield self._assigned(name, self._value(value), _type(annotation))
            case ast.Assign([ast.Name(name)], value):
                found = self._value(value)
                yield self._assigned(name, found, INT if found.type == LITERAL else found.type)
            case ast.Assign([ast.Subscript() as place], value):
                target = self._value(place)
                yield f"{target.text} = {self._value(value).as_type(target.type)};"
            case ast.AugAssign(place, ast.Add(), ast.Constant(1)):
                yield f"{self._value(place).text}++;"
            case ast.AugAssign(place, operator, value):
                target = self._value(place)
                yield f"{target.text} {OPERATORS[type(operator)][0]}= {self._value(value).as_type(target.type)};"
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(steps), "append"), [ast.Call(_, [step, places])])):
                step, places = (self._value(each).as_type(COUNT) for each in (step, places))
                yield f"cf_append(&{steps}, {step}, {places});"
            case ast.If(test, body, otherwise):
                yield from self._nested(f"if ({self._value(test).text})", body)
                match otherwise:
                    case [ast.If() as other]:
                        head, *lines = self._statement(other)
                        yield from (f"else {head}", *lines)
                    case [_, *_]:
                        yield from self._nested("else", otherwise)
                    case _:
                        pass
            case ast.For(target, values, body):
                yield from self._loop(target, values, body)
            case ast.Return(ast.Call(ast.Name(record), arguments)) if record in self.records:
                yield f"const {IN_C[record]}result = {self._members(record, arguments)};"
                yield "return result;"
            case ast.Return(ast.expr() as value):
                yield f"return {self._value(value).as_type(_type(self.node.returns))};"
            case ast.Break():
                yield "break;"
            case _:
                raise self._refused(node)

    def _folded(self, name: str, fold: str, element: ast.expr, each: ast.comprehension) -> Iterator[str]:
        call, start = FOLDS[fold]
        self.types[name] = COUNT
        yield f"cf_count {name} = {start};"
        yield from self._each(each, f"{name} = {call}({name}, {ast.unparse(element)})")

    def _each(self, each: ast.comprehension, statement: str) -> Iterator[str]:
        """Return the loop of a comprehension, in which the statement is done for each element."""
        body = ast.parse(statement).body
        return self._loop(each.target, each.iter, [ast.If(each.ifs[0], body, [])] if each.ifs else body)

    def _assigned(self, name: str, value: Text, type_: str) -> str:
        if name in self.types:
            return f"{name} = {value.as_type(self.types[name])};"
        changes = [
            each
            for each in ast.walk(self.node)
            if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
        ]
        appends = f"{name}.append(" in ast.unparse(self.node)
        constant = "" if len(changes) > 1 or appends or IN_C[type_].startswith("const") else "const "
        self.types[name] = type_
        return f"{constant}{IN_C[type_]}{name} = {value.as_type(type_)};"

    def _members(self, record: str, arguments: Sequence[ast.expr]) -> str:
        texts = [
            self._members(type_, argument.args)
            if isinstance(argument, ast.Call) and type_ in self.records
            else self._value(argument).as_type(type_)
            for type_, argument in zip(self.records[record].values(), arguments, strict=True)
        ]
        return f"{{ {', '.join(texts)} }}"

    def _nested(self, head: str, body: Sequence[ast.stmt], first: Sequence[str] = ()) -> list[str]:
        """Return a statement with a body of its own, in which variables are declared that are only there."""
        outside = dict(self.types)
        lines = [*first, *self._block(body)]
        self.types = {name: self.types[name] for name in outside}
        return [head, *lines] if len(lines) == 1 else [f"{head} {{", *lines, "}"]

    # --- loops

    def _loop(self, target: ast.expr, values: ast.expr, body: Sequence[ast.stmt]) -> Iterator[str]:
        outside = dict(self.types)
        first: list[str] = []
        match target, values:
            case ast.Name(at), ast.Call(ast.Name("range"), [end]):
                bound = self._value(end)
                self.types[at] = INT if bound.type == LITERAL else bound.type
                head = f"for ({IN_C[self.types[at]]}{at} = 0; {at} < {bound.text}; {at}++)"
            case ast.Tuple([ast.Name(at), ast.Name(name)]), ast.Call(ast.Name("enumerate"), [table]):
                self.types[at] = INT
                head, first = self._table(at, name, table)
            case ast.Name(name), ast.Call(ast.Name("sorted"), [steps], order):
                yield f"const cf_steps ordered = cf_sorted({self._value(steps).text});"
                up, down = (
                    "step_at = 0; step_at < ordered.count; step_at++",
                    "step_at = ordered.count; step_at-- > 0;",
                )
                self.types[name] = "Step"
                head, first = (
                    f"for (int {down if order else up})",
                    [f"const cf_step {name} = ordered.steps[step_at];"],
                )
            case ast.Name(name), ast.Name(steps):
                self.types[name] = "Step"
                head = f"for (int step_at = 0; step_at < {steps}.count; step_at++)"
                first = [f"const cf_step {name} = {steps}.steps[step_at];"]
            case ast.Name(name), table:
                head, first = self._table(f"{name}_at", name, table)
            case ast.Tuple(pair), ast.Subscript(pairs, ast.Slice(None, end)) if end is not None:
                head, first = self._pairs(pair, pairs, self._value(end).text)
            case ast.Tuple(pair), pairs:
                head, first = self._pairs(pair, pairs, self._length(pairs))
            case _:
                raise self._refused(values)
        yield from self._nested(head, body, first)
        self.types = outside

    def _table(self, at: str, name: str, table: ast.expr) -> tuple[str, list[str]]:
        element = self._element(table, at)
        self.types[name] = element.type
        reference = "&" if "*" in IN_C[element.type] else "const "
        line = f"{IN_C[element.type]}{name} = &{element.text};"
        if reference != "&":
            line = f"const {IN_C[element.type]}{name} = {element.text};"
        return f"for (int {at} = 0; {at} < {self._length(table)}; {at}++)", [line]

    def _pairs(self, names: Sequence[ast.expr], pairs: ast.expr, end: str) -> tuple[str, list[str]]:
        at = "loop_at"
        lines: list[str] = []
        for place, name in enumerate(ast.unparse(name) for name in names):
            if name != "_":
                self.types[name] = INT
                index = f"2 * {at}" + (f" + {place}" if place else "")
                lines.append(f"const int {name} = {self._element(pairs, index).text};")
        return f"for (int {at} = 0; {at} < {end}; {at}++)", lines

    # --- values

    def _value(self, node: ast.expr) -> Text:
        match node:
            case ast.Constant(bool() as value) | ast.Constant(int() as value):
                return Text(str(int(value)), LITERAL)
            case ast.Name(name) if name in self.types:
                return Text(name, self.types[name])
            case ast.Name(name) if name.isupper():
                return Text(f"CF_{name}", LITERAL)
            case ast.Attribute(record, member):
                base = self._value(record)
                arrow = "->" if "*" in IN_C[base.type] and not isinstance(record, ast.Subscript) else "."
                return Text(f"{base.text}{arrow}{member}", self.records[base.type][member])
            case ast.Subscript(ast.Attribute(block, "machine"), ast.Constant(str() as name)):
                member, read = of_machine(name)
                return Text(f"{read}({self._value(block).text}->machine->{member})", COUNT)
            case ast.Subscript(table, index):
                return self._element(table, self._value(index).text)
            case ast.BinOp(first, operator, second) | ast.Compare(first, [operator], [second]) if (
                type(operator) in OPERATORS
            ):
                return self._operation(self._value(first), *OPERATORS[type(operator)], self._value(second))
            case ast.BoolOp(operator, values):
                sign, binds = OPERATORS[type(operator)]
                texts = [self._value(value).beside(COMPARED) for value in values]
                return Text(f" {sign} ".join(texts), INT, binds)
            case ast.UnaryOp(ast.Not(), value):
                return Text(f"!{self._value(value).beside(OPERAND)}", INT)
            case ast.IfExp(test, then, otherwise):
                first, second = self._value(then), self._value(otherwise)
                type_ = COUNT if {first.type, second.type} == {LITERAL} else _joined(first, second)
                text = f"{self._value(test).text} ? {first.as_type(type_)} : {second.as_type(type_)}"
                return Text(text, type_, 0)
            case ast.Call(ast.Name(name), arguments):
                return self._call(name, arguments)
            case _:
                raise self._refused(node)

    def _operation(self, first: Text, sign: str, binds: int, second: Text) -> Text:
        type_ = _joined(first, second)
        if type_ == INTEGER and sign == "-":
            return Text(f"cf_sub({first.text}, {second.text})", INTEGER)
        text = f"{first.beside(binds)} {sign} {second.beside(binds + 1)}"
        return Text(text, INT if binds == COMPARED else type_, binds)

    def _call(self, name: str, arguments: Sequence[ast.expr]) -> Text:
        values = [self._value(argument) for argument in arguments if name != "len"]
        match name:
            case "len":
                return Text(self._length(arguments[0]), INT)
            case "abs":
                return Text(f"cf_abs({values[0].text})", INTEGER)
            case "min" | "max":
                type_ = INTEGER if INTEGER in {value.type for value in values} else COUNT
                called, wanted, returned = ONE_OF_TWO[name][type_], [type_, type_], type_
            case _ if name in self.known:
                called, returned = f"cf_{name}", _type(self.known[name].returns)
                wanted = [_type(a.annotation) for a in self.known[name].args.args]
            case _ if name in FROM_ELSEWHERE:
                called, each = FROM_ELSEWHERE[name]
                wanted, returned = [each] * len(values), COUNT
            case _:
                raise ValueError(f"{self.node.name}: not called in C: {name}")
        texts = (
            value.as_type(type_) for value, type_ in zip(values, wanted, strict=name != "resident_blocks")
        )
        return Text(f"{called}({', '.join(texts)})", returned)

    def _element(self, table: ast.expr, index: str) -> Text:
        found = self._value(table)
        element = re.fullmatch(r"\w+\[(?:tuple\[)?(\w+)\b.*\]", found.type)
        if element is None:
            raise self._refused(table)
        text = found.text
        if (
            isinstance(table, ast.Attribute)
            and self._value(table.value).type == "Access"
            and table.attr in SINGULAR
        ):
            index = text if index == "0" else f"{text} + {index}"
            text = f"block->sites->{table.attr}"
        elif found.type == "list[Step]":
            text += ".steps"
        return Text(f"{text}[{index}]", _type(element[1]))

    def _length(self, table: ast.expr) -> str:
        if not isinstance(table, ast.Attribute):
            raise self._refused(table)
        base = self._value(table.value).text
        return f"{base}->{SINGULAR[table.attr]}_count"

    def _refused(self, node: ast.AST) -> ValueError:
        return ValueError(f"{self.node.name}: not printed in C: {ast.unparse(node)}")


def _comment(said: str) -> list[str]:
    text = f"/* {' '.join(said.replace('``', '`').split())} */"
    return wrap(text, 120, subsequent_indent="   ") if said else []


def _joined(first: Text, second: Text) -> str:
    """Return the type of what two values make together."""
    types = {first.type, second.type} - {LITERAL}
    return next((type_ for type_ in (INTEGER, COUNT, INT) if type_ in types), LITERAL)
