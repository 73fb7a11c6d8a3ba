"""The answers of compilers and assemblers, and the cache that remembers them.

In: the output of a tool and what it said.  Out: :class:`Compiled`, and the same again from the cache::

    remember(cache, key, Compiled(cubin, log), headers)
    recall(cache, key).usage["matmul_0"].registers_per_thread
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.process import ToolError
from comprehensive.toolchain.usage import Usage, resource_usage

# Part of every key: entries of another form are never read.
ENTRY_FORMAT = "compiled 1"


@dataclass(frozen=True, slots=True)
class Compiled:
    """The answer of a compiler or assembler.

    ``log`` is everything the tool printed; ``usage`` is empty for PTX, which has no registers yet.
    """

    output: bytes
    log: str

    @property
    def warnings(self) -> tuple[str, ...]:
        """The lines of the log that warn, in order, each once."""
        lines = (line.strip() for line in self.log.splitlines())
        return tuple(dict.fromkeys(line for line in lines if re.search(r"\bwarning\b", line, re.IGNORECASE)))

    @property
    def usage(self) -> Mapping[str, Usage]:
        """The resources of kernels by symbol.

        :func:`comprehensive.toolchain.usage.usage_of` looks up names of the source.
        """
        return resource_usage(self.log)


class SourceRejectedError(ToolError):
    """The tool has rejected the source; ``log`` holds its words, ``command`` the line that repeats it."""

    def __init__(self, command: Sequence[str], log: str) -> None:
        super().__init__(f"{' '.join(command)}\n{log}".rstrip())
        self.command = tuple(command)
        self.log = log


def without_times(log: str) -> str:
    """The log without the seconds that ptxas took, which would make two runs differ."""
    return re.sub(r"^ptxas info +: Compile time = .*\n", "", log, flags=re.MULTILINE)


def remember(cache: Cache, key: str, compiled: Compiled, dependencies: Sequence[Path] = ()) -> None:
    """Keeps an answer that holds as long as the files that it was made from, besides what is in the key, do."""
    hashes = {path: _file_hash(path) for path in map(str, dependencies)}
    if None in hashes.values():
        # A file that went away meanwhile: the answer cannot be checked later.
        return
    output = base64.b64encode(compiled.output).decode()
    document = {"output": output, "log": compiled.log, "dependencies": hashes}
    cache.store(key, json.dumps(document).encode())


def recall(cache: Cache, key: str) -> Compiled | None:
    """The answer, if every file that it was made from is what it was."""
    entry = cache.load(key)
    if entry is None:
        return None
    document = json.loads(entry)
    if any(_file_hash(path) != digest for path, digest in document["dependencies"].items()):
        return None
    return Compiled(base64.b64decode(document["output"]), document["log"])


def dependencies(makefile: str, directory: Path) -> tuple[Path, ...]:
    r"""The files to the right of the colon of a make rule, which was written in a directory.

    ``\ `` is a space in a name, ``$$`` a dollar.
    """
    _, _, right = makefile.replace("\\\n", " ").partition(": ")
    words = re.findall(r"(?:\\.|\S)+", right)
    names = [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]
    return tuple(directory / name for name in names)


def _file_hash(path: str) -> str | None:
    # Paths stay text, which is several times as fast: each kernel asks for all headers of the toolkit.
    try:
        state = os.stat(path)
        return _hash_of_state(path, (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns))
    except OSError:
        return None


@cache
def _hash_of_state(path: str, state: tuple[int, ...]) -> str:
    """The hash of a file in a state, which is read once: all kernels are made from the same headers of the toolkit."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
