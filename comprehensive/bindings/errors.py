"""The errors between Python and generated functions; messages say what to do."""

from __future__ import annotations


class LoadError(Exception):
    """A manifest, or what belongs to it, cannot be used."""


class LaunchError(Exception):
    """An error for a call that launched nothing, or not everything; members are those of ``cf_choice``.

    ``needed`` and ``available`` are what ``constraint`` needs and what is there, in its own units.
    """

    def __init__(
        self, message: str, *, status: int, leaf: int, constraint: str, needed: int, available: int
    ) -> None:
        super().__init__(message)
        self.status = status
        self.leaf = leaf
        self.constraint = constraint
        self.needed = needed
        self.available = available
