"""The partition of the space of parameters by the leaf that runs, as a value with a picture."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from comprehensive import parameter_space
from comprehensive.report.partition_words import Titled


class Partition(Struct, frozen=True):
    """A line or a plane of parameters, divided exactly among leaves and dead ends.

    One for every region that has the parameters; ``str`` is what ``comprehensive tree --region`` prints.
    """

    regions: tuple[Titled, ...]

    @property
    def svg(self) -> str:
        """A picture that needs nothing else: each leaf with its colour, each boundary with its equation."""
        return parameter_space.to_svg(self.regions)

    def to_json(self) -> dict[str, Any]:
        """The same as plain data, in the form of `specs/schema/partition.json`."""
        return parameter_space.to_json(self.regions)

    def __str__(self) -> str:
        return parameter_space.to_text(self.regions).rstrip("\n")

    def __repr__(self) -> str:
        return f"<partition, {', '.join(titled.title for titled in self.regions)}>"

    def _repr_svg_(self) -> str:
        return self.svg
