"""Whatever stands in a file, `opt` answers with PTX or a diagnostic."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

from comprehensive.diagnostics import CompileError, render
from comprehensive.ptx.passes.registry import PASSES
from comprehensive.ptx.pipeline import rewrite

SEEDS = sorted(Path(__file__).parent.glob("*/*.ptx"))
PIPELINES = (*PASSES, "memory-space,vectorize-accesses{assume_pointer_align=16},pre,dce,lower-version")
_TOKEN = re.compile(r'//[^\n]*\n|"[^"\n]*"|[.%$\w]+|\s+|.', re.DOTALL)


def mutated(text: str, draw: random.Random) -> str:
    """A text with tokens removed, doubled, exchanged, or taken from elsewhere, or with a part missing."""
    tokens = _TOKEN.findall(text)
    for _ in range(draw.choice((1, 1, 2, 5))):
        at, other = draw.randrange(len(tokens)), draw.randrange(len(tokens))
        match draw.randrange(7):
            case 0:
                tokens[at] = ""
            case 1:
                tokens[at] += tokens[at]
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = tokens[other]
            case 4:
                tokens[at] = draw.choice(
                    ("{", "}", "(", ";", "[", "@", "-1", "0", "99999999999999999999", "\0", "\xff")
                )
            case 5:
                del tokens[min(at, other) : min(max(at, other), min(at, other) + 40)]
                tokens = tokens or [" "]
            case _:
                tokens[at : at + 1] = tokens[at : at + draw.randrange(1, 30)] * 2
    return "".join(tokens)


def answer(text: str, pipeline: str) -> str:
    """PTX, or what the diagnostics say; anything but a diagnostic is raised."""
    try:
        return rewrite(text, pipeline, name="fuzzed.ptx")[0]
    except CompileError as error:
        for diagnostic in error.diagnostics:
            # CF1024 says that a pass has made what is not well formed.
            assert diagnostic.code in ("CF1001", "CF1002", "CF1003"), render(diagnostic)
        return "\n".join(render(diagnostic) for diagnostic in error.diagnostics)


def fuzz(seed: int, seconds: float, rounds: int) -> None:
    draw = random.Random(seed)
    end = time.monotonic() + seconds
    texts = [path.read_bytes().decode("utf-8", "surrogateescape") for path in SEEDS]
    for _ in range(rounds):
        if time.monotonic() > end:
            return
        text, pipeline = mutated(draw.choice(texts), draw), draw.choice(PIPELINES)
        begin = time.monotonic()
        try:
            answer(text, pipeline)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {pipeline} on:\n{text}") from error
        assert time.monotonic() - begin < 60


@pytest.mark.parametrize("seed", range(4))
def test_mutated_texts_get_an_answer(seed: int) -> None:
    fuzz(seed, seconds=60, rounds=60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_many_mutated_texts_get_an_answer(seed: int) -> None:
    fuzz(seed, seconds=60, rounds=1_000_000)
