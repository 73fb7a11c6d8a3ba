"""The reading of a file on disk to a :class:`SourceFile`.

In: a path.  Out: its text, to the byte (ends of line are kept as they are)::

    read_source("matmul.mf").text.startswith("/* Product")
"""

from __future__ import annotations

from pathlib import Path

from comprehensive.diagnostics import CompileError, SourceFile

MAXIMUM_BYTES = 1024 * 1024
"""Above this a file is refused: annotated programs are written by people, and host text is read in one go."""


def read_source(path: str | Path) -> SourceFile:
    """The text of a UTF-8 file; raises CompileError for what cannot be read or is no text."""
    name = str(path)
    try:
        with open(path, "rb") as stream:
            content = stream.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
        raise CompileError.of(
            "CF0101", f"cannot read '{name}': {reason}", help="give the path of a .mf file"
        ) from None
    except ValueError as error:  # a NUL character in the path
        raise CompileError.of(
            "CF0101", f"cannot read '{name!r}': {error}", help="give the path of a .mf file"
        ) from None
    if len(content) > MAXIMUM_BYTES:
        raise CompileError.of(
            "CF0103",
            f"'{name}' is larger than {MAXIMUM_BYTES // 1024} KiB",
            help="keep the annotated functions in a file of their own",
        )
    if b"\0" in content:
        raise CompileError.of(
            "CF0102", f"'{name}' is a binary file: it has NUL bytes", help="give the path of a .mf file"
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CompileError.of(
            "CF0102",
            f"'{name}' is not UTF-8 text: byte {content[error.start]:#04x} on line {line}",
            help="save the file as UTF-8",
        ) from None
    return SourceFile(name, text)
