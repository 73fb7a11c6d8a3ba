"""Faults of a running kernel, until it is known where: raised by what executes, reported by the launch.

raise Fault("CF1014", "reads 4 bytes at 0x10", lane=3, help="...")
"""

from __future__ import annotations

from comprehensive.ptx.flow import Step


class Fault(Exception):  # noqa: N818
    """An error while a kernel runs.

    ``lane`` is a thread that it happened to, None where it is all; ``step`` where that is not what executes, and
    ``place`` the part of the program that comes next, where nothing executes.
    """

    def __init__(self, code: str, message: str, lane: int | None, help: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.lane = lane
        self.help = help
        self.step: Step | None = None
        self.place: tuple[int, ...] | None = None


class Unsupported(Exception):  # noqa: N818
    """An instruction, or a form of one, that the interpreter does not know; ``step`` is set where it is known."""

    step: Step | None = None
