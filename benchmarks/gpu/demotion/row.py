"""A kernel with its times: which variant of each class is the fastest, and how well predictions choose.

In: a kernel of a plan and what was timed of it.  Out: a :class:`Row`::

    row = Row(kernel, timed)
    row.fastest(row.demotions(128)).name, row.compared(row.predicted)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.gpu.demotion.timed import Timed
from benchmarks.gpu.demotion.variant import DEFAULT, Planned, Variant
from benchmarks.gpu.ranking import Compared

MOST_REGISTERS = 255
Model: TypeAlias = Callable[[Variant], float]
"""The key by which variants are ordered, the fastest first."""


@dataclass(frozen=True)
class Row:
    """A kernel that was timed."""

    kernel: Planned
    timed: Timed

    @property
    def ran(self) -> tuple[Variant, ...]:
        """Variants with a time, those that are the same as another one with its time."""
        return tuple(each for each in self.kernel.variants if self.measured(each) in self.timed.milliseconds)

    @property
    def distinct(self) -> tuple[Variant, ...]:
        return tuple(each for each in self.ran if not each.same_as)

    @property
    def default(self) -> Variant:
        return self.kernel.variants[0]

    @property
    def needs_more_registers(self) -> bool:
        """Whether it spills with all registers that a thread can have."""
        return any(
            each.kind == "cap" and each.target == MOST_REGISTERS and each.spill_bytes for each in self.ran
        )

    def measured(self, variant: Variant) -> str:
        """The name under which a variant was timed."""
        return variant.same_as or variant.name

    def ms(self, variant: Variant) -> float:
        return self.timed.ms(self.measured(variant))

    def spread(self, variant: Variant) -> tuple[float, float]:
        times = self.timed.milliseconds[self.measured(variant)]
        return min(times), max(times)

    def fastest(self, variants: Iterable[Variant]) -> Variant | None:
        return min(variants, key=self.ms, default=None)

    def caps(self, *, spills: bool) -> list[Variant]:
        """The default and the register caps, with or without spills to local memory."""
        return [
            each for each in self.ran if each.kind in ("default", "cap") and (each.spill_bytes > 0) == spills
        ]

    def demotions(self, target: int | None = None) -> list[Variant]:
        return [each for each in self.ran if each.kind == "demotion" and target in (None, each.target)]

    def pragmas(self) -> list[Variant]:
        return [each for each in self.ran if each.kind == "pragma"]

    def patches(self) -> list[Variant]:
        return [each for each in self.ran if each.kind == "patch"]

    def named(self, name: str) -> Variant | None:
        return next((each for each in self.ran if each.name == name), None)

    def compared(self, model: Model) -> Sequence[Compared]:
        """Return the prediction of a model for each different variant, and its time."""
        return [Compared(each.name, model(each), self.ms(each)) for each in self.distinct]

    def chosen(self, model: Model) -> Variant:
        """The variant that is predicted to be the fastest; of equal ones the slower one, as regret has it."""
        return min(self.distinct, key=lambda each: (model(each), -self.ms(each)))


def rows(kernels: Iterable[Planned], found: Iterable[Timed]) -> tuple[Row, ...]:
    """The kernels whose default variant was timed."""
    by_name = {each.name: each for each in found}
    return tuple(
        Row(kernel, by_name[kernel.name])
        for kernel in kernels
        if kernel.name in by_name and DEFAULT in by_name[kernel.name].milliseconds
    )


def by_model(variant: Variant) -> float:
    return variant.predicted_cycles


def by_paper(variant: Variant) -> float:
    return variant.paper_cycles
