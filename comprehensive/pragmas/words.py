"""The words of messages for users of OpenMP and OpenACC, who have written no ``meta_for`` and no ``B0``."""

from __future__ import annotations

from comprehensive.metafork.ast import Program
from comprehensive.poly.report import Words


def words_of(program: Program) -> Words:
    """The words for a program that was read from directives."""
    return Words(
        loop="the loop over '{}'",
        serial="drop the directive before the loop over '{}', which is serial",
        atomic="put '#pragma omp atomic' or '#pragma acc atomic' before an update 'a[...] += ...;', drop the "
        "directive before these loops",
        hidden=frozenset(p.name for function in program.functions for p in function.parameters if p.added),
    )
