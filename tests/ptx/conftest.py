"""One cache of compiled sources for all processes of a test run: each source is compiled once."""

from __future__ import annotations

import os

import pytest

from comprehensive.toolchain.cache import Cache


@pytest.fixture(scope="session")
def corpus_cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    base = tmp_path_factory.getbasetemp()
    # A worker of pytest-xdist has a directory of its own within that of the run.
    return Cache((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "corpus-cache")
