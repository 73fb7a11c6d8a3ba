"""The faults of packages of third parties."""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Applied, Evaluation, Kind, NotApplicable


@dataclass(frozen=True, slots=True)
class Failing:
    """A counter that raises."""

    name: str = "failing"
    limit: str = "L_FAILING"
    kind: Kind = Kind.RESOURCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        raise KeyError("no such table")


@dataclass(frozen=True, slots=True)
class Nameless:
    """A counter of performance whose limit is no level."""

    name: str = "nameless"
    limit: str = "LEVEL"
    kind: Kind = Kind.PERFORMANCE

    def evaluate(self, fragment: Variant) -> Evaluation:
        raise AssertionError("never asked")


@dataclass(frozen=True, slots=True)
class Raising:
    """A strategy that raises."""

    name: str = "raising"
    improves: tuple[str, ...] = ("registers_per_thread",)
    on_ir: bool = True
    decision: tuple[str, str] = ("", "")

    def apply(self, fragment: Variant) -> Applied[Variant] | NotApplicable:
        raise RuntimeError("out of ideas")


@dataclass(frozen=True, slots=True)
class AnsweringNothing:
    """A strategy whose answer is no outcome."""

    name: str = "answering-nothing"
    improves: tuple[str, ...] = ("registers_per_thread",)
    on_ir: bool = True
    decision: tuple[str, str] = ("", "")

    def apply(self, fragment: Variant) -> None:
        return None
