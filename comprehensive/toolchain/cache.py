"""Remembers what tools have answered: a directory of results, each under the hash of what it was made from.

In: a key, and bytes to store.  Out: the same bytes, or None::

    cache = Cache.default()
    key = cache_key("nvcc 13.0.88", "-arch=sm_90", source_bytes)
    cache.store(key, result)
    cache.load(key)

Each entry starts with the hash of its contents, so that one cut short by a full disk or a crash is as good as
absent.  Entries appear by a rename: readers and writers of several processes need no lock.  A cache that cannot be
written to is no error; the result is then computed again the next time.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_DIGEST_BYTES = hashlib.sha256().digest_size


def cache_key(*parts: str | bytes) -> str:
    """A hexadecimal key that differs wherever the parts differ, their number and borders included."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def default_directory(environment: Mapping[str, str] | None = None) -> Path:
    """``$COMPREHENSIVE_CACHE``, else ``comprehensive`` in the user's cache directory."""
    env = os.environ if environment is None else environment
    chosen = env.get("COMPREHENSIVE_CACHE")
    if chosen:
        return Path(chosen).absolute()
    base = env.get("XDG_CACHE_HOME") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".cache")
    return Path(base).absolute() / "comprehensive"


@dataclass(frozen=True, slots=True)
class Cache:
    """``directory`` need not exist; None keeps nothing."""

    directory: Path | None

    @staticmethod
    def default() -> Cache:
        return Cache(default_directory())

    def load(self, key: str) -> bytes | None:
        """What was stored under the key; None where nothing, or nothing whole, is there."""
        if self.directory is None:
            return None
        try:
            entry = self._path(self.directory, key).read_bytes()
        except OSError:
            return None
        digest, contents = entry[:_DIGEST_BYTES], entry[_DIGEST_BYTES:]
        return contents if hashlib.sha256(contents).digest() == digest else None

    def store(self, key: str, contents: bytes) -> None:
        if self.directory is None:
            return
        path = self._path(self.directory, key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(contents).digest() + contents)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise
        except OSError:
            # Read-only or full: the tool works without.
            return

    @staticmethod
    def _path(directory: Path, key: str) -> Path:
        return directory / key[:2] / key[2:]
