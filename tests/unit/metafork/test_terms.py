"""Expressions of several operands."""

from __future__ import annotations

import pytest

from comprehensive.metafork.ast import Assign, Name
from comprehensive.metafork.attempt import expression
from comprehensive.metafork.terms import value_left


@pytest.mark.parametrize(("operator", "left"), [("=", "v"), ("+=", "x + v"), ("<<=", "x << v")])
def test_an_update_leaves_what_its_operator_computes(operator: str, left: str) -> None:
    assert value_left(Assign(Name("x"), operator, Name("v"))) == expression(left)
