"""The conditions of ``#if`` and ``#elif``, computed as C computes them: in 64 bits.

In: the tokens of a condition, after ``defined`` and macros are replaced.  Out: its value, or why it has none::

    value_of(tokens of "64 * 2 > 100 && !0")  -->  1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from comprehensive.metafork.ast import Binary, Cast, Conditional, Expr, IntLiteral, ScalarType, Unary
from comprehensive.metafork.attempt import attempt
from comprehensive.metafork.c_integers import OPERATORS
from comprehensive.metafork.limits import too_deep_in_text, too_deep_in_tree
from comprehensive.metafork.tokens import Token

_LEAST, _MOST = -(2**63), 2**63 - 1


class NoValueError(Exception):
    """A condition without value, with the reason as the end of a sentence."""


def without_defined(words: Sequence[Token], is_defined: Callable[[Token], bool]) -> list[Token]:
    """The tokens with ``defined NAME`` and ``defined(NAME)`` as 1 or 0. NoValueError where no name follows."""
    found: list[Token] = []
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word.text != "defined":
            found.append(word)
            continue
        in_parentheses = position < len(words) and words[position].type == "LPAR"
        place = position + in_parentheses
        closed = not in_parentheses or (place + 1 < len(words) and words[place + 1].type == "RPAR")
        if place >= len(words) or not words[place].text.isidentifier() or not closed:
            raise NoValueError("'defined' needs a name behind it")
        value = is_defined(words[place])
        found.append(word._replace(type="INT_LITERAL", text=str(int(value))))
        position = place + 1 + in_parentheses
    return found


def value_of(words: Sequence[Token]) -> int:
    """The value of a condition; names that are left in it are 0. NoValueError where it has none."""
    if not words:
        raise NoValueError("there is no expression")
    plain = [_plain(word) for word in words]
    if too_deep_in_text(plain) is not None:
        raise NoValueError("it is nested too deeply")
    tree, diagnostics = attempt("condition", plain)
    if tree is None or too_deep_in_tree((tree,)) is not None:
        reasons = [diagnostic.message for diagnostic in diagnostics]
        raise NoValueError(reasons[0] if reasons else "it is no expression of integers")
    return evaluated(tree)


def _plain(word: Token) -> Token:
    return word._replace(type="INT_LITERAL", text="0") if word.text.isidentifier() else word


def evaluated(tree: Expr) -> int:
    """The value of an expression of integers in 64 bits. NoValueError where it has none."""
    match tree:
        case IntLiteral(value):
            return value
        case Unary(operator, operand):
            value = evaluated(operand)
            return _in_range({"-": -value, "+": value, "~": ~value, "!": int(not value)}[operator])
        case Cast(ScalarType.INT | ScalarType.LONG, operand):
            return evaluated(operand)
        case Conditional(condition, then, otherwise):
            return evaluated(then if evaluated(condition) else otherwise)
        case Binary("&&", left, right):
            return int(bool(evaluated(left)) and bool(evaluated(right)))
        case Binary("||", left, right):
            return int(bool(evaluated(left)) or bool(evaluated(right)))
        case Binary(operator, left, right):
            return _in_range(_binary(operator, evaluated(left), evaluated(right)))
        case _:
            raise NoValueError("it is no expression of integers")


def _binary(operator: str, left: int, right: int) -> int:
    match operator:
        case "/" | "%":
            if right == 0:
                raise NoValueError("it divides by zero")
        case "<<" | ">>":
            if not 0 <= right < 64:
                raise NoValueError(f"it shifts by {right} bits")
        case _:
            pass
    return OPERATORS[operator](left, right)


def _in_range(value: int) -> int:
    if not _LEAST <= value <= _MOST:
        raise NoValueError(f"{value} does not fit in 64 bits")
    return value


def names_in(words: Iterable[Token]) -> list[str]:
    """The names in a condition, in order."""
    return [word.text for word in words if word.text.isidentifier() and word.text != "defined"]
