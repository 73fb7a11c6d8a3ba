"""Progress on a terminal, and the limit of time: a command's watch.

    watch = command_watch(time_limit)
    with watch.shown():                        # after 2 s a line appears on a terminal, and is erased at the end
        compilation = compile_file(source, options, watch)
    ...                                        # print what there is
    watch.close()                              # exit status 4 where something is missing

    growing the tree of matmul: 120 nodes, 14 s

Nothing is drawn where stderr is no terminal, TERM is "dumb" or CI is set.  There are no colours, so that NO_COLOR
changes nothing.  While it is shown, the first Ctrl-C ends the time for a command that has partial results; the second
aborts.
"""

from __future__ import annotations

import math
import os
import shutil
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Thread, current_thread, main_thread
from time import monotonic
from typing import Any, TextIO

import click

EXIT_PARTIAL = 4
EXIT_INTERRUPTED = 130

_SHOWN_AFTER_S = 2.0
_DRAWN_EVERY_S = 0.2
_ERASE = "\r\x1b[K"


class CommandWatch:
    """Draws one line about what is being done, and says when the time for it is over."""

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float] = monotonic,
        limit_s: float | None = None,
        *,
        draws: bool,
        stoppable: bool = False,
    ) -> None:
        """Begin to count the time.

        `draws` says whether the stream is a terminal to be drawn on, `stoppable` whether there is a partial result
        after Ctrl-C.
        """
        self._stream = stream
        self._clock = clock
        self._limit_s = limit_s
        self._draws = draws
        self._stoppable = stoppable
        self._begun = self._shown_since = clock()
        self._doing = ""
        self._drawn = False
        self._interrupted = False
        self._has_cut = False

    def tell(self, doing: str, done: int, of: int | None = None) -> None:
        """Take note of what is being done; the line is drawn by :meth:`shown`, or by `draw`."""
        self._doing = f"{doing}: {done}" if of is None else f"{doing}: {done} of {of}"

    def is_over(self) -> bool:
        """Whether the limit of time is reached, or somebody pressed Ctrl-C."""
        reached = self._limit_s is not None and self._clock() - self._begun >= self._limit_s
        over = self._has_cut or self._interrupted or reached
        self._has_cut = over
        return over

    @property
    def reason(self) -> str | None:
        """The reason why something is missing; None where nothing is."""
        if not self._has_cut:
            return None
        return "interrupted" if self._interrupted else f"the time limit of {self._limit_s:g} s was reached"

    def draw(self) -> None:
        """Draw the line, where it is time to."""
        elapsed = self._clock() - self._shown_since
        if not self._draws or not self._doing or elapsed < _SHOWN_AFTER_S:
            return
        width = max(20, shutil.get_terminal_size().columns) - 1
        self._stream.write(_ERASE + f"{self._doing}, {elapsed:.0f} s"[:width])
        self._stream.flush()
        self._drawn = True

    def erase(self) -> None:
        """Erase the line, where there is one."""
        if self._drawn:
            self._stream.write(_ERASE)
            self._stream.flush()
        self._drawn = False

    @contextmanager
    def shown(self) -> Generator[None]:
        """Draw while something is done; nothing else is to be written to the terminal in the meantime."""
        self._shown_since, self._doing = self._clock(), ""
        stop = Event()
        drawing = Thread(target=self._draw_until, args=(stop,), daemon=True) if self._draws else None
        with self.interruptible():
            if drawing is not None:
                drawing.start()
            try:
                yield
            finally:
                stop.set()
                if drawing is not None:
                    drawing.join()
                self.erase()

    def close(self) -> None:
        """Say what kept the result from being whole, and exit with a status of its own; nothing where it is whole."""
        if self.reason is None:
            return
        click.echo(f"warning: {self.reason}: the result is not whole, and says what is missing", err=True)
        self._exit()

    def demand_whole(self, missing: str) -> None:
        """Exit where the time was not enough for a result that is of no use in parts.

        `missing` says what is not there.
        """
        if self.reason is None:
            return
        click.echo(f"error: {self.reason}: {missing}", err=True)
        self._exit()

    def _exit(self) -> None:
        sys.exit(EXIT_INTERRUPTED if self._interrupted else EXIT_PARTIAL)

    def _draw_until(self, stop: Event) -> None:
        while not stop.wait(_DRAWN_EVERY_S):
            self.draw()

    @contextmanager
    def interruptible(self) -> Generator[None]:
        """Take the first Ctrl-C for the end of the time, where there is a partial result; nothing is drawn."""
        if not self._stoppable or current_thread() is not main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupt(self, *_: object) -> None:
        self._interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


def command_watch(limit_s: float | None = None, *, stoppable: bool = False) -> CommandWatch:
    """The watch of a command that begins now; `stoppable` where it has something to print after Ctrl-C."""
    plain = os.environ.get("TERM") == "dumb" or bool(os.environ.get("CI"))
    return CommandWatch(
        sys.stderr, limit_s=limit_s, draws=sys.stderr.isatty() and not plain, stoppable=stoppable
    )


class _Seconds(click.ParamType[float]):
    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not (0 < seconds < math.inf):
            self.fail(f"{value!r} is no number of seconds above 0, as in 10 or 0.5", param, ctx)
        return seconds


time_limit_option = click.option(
    "--time-limit",
    "time_limit",
    metavar="SECONDS",
    type=_Seconds(),
    default=None,
    help="Stop after so many seconds; exit status 4 where something is missing then.  [default: none]",
)
