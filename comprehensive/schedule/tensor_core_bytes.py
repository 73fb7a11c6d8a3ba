"""Bytes for tensor cores: the parts of operand tiles that a thread holds for ``mma.m16n8k32``.

In: the pieces of a product of elements of one byte.  Out: as :class:`HalvesLayout`, with two bytes that are neighbours
in a row in the place of an element of 16 bits::

    matrix m of the left operand:   rows from 8*(m%2), steps from 16*(m/2) on
    matrix m of the right operand:  columns from 8*(m/2), steps from 16*(m%2) on

Matrices can only be turned by 16 bits, so that the steps of both operands lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from comprehensive.kernel_ir.kernel import MULTIPLIES_BYTES
from comprehensive.schedule.tensor_core_halves import HalvesLayout


@dataclass(frozen=True, slots=True)
class BytesLayout(HalvesLayout):
    """The layout of the pieces of a product of bytes."""

    steps: ClassVar[int] = 32
    condition: ClassVar[str] = MULTIPLIES_BYTES
    padding: ClassVar[int] = 16
    of_register_half: ClassVar[int] = 2
