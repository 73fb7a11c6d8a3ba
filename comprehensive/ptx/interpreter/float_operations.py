"""Instructions of floating-point arithmetic: opcode in, operation out.

operation_of(opcode("fma.rz.ftz.f32"))      # three sources, each flushed, one rounding, the result flushed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from comprehensive.ptx.interpreter import floats
from comprehensive.ptx.interpreter.operation import Builder, Operation, element_of, has, packed, rounding
from comprehensive.ptx.interpreter.values import DTYPES, Array, Computation, callable_of, is_float, unary
from comprehensive.ptx.opcodes import Opcode

_COUNT = {"add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "mad": 3, "sqrt": 1, "rcp": 1}


def is_floating(opcode: Opcode) -> bool:
    return bool(opcode.types) and is_float(element_of(opcode.types[-1]))


def arithmetic(opcode: Opcode) -> Operation | None:
    """Return the operation of add, sub, mul, div, fma, mad, sqrt or rcp; None for approximations."""
    if has(opcode, "approx", "full") or not is_floating(opcode):
        return None
    type_ = opcode.types[0]
    element = element_of(type_)
    count = _COUNT[opcode.base]
    base = "fma" if opcode.base == "mad" else opcode.base
    if len(opcode.types) > 1:
        return _mixed(opcode, base, count)
    function = _arithmetic(base, element, opcode)
    return Operation((type_,) * count, (type_,), packed(function, type_))


def _mixed(opcode: Opcode, base: str, count: int) -> Operation | None:
    """Return the operation of add, sub or fma with sources of 16 bits: ``add.f32.bf16``; None for others."""
    wide, short = opcode.types[:2]
    if wide != "f32" or short not in ("f16", "bf16") or base not in ("add", "sub", "fma"):
        return None
    inner = _arithmetic(base, wide, opcode)
    shorts = count - 1

    def function(*sources: Array) -> Array:
        widened = [floats.widen(source, short).astype(np.float32) for source in sources[:shorts]]
        return inner(*widened, *sources[shorts:])

    return Operation((short,) * shorts + (wide,), (wide,), function)


def _arithmetic(base: str, type_: str, opcode: Opcode) -> Callable[..., Array]:
    mode = rounding(opcode)

    def flushed(result: Array, sources: Sequence[Array]) -> Array:
        return floats.flushed_result(result, base, type_, mode, sources)

    return _modified(floats.arithmetic(base, type_, mode), opcode, type_, flushed)


def _modified(
    function: Computation,
    opcode: Opcode,
    type_: str,
    flushed: Callable[[Array, Sequence[Array]], Array] | None = None,
) -> Callable[..., Array]:
    """Return the function with the modifiers ``.ftz``, ``.sat`` and ``.relu`` of the opcode applied.

    ``flushed`` is what flushes results, if that needs the sources.
    """
    flush, saturate, rectify = has(opcode, "ftz"), has(opcode, "sat"), has(opcode, "relu")
    call = callable_of(function)
    if not (flush or saturate or rectify):
        return call

    def modified(*sources: Array) -> Array:
        if flush:
            sources = tuple(floats.flushed(source, type_) for source in sources)
        result = call(*sources)
        if flush:
            result = floats.flushed(result, type_) if flushed is None else flushed(result, sources)
        if saturate:
            result = floats.saturated(result, type_)
        return floats.rectified(result, type_) if rectify else result

    return modified


def extremes(opcode: Opcode) -> Operation | None:
    """Return the operation of min or max; None for integers."""
    if not is_floating(opcode):
        return None
    type_ = opcode.types[0]
    element = element_of(type_)
    choose = floats.extreme(element, opcode.base == "max", has(opcode, "NaN"), has(opcode, "xorsign"))
    function = _modified(choose, opcode, element)
    return Operation((type_, type_), (type_,), packed(function, type_))


def signs(opcode: Opcode) -> Operation | None:
    """Return the operation of abs or neg; None for integers."""
    if not is_floating(opcode):
        return None
    type_ = opcode.types[0]
    element = element_of(type_)
    function = floats.magnitude if opcode.base == "abs" else floats.opposite
    of_element = _modified(unary(lambda x: function(x, element)), opcode, element)
    return Operation((type_,), (type_,), packed(of_element, type_))


def copy_sign(opcode: Opcode) -> Operation | None:
    """The sign of the first with the rest of the second."""
    type_ = opcode.types[0]
    return Operation((type_, type_), (type_,), lambda a, b: np.copysign(b, a))


def test_property(opcode: Opcode) -> Operation | None:
    """Zeros are normal (PTX ISA, testp)."""
    type_ = opcode.types[-1]
    tiny = np.finfo(DTYPES[type_]).tiny
    tests: dict[str, Callable[[Array], Array]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        "normal": lambda a: np.isfinite(a) & ((a == 0) | (np.abs(a) >= tiny)),
        "subnormal": lambda a: (a != 0) & (np.abs(a) < tiny),
    }
    test = next((tests[word] for word in opcode.modifiers if word in tests), None)
    return None if test is None else Operation((type_,), ("pred",), test)


BUILDERS: dict[str, Builder] = {
    **dict.fromkeys(_COUNT, arithmetic),
    "min": extremes,
    "max": extremes,
    "abs": signs,
    "neg": signs,
    "copysign": copy_sign,
    "testp": test_property,
}
