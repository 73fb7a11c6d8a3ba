"""The configuration of a program: ``-D``, ``-U`` and ``-I`` of the command line, as for a C compiler.

In: names, texts and directories.  Out: a :class:`Configuration`, also as the options of a C compiler::

    Configuration((("N", "1024"),), ("SMALL",), ()).flags == ("-DN=1024", "-USMALL")
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class Configuration(Struct, frozen=True):
    """``definitions`` are macros with their texts, in order; ``undefined`` are names that are no macros."""

    definitions: tuple[tuple[str, str], ...] = ()
    undefined: tuple[str, ...] = ()
    directories: tuple[Path, ...] = ()
    """The directories where included files are looked for, besides that of the file that includes them."""

    @property
    def flags(self) -> tuple[str, ...]:
        """The names that are and are not defined, as options of a C compiler."""
        defined = [f"-D{name}={text}" for name, text in self.definitions]
        return (*defined, *(f"-U{name}" for name in self.undefined))
