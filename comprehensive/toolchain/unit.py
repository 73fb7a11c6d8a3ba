"""Compiles a translation unit into a library or a program, and remembers the answer.

In: a command up to the source, and the source.  Out: :class:`Compiled`::

    compile_unit(("/usr/bin/gcc", "-shared", "-fPIC"), Path("work/serial.c"), ("-lm",), timeout_s=120).output

The compiler runs in the directory of the source and is given its name alone, so that no other place can show in the
answer.  The answer comes from the cache where the compiler says the same version, the command is the same and so are
the bytes of the source and of every header that it reads.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from comprehensive.toolchain.cache import Cache, cache_key
from comprehensive.toolchain.compiled import (
    ENTRY_FORMAT,
    Compiled,
    SourceRejectedError,
    dependencies,
    recall,
    remember,
)
from comprehensive.toolchain.process import run
from comprehensive.toolchain.source_key import source_key

# What gcc, clang and nvcc read besides the command line.
_ENVIRONMENT = (
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "SOURCE_DATE_EPOCH",
    "PATH",
)


def compile_unit(
    command: Sequence[str],
    source: Path,
    after: Sequence[str] = (),
    *,
    timeout_s: float,
    unseen: Sequence[str] = (),
    beside: Sequence[Path] = (),
    cache: Cache | None = None,
) -> Compiled:
    """The output and the words of ``command source after``; paths in the command are absolute.

    ``unseen`` are further flags that may differ where the answer does not, such as one that takes the place of the
    source out of it; ``beside`` are files below the directory of the source that flags name.  Raises
    SourceRejectedError, ToolError where the compiler does not run to its end, OSError where the source cannot be read.
    """
    cache = cache or Cache.default()
    source = source.absolute()
    found = source_key(source, beside)
    environment = [f"{name}={os.environ.get(name, '')}" for name in _ENVIRONMENT]
    version = compiler_version(tuple(command))
    key = cache_key(ENTRY_FORMAT, "unit", version, *command, "", *after, "", *environment, *found.parts)
    kept = recall(cache, key)
    if kept is not None:
        return kept
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as scratch:
        output, listed = Path(scratch) / "output", Path(scratch) / "dependencies"
        # With a directory: a name may begin like a flag.
        words = [*command, *unseen, f"./{source.name}", "-o", str(output), *after]
        answer = run(
            [*words, "-MD", "-MF", str(listed)],
            timeout_s=timeout_s,
            cwd=source.parent,
            environment={"TMPDIR": scratch, "LC_ALL": "C"},
        )
        log = (answer.stdout + answer.stderr).replace(f"{scratch}/", "")
        if answer.returncode != 0 or not output.is_file():
            raise SourceRejectedError(words, log)
        compiled = Compiled(output.read_bytes(), log)
        if listed.is_file():
            read = dependencies(listed.read_text(), source.parent)
            remember(cache, key, compiled, [path for path in read if path not in found.files])
    return compiled


def write_binary(compiled: Compiled, target: Path) -> None:
    """Writes the output as a new file, executable: one that is loaded or runs under that name stays as it is.

    A copy, and not the entry of the cache: the loader gives one file one set of static variables, however often it is
    opened, and an entry may be removed.
    """
    target.unlink(missing_ok=True)
    target.write_bytes(compiled.output)
    target.chmod(0o755)


@functools.cache
def compiler_version(command: tuple[str, ...]) -> str:
    """Return what a compiler says of its version.

    Whatever launches it (``ccache g++``) is a part of the command.
    """
    return run((*command, "--version"), timeout_s=60).stdout
