"""The systems of a decision tree for SMT solvers: trees in, one script in SMT-LIB 2.6 out.

For each leaf, dead end and pruned branch a question of its own, with the verdict that the tree rests on::

    (reset)
    (set-info :status sat)
    (set-logic QF_NIA)
    (declare-const B Int)
    (assert (<= (+ (* 2 B) 2) Z_B))
    (check-sat)

Parameters are integers; `P_*` are shares from 0 to 1, and real.  A rounded quotient is a constant with its definition.
A case that was kept because nobody could decide it has the status `unknown`.  Source: C. Barrett, P. Fontaine,
C. Tinelli, *The SMT-LIB Standard, Version 2.6*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

from comprehensive.algebra import Atom, Polynomial, System, is_integer_symbol
from comprehensive.algebra.notation import Term
from comprehensive.optimize.protocols import NotApplicable
from comprehensive.optimize.tree import Branch, DeadEnd, Leaf, Open, Pruned, Tree, walk
from comprehensive.report.tree_words import NOT_DECIDED, contradiction

_SIMPLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# Words of SMT-LIB, of its theories of numbers, and of what solvers add to them, which are names in C.
_TAKEN = frozenset(
    re.findall(
        r"\w+",
        "BINARY DECIMAL HEXADECIMAL NUMERAL STRING Array Bool Int Real String abs and arccos arccot arcsec arcsin "
        "arctan as assert concat cos cot csc distinct div divisible exists exp exp2 false forall iand int ite let log "
        "match max min mod not or par pi pow pow2 repeat sec select set sin sqrt store tan to_int to_real true xor",
    )
)


def trees_smt(regions: Sequence[tuple[str, Tree[Any]]], title: str) -> str:
    """The script, ending in a newline."""
    lines = [
        "(set-info :smt-lib-version 2.6)",
        f"(set-info :source |{_plain(f'comprehensive tree {title}')}|)",
        '(set-info :category "industrial")',
    ]
    for name, tree in regions:
        lines += _questions(name, tree)
        for each in tree.alternatives:
            if not isinstance(each.tree, NotApplicable):
                lines += _questions(f"{name}, {each.recipe}", each.tree)
    return "\n".join([*lines, "(exit)\n"])


def _questions(name: str, tree: Tree[Any]) -> Iterator[str]:
    pruned = 0
    for node, _ in walk(tree.root):
        match node:
            case Leaf() | DeadEnd():
                kind = "leaf" if isinstance(node, Leaf) else "dead end"
                status = "sat" if node.undecided is None else "unknown"
                yield from _question(f"{name}: {kind} {node.index}", status, node.system)
            case Open():
                status = "sat" if node.undecided is None else "unknown"
                title = f"{name}: region {node.index} that was {NOT_DECIDED}"
                yield from _question(title, status, node.system)
            case Pruned():
                title = f"{name}: pruned branch {pruned}, where {contradiction(tree, node)}"
                yield from _question(title, "unsat", node.system)
                pruned += 1
            case Branch():
                pass
            case _:
                assert_never(node)


def _question(title: str, status: str, system: System) -> Iterator[str]:
    symbols = system.symbols
    kinds = {name: "Int" if is_integer_symbol(name) else "Real" for name in symbols}
    yield f"\n; {_plain(title)}"
    yield "(reset)"
    yield f"(set-info :status {status})"
    yield f"(set-logic {_logic(system.all_atoms, kinds.values())})"
    for name in symbols:
        yield f"(declare-const {symbol(name)} {kinds[name]})"
    for atom in system.all_atoms:
        yield f"(assert {_atom(atom)})"
    yield "(check-sat)"


def _logic(found: Iterable[Atom], kinds: Iterable[str]) -> str:
    degree = max((atom.polynomial.total_degree for atom in found), default=0)
    is_mixed = "Real" in set(kinds)
    return f"QF_{'N' if degree > 1 else 'L'}{'IRA' if is_mixed else 'IA'}"


def _atom(atom: Atom) -> str:
    left, right = atom.positive_sides()
    is_real = not all(map(is_integer_symbol, atom.symbols))
    sign = "=" if atom.sign == "==" else atom.sign
    return f"({sign} {_sum(left, is_real)} {_sum(right, is_real)})"


def _sum(polynomial: Polynomial, is_real: bool) -> str:
    """The sum of terms whose coefficients are not negative integers."""
    return _applied("+", [_product(term, is_real) for term in polynomial.terms()]) or _number(0, is_real)


def _product(term: Term, is_real: bool) -> str:
    coefficient = int(term.coefficient)
    factors = [_number(coefficient, is_real)] if coefficient != 1 or not term.powers else []
    for name, power in term.powers:
        converted = is_real and is_integer_symbol(name)
        factors += [f"(to_real {symbol(name)})" if converted else symbol(name)] * power
    return _applied("*", factors)


def _applied(operator: str, operands: Sequence[str]) -> str:
    return f"({operator} {' '.join(operands)})" if len(operands) > 1 else "".join(operands)


def _number(value: int, is_real: bool) -> str:
    return f"{value}.0" if is_real else str(value)


def symbol(name: str) -> str:
    """A name as a symbol of SMT-LIB: quoted where it is no simple one, and with a mark where it is taken."""
    if name in _TAKEN:
        return f"{name}!"
    return name if _SIMPLE.fullmatch(name) else f"|{_plain(name)}|"


def _plain(words: str) -> str:
    """Text that may stand in a comment and between bars."""
    return "".join(c if c.isprintable() and c not in "|\\" else " " for c in words)
