"""Common parts of sums and products: what sympy finds, and when it need not be asked."""

from __future__ import annotations

from random import Random

import pytest

from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.c_integers import OPERATORS
from comprehensive.metafork.fresh import FreshNames
from comprehensive.metafork.rewrite import substitute
from comprehensive.strategies import sums

NAMES = ("i", "j", "n", "p", "q", "s", "u", "v")
TYPES = dict.fromkeys(NAMES, ScalarType.INT)


def random_site(random: Random, depth: int = 2) -> Expr:
    if depth == 0 or random.random() < 0.3:
        return IntLiteral(random.randint(0, 3)) if random.random() < 0.15 else Name(random.choice(NAMES))
    left, right = (random_site(random, depth - 1) for _ in range(2))
    return Unary("-", left) if random.random() < 0.1 else Binary(random.choice("+-*"), left, right)


def random_sites(random: Random) -> tuple[Expr, ...]:
    distinct = [s for s in (random_site(random) for _ in range(4)) if isinstance(s, Binary)]
    return tuple(random.choices(distinct, k=random.randint(2, 6))) if distinct else ()


def value(expr: Expr, known: dict[str, int]) -> int:
    match expr:
        case Name():
            return known[expr.identifier]
        case IntLiteral():
            return expr.value
        case Unary():
            return -value(expr.operand, known)
        case Binary():
            return OPERATORS[expr.operator](value(expr.left, known), value(expr.right, known))
        case _:
            raise TypeError(expr)


@pytest.mark.parametrize("seed", range(60))
def test_sites_keep_their_values_and_common_parts_are_found_without_sympy_where_they_are_equal(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    visible = frozenset(random.sample(NAMES, 7))
    sites = random_sites(random)
    rewritten, shared = sums.eliminate(sites, visible, TYPES, FreshNames(frozenset(NAMES)))
    known = {name: random.randint(-9, 9) for name in NAMES}
    expected = {site: value(site, known) for site in sites}
    for scalar in shared:
        known[scalar.name] = value(scalar.value, known)
    assert {site: value(rewritten.get(site, site), known) for site in sites} == expected

    monkeypatch.setattr(sums, "_need_comparison", lambda _: True)
    by_sympy, found = sums.eliminate(sites, visible, TYPES, FreshNames(frozenset(NAMES)))
    assert len(found) == len(shared)
    values = {scalar.name: scalar.value for scalar in shared}
    of_sympy = {scalar.name: scalar.value for scalar in found}
    assert {site: substitute(tree, values) for site, tree in rewritten.items()} == {
        site: substitute(tree, of_sympy) for site, tree in by_sympy.items()
    }
