"""Understands one call of ptxas, or says that it does not.

In: the arguments.  Out: an :class:`Assembly`, whose inputs can be replaced, or :class:`Untouched`::

    understand(("-arch=sm_90", "-m64", "k.ptx", "-o", "k.cubin"))
    # Assembly(words=(...), inputs=(2,), values={"gpu-name": "sm_90", ...}, flags=("-m64",))
    understand(("--version",))    # Untouched(reason=None): nothing is assembled, so there is nothing to say

What is not in :mod:`comprehensive.ptx.dropin.options` is not guessed at: such a call goes to ptxas as it is.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from comprehensive.ptx.dropin.options import OPTIONS

# `-O3` and `-m64`: the only names with which a value is joined.
_JOINED = ("-O", "-m")
_NOT_OF_CODE = frozenset({"output-file", "gpu-name", "verbose", "verbose2", "warning-as-error", "jobserver"})
_ONLY_TELLS = ("help", "version", "list-version", "list-arch")


@dataclass(frozen=True, slots=True)
class Assembly:
    """A call of ptxas that assembles.

    ``words`` are the arguments, with those of option files in their places; ``inputs`` are positions in it.  ``values``
    are those of options, by their long names; ``flags`` the words that say how code is made: neither files, nor the
    architecture, nor what is to be told.
    """

    words: tuple[str, ...]
    inputs: tuple[int, ...]
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    flags: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self.words[position] for position in self.inputs)

    def with_inputs(self, paths: Sequence[str]) -> tuple[str, ...]:
        """The words with other files in the places of the inputs."""
        words = list(self.words)
        for position, path in zip(self.inputs, paths, strict=True):
            words[position] = path
        return tuple(words)


@dataclass(frozen=True, slots=True)
class Untouched:
    """A call with nothing to rewrite.

    ``reason`` says why not although code is assembled, None where none is.
    """

    reason: str | None


Understood: TypeAlias = Assembly | Untouched


def understand(arguments: Sequence[str]) -> Understood:
    """Return what a call of ptxas does. Its option files are read, and nothing else."""
    try:
        words = _expanded(arguments)
    except (OSError, ValueError) as problem:
        return Untouched(f"an option file cannot be read: {problem}")
    inputs: list[int] = []
    values: dict[str, str] = {}
    flags: list[str] = []
    position = 0
    while position < len(words):
        begin, word = position, words[position]
        name, equals, value = word.partition("=")
        option = OPTIONS.get(name)
        if word == "-":
            return Untouched("the standard input is not rewritten")
        elif not word.startswith("-"):
            inputs.append(position)
        elif option is not None and option.takes_value and not equals:
            position += 1
            values[option.name] = words[position] if position < len(words) else ""
        elif option is not None:
            values[option.name] = value
        elif not (equals or word.startswith(_JOINED)) and not _ends_or_option(words, position + 1):
            return Untouched(
                f"{word} is not known, nor whether {words[position + 1]} is its value or an input"
            )
        position += 1
        if begin not in inputs and (option is None or option.name not in _NOT_OF_CODE):
            flags += words[begin:position]
    if any(name in values for name in _ONLY_TELLS):
        return Untouched(None)
    if "input-as-string" in values:
        return Untouched("PTX in the command line (--input-as-string) is not rewritten")
    # With a virtual architecture ptxas only checks: nvcc does so, without an output.
    if not inputs or values.get("gpu-name", "").startswith(("compute_", "lto_")):
        return Untouched(None)
    if "device-debug" in values:
        return Untouched("a debug build (--device-debug) is not rewritten")
    return Assembly(tuple(words), tuple(inputs), values, tuple(flags))


def _ends_or_option(words: Sequence[str], position: int) -> bool:
    return position == len(words) or words[position].startswith("-")


def _expanded(arguments: Sequence[str], depth: int = 0) -> list[str]:
    """The arguments with those of option files in the place of ``--options-file FILE,...``."""
    if depth > 16:
        raise ValueError("option files name each other")
    words: list[str] = []
    rest = iter(arguments)
    for word in rest:
        name, equals, files = word.partition("=")
        option = OPTIONS.get(name)
        if option is None or option.name != "options-file":
            words.append(word)
            if option is not None and option.takes_value and not equals:
                words += [value for value in (next(rest, None),) if value is not None]
            continue
        for path in (files if equals else next(rest, "")).split(","):
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                words += _expanded(_words(file.read()), depth + 1)
    return words


def _words(text: str) -> list[str]:
    """Split text as ptxas does: at white space outside double quotes, with backslashes as escapes.

    Comments and single quotes mean nothing.
    """
    lexer = shlex.shlex(text, posix=True)
    lexer.quotes, lexer.commenters, lexer.whitespace_split = '"', "", True
    return list(lexer)
