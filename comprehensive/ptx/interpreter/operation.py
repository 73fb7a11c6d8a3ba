"""Arithmetic instructions: the types of what one reads and writes, and a function on arrays.

    Operation(("s32", "s32"), ("s32",), numpy.add)

Sources come as arrays of their type's dtype, all of one length; results go the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from comprehensive.ptx.interpreter.values import DTYPES, ELEMENT, Array, Computation, callable_of
from comprehensive.ptx.opcodes import Opcode


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation; ``function`` returns an array, or a tuple of as many as there are ``results``.

    With ``reads_carry`` the carry of each thread (an array of booleans) is one more source; with ``writes_carry`` it is
    one more result.
    """

    sources: tuple[str, ...]
    results: tuple[str, ...]
    function: Computation
    reads_carry: bool = False
    writes_carry: bool = False


Builder = Callable[[Opcode], Operation | None]
"""None for a form that the interpreter does not know."""

ROUNDINGS = ("rn", "rz", "rm", "rp", "rna")


def rounding(opcode: Opcode, default: str = "rn") -> str:
    return next((word for word in opcode.modifiers if word in ROUNDINGS), default)


def has(opcode: Opcode, *words: str) -> bool:
    return any(word in opcode.modifiers for word in words)


def first(opcode: Opcode, words: Sequence[str]) -> str | None:
    return next((word for word in opcode.modifiers if word in words), None)


def element_of(type_: str) -> str:
    """The type of what a packed type holds two of; any other type itself."""
    return ELEMENT.get(type_, type_)


def on_elements(function: Computation, type_: str) -> Callable[..., Array]:
    """A function on elements as one on sources of a type, with a result for each element that these hold."""
    call = callable_of(function)
    if type_ not in ELEMENT:
        return call
    element = DTYPES[ELEMENT[type_]]
    # Halves of a word follow each other in memory: the lower one first.
    return lambda *sources: call(*(np.ascontiguousarray(source).view(element) for source in sources))


def packed(function: Computation, type_: str) -> Callable[..., Array]:
    """A function on elements as one on pairs of them; unchanged where the type holds but one."""
    call = on_elements(function, type_)
    if type_ not in ELEMENT:
        return call
    whole = DTYPES[type_]
    return lambda *sources: np.ascontiguousarray(call(*sources)).view(whole)
