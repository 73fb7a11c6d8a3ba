"""Expressions: every operation in parentheses of its own, types mixed as C allows.

In: a scope.  Out: text.  Integers stay small where data is small, so that most programs are defined at most points.
"""

from __future__ import annotations

from tests.fuzz.grammar.draw import Draw
from tests.fuzz.grammar.scope import INTEGERS, Array, Coordinate, Extent, Local, Scope

EXACT = {
    "float": ("fabsf", "floorf", "ceilf", "sqrtf", "fminf", "fmaxf", "fmaf"),
    "double": ("fabs", "floor", "ceil", "sqrt", "fmin", "fmax", "fma"),
}
LIBRARY = {
    "float": ("expf", "logf", "sinf", "cosf", "tanhf", "powf"),
    "double": ("exp", "log", "sin", "cos", "tanh", "pow"),
}
TWO = ("fmin", "fminf", "fmax", "fmaxf", "pow", "powf")


class Expressions:
    """Draws expressions."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    # --- subscripts

    def subscripts(self, array: Array, scope: Scope) -> tuple[str, ...]:
        """Return subscripts of a reference that stays inside where sizes are alike."""
        if array.pointer:
            return (self.linear(array, scope),)
        return tuple(self._dimension(extent, scope) for extent in array.extents)

    def _dimension(self, extent: Extent, scope: Scope) -> str:
        draw = self.draw
        if not extent.size:
            return self._constant_dimension(extent.pad, scope)
        alike = [c for c in scope.iterators if c.size == extent.size and -c.low <= extent.pad - c.above]
        if draw.on("data subscript", 0.05) and (indices := self._index_arrays(scope)):
            return self.reference(draw.pick(indices), scope, plain=True)
        if alike and not (draw.on("odd subscript", 0.08)):
            c = draw.pick(alike)
            return self._shifted(c, -c.low, extent.pad - c.above)
        if alike and draw.chance(0.4):
            c = draw.pick(alike)
            if c.low >= 0 and extent.pad >= c.above:
                text = f"{extent.size} - 1 - {c.name}" if c.above <= 0 else f"{c.name} / 2"
                return draw.pick([text, f"{c.name} / 2", f"{c.name} / 3"])
        if scope.iterators and draw.chance(0.6):
            other = draw.pick(scope.iterators)
            bounded = [f"({other.name} < {extent.size} ? {other.name} : 0)"] if other.low >= 0 else []
            return draw.pick([*bounded, f"({other.name} * {other.name}) % {extent.size}", "0"])
        return str(draw.pick([0, 0, max(0, extent.pad)])) if extent.pad >= 0 else "0"

    def _constant_dimension(self, length: int, scope: Scope) -> str:
        draw = self.draw
        if scope.iterators and draw.chance(0.8):
            c = draw.pick(scope.iterators)
            shift = f"{c.name} + {-c.low}" if c.low < 0 else c.name
            if length & (length - 1) == 0 and draw.chance(0.4):
                return f"{shift} & {length - 1}"
            return f"({shift}) % {length}"
        return str(draw.number(0, length - 1))

    def _shifted(self, c: Coordinate, lowest: int, highest: int) -> str:
        draw = self.draw
        shift = draw.number(max(lowest, -3), min(highest, 3)) if draw.on("stencil", 0.5) else 0
        shift = min(max(shift, lowest), highest)
        if shift == 0:
            return c.name
        text = f"{c.name} {'+' if shift > 0 else '-'} {abs(shift)}"
        return f"{shift} + {c.name}" if shift > 0 and draw.chance(0.2) else text

    def linear(self, array: Array, scope: Scope) -> str:
        """A subscript behind a pointer: rows and columns, or anything that is not negative."""
        draw = self.draw
        base = f" + {array.base}" if array.base else ""
        rank = len(array.extents)
        iterators = scope.iterators
        if not iterators:
            return f"{draw.number(0, 3)}{base}"
        if draw.on("data subscript", 0.04) and (indices := self._index_arrays(scope)):
            return f"{self.reference(draw.pick(indices), scope, plain=True)}{base}"
        if draw.on("odd subscript", 0.12):
            return f"({self._odd(scope)}){base}" if base else self._odd(scope)
        if rank == 1 or draw.chance(0.1):
            c = draw.pick(iterators)
            shift = draw.number(-min(2, array.base), 3) if draw.on("stencil", 0.4) else 0
            scaled = f"{draw.number(2, 3)}*{c.name}" if draw.chance(0.06) else c.name
            return f"{scaled}{_signed(shift + array.base) if array.base else _signed(shift + max(0, -c.low))}"
        digits: list[str] = []
        for _ in range(rank):
            c = draw.pick(iterators)
            lowest = -1 if c.low >= 1 else 0
            shift = draw.number(lowest, 1) if draw.on("stencil", 0.4) else -min(0, c.low)
            digits.append(f"{c.name}{_signed(shift)}")
        text = self.row(digits, array.extents)
        return f"{text}{base}"

    def row(self, digits: list[str], extents: tuple[Extent, ...]) -> str:
        """The number of an element in rows of the given lengths."""
        draw = self.draw
        text = digits[0]
        for digit, extent in zip(digits[1:], extents[1:], strict=True):
            width = extent.text if extent.pad == 0 or not extent.size else f"({extent.text})"
            text = text if " " not in text else f"({text})"
            orders = [f"{text}*{width} + {digit}", f"{width}*{text} + {digit}", f"{digit} + {text}*{width}"]
            text = draw.pick(orders)
        return text

    def _odd(self, scope: Scope) -> str:
        draw = self.draw
        c, d = draw.pick(scope.iterators), draw.pick(scope.iterators)
        low = f"({c.name} + {-c.low})" if c.low < 0 else c.name
        other = f"({d.name} + {-d.low})" if d.low < 0 else d.name
        forms = [
            f"{low} / 2",
            f"({low} + 1) % {draw.number(2, 7)}",
            f"{low} & 7",
            f"{low} * {other}",
            f"{low} + {other}",
        ]
        forms += [f"{low} * {low}", f"{low} >> 1", f"3*{low} + {draw.number(0, 2)}"]
        if c.above <= 0:
            forms.append(f"{c.size} - 1 - {c.name}")
        if scope.sizes:
            forms.append(f"{low} * {draw.pick(scope.sizes)}")
            forms.append(f"{low} % {draw.pick(scope.sizes)}")
        return draw.pick(forms)

    def _index_arrays(self, scope: Scope) -> list[Array]:
        return [a for a in scope.arrays if a.is_integer and not a.written and a.type != "long"]

    def reference(self, array: Array, scope: Scope, *, plain: bool = False) -> str:
        """An element of an array; with ``plain`` without a further array in its subscripts."""
        if plain and scope.iterators:
            c = self.draw.pick(scope.iterators)
            alone = Scope((c,), sizes=scope.sizes)
            return self._element(array, self.subscripts(array, alone))
        for home, subscripts in scope.home:
            if home.name == array.name and not self.draw.on("race", 0.03):
                return self._element(array, subscripts)
        return self._element(array, self.subscripts(array, scope))

    @staticmethod
    def _element(array: Array, subscripts: tuple[str, ...]) -> str:
        return array.name + "".join(f"[{s}]" for s in subscripts)

    # --- values

    def integer(self, scope: Scope, depth: int) -> str:
        """An expression of an integer type."""
        draw = self.draw
        if depth <= 0 or draw.chance(0.15):
            return self._integer_leaf(scope)
        a, b = self.integer(scope, depth - 1), self.integer(scope, depth - 1)
        kind = draw.number(0, 11)
        if kind == 0 and draw.on("integer division", 0.8):
            divisor = draw.pick(["2", "3", "7", "10", *(f"({s} + 1)" for s in scope.sizes)])
            return f"({a} {draw.pick(['/', '%'])} {divisor})"
        if kind == 1 and draw.on("shifts", 0.8):
            return f"({self._masked(a)} {draw.pick(['<<', '>>'])} {draw.number(0, 3)})"
        if kind == 2:
            return f"({a} {draw.pick(['&', '|', '^'])} {b})"
        if kind == 3 and draw.on("conditional", 0.8):
            return f"({self.condition(scope, depth - 1)} ? {a} : {b})"
        if kind == 4:
            return f"({self.condition(scope, depth - 1)})"
        if kind == 5 and draw.on("casts", 0.8):
            to = draw.pick(INTEGERS)
            return f"({to})({a})"
        if kind == 6:
            return draw.pick([f"(-{a})", f"(~{a})", f"(+{a})", f"(!{a})"])
        if kind == 7 and draw.on("exact math", 0.5):
            return f"abs({self._masked(a)})"
        if kind == 8 and scope.floats and draw.on("casts", 0.5):
            return f"(int)fminf(fmaxf({self.floating(scope, 1)}, -9.0f), 9.0f)"
        return f"({a} {draw.pick(['+', '-', '*', '+', '-'])} {b})"

    def _masked(self, text: str) -> str:
        return f"({text} & 63)"

    def _integer_leaf(self, scope: Scope) -> str:
        draw = self.draw
        arrays = [a for a in scope.arrays if a.is_integer]
        kind = draw.number(0, 9)
        if kind <= 3 and arrays:
            return self.reference(draw.pick(arrays), scope)
        locals = [v for v in scope.locals if v.is_integer]
        if kind <= 5 and locals:
            return self._local(draw.pick(locals), scope)
        if kind <= 7 and scope.iterators:
            return draw.pick(scope.iterators).name
        if kind == 8 and (*scope.sizes, *scope.integers):
            return draw.pick((*scope.sizes, *scope.integers))
        if draw.on("hexadecimal", 0.15):
            return draw.pick(["0x1F", "017", "3u", "5L", "0xffu", "2U", "1l"])
        return str(draw.number(0, 10))

    def _local(self, local: Local, scope: Scope) -> str:
        draw = self.draw
        if not local.length:
            return local.name
        if scope.iterators and draw.chance(0.3):
            c = draw.pick(scope.iterators)
            if c.low >= 0:
                return f"{local.name}[{c.name} % {local.length}]"
        return f"{local.name}[{draw.number(0, local.length - 1)}]"

    def floating(self, scope: Scope, depth: int) -> str:
        """An expression of a floating type, or of an integer type now and then."""
        draw = self.draw
        if depth <= 0 or draw.chance(0.12):
            return self._floating_leaf(scope)
        a, b = self.floating(scope, depth - 1), self.floating(scope, depth - 1)
        kind = draw.number(0, 13)
        if kind == 0:
            return f"({a} / {self.floating(scope, 0)})"
        if kind == 1 and draw.on("conditional", 0.8):
            return f"({self.condition(scope, depth - 1)} ? {a} : {b})"
        if kind == 2 and draw.on("exact math", 0.8):
            return self._call(EXACT, scope, depth)
        if kind == 3 and draw.on("library math", 0.5):
            return self._call(LIBRARY, scope, depth)
        if kind == 4 and draw.on("casts", 0.8):
            to = draw.pick(["float", "double"]) if draw.on("double", 0.5) else "float"
            return f"({to})({a})"
        if kind == 5:
            return f"(-{a})"
        if kind == 6 and scope.integers:
            return f"({a} {draw.pick(['+', '-', '*'])} {self.integer(scope, 1)})"
        return f"({a} {draw.pick(['+', '-', '*', '+', '*'])} {b})"

    def _call(self, functions: dict[str, tuple[str, ...]], scope: Scope, depth: int) -> str:
        draw = self.draw
        kind = "double" if draw.on("double", 0.3) else "float"
        name = draw.pick(functions[kind])
        count = 3 if name.startswith("fma") and name in ("fma", "fmaf") else 2 if name in TWO else 1
        return f"{name}({', '.join(self.floating(scope, depth - 1) for _ in range(count))})"

    def _floating_leaf(self, scope: Scope) -> str:
        draw = self.draw
        arrays = [a for a in scope.arrays if not a.is_integer]
        kind = draw.number(0, 9)
        if kind <= 4 and arrays:
            return self.reference(draw.pick(arrays), scope)
        locals = [v for v in scope.locals if not v.is_integer]
        if kind <= 6 and locals:
            return self._local(draw.pick(locals), scope)
        if kind == 7 and scope.floats:
            return draw.pick(scope.floats)
        if kind == 8 and scope.iterators:
            return f"(float){draw.pick(scope.iterators).name}"
        literals = ["0.5f", "1.25f", "3.0f", "2.0f", "0.3333f", "1e-3f", "7.f"]
        if draw.on("double", 0.2):
            literals += ["0.1", "2.0", "1e3", ".5"]
        return draw.pick(literals)

    # --- conditions

    def condition(self, scope: Scope, depth: int) -> str:
        """A guard of any kind."""
        draw = self.draw
        if depth > 0 and draw.on("logic", 0.25):
            a, b = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            return draw.pick([f"({a} && {b})", f"({a} || {b})", f"!({a})", f"({a}) && ({b})"])
        if draw.on("data guard", 0.25) and scope.arrays:
            array = draw.pick(scope.arrays)
            zero = "0" if array.is_integer or draw.chance(0.5) else "0.25f"
            return f"{self.reference(array, scope)} {draw.pick(['>', '<', '!=', '>=', '==', '<='])} {zero}"
        if draw.on("non-affine guard", 0.3) and scope.iterators:
            return self._not_affine(scope)
        return self.affine(scope)

    def affine(self, scope: Scope) -> str:
        draw = self.draw
        if not scope.iterators:
            names = (*scope.sizes, *scope.integers)
            return f"{draw.pick(names)} > {draw.number(0, 4)}" if names else "1"
        c = draw.pick(scope.iterators)
        relation = draw.pick(["<", "<=", ">", ">=", "!=", "=="])
        kind = draw.number(0, 5)
        if kind == 0 and len(scope.iterators) > 1:
            return f"{c.name} {relation} {draw.pick(scope.iterators).name}"
        if kind == 1 and c.size:
            return f"{c.name} {relation} {c.size}/2"
        if kind == 2 and c.size:
            return f"{c.name} {relation} {c.size} - {draw.number(1, 3)}"
        if kind == 3 and c.size:
            return f"{c.name} + {draw.pick(scope.iterators).name} {relation} {c.size}"
        if kind == 4 and scope.sizes:
            return f"{c.name} {relation} {draw.pick(scope.sizes)}"
        return f"{c.name} {relation} {draw.number(0, 4)}"

    def _not_affine(self, scope: Scope) -> str:
        draw = self.draw
        c, d = draw.pick(scope.iterators), draw.pick(scope.iterators)
        size = draw.pick(scope.sizes) if scope.sizes else "9"
        return draw.pick(
            [
                f"{c.name} % {draw.number(2, 4)} {draw.pick(['==', '!='])} {draw.number(0, 2)}",
                f"{c.name} * {d.name} < {size}",
                f"({c.name} & 1) == 0",
                f"{c.name} / 2 > {draw.number(0, 3)}",
                f"({c.name} + {d.name}) % 3 == 1",
                f"{c.name} * {c.name} >= {size}",
                f"{c.name} % ({size} + 1) > 1",
            ]
        )


def _signed(number: int) -> str:
    return "" if number == 0 else f" {'+' if number > 0 else '-'} {abs(number)}"
