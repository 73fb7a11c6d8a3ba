"""Passes run once for what is built again, and once more where anything of it is another."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from comprehensive.ptx.dropin.arguments import Assembly, understand
from comprehensive.ptx.dropin.remembered import remembered
from comprehensive.records import replace
from comprehensive.toolchain.cache import Cache


@dataclass
class Passes:
    """Rewrites ``a`` to ``b``, and counts how often it is asked."""

    asked: list[str] = field(default_factory=list[str])

    def __call__(self, text: str, pipeline: str, *, name: str) -> tuple[str, Sequence[str]]:
        self.asked.append(name)
        if "!" in text:
            raise ValueError(name)
        return text.replace("a", "b"), [f"{name}:3:1: remark: {pipeline}", f"remark: of {name}"]


@dataclass(frozen=True)
class Bench:
    """A ptxas, a cache and passes; ``ask`` is one call."""

    ptxas: Path
    cache: Cache
    call: Assembly
    passes: Passes = field(default_factory=Passes)

    def ask(self, text: str, name: str = "one.ptx", pipeline: str = "dce") -> tuple[str, Sequence[object]]:
        rewrite = remembered(lambda: self.passes, str(self.ptxas), self.call, self.cache)
        return rewrite(text, pipeline, name=name)


def call_of(*arguments: str) -> Assembly:
    call = understand((*arguments, "k.ptx"))
    assert isinstance(call, Assembly)
    return call


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("1")
    return Bench(ptxas, Cache(tmp_path / "cache"), call_of("-arch=sm_90", "-O3"))


@pytest.mark.parametrize("text", ["a \udcff", "c"])
def test_the_second_build_has_the_same_text_and_remarks_of_its_own_name(bench: Bench, text: str) -> None:
    first = bench.ask(text, "/tmp/1/k.ptx")
    second = bench.ask(text, "/tmp/2/k.ptx")
    assert bench.passes.asked == ["/tmp/1/k.ptx"]
    assert second[0] == first[0] == text.replace("a", "b")
    assert second[1] == ["/tmp/2/k.ptx:3:1: remark: dce", "remark: of /tmp/1/k.ptx"]


def test_another_text_pipeline_flag_target_or_ptxas_is_asked_anew(bench: Bench) -> None:
    bench.ask("a")
    bench.ask("aa")
    bench.ask("a", pipeline="pre")
    replace(bench, call=call_of("-arch=sm_90", "-O3", "-maxrregcount=32")).ask("a")
    replace(bench, call=call_of("-arch=sm_80", "-O3")).ask("a")
    os.utime(bench.ptxas, ns=(0, 0))
    bench.ask("a")
    assert len(bench.passes.asked) == 6


def test_what_failed_is_not_remembered(bench: Bench) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="one"):
            bench.ask("a!")
    assert len(bench.passes.asked) == 2
