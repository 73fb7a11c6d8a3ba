"""Sets of registers of a thread and its warp, as bit masks.

    Registers(general=0b110000).names              # ("R4", "R5")
    (one | other).counts                           # (registers, predicates, uniform registers, uniform predicates)

``RZ``, ``PT``, ``URZ`` and ``UPT`` are constants, never in a set.
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.ptx.analysis.liveness import numbers_in

FILES = ("R", "P", "UR", "UP")
"""Prefixes of the four files of registers, in the order of the fields of :class:`Registers`."""


@dataclass(frozen=True, slots=True)
class Registers:
    """Bit i of each mask stands for register i of its file: of a thread, or (``uniform``) one for the warp."""

    general: int = 0
    predicates: int = 0
    uniform: int = 0
    uniform_predicates: int = 0

    def __or__(self, other: Registers) -> Registers:
        return Registers(*(mine | its for mine, its in zip(self.masks, other.masks, strict=True)))

    def __and__(self, other: Registers) -> Registers:
        return Registers(*(mine & its for mine, its in zip(self.masks, other.masks, strict=True)))

    def __sub__(self, other: Registers) -> Registers:
        return Registers(*(mine & ~its for mine, its in zip(self.masks, other.masks, strict=True)))

    def __bool__(self) -> bool:
        return any(self.masks)

    @property
    def masks(self) -> tuple[int, int, int, int]:
        return self.general, self.predicates, self.uniform, self.uniform_predicates

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Return the number of registers of each file: general, predicates, uniform, uniform predicates."""
        general, predicates, uniform, uniform_predicates = (mask.bit_count() for mask in self.masks)
        return general, predicates, uniform, uniform_predicates

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(
            f"{file}{number}"
            for file, mask in zip(FILES, self.masks, strict=True)
            for number in numbers_in(mask)
        )


NONE = Registers()
