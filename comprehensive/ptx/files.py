"""PTX in files, to the byte: what is no UTF-8 goes through as it is.

write_text("-", read_text("kernel.ptx"))      # "-" is standard input or output
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from comprehensive.diagnostics import CompileError


def read_text(path: str) -> str:
    """Return the text of a file, or of standard input for ``-``. CompileError (CF1027) if it cannot be read."""
    try:
        content = _standard(sys.stdin).read() if path == "-" else _read(path)
    except (OSError, ValueError) as error:
        raise _error(f"cannot read '{path}': {_why(error)}", "give the path of a .ptx file, or -") from None
    return content.decode("utf-8", "surrogateescape")


def write_text(path: str, text: str) -> None:
    """The whole file or nothing of it. CompileError (CF1027) where it cannot be written."""
    content = text.encode("utf-8", "surrogateescape")
    try:
        if path == "-":
            stream = _standard(sys.stdout)
            stream.write(content)
            stream.flush()
        elif not path:
            raise ValueError("there is no name")
        elif _is_device(path):
            Path(path).write_bytes(content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise _error(f"cannot write '{path}': {_why(error)}", "check the path and its rights") from None


def _standard(stream: TextIO | None) -> BinaryIO:
    """Return the bytes of a standard stream; ValueError where the caller has closed it (None)."""
    if stream is None:
        raise ValueError("it is closed")
    return stream.buffer


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _replace(target: Path, content: bytes) -> None:
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _is_device(path: str) -> bool:
    """Return whether a path is none of a file that can be replaced: ``/dev/null``, a pipe."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _error(message: str, help: str) -> CompileError:
    return CompileError.of("CF1027", message, help=help)
