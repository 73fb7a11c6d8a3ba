r"""Semi-algebraic systems in LaTeX: atoms, and the quotients that their symbols stand for, in; mathematics out.

    2*s*B + 2 <= Z_B                       -->   2 \, s \, B + 2 \le Z_{B}
    P_occupancy*W_SM <= B_SM*ceil(B/32)    -->   P_{\mathrm{occupancy}} \, W_{\mathrm{SM}} \le B_{\mathrm{SM}} \, ...

Everything is in LaTeX itself and `amsmath`, as MathJax and KaTeX have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from msgspec import Struct

from comprehensive.algebra import Atom, Polynomial, Quotient
from comprehensive.algebra.notation import Term, arranged, sum_text

_RELATIONS = {"<=": r"\le", "<": "<", "==": "="}


class Mathematics(Struct, frozen=True):
    """The notation of a tree: `order` and `limits` are those of `Atom.format`, floors and ceilings are written out."""

    order: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    quotients: tuple[Quotient, ...] = ()

    def atom(self, atom: Atom) -> str:
        """An inequality or equation with the limits alone on one side."""
        left, right = atom.sides(self.limits)
        return f"{self.sum(left)} {_RELATIONS[atom.sign]} {self.sum(right)}"

    def displayed(self, atoms: Iterable[Atom]) -> str:
        """Atoms as one displayed formula, below each other; without any it is the word ``always``."""
        lines = [self.atom(atom) for atom in atoms]
        rows = r" \\ ".join(lines)
        inner = rf"\begin{{cases}} {rows} \end{{cases}}" if len(lines) > 1 else rows or r"\text{always}"
        return f"$$ {inner} $$"

    def sum(self, terms: Sequence[Term]) -> str:
        """A sum of products."""
        return sum_text(arranged(terms, self.order), self._power, r" \, ", _number)

    def _power(self, name: str, power: int) -> tuple[str]:
        base = self._symbol(name)
        return (base if power == 1 else f"{{{base}}}^{{{power}}}",)

    def _symbol(self, name: str) -> str:
        quotient = next((q for q in self.quotients if q.symbol == name), None)
        if quotient is None:
            return symbol(name)
        left, right = (r"\lceil", r"\rceil") if quotient.rounds_up else (r"\lfloor", r"\rfloor")
        return rf"\left{left} {self._fraction(quotient.above, quotient.below)} \right{right}"

    def _fraction(self, above: Polynomial, below: Polynomial) -> str:
        top, bottom = self.sum(above.terms()), self.sum(below.terms())
        return top if bottom == "1" else rf"\frac{{{top}}}{{{bottom}}}"


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def symbol(name: str) -> str:
    r"""A parameter in mathematics: ``B0`` is ``B_{0}``, ``Z_B`` is ``Z_{B}``, ``dim`` is ``\mathit{dim}``."""
    found = re.fullmatch(r"([A-Za-z]+)_?([0-9]+)|([A-Za-z])_([A-Za-z0-9]+)", name)
    if found is None:
        return name if len(name) == 1 and name.isalpha() else rf"\mathit{{{_escaped(name)}}}"
    base, below = found[1] or found[3], found[2] or found[4]
    base = base if len(base) == 1 else rf"\mathit{{{base}}}"
    below = below if len(below) == 1 or below.isdigit() else rf"\mathrm{{{below}}}"
    return f"{base}_{{{below}}}"


def _escaped(name: str) -> str:
    return name.replace("_", r"\_")
