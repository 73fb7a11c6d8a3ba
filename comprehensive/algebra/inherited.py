"""Values known of a system because of the one it was made from: a system in, a value out, each made once.

bounds = Inherited(lambda system, above: ..., most=1000)
bounds.of(system.add(atom))         # calls the function with what it has made of `system`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from comprehensive.algebra.system import System

Value = TypeVar("Value")


class Inherited(Generic[Value]):
    """Values of at most `most` systems; then all are forgotten, since walks of trees come back to what is near."""

    def __init__(self, make: Callable[[System, Value | None], Value], most: int) -> None:
        """Remember at most `most` values.

        `make` is given a system and the value of its parent, None where there is no parent.
        """
        self._make = make
        self._most = most
        self._values: dict[System, Value] = {}

    def of(self, system: System) -> Value:
        """The value of the system, made from that of its nearest ancestor that has one."""
        waiting: list[System] = []
        current: System | None = system
        while current is not None and current not in self._values:
            waiting.append(current)
            current = current.parent
        value = None if current is None else self._values[current]
        for one in reversed(waiting):
            value = self._make(one, value)
            self.put(one, value)
        return self._values[system]

    def put(self, system: System, value: Value) -> None:
        """Takes the value for that of the system."""
        if len(self._values) >= self._most:
            self._values.clear()
        self._values[system] = value
