"""Loads and stores of local memory as words, and the same ones of shared memory.

    access = local_access(word)                 # LDL.LU.64 R8, [R1+0x10] --> LocalAccess(1, 0x10, 8)
    shared_word(word, 0x480, scale=1)           # LDS.64 R8, [R1+0x480], with the same guard and control bits

Positions of the bits are those of sm_75 to sm_90; tests have nvdisasm read what is written here.
"""

from __future__ import annotations

from dataclasses import dataclass

_LDL, _STL, _LDS, _STS = 0x983, 0x387, 0x984, 0x388
_OPCODE_BITS, _SCALE, _OFFSET, _SIZE = 12, 78, 40, 73
_OFFSET_BITS, _SIZE_BITS = 24, 3
_WIDTHS = (1, 1, 2, 2, 4, 8, 16)
"""Bytes by the field of the size: unsigned and signed ones of 8 and 16 bits, then the rest."""
_SIGNED_16, _UNSIGNED_16, _SIGNED_8, _UNSIGNED_8 = 3, 2, 1, 0
_UNSIGNED = {_SIGNED_16: _UNSIGNED_16, _SIGNED_8: _UNSIGNED_8}
_SCALES = {1: 0, 4: 1, 8: 2, 16: 3}


def _bits(low: int, high: int) -> int:
    return (1 << high + 1) - (1 << low)


# Guard, register of the data, register of the address, offset, size; the rest is of the scheduler.
_CONTROL = _bits(102, 103) | _bits(105, 127)
_KEPT = _bits(12, 15) | _bits(24, 31) | _bits(_SIZE, 75) | _CONTROL
_LOADED, _STORED = _bits(16, 23), _bits(32, 39)
_CACHE = _bits(84, 86)


@dataclass(frozen=True, slots=True)
class LocalAccess:
    """A load or store of ``width`` bytes at a register plus ``offset`` in the local memory of a thread."""

    register: int
    offset: int
    width: int


def is_local(word: int) -> bool:
    """Whether the word is a load or store of local memory, of any form."""
    return _opcode(word) in (_LDL, _STL)


def local_access(word: int) -> LocalAccess | None:
    """Return what a load or store of local memory is of; None for a form that is not known here.

    Such a form is an address with a uniform register.
    """
    size = word >> _SIZE & (1 << _SIZE_BITS) - 1
    data = _LOADED if _opcode(word) == _LDL else _STORED
    known = _bits(0, _OPCODE_BITS - 1) | _bits(_OFFSET, _OFFSET + _OFFSET_BITS - 1) | _KEPT | _CACHE | data
    if word & ~known or size >= len(_WIDTHS):
        return None
    offset = word >> _OFFSET & (1 << _OFFSET_BITS) - 1
    if offset >> _OFFSET_BITS - 1:
        offset -= 1 << _OFFSET_BITS
    return LocalAccess(word >> 24 & 0xFF, offset, _WIDTHS[size])


def shared_word(word: int, offset: int, *, scale: int) -> int:
    """Return the load or store of shared memory for one of local memory that :func:`local_access` knows.

    Its address is the same register times ``scale``, plus ``offset``, which is below 2^23.
    """
    is_load = _opcode(word) == _LDL
    kept = word & (_KEPT | (_LOADED if is_load else _STORED))
    if not is_load and (size := word >> _SIZE & (1 << _SIZE_BITS) - 1) in _UNSIGNED:
        # ptxas stores `.S16` to local memory, and `.U16` to shared memory: the same bytes.
        kept ^= (size ^ _UNSIGNED[size]) << _SIZE
    return kept | (_LDS if is_load else _STS) | offset << _OFFSET | _SCALES[scale] << _SCALE


def _opcode(word: int) -> int:
    return word & (1 << _OPCODE_BITS) - 1
