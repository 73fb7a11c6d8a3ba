"""The outcome of one peer for one case, and how it travels from a worker to the command as a line of JSON."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """Times of single runs in milliseconds, and what ran; without times, ``reason`` says why there are none.

    ``what`` names the variant that won, ``note`` says what else was tried.
    """

    case: str
    peer: str
    times: tuple[float, ...] = ()
    what: str = ""
    note: str = ""
    reason: str = ""

    @property
    def ran(self) -> bool:
        return bool(self.times)

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def spread(self) -> tuple[float, float]:
        """The shortest and the longest time."""
        return min(self.times), max(self.times)

    def to_line(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_line(line: str) -> Outcome:
        read = json.loads(line)
        return Outcome(**{**read, "times": tuple(read["times"])})


class PeerError(Exception):
    """A peer cannot, and its words say why."""
