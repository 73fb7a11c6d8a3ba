"""Every pass on its file of examples, which says what is to come out; ptxas takes what goes in and what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.assembled import assembled
from comprehensive.ptx.build import Build
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.registry import PASSES
from comprehensive.ptx.pipeline import rewrite, run
from comprehensive.toolchain.nvcc import Tool
from tests.ptx.filecheck import check, directives, pipeline
from tests.ptx.grudging import Grudging

FILES = sorted((Path(__file__).parent / "passes").glob("*.ptx"))
# What ptxas does not know is there to be passed over.
NOT_ASSEMBLED = "// Not for ptxas"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_pass_makes_of_its_examples_what_they_say(path: Path) -> None:
    text = path.read_text()
    found = directives(text)
    output, remarks = rewrite(text, pipeline(found), name=path.name, build=Build(Grudging()))
    check(output, [str(remark) for remark in remarks], found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_pass_leaves_nothing_to_do_for_itself(path: Path) -> None:
    text = path.read_text()
    passes = pipeline(directives(text))
    once, _ = rewrite(text, passes, name=path.name, build=Build(Grudging()))
    assert rewrite(once, passes, name=path.name, build=Build(Grudging()))[0] == once


@pytest.mark.toolchain
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_ptxas_takes_what_a_pass_makes(path: Path, ptxas: Tool) -> None:
    text = path.read_text()
    if NOT_ASSEMBLED not in text:
        module = parse(SourceFile(path.name, text))
        assert run(module, passes_of(pipeline(directives(text))), (assembled(ptxas),), Build(Grudging()))


def test_every_pass_has_examples() -> None:
    used = {p.name for path in FILES for p in passes_of(pipeline(directives(path.read_text())))}
    assert used == set(PASSES)
