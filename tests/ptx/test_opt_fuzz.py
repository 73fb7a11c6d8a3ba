"""Whatever stands in a file: PTX or a diagnostic comes out, and nothing changes that was not understood.

The long run takes ``PTX_FUZZ_SECONDS`` seconds (default 60) for each of its seeds, which begin at ``PTX_FUZZ_SEED``.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path

import pytest

from comprehensive.diagnostics import CompileError, SourceFile, render
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.assembled import assembled, cubin_of
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.ptx_pass import strange_module, strange_statement
from comprehensive.ptx.passes.registry import PASSES
from comprehensive.ptx.pipeline import Check, rewrite, run
from comprehensive.ptx.printer import print_module
from comprehensive.ptx.statements import MADE
from comprehensive.ptx.validate import validated
from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import SourceRejectedError, Tool, load_tool
from tests.examples import seeds
from tests.ptx.corpus import Source, compiled, sources
from tests.ptx.mutations import gentle, mutated

SEEDS = sorted(Path(__file__).parent.glob("*/*.ptx"))
# Of nvcc's PTX small ones, with what the others do not have: tables of debuggers, lines, inline assembly, calls.
COMPILED = (
    "debugging",
    "line_information",
    "inline_assembly",
    "functions",
    "switches",
    "saxpy",
    "shared_static",
)
PIPELINES = (
    *PASSES,
    "memory-space,vectorize-accesses{assume_pointer_align=16},pre,dce,lower-version",
    "pre,pre,dce,vectorize-accesses{width=2 assume_pointer_align=8},dce",
)
ANALYSES = tuple(name for name, each in vars(Analyses).items() if isinstance(each, cached_property))
SECONDS = float(os.environ.get("PTX_FUZZ_SECONDS", "60"))
SEED = int(os.environ.get("PTX_FUZZ_SEED", "100"))
MOST_SECONDS = 60


def given(error: CompileError, *codes: str) -> None:
    """Diagnostics of these codes, each with a place that can be shown."""
    for diagnostic in error.diagnostics:
        assert diagnostic.code in codes, render(diagnostic)
        assert diagnostic.span is not None, render(diagnostic)
        assert "^" in render(diagnostic)


def examined(text: str) -> Module | None:
    """The module, with all that can be found out about it; None where a diagnostic says why there is none."""
    try:
        module = parse(SourceFile("fuzzed.ptx", text))
    except CompileError as error:
        given(error, "CF1001", "CF1002", "CF1003")
        return None
    assert print_module(module) == text
    understood = {}
    for name, function in module.functions.items():
        try:
            body = function.body
            understood[name] = function.with_body(body)
            analyses = Analyses(function, module)
            for each in ANALYSES:
                getattr(analyses, each)
        except CompileError as error:
            given(error, "CF1002", "CF1004", "CF1005")
    assert print_module(module.with_functions(understood)) == without_ends(module, text)
    anew = {n: f.with_body([s._replace(start=MADE, end=MADE) for s in f.body]) for n, f in understood.items()}
    again = parse(SourceFile("fuzzed.ptx", print_module(module.with_functions(anew))))
    for name, function in anew.items():
        plain = [s._replace(start=MADE, end=MADE) for s in again.functions[name].body]
        assert plain == list(function.body)
    return module


def without_ends(module: Module, text: str) -> str:
    """Return the text without what stands between a body's last statement and its brace, which is not kept."""
    for function in reversed(module.functions.values()):
        try:
            body = function.body
        except CompileError:
            continue
        end = body[-1].end if body else function.open
        text = f"{text[:end]}\n{text[function.close :]}"
    return text


def rewritten(text: str, module: Module, pipeline: str) -> str:
    """The text behind passes; what is not understood is in it as it was."""
    after = rewrite(text, pipeline, name="fuzzed.ptx")[0]
    if strange_module(module) is not None:
        assert after == text
    for function in module.functions.values():
        if strange_statement(function, module) is not None:
            assert text[function.start : function.end] in after
    return after


def same_code(module: Module, pipeline: str, ptxas: Tool | None, seed: int) -> None:
    """ptxas takes what passes make of what it takes, and kernels compute the same."""
    passes = passes_of(pipeline)
    checks: list[Check] = [validated(seed)]
    if ptxas is not None and strange_module(module) is None:
        try:
            cubin_of(ptxas, module)
        except SourceRejectedError:
            ptxas = None
        else:
            checks.append(assembled(ptxas))
    # Of what ptxas does not take, values are not defined.
    checks = checks if len(checks) > 1 else []
    if any(each.changes_launch for each in passes):
        # Blocks of a mutated kernel write to the same places, and come to run in another order.
        checks = checks[1:]
    run(module, passes, checks)


def fuzz(seed: int, seconds: float, rounds: int, texts: Sequence[str], ptxas: Tool | None = None) -> None:
    draw = random.Random(seed)
    end = time.monotonic() + seconds
    for number in range(rounds):
        if time.monotonic() > end:
            return
        text, pipeline = draw.choice(texts), draw.choice(PIPELINES)
        is_gentle = draw.random() < 0.4
        text = gentle(text, draw) if is_gentle else mutated(text, texts, draw)
        begin = time.monotonic()
        try:
            module = examined(text)
            if module is not None:
                rewritten(text, module, pipeline)
                took = time.monotonic() - begin
                if is_gentle or number % 8 == 0:
                    same_code(module, pipeline, ptxas, seed)
            else:
                with pytest.raises(CompileError):
                    rewrite(text, pipeline, name="fuzzed.ptx")
                took = time.monotonic() - begin
        except Exception as error:
            raise AssertionError(f"seed {seed}, round {number}: {pipeline} on:\n{text}") from error
        assert took < MOST_SECONDS, f"seed {seed}, round {number}: {pipeline} on:\n{text}"


@cache
def by_hand() -> tuple[str, ...]:
    return tuple(path.read_bytes().decode("utf-8", "surrogateescape") for path in SEEDS)


@cache
def assembler() -> Tool | None:
    found = find_tool("ptxas")
    return None if isinstance(found, Missing) else load_tool(found)


@pytest.mark.parametrize("seed", seeds(4))
def test_mutated_texts_get_an_answer(seed: int) -> None:
    fuzz(seed, seconds=60, rounds=60, texts=by_hand(), ptxas=assembler())


@pytest.mark.slow
@pytest.mark.toolchain
@pytest.mark.parametrize("seed", range(SEED, SEED + 4))
def test_many_mutated_texts_get_an_answer(seed: int, tmp_path: Path, corpus_cache: Cache) -> None:
    chosen: list[Source] = [s for s in sources() if s.name in COMPILED]
    texts = [
        compiled(s, arch, tmp_path, cache=corpus_cache).read_text()
        for s in chosen
        for arch in s.archs
        if arch != "sm_75"
    ]
    few = [text for text in texts if len(text) < 1 << 16]
    fuzz(seed, SECONDS, 1_000_000, (*by_hand(), *few), assembler())
