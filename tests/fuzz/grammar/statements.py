"""Statements of an iteration: assignments to what it owns, guards, loops, locals.

In: a scope.  Out: lines of text.
"""

from __future__ import annotations

from dataclasses import replace

from tests.fuzz.grammar.draw import Draw
from tests.fuzz.grammar.expressions import Expressions
from tests.fuzz.grammar.scope import FLOATS, INTEGERS, Array, Coordinate, Local, Names, Scope

DECLARES = ("const ", *(f"{kind} " for kind in (*INTEGERS, *FLOATS)))
"""With which declarations begin; none is the body of a loop by itself."""
FLOAT_OPERATORS = ("+=", "-=", "*=", "/=")
INTEGER_OPERATORS = ("+=", "-=", "*=", "|=", "&=", "^=")


class Statements:
    """Draws statements."""

    def __init__(self, draw: Draw, names: Names, expressions: Expressions) -> None:
        self.draw = draw
        self.names = names
        self.expressions = expressions

    def body(self, scope: Scope, depth: int) -> list[str]:
        """One to four statements, at least one of which writes."""
        lines: list[str] = []
        for _ in range(self.draw.pick([1, 2, 2, 3, 4])):
            more, scope = self.statement(scope, depth)
            lines += more
        return [*lines, *self.assignment(scope)] if self.draw.chance(0.5) or not lines else lines

    def statement(self, scope: Scope, depth: int) -> tuple[list[str], Scope]:
        """A statement, and the scope behind it."""
        draw = self.draw
        kind = draw.number(0, 11)
        if kind <= 1 and draw.on("local scalar", 0.8):
            return self._declaration(scope)
        if kind == 2 and draw.on("local array", 0.7):
            return self._local_array(scope)
        if depth > 0 and kind in (3, 4):
            return self._if(scope, depth), scope
        if depth > 0 and kind in (5, 6) and draw.on("serial for", 0.9):
            return self._for(scope, depth)
        if depth > 0 and kind == 7 and draw.on("while", 0.6):
            return self._while(scope, depth), scope
        if depth > 0 and kind == 8 and draw.on("do", 0.5):
            return self._do(scope, depth), scope
        if kind == 9 and depth > 0 and draw.chance(0.3):
            return ["{", *self.body(scope, depth - 1), "}"], scope
        if kind == 10 and (locals := [v for v in scope.locals if not v.length and not v.fixed]):
            return self._change(draw.pick(locals), scope), scope
        if kind >= 9 and scope.shared and draw.chance(0.8):
            return [self.atomic(scope)], scope
        if kind == 11 and draw.chance(0.1):
            return [";"], scope
        return self.assignment(scope), scope

    # --- assignments

    def assignment(self, scope: Scope) -> list[str]:
        """Return an assignment to an element that the iteration owns."""
        draw = self.draw
        array, subscripts = draw.pick(scope.home)
        target = array.name + "".join(f"[{s}]" for s in subscripts)
        if draw.on("race", 0.02):
            target = self.expressions.reference(array, replace(scope, home=()))
        if array.is_integer and draw.on("step", 0.06):
            return [f"{target}{draw.pick(['++', '--'])};" if draw.chance(0.7) else f"++{target};"]
        value = self.value(array.type, scope, draw.number(1, 3))
        operator = "="
        if draw.on("assignment operators", 0.3):
            operator = draw.pick(INTEGER_OPERATORS if array.is_integer else FLOAT_OPERATORS)
            if array.is_integer and draw.chance(0.15):
                operator, value = draw.pick(["%=", "/=", "<<=", ">>="]), str(draw.number(1, 3))
            elif operator in ("|=", "&=", "^="):
                value = self.expressions.integer(scope, 2)
        return [f"{target} {operator} {value};"]

    def atomic(self, scope: Scope) -> str:
        """An update of an element that other iterations update, too."""
        draw = self.draw
        array, operators = draw.pick(scope.shared)
        if not array.pointer and not array.extents[0].size and draw.chance(0.6):
            # A length that is a power of two.
            place = f"({self.expressions.integer(scope, 1)}) & {array.extents[0].pad - 1}"
        else:
            (place,) = self.expressions.subscripts(array, scope)
        target, operator = f"{array.name}[{place}]", draw.pick(operators)
        if operator in ("++", "--"):
            return (
                f"meta_atomic {target}{operator};" if draw.chance(0.7) else f"meta_atomic {operator}{target};"
            )
        return f"meta_atomic {target} {operator} {self.expressions.integer(scope, 1)};"

    def value(self, kind: str, scope: Scope, depth: int) -> str:
        """An expression for a target of a type; now and then of the other sort."""
        floating = kind in FLOATS
        if self.draw.chance(0.08):
            floating = not floating
        if floating and kind in INTEGERS:
            return f"fminf(fmaxf({self.expressions.floating(scope, 1)}, 0.0f), 90.0f)"
        return self.expressions.floating(scope, depth) if floating else self.expressions.integer(scope, depth)

    def _declaration(self, scope: Scope) -> tuple[list[str], Scope]:
        draw = self.draw
        kind = draw.pick((*INTEGERS, *FLOATS, "float", "float", "int"))
        if kind == "double" and not draw.on("double", 0.7):
            kind = "float"
        if kind in INTEGERS and kind != "int" and not draw.on("integer data", 0.7):
            kind = "int"
        name = self.names.new("v", "w", "tmp", "old")
        const = draw.chance(0.15)
        head = f"{'const ' if const else ''}{kind}"
        if draw.chance(0.12):
            other = self.names.new("v", "w")
            line = f"{head} {other} = {self.value(kind, scope, 1)}, {name} = {self.value(kind, scope, 1)};"
            return [line], scope.with_local(Local(name, kind, fixed=const), Local(other, kind, fixed=const))
        line = f"{head} {name} = {self.value(kind, scope, 2)};"
        return [line], scope.with_local(Local(name, kind, fixed=const))

    def _change(self, local: Local, scope: Scope) -> list[str]:
        draw = self.draw
        if local.is_integer and draw.on("step", 0.3):
            return [f"{local.name}{draw.pick(['++', '--'])};"]
        operator = "="
        if draw.on("assignment operators", 0.4):
            operator = draw.pick(("+=", "-=", "*="))
        return [f"{local.name} {operator} {self.value(local.type, scope, 1)};"]

    def _local_array(self, scope: Scope) -> tuple[list[str], Scope]:
        draw = self.draw
        kind = draw.pick(["float", "float", "int", "double", "unsigned"])
        length, name, iterator = draw.number(2, 5), self.names.new("w", "local"), self.names.new("q", "p")
        inner = scope.with_serial(Coordinate(iterator, 0, "", length))
        lines = [
            f"{kind} {name}[{length}];",
            f"for (int {iterator} = 0; {iterator} < {length}; {iterator}++)",
            f"  {name}[{iterator}] = {self.value(kind, inner, 1)};",
        ]
        return lines, scope.with_local(Local(name, kind, length))

    # --- control

    def _if(self, scope: Scope, depth: int) -> list[str]:
        draw = self.draw
        if draw.on("guard", 0.4):
            condition = self.expressions.affine(scope)
        else:
            condition = self.expressions.condition(scope, 1)
        if draw.chance(0.3):
            lines = [f"if ({condition})", f"  {self.assignment(scope)[0]}"]
        else:
            lines = [f"if ({condition}) {{", *self.body(scope, depth - 1), "}"]
        if draw.on("else", 0.35):
            if lines[-1] == "}" and draw.chance(0.8):
                lines += ["else {", *self.body(scope, depth - 1), "}"]
            else:
                lines += ["else", *self.assignment(scope)]
        return lines

    def _for(self, scope: Scope, depth: int) -> tuple[list[str], Scope]:
        draw = self.draw
        name = self.names.new("z", "k", "l")
        header, coordinate = self._header(name, scope)
        lines: list[str] = []
        if draw.on("for without type", 0.2):
            lines.append(f"int {name};")
            header = header.replace(f"int {name}", name, 1)
        if draw.chance(0.5):  # a sum
            kind = draw.pick(["float", "float", "double", "int", "long", "unsigned"])
            total = self.names.new("s", "sum", "acc")
            inner = scope.with_local(Local(total, kind)).with_serial(coordinate)
            body = [f"{total} {draw.pick(['+=', '+=', '-=', '*='])} {self.value(kind, inner, 2)};"]
            if draw.chance(0.3):
                body += self._inside_loop(inner, depth)
            lines += [f"{kind} {total} = {draw.pick(['0', '1'])};", f"{header} {{", *body, "}"]
            outer = scope.with_local(Local(total, kind))
            if draw.chance(0.7):
                array, subscripts = draw.pick(scope.home)
                target = array.name + "".join(f"[{s}]" for s in subscripts)
                lines.append(f"{target} {draw.pick(['=', '=', '+='])} {total};")
            return lines, outer
        inner = scope.with_serial(coordinate)
        body = self._inside_loop(inner, depth)
        if len(body) == 1 and not body[0].startswith(DECLARES) and draw.chance(0.5):
            return [*lines, header, f"  {body[0]}"], scope
        return [*lines, f"{header} {{", *body, "}"], scope

    def _inside_loop(self, scope: Scope, depth: int) -> list[str]:
        draw = self.draw
        body = self.body(scope, depth - 1)
        if draw.on("break", 0.15):
            word = draw.pick(["break", "continue"])
            body.insert(0, f"if ({self.expressions.condition(scope, 0)}) {word};")
        return body

    def _header(self, name: str, scope: Scope) -> tuple[str, Coordinate]:
        """Return the header of a serial loop, with the range of its iterator."""
        draw = self.draw
        size = draw.pick(scope.sizes) if scope.sizes and draw.chance(0.6) else ""
        constant = draw.number(2, 8)
        bound = size or str(constant)
        above = 0 if size else constant
        if scope.coordinates and draw.on("triangular", 0.25):
            c = draw.pick(scope.coordinates)
            form = draw.number(0, 3)
            if form == 0:
                return f"for (int {name} = 0; {name} < {c.name}; {name}++)", Coordinate(
                    name, 0, c.size, c.above
                )
            if form == 1:
                header = f"for (int {name} = 0; {name} <= {c.name}; {name}++)"
                return header, Coordinate(name, 0, c.size, c.above)
            if form == 2 and c.size:
                header = f"for (int {name} = {c.name} + 1; {name} < {c.size}; {name}++)"
                return header, Coordinate(name, c.low + 1, c.size, 0)
            header = f"for (int {name} = {c.name}; {name} >= 0; {name}--)"
            return header, Coordinate(name, 0, c.size, c.above)
        if draw.on("downward", 0.15):
            form = draw.number(0, 2)
            if form == 0:
                return f"for (int {name} = {bound} - 1; {name} >= 0; {name}--)", Coordinate(
                    name, 0, size, above
                )
            if form == 1:
                header = f"for (int {name} = {bound}; {name} > 0; {name} -= 1)"
                return header, Coordinate(name, 1, size, above + 1)
            header = f"for (int {name} = {bound} - 1; {name} >= 1; {name} = {name} - 2)"
            return header, Coordinate(name, 1, size, above)
        if draw.on("strided", 0.25):
            step = (
                draw.pick(["2", "3", "4", *scope.integers[:1]]) if draw.chance(0.2) else draw.pick(["2", "3"])
            )
            advance = draw.pick([f"{name} += {step}", f"{name} = {name} + {step}"])
            low = draw.number(0, 1)
            return f"for (int {name} = {low}; {name} < {bound}; {advance})", Coordinate(
                name, low, size, above
            )
        low = draw.pick([0, 0, 0, 1, 2])
        kind = draw.pick(["int", "int", "int", "int", "unsigned", "long"]) if draw.chance(0.3) else "int"
        relation = draw.pick(["<", "<", "<", "<="]) if kind == "int" else "<"
        advance = draw.pick([f"{name}++", f"++{name}", f"{name} += 1"])
        if relation == "<=":
            return (
                f"for ({kind} {name} = {low}; {name} <= {bound}; {advance})",
                Coordinate(name, low, size, above + 1),
            )
        if not size and low == 0 and draw.chance(0.1):
            relation = "!="
        header = f"for ({kind} {name} = {low}; {name} {relation} {bound}; {advance})"
        return header, Coordinate(name, low, size, above)

    def _while(self, scope: Scope, depth: int) -> list[str]:
        draw = self.draw
        name = self.names.new("w", "left")
        inner = replace(scope.with_local(), in_loop=True)
        condition = draw.pick([f"{name} > 0", f"{name} * {name} > 2", f"{name} != 0"])
        body = self.body(inner, depth - 1)
        start = draw.pick([str(draw.number(1, 6)), *(f"({c.name} & 7)" for c in scope.coordinates)])
        stop = [f"if ({self.expressions.condition(inner, 0)}) break;"] if draw.on("break", 0.25) else []
        return [f"int {name} = {start};", f"while ({condition}) {{", *stop, *body, f"{name}--;", "}"]

    def _do(self, scope: Scope, depth: int) -> list[str]:
        name = self.names.new("d", "turns")
        inner = replace(scope, in_loop=True)
        body = self.body(inner, depth - 1)
        return [
            f"int {name} = {self.draw.number(0, 4)};",
            "do {",
            *body,
            f"{name}--;",
            f"}} while ({name} > 0);",
        ]

    def simple(self, scope: Scope) -> list[str]:
        """One assignment, without control: what register tiles are made for."""
        array, subscripts = self.draw.pick(scope.home)
        target = array.name + "".join(f"[{s}]" for s in subscripts)
        operator = self.draw.pick(["=", "=", "=", "+=", "-="])
        return [f"{target} {operator} {self.value(array.type, scope, self.draw.number(1, 3))};"]


def written(arrays: tuple[Array, ...], names: frozenset[str]) -> tuple[Array, ...]:
    """The arrays with the note which of them a region writes."""
    return tuple(replace(a, written=a.name in names) for a in arrays)
