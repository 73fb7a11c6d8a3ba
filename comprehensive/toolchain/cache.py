"""Remembers what tools have answered: a directory of results, each under the hash of what it was made from.

In: a key, and bytes to store.  Out: the same bytes, or None::

    cache = Cache.default()
    key = cache_key("nvcc 13.0.88", "-arch=sm_90", source_bytes)
    cache.store(key, result)
    cache.load(key)

Each entry starts with the hash of its contents, so that one cut short by a full disk or a crash is as good as
absent.  Entries appear by a rename: readers and writers of several processes need no lock.  A cache that cannot be
written to is no error; the result is then computed again the next time.

The cache does not grow for ever.  Entries lie in 256 folders, and whoever stores an entry removes from its folder what
has not been asked for the longest, down to the share of the limit that a folder has.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LIMIT_BYTES = 2 << 30

_DIGEST_BYTES = hashlib.sha256().digest_size
_FOLDERS = 256
_UNFINISHED = ".new-"
_UNFINISHED_S = 3600.0
"""The age of a writer's file at which the writer must have been killed."""


def cache_key(*parts: str | bytes) -> str:
    """A hexadecimal key that differs wherever the parts differ, their number and borders included."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def default_directory(environment: Mapping[str, str] | None = None) -> Path:
    """Return ``$COMPREHENSIVE_CACHE``, else ``comprehensive`` in the user's cache directory."""
    env = os.environ if environment is None else environment
    chosen = env.get("COMPREHENSIVE_CACHE")
    if chosen:
        return Path(chosen).absolute()
    base = env.get("XDG_CACHE_HOME") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".cache")
    return Path(base).absolute() / "comprehensive"


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache of answers.

    Its ``directory`` need not exist; None keeps nothing. It holds about ``limit_bytes`` at most.
    """

    directory: Path | None
    limit_bytes: int = LIMIT_BYTES

    @staticmethod
    def default() -> Cache:
        return Cache(default_directory())

    def load(self, key: str) -> bytes | None:
        """Return what was stored under the key; None where nothing, or nothing whole, is there."""
        if self.directory is None:
            return None
        path = self._path(self.directory, key)
        try:
            entry = path.read_bytes()
        except OSError:
            return None
        digest, contents = entry[:_DIGEST_BYTES], entry[_DIGEST_BYTES:]
        if hashlib.sha256(contents).digest() != digest:
            return None
        # When an entry was last of use; another process may have removed it meanwhile.
        with contextlib.suppress(OSError):
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
        return contents

    def store(self, key: str, contents: bytes) -> None:
        if self.directory is None:
            return
        path = self._path(self.directory, key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_UNFINISHED)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(contents).digest() + contents)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise
            _shrink(path.parent, self.limit_bytes // _FOLDERS, kept=path.name)
        except OSError:
            # Read-only or full: the tool works without.
            return

    @staticmethod
    def _path(directory: Path, key: str) -> Path:
        return directory / key[:2] / key[2:]


def _shrink(folder: Path, limit_bytes: int, kept: str) -> None:
    """Removes what was used the longest ago until the rest is within the limit, but never the entry ``kept``."""
    entries: list[tuple[float, str, int]] = []
    now = time.time()
    with os.scandir(folder) as found:
        for file in found:
            with contextlib.suppress(FileNotFoundError):
                state = file.stat()
                if not file.name.startswith(_UNFINISHED):
                    entries.append((state.st_atime, file.name, state.st_size))
                elif now - state.st_mtime > _UNFINISHED_S:
                    os.unlink(file.path)
    total = sum(size for _, _, size in entries)
    for _, name, size in sorted(entries):
        if total <= limit_bytes:
            return
        if name != kept:
            # Another process may have done the same.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(folder / name)
            total -= size
