"""Registers and labels that a pass adds to a function.

fresh = Fresh(function.body, "pre")
fresh.register("b32")          # Name("%pre_b32_0")
fresh.label("edge")            # "$pre_edge_0"
fresh.declared(body)           # the body, with ".reg .b32 %pre_b32_<1>;" before its first statement
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.ptx.operands import Name
from comprehensive.ptx.statements import Declaration, Directive, Label, Statement


class Fresh:
    """Fresh names for a body; ``prefix`` gets a number where the body has names that begin with it."""

    def __init__(self, body: Sequence[Statement], prefix: str) -> None:
        self._label = f"${prefix}"
        self._labels = {s.name for s in body if isinstance(s, Label)}
        self._labels |= {s.label for s in body if isinstance(s, Directive) and s.label is not None}
        declared = " ".join(s.text for s in body if isinstance(s, Declaration))
        self._prefix = f"%{prefix}_"
        number = 2
        while self._prefix in declared:
            self._prefix = f"%{prefix}{number}_"
            number += 1
        self._counts: dict[str, int] = {}
        self._next: dict[str, int] = {}

    def register(self, type_: str) -> Name:
        """A register of a type such as ``b32`` that nothing has."""
        number = self._counts.get(type_, 0)
        self._counts[type_] = number + 1
        return Name(f"{self._prefix}{type_}_{number}")

    def label(self, kind: str) -> str:
        """One that nothing has; needs no declaration."""
        number = self._next.get(kind, 0)
        while (found := f"{self._label}_{kind}_{number}") in self._labels:
            number += 1
        self._next[kind] = number + 1
        return found

    def declared(self, body: Sequence[Statement]) -> list[Statement]:
        """The body with the declarations of all that were asked for."""
        added = [
            Declaration(".reg", f".{type_} {self._prefix}{type_}_<{count}>")
            for type_, count in sorted(self._counts.items())
        ]
        return [*added, *body]
