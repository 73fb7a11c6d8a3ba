"""Conditions in each other, with nothing else in the outer one, are one condition.

::

    if (a) if (b) S     -->     if (a && b) S

``&&`` does not compute what the outer condition keeps from being computed.
"""

from __future__ import annotations

from comprehensive.metafork.ast import Binary, If, Stmt
from comprehensive.metafork.rewrite import with_bodies
from comprehensive.records import replace


def with_conditions_joined(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body with such conditions in one, at any depth."""
    return tuple(_joined(with_bodies(statement, with_conditions_joined)) for statement in body)


def _joined(statement: Stmt) -> Stmt:
    match statement:
        case If(condition=outer, then=(If(condition=inner, then=then, otherwise=()),), otherwise=()):
            return replace(statement, condition=Binary("&&", outer, inner), then=then)
        case _:
            return statement
