"""Integer expressions of the program as host code that cannot overflow.

In: an expression and the types of its names.  Out: C99 (and C++) text over the functions of the generated
header's common part, which compute in 64 bit and give CF_UNDEFINED for what C leaves undefined; or, over functions of
the same names, JavaScript for the pages of `comprehensive report` (:mod:`comprehensive.kernel_ir.languages`)::

    n / (ub1 * s)   -->   cf_div(n, cf_mul(ub1, s))

An expression over ``int`` then has the value that exact integers give; one over ``unsigned`` wraps as C says, and one
over an unsigned type of 64 bits is undefined where it leaves the range of ``long``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import lcm
from typing import assert_never

from comprehensive.algebra import Polynomial
from comprehensive.kernel_ir.languages import C, Language
from comprehensive.loops.types import type_of
from comprehensive.machine.parameters import MACHINE_PARAMETERS
from comprehensive.metafork.ast import (
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    FloatLiteral,
    Index,
    IntLiteral,
    Name,
    ScalarType,
    Unary,
)
from comprehensive.metafork.reserved import is_own
from comprehensive.metafork.scalar_types import common_type, promote
from comprehensive.metafork.walk import subexpressions

COUNT_MAX = 2**64 - 1

# C99 (5.2.4.1) promises string literals of 4095 characters.
LONGEST_STRING = 4000

_ARITHMETIC = {"+": "cf_add", "-": "cf_sub", "*": "cf_mul", "/": "cf_div", "%": "cf_mod"}
_BITS = {"&": "cf_bit_and", "|": "cf_bit_or", "^": "cf_bit_xor"}
_SHIFTS = {"<<": "cf_shl", ">>": "cf_shr"}
_COMPARISONS = {"<": "cf_lt", "<=": "cf_le", ">": "cf_gt", ">=": "cf_ge", "==": "cf_eq", "!=": "cf_ne"}
_LOGIC = {"&&": "cf_and", "||": "cf_or"}
_NEGATED = {"-": "cf_neg", "!": "cf_not", "~": "cf_bit_not"}


def is_wide(expr: Expr, types: Mapping[str, ScalarType]) -> bool:
    """Whether :func:`wide` can print the expression: integers only, names known, no data, no calls but abs and labs."""

    def is_printed(part: Expr) -> bool:
        match part:
            case FloatLiteral() | Index():
                return False
            case Name():
                return part.identifier in types and types[part.identifier].is_integer
            case Cast():
                return part.type.is_integer
            case Call():
                return part.function in ("abs", "labs")
            case _:
                return True

    return all(map(is_printed, subexpressions(expr)))


def wide(expr: Expr, types: Mapping[str, ScalarType], language: Language = C) -> str:
    """The expression in checked 64-bit arithmetic. ValueError for what :func:`is_wide` excludes."""
    match expr:
        case IntLiteral():
            if expr.value > ScalarType.LONG.highest:
                return "CF_UNDEFINED"
            return language.integer(expr.value)
        case Name():
            type, name = types[expr.identifier], language.variable(expr.identifier)
            return f"cf_signed({name})" if type.wraps and type.is_wide else name
        case Unary():
            operand = wide(expr.operand, types, language)
            if expr.operator == "+":
                return operand
            negated = f"{_NEGATED[expr.operator]}({operand})"
            return negated if expr.operator == "!" else _wrapped(negated, type_of(expr, types), language)
        case Binary():
            return _binary(expr, types, language)
        case Conditional():
            wanted = type_of(expr, types)
            branches = (_operand(part, wanted, types, language) for part in (expr.then, expr.otherwise))
            return f"cf_if({wide(expr.condition, types, language)}, {', '.join(branches)})"
        case Cast():
            return _converted(wide(expr.operand, types, language), expr.type, language)
        case Call():
            return f"cf_abs({wide(expr.arguments[0], types, language)})"
        case FloatLiteral() | Index():
            raise ValueError(f"not an integer expression over scalars: {expr}")
        case _:
            assert_never(expr)


def count(polynomial: Polynomial, language: Language = C) -> str:
    """Non-negative integer coefficients, in saturating arithmetic: ``cf_plus(cf_times(2, cf_amount(B)), 2)``.

    Limits of the machine and what the tool has computed are counts already.
    """
    sums: list[str] = []
    for term in polynomial.terms():
        if term.coefficient < 0 or term.coefficient.denominator != 1:
            raise ValueError(f"{polynomial} has a coefficient that is no count")
        factors = [_as_count(name, language) for name, power in term.powers for _ in range(power)]
        coefficient = min(int(term.coefficient), COUNT_MAX)
        if coefficient != 1 or not factors:
            factors.insert(0, language.count(coefficient))
        sums.append(_nested("cf_times", factors))
    return _nested("cf_plus", sums) if sums else language.count(0)


def _as_count(name: str, language: Language) -> str:
    variable = language.variable(name)
    return variable if name in MACHINE_PARAMETERS or is_own(name) else f"cf_amount({variable})"


def difference(polynomial: Polynomial, language: Language = C) -> str:
    """Integer coefficients, 0 where it would be negative: ``cf_minus(cf_times(2, cf_amount(B)), 2)``."""
    terms = polynomial.terms()
    taken = -Polynomial.from_terms(tuple(term for term in terms if term.coefficient < 0))
    left = count(polynomial + taken, language)
    return f"cf_minus({left}, {count(taken, language)})" if taken else left


def polynomial(value: Polynomial) -> str:
    """A polynomial in checked 64-bit arithmetic: ``cf_sub(cf_mul(s, B), 1)``."""
    divisor = lcm(*(term.coefficient.denominator for term in value.terms()))
    parts: dict[bool, list[str]] = {True: [], False: []}
    for term in value.terms():
        factors = [name for name, power in term.powers for _ in range(power)]
        magnitude = abs(int(term.coefficient * divisor))
        if magnitude != 1 or not factors:
            factors.insert(0, C.integer(magnitude))
        parts[term.coefficient > 0].append(_nested("cf_mul", factors))
    text = _nested("cf_add", parts[True]) if parts[True] else "0"
    if parts[False]:
        text = f"cf_sub({text}, {_nested('cf_add', parts[False])})"
    return text if divisor == 1 else f"cf_div({text}, {divisor})"


def _binary(expr: Binary, types: Mapping[str, ScalarType], language: Language) -> str:
    operator = expr.operator
    if operator in _LOGIC or operator in _SHIFTS:
        left, right = wide(expr.left, types, language), wide(expr.right, types, language)
        if operator in _LOGIC:
            return f"{_LOGIC[operator]}({left}, {right})"
        shifted = f"{_SHIFTS[operator]}({left}, {right})"
        return _wrapped(shifted, promote(type_of(expr.left, types)), language)
    shared = common_type(type_of(expr.left, types), type_of(expr.right, types))
    left, right = (_operand(side, shared, types, language) for side in (expr.left, expr.right))
    if operator in _COMPARISONS:
        return f"{_COMPARISONS[operator]}({left}, {right})"
    function = _ARITHMETIC[operator] if operator in _ARITHMETIC else _BITS[operator]
    return _wrapped(f"{function}({left}, {right})", shared, language)


def _operand(expr: Expr, wanted: ScalarType, types: Mapping[str, ScalarType], language: Language) -> str:
    """The operand converted to the common type: only from signed to unsigned can it change the value."""
    text = wide(expr, types, language)
    literal = isinstance(expr, IntLiteral) and expr.value >= 0
    return text if literal or type_of(expr, types).wraps else _wrapped(text, wanted, language)


def _wrapped(text: str, type: ScalarType, language: Language) -> str:
    return _converted(text, type, language) if type.wraps else text


def _converted(text: str, type: ScalarType, language: Language) -> str:
    if type is ScalarType.BOOL:
        return f"cf_ne({text}, {language.integer(0)})"
    if type.is_wide:
        return f"cf_to_unsigned_long({text})" if type.wraps else text
    if type in (ScalarType.INT, ScalarType.UNSIGNED):
        return f"cf_to_{type.value}({text})"
    return f"cf_to_{'' if type.is_signed else 'un'}signed_bits({text}, {language.integer(type.bits)})"


def _nested(function: str, parts: list[str]) -> str:
    text = parts[-1]
    for part in reversed(parts[:-1]):
        text = f"{function}({part}, {text})"
    return text


def mentions(text: str, name: str) -> bool:
    """Whether C text reads a variable: members of structures may have its name."""
    return re.search(rf"(?<![\w.])(?<!->){re.escape(name)}\b", text) is not None


def c_string(text: str) -> str:
    """A C string literal; cut where C99 promises no longer ones."""
    shown = text if len(text) <= LONGEST_STRING else text[: LONGEST_STRING - 4] + " ..."
    pieces: list[str] = []
    for byte in shown.encode()[:LONGEST_STRING]:
        character = chr(byte)
        if character in '"\\':
            pieces.append("\\" + character)
        elif character == "?" or not 32 <= byte < 127:
            # Octal escapes end after three digits; '?' could begin a trigraph.
            pieces.append(f"\\{byte:03o}")
        else:
            pieces.append(character)
    return '"' + "".join(pieces) + '"'


def c_comment(text: str) -> str:
    """One line of text that neither ends nor opens a C comment, for between the marks of one."""
    line = " ".join(text.split())
    while "*/" in line or "/*" in line:
        line = line.replace("*/", "* /").replace("/*", "/ *")
    return line.rstrip("\\")
