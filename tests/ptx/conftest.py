"""The cache of the run, for all processes of a test run: each source is compiled once."""

from __future__ import annotations

import pytest

from comprehensive.toolchain.cache import Cache


@pytest.fixture(scope="session")
def corpus_cache() -> Cache:
    return Cache.default()
