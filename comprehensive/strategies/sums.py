"""Common parts of sums and products: expressions in, the scalars to share and the expressions over them out.

The only module of the strategies that talks to sympy, whose ``cse`` compares up to the laws of a commutative ring::

    N + p, N + p + 1, p + 1      -->      t0 = N + p:  t0, t0 + 1, p + 1

Numbers stay integers in both directions, so that the rewrite is an identity of the integers.  Sites that have at most
one operand in common are not compared, since only equal ones can have a common part::

    i*B + v, q + x, i*B + v      -->      t0 = i*B + v:  t0, q + x, t0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from itertools import combinations
from typing import Any

from msgspec import Struct

from comprehensive.loops.access import names_read
from comprehensive.loops.types import type_of
from comprehensive.metafork.ast import Binary, Expr, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.fresh import FreshNames
from comprehensive.metafork.scalar_types import promote
from comprehensive.metafork.walk import subexpressions


class Shared(Struct, frozen=True):
    """A scalar to be introduced: the names it needs, all visible where it will stand."""

    name: str
    type: ScalarType
    value: Expr


def eliminate(
    sites: tuple[Expr, ...], visible: frozenset[str], types: Mapping[str, ScalarType], fresh: FreshNames
) -> tuple[dict[Expr, Expr], tuple[Shared, ...]]:
    """Return what the sites become, and the new scalars in the order of their definition.

    ``visible`` are the names that a new scalar may be computed from.
    """
    if not _need_comparison(sites):
        return _repeated(sites, visible, types, fresh)
    sympy = _sympy()
    written: dict[Any, Expr] = {}
    symbolic = [_to_sympy(site, written) for site in sites]
    temporaries: Any = (sympy.Symbol(f"@{k}") for k in range(10**6))  # no C name
    found: Any
    reduced: Any
    found, reduced = sympy.cse(symbolic, symbols=temporaries, order="canonical", list=True)
    values: dict[Any, Any] = dict(found)
    # A part that is not visible here, or is left with one use, goes back to where it came from.
    while True:
        counts: dict[Any, int] = {t: sum(e.count(t) for e in (*values.values(), *reduced)) for t in values}
        unwanted = next((t for t in values if counts[t] < 2 or not _is_worth(values, t, visible)), None)
        if unwanted is None:
            break
        value = values.pop(unwanted)
        values = {t: v.subs(unwanted, value) for t, v in values.items()}
        reduced = [e.subs(unwanted, value) for e in reduced]
    shared: list[Shared] = []
    names: dict[Any, str] = {}
    for temporary, value in values.items():
        tree = written[value] if value in written else _from_sympy(value, names)
        known = {**types, **{entry.name: entry.type for entry in shared}}
        names[temporary] = fresh()
        shared.append(Shared(names[temporary], promote(type_of(tree, known)), tree))
    rewritten = {
        site: _from_sympy(after, names)
        for site, after in zip(sites, reduced, strict=True)
        if after.free_symbols & names.keys()
    }
    return rewritten, tuple(shared)


_NUMBER = "a number"


def _operands(site: Expr) -> Counter[str]:
    """The names and numbers of a site; a name that stands in it twice may make a number: ``x + x``, ``x - x``."""
    leaves = (e for e in subexpressions(site) if isinstance(e, Name | IntLiteral))
    found = Counter(leaf.identifier if isinstance(leaf, Name) else _NUMBER for leaf in leaves)
    return found + Counter([_NUMBER]) if max(found.values()) > 1 else found


def _need_comparison(sites: tuple[Expr, ...]) -> bool:
    """Whether parts of two operands may be common to two sites that are written differently, or to one of them."""
    operands = {site: _operands(site) for site in sites}
    if any(sum(n // 2 for n in found.values()) > 1 for found in operands.values()):
        return True
    repeated = [site for site, times in Counter(sites).items() if times > 1]
    if any(_NUMBER in operands[site] for site in repeated):
        return True  # it may be no more than a name: `x + 0`
    return any((a & b).total() > 1 for a, b in combinations(operands.values(), 2))


def _repeated(
    sites: tuple[Expr, ...], visible: frozenset[str], types: Mapping[str, ScalarType], fresh: FreshNames
) -> tuple[dict[Expr, Expr], tuple[Shared, ...]]:
    """Return what :func:`eliminate` does where only equal sites can have a common part."""
    worth = [site for site, times in Counter(sites).items() if times > 1 and names_read(site) <= visible]
    shared = {site: Shared(fresh(), promote(type_of(site, types)), site) for site in worth}
    return {site: Name(scalar.name) for site, scalar in shared.items()}, tuple(shared.values())


def _is_worth(values: Mapping[Any, Any], temporary: Any, visible: frozenset[str]) -> bool:
    value = values[temporary]
    if value.is_Atom or (value.is_Mul and len(value.args) == 2 and value.args[0] == -1):
        return False
    return all(symbol in values or symbol.name in visible for symbol in value.free_symbols)


def _to_sympy(expr: Expr, written: dict[Any, Expr]) -> Any:
    """The expression for sympy; ``written`` remembers how each part stands in the source."""
    sympy = _sympy()
    match expr:
        case Name():
            return sympy.Symbol(expr.identifier)
        case IntLiteral():
            return sympy.Integer(expr.value)
        case Unary():
            return -_to_sympy(expr.operand, written)
        case Binary():
            left, right = _to_sympy(expr.left, written), _to_sympy(expr.right, written)
            value = (
                left + right
                if expr.operator == "+"
                else left - right
                if expr.operator == "-"
                else left * right
            )
            written.setdefault(value, expr)
            return value
        case _:
            raise TypeError(f"{expr} is no sum or product")


def _from_sympy(value: Any, names: Mapping[Any, str]) -> Expr:
    """The C expression; raises TypeError for what sympy may not return for integer polynomials."""
    if value.is_Symbol:
        return Name(names.get(value, value.name))
    if value.is_Integer:
        number = int(value)
        return IntLiteral(number) if number >= 0 else Unary("-", IntLiteral(-number))
    if value.is_Pow:
        base = _from_sympy(value.base, names)
        product = base
        for _ in range(int(value.exp) - 1):
            product = Binary("*", product, base)
        return product
    if value.is_Mul:
        coefficient, factors = value.as_coeff_mul()
        if coefficient < 0:
            return Unary("-", _from_sympy(-value, names))
        product = None if coefficient == 1 else IntLiteral(int(coefficient))
        for factor in sorted(factors, key=lambda f: f.sort_key()):
            part = _from_sympy(factor, names)
            product = part if product is None else Binary("*", product, part)
        assert product is not None
        return product
    if value.is_Add:
        # Literals last, what is subtracted after what is added: "p + 1", "n - i - 1".
        terms = sorted(value.args, key=lambda t: (t.is_Integer, _is_negative(t), t in names, t.sort_key()))
        total = _from_sympy(terms[0], names)
        for term in terms[1:]:
            if _is_negative(term):
                total = Binary("-", total, _from_sympy(-term, names))
            else:
                total = Binary("+", total, _from_sympy(term, names))
        return total
    raise TypeError(f"{value} is no integer polynomial")


def _is_negative(value: Any) -> bool:
    return bool(value.as_coeff_Mul()[0] < 0)


def _sympy() -> Any:
    # It takes half a second to import and has no types.
    return import_module("sympy")
