"""The cache of results: what goes in comes out, and nothing broken ever does."""

from __future__ import annotations

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
