"""The key of a source file in the cache of answers, so that the same text elsewhere has the same answer.

In: the path of a source.  Out: parts of a key, and the files whose bytes they hold::

    source_key(Path("out/matmul.cu")).parts     # the bytes of matmul.cu and of matmul.h beside it
    source_key(Path("out/matmul.cu")).files     # {/.../out/matmul.cu, /.../out/matmul.h}

Headers beside a source belong to it: generated files are written anew into another directory each time.  Where it
cannot be told which files these are, the place of the source is a part of the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include(?:_next)?\b[ \t]*([^\n]*)", re.MULTILINE)
_QUOTED = re.compile(rb'"((?:[\w+-][\w.+-]*/)*[\w+-][\w.+-]*)"')
# What is read by other means than an include, or asked for without being read.
_OTHER_READS = re.compile(rb"__has_include|#[ \t]*embed|\.incbin")


@dataclass(frozen=True, slots=True)
class SourceKey:
    """A part of keys that stands for a source.

    ``files`` are absolute; a key with ``parts`` in it need not ask whether these have changed.
    """

    parts: tuple[str | bytes, ...]
    files: frozenset[Path]


def source_key(source: Path, beside: Sequence[Path] = (), *, place: bool = False) -> SourceKey:
    """Return what stands for a source in the key of an answer.

    ``beside`` are files below the directory of the source that flags name; ``place`` says that the answer
    shows where it is.

    Raises OSError where the source cannot be read.
    """
    source = source.absolute()
    contents = source.read_bytes()
    texts = (
        None if place else _with_headers({source: contents, **{p.absolute(): p.read_bytes() for p in beside}})
    )
    if texts is None:
        return SourceKey((str(source), contents), frozenset({source}))
    names = [path.relative_to(source.parent).as_posix() for path in texts]
    parts = [part for pair in zip(names[1:], list(texts.values())[1:], strict=True) for part in pair]
    # Of its own name only what says which language it is.
    return SourceKey((source.suffix, contents, *parts), frozenset(texts))


def _with_headers(given: Mapping[Path, bytes]) -> dict[Path, bytes] | None:
    """The files and the headers beside them that they include; None where an include can be any file."""
    texts = dict(given)
    waiting = list(given)
    while waiting:
        path = waiting.pop()
        text = texts[path]
        if _OTHER_READS.search(text):
            return None
        for include in _INCLUDE.finditer(text):
            operand = include[1]
            if operand.startswith(b"<"):
                continue
            named = _QUOTED.match(operand)
            if named is None:
                return None
            header = path.parent / named[1].decode()
            if header not in texts and header.is_file():
                texts[header] = header.read_bytes()
                waiting.append(header)
    return texts
