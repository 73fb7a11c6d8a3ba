"""setp, set, selp and slct: comparisons, ordered and unordered, and what is chosen by them.

operation_of(opcode("setp.ltu.and.f32"))      # f32, f32, pred --> pred, and its counterpart
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from comprehensive.ptx.interpreter.floats import flushed
from comprehensive.ptx.interpreter.operation import Builder, Operation, element_of, has, on_elements
from comprehensive.ptx.interpreter.rounding import widen
from comprehensive.ptx.interpreter.values import DTYPES, ELEMENT, Array, is_float
from comprehensive.ptx.opcodes import Opcode

Relation = Callable[[Array, Array], Array]


def _either_nan(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


_ORDERED: dict[str, Relation] = {
    "eq": np.equal,
    "ne": lambda a, b: (a != b) & ~_either_nan(a, b),
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
RELATIONS: dict[str, Relation] = {
    **_ORDERED,
    **{f"{name}u": (lambda a, b, f=f: f(a, b) | _either_nan(a, b)) for name, f in _ORDERED.items()},
    "num": lambda a, b: ~_either_nan(a, b),
    "nan": _either_nan,
}
"""The relations of floating-point numbers: with NaN the first six are false, those with ``u`` true."""
_INTEGER: dict[str, Relation] = {
    **_ORDERED,
    "ne": np.not_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
_COMBINE: dict[str, Relation] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def _relation(opcode: Opcode, type_: str) -> Relation | None:
    """The comparison that an opcode names, on arrays of a type; of packed ones it compares all elements."""
    element = element_of(type_)
    table = RELATIONS if is_float(element) else _INTEGER
    compare = next((table[word] for word in opcode.modifiers if word in table), None)
    if compare is None:
        return None
    if element == "bf16":
        return on_elements(lambda a, b: compare(widen(a, "bf16"), widen(b, "bf16")), type_)
    if has(opcode, "ftz"):
        return on_elements(lambda a, b: compare(flushed(a, element), flushed(b, element)), type_)
    return on_elements(compare, type_)


def _combination(opcode: Opcode) -> Relation | None:
    return next((_COMBINE[word] for word in opcode.modifiers if word in _COMBINE), None)


def set_predicate(opcode: Opcode) -> Operation | None:
    """Return the operation of setp; None for a comparison that it does not have.

    Of ``p|q``, q is what the opposite comparison gives; of packed sources that of the upper halves.
    """
    type_ = opcode.types[-1]
    compare, combine = _relation(opcode, type_), _combination(opcode)
    if compare is None:
        return None
    pairs = type_ in ELEMENT

    def function(a: Array, b: Array, *condition: Array) -> tuple[Array, Array]:
        found = compare(a, b)
        truth, other = (found[0::2], found[1::2]) if pairs else (found, ~found)
        if combine is not None:
            truth, other = combine(truth, condition[0]), combine(other, condition[0])
        return truth, other

    sources = (type_, type_) if combine is None else (type_, type_, "pred")
    return Operation(sources, ("pred", "pred"), function)


def set_value(opcode: Opcode) -> Operation | None:
    """Return the operation of ``set``: all bits or 1.0 where the comparison holds.

    None for types that it does not have.
    """
    result, type_ = opcode.types[0], opcode.types[-1]
    compare, combine = _relation(opcode, type_), _combination(opcode)
    if compare is None:
        return None
    true = {"f32": np.float32(1), "f16": np.float16(1), "bf16": np.uint16(0x3F80)}
    element = element_of(result)
    if is_float(element) and element not in true:
        return None
    yes = np.array(true[element] if is_float(element) else -1).astype(DTYPES[element])
    no = np.array(0, DTYPES[element])
    pairs = type_ in ELEMENT
    whole = DTYPES[result]

    def function(a: Array, b: Array, *condition: Array) -> Array:
        truth = compare(a, b)
        if combine is not None:
            truth = combine(truth, np.repeat(condition[0], 2) if pairs else condition[0])
        chosen = np.where(truth, yes, no)
        # Of halves the result is a pair, or a mask of 16 bits each.
        return chosen.view(whole) if chosen.dtype != whole else chosen

    sources = (type_, type_) if combine is None else (type_, type_, "pred")
    if pairs and not is_float(element):
        yes, no = np.array(0xFFFF, np.uint16), np.array(0, np.uint16)
    return Operation(sources, (result,), function)


def select(opcode: Opcode) -> Operation | None:
    type_ = opcode.types[-1]
    return Operation((type_, type_, "pred"), (type_,), lambda a, b, p: np.where(p, a, b))


def select_by_sign(opcode: Opcode) -> Operation | None:
    """Return the operation of ``slct``: the first where the third is not negative; for NaN the second."""
    type_, by = opcode.types[0], opcode.types[-1]
    flush = has(opcode, "ftz")

    def function(a: Array, b: Array, c: Array) -> Any:
        return np.where((flushed(c, by) if flush else c) >= 0, a, b)

    return Operation((type_, type_, by), (type_,), function)


BUILDERS: dict[str, Builder] = {
    "setp": set_predicate,
    "set": set_value,
    "selp": select,
    "slct": select_by_sign,
}
