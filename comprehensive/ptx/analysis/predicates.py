"""The comparisons of numbers that a predicate stands for.

In: a value that is a predicate, and whether it is true.  Out: the comparisons that hold::

    comparisons(ssa, operand_values, form_of, value, True)     # (Comparison(form, form, "lt", True),)

Conjunctions are taken apart: both sides of an ``and`` that is true, and of an ``or`` that is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from comprehensive.ptx.analysis.forms import Form
from comprehensive.ptx.analysis.ssa import NONE, Ssa
from comprehensive.ptx.module import bytes_of
from comprehensive.ptx.operands import Name

OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_DEEPEST = 8


class Comparison(NamedTuple):
    """The comparison ``left relation right``, as numbers with or without sign."""

    left: Form
    right: Form
    relation: str
    signed: bool


def decided(compared: Comparison, number_bounds: Callable[[Form, bool], tuple[int, int]]) -> bool | None:
    """Whether the comparison holds, by the bounds of both sides; None where it may and may not."""
    left, right = compared.left, compared.right
    if left == right:
        return compared.relation in ("le", "ge", "eq")
    (low, high), (least, most) = (number_bounds(each, compared.signed) for each in (left, right))
    match compared.relation:
        case "lt" | "ge":
            found = True if high < least else False if low >= most else None
        case "le" | "gt":
            found = True if high <= least else False if low > most else None
        case _:
            found = True if low == high == least == most else False if high < least or most < low else None
    return found if found is None else found == (compared.relation in ("lt", "le", "eq"))


def comparisons(
    ssa: Ssa,
    operand_values: Sequence[Sequence[int]],
    form_of: Callable[[int, int, int], Form | None],
    value: int,
    truth: bool,
    depth: int = 0,
) -> Iterator[Comparison]:
    """Yield the comparisons that hold where a predicate is ``truth``.

    ``form_of(step, operand, bits)`` is the form of an operand.
    """
    number = ssa.values[value].step
    if number == NONE or ssa.guards[number] != NONE or depth > _DEEPEST:
        return
    instruction = ssa.cfg.flow.steps[number].instruction
    code, operands = instruction.opcode, instruction.operands
    if code.base == "setp":
        # The second of two results is the opposite.
        if len(operands) == 3 and isinstance(operands[0], Name):
            found = _comparison(code.modifiers, code.types, form_of, number)
            if found is not None:
                yield found if truth else found._replace(relation=OPPOSITE[found.relation])
    elif (code.base == "not" and len(operands) == 2) or (
        code.base == "mov" and operand_values[number][1] != NONE
    ):
        inner = operand_values[number][1]
        if inner != NONE:
            is_not = code.base == "not"
            yield from comparisons(ssa, operand_values, form_of, inner, truth != is_not, depth + 1)
    elif code.base == ("and" if truth else "or"):
        for inner in operand_values[number][1:]:
            if inner != NONE:
                yield from comparisons(ssa, operand_values, form_of, inner, truth, depth + 1)


def _comparison(
    modifiers: Sequence[str],
    types: Sequence[str],
    form_of: Callable[[int, int, int], Form | None],
    number: int,
) -> Comparison | None:
    words = [m for m in modifiers if m not in types]
    if len(types) != 1 or types[0][0] not in "sub" or len(words) != 1:
        return None
    relation = _UNSIGNED.get(words[0], words[0])
    if relation not in OPPOSITE:
        return None
    bits = 8 * bytes_of(types[0])
    left, right = form_of(number, 1, bits), form_of(number, 2, bits)
    if left is None or right is None:
        return None
    return Comparison(left, right, relation, types[0][0] == "s" and words[0] not in _UNSIGNED)
