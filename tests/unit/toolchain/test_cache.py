"""The cache of results: what goes in comes out, and nothing broken ever does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from comprehensive.toolchain.cache import Cache, cache_key, default_directory


def _entry(directory: Path) -> Path:
    (path,) = (p for p in directory.rglob("*") if p.is_file())
    return path


def test_what_was_stored_is_loaded_and_nothing_else_is_left(tmp_path):
    cache = Cache(tmp_path / "new")
    key = cache_key("a", b"b")
    assert cache.load(key) is None
    cache.store(key, b"one")
    cache.store(key, b"two")
    assert cache.load(key) == b"two"
    assert _entry(tmp_path).name == key[2:]


def test_an_entry_that_was_cut_short_or_altered_is_as_good_as_absent(tmp_path):
    cache, key = Cache(tmp_path), cache_key("a")
    cache.store(key, b"contents")
    whole = _entry(tmp_path).read_bytes()
    for broken in (b"", whole[:5], whole[:-1], whole + b"x", whole[:-1] + b"X"):
        _entry(tmp_path).write_bytes(broken)
        assert cache.load(key) is None
    cache.store(key, b"contents")
    assert cache.load(key) == b"contents"


def test_a_place_that_cannot_hold_a_cache_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    cache, key = Cache(tmp_path / "file/cache"), cache_key("a")
    cache.store(key, b"contents")
    assert cache.load(key) is None


def test_no_directory_keeps_nothing():
    cache, key = Cache(None), cache_key("a")
    cache.store(key, b"contents")
    assert cache.load(key) is None


@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_keys_differ_exactly_where_the_parts_differ(a, b):
    assert (cache_key(*a) == cache_key(*b)) == (a == b)


def test_the_directory_is_chosen_by_the_environment():
    home = {"HOME": "/home/u"}
    assert default_directory(home) == Path("/home/u/.cache/comprehensive")
    assert default_directory(home | {"XDG_CACHE_HOME": "/c"}) == Path("/c/comprehensive")
    assert default_directory(home | {"XDG_CACHE_HOME": "/c", "COMPREHENSIVE_CACHE": "/d"}) == Path("/d")


def test_what_was_not_asked_for_the_longest_goes_first(tmp_path):
    cache = Cache(tmp_path, limit_bytes=256 * 1000)  # a folder holds 1000 bytes
    keys = [f"ab{number}" for number in range(4)]
    for number, key in enumerate(keys[:3]):
        cache.store(key, bytes(300))
        os.utime(tmp_path / "ab" / key[2:], (number, number))
    assert cache.load(keys[0]) == bytes(300)
    cache.store(keys[3], bytes(300))
    assert [cache.load(key) is not None for key in keys] == [True, False, True, True]
    # Other folders have shares of their own.
    cache.store("cd", bytes(900))
    assert cache.load(keys[0]) is not None


def test_an_entry_above_the_limit_is_kept_until_the_next_one(tmp_path):
    cache = Cache(tmp_path, limit_bytes=0)
    cache.store("ab1", b"one")
    assert cache.load("ab1") == b"one"
    cache.store("ab2", b"two")
    assert (cache.load("ab1"), cache.load("ab2")) == (None, b"two")


def test_files_of_writers_that_were_killed_go_and_others_stay(tmp_path):
    cache = Cache(tmp_path)
    cache.store("ab1", b"one")
    dead, alive = tmp_path / "ab" / ".new-dead", tmp_path / "ab" / ".new-alive"
    for path in (dead, alive):
        path.write_bytes(b"")
    os.utime(dead, (0, 0))
    cache.store("ab2", b"two")
    assert (dead.exists(), alive.exists()) == (False, True)


def test_several_processes_may_use_a_cache_that_is_full(tmp_path):
    program = (
        "import sys; from pathlib import Path; from comprehensive.toolchain.cache import Cache\n"
        "cache = Cache(Path(sys.argv[1]), limit_bytes=256 * 2000)\n"
        "for number in range(300):\n"
        "  key = f'ab{number % 20}'\n"
        "  found = cache.load(key)\n"
        "  assert found in (None, key.encode() * 50), found\n"
        "  cache.store(key, key.encode() * 50)\n"
    )
    command = [sys.executable, "-c", program, tmp_path]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) <= 2000
