"""The leaf that runs at a point, and why each other one does not, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from comprehensive import explanation
from comprehensive.explanation import Case, RegionExplanation


class Explanation(Struct, frozen=True):
    """The explanation of every region, in program order; ``str`` is what ``comprehensive explain`` prints."""

    regions: tuple[RegionExplanation, ...]

    @property
    def chosen(self) -> Mapping[str, str | None]:
        """The choice of the launcher in each region, as in ``register tile 1``.

        It is None where a value is missing, an assert does not hold, or nothing fits.
        """
        return MappingProxyType({region.name: _chosen(region) for region in self.regions})

    @property
    def cases(self) -> tuple[Case, ...]:
        """The verdicts on all leaves, dead ends and tiles, region by region."""
        return tuple(case for region in self.regions for case in region.cases)

    def case(self, name: str) -> Case:
        """The verdict on one of them, called as it is printed: ``leaf 0``.

        ValueError unless one is called so: where several regions have it, it is in ``regions``.
        """
        found = [case for case in self.cases if f"{case.kind} {case.index}" == name]
        if len(found) != 1:
            known = ", ".join(dict.fromkeys(f"{case.kind} {case.index}" for case in self.cases))
            several = f"{len(found)} regions have a case called" if found else "no case is called"
            raise ValueError(f"{several} {name!r}; there are {known}")
        return found[0]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data, as ``comprehensive explain --json`` prints it."""
        return explanation.to_json(self.regions)

    def __str__(self) -> str:
        return explanation.to_text(self.regions).rstrip("\n")

    def __repr__(self) -> str:
        told = ", ".join(f"{name}: {case or 'no choice'}" for name, case in self.chosen.items())
        return f"<explanation, {told}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _chosen(region: RegionExplanation) -> str | None:
    if region.ranking is None:
        return None
    return next((ranked.name for ranked in region.ranking.fitting if ranked.is_chosen), None)
