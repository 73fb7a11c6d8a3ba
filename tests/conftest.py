"""The settings that all tests share: modest property tests, no cache of the user, tools that may be absent."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from comprehensive.toolchain.find import Found, Missing, find_tool
from comprehensive.toolchain.nvcc import Tool, load_tool
from tests.examples import ALL, QUICK
from tests.repeatable import draw_no_constants_of_modules

# `make test` repeats itself: a failure is one of the change at hand. `make test-all` draws new examples each time, and
# more of them.
_common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", _common, max_examples=QUICK, derandomize=True, database=None)
settings.register_profile("exploring", _common, max_examples=ALL)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "repeatable")
settings.load_profile(PROFILE)
if PROFILE == "repeatable":
    draw_no_constants_of_modules()


TOOL_CACHE = Path(__file__).resolve().parents[1] / ".tool_cache"
"""The answers of compilers, from one run to the next; not in the user's cache, and not known to git."""

# Where the environment forbids Python to keep bytecode, workers and the many processes that tests start would compile
# every module anew, which takes longer than most of these tests. This is loaded before workers are started.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ.setdefault("PYTHONPYCACHEPREFIX", str(TOOL_CACHE / "bytecode"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cold", action="store_true", help="remember nothing of earlier runs of compilers")
    parser.addoption("--update-golden", action="store_true", help="write the files of tests/golden/expected")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """All processes of a run share one cache of what tools have answered; with ``--cold`` it begins empty."""
    directory = TOOL_CACHE
    if request.config.getoption("cold"):
        base = tmp_path_factory.getbasetemp()
        # A worker of pytest-xdist has a directory of its own within that of the run.
        directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "tool_cache"
    before = os.environ.get("COMPREHENSIVE_CACHE")
    os.environ["COMPREHENSIVE_CACHE"] = str(directory)
    yield
    if before is None:
        del os.environ["COMPREHENSIVE_CACHE"]
    else:
        os.environ["COMPREHENSIVE_CACHE"] = before


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests marked `toolchain` where the tool is missing, and says where it was looked for."""
    marked = [item for item in items if item.get_closest_marker("toolchain")]
    if not marked:
        return
    search = find_tool("nvcc")
    if isinstance(search, Missing):
        reason = "needs nvcc; " + "; ".join(str(step) for step in search.steps)
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """Keeps the collector of garbage from looking through modules and items again and again, which are there to stay.

    The golden files and the laws of decisions take 51.1 s of processor time with it, and 57.7 s without.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run tests that share what they compile in one worker with `-n`, unless `--dist` says otherwise."""
    from tests.distribution import Together

    return Together(config, log) if config.getoption("dist") == "load" else None


def _tool(name: str) -> Tool:
    search = find_tool(name)
    if isinstance(search, Found):
        return load_tool(search)
    pytest.skip(f"needs {name}; " + "; ".join(str(step) for step in search.steps))


@pytest.fixture(scope="session")
def nvcc() -> Tool:
    return _tool("nvcc")


@pytest.fixture(scope="session")
def ptxas() -> Tool:
    return _tool("ptxas")


@pytest.fixture(scope="session")
def nvdisasm() -> Tool:
    return _tool("nvdisasm")
