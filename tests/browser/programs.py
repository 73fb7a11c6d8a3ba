"""Programs whose pages are tested: a published one, and one with what is awkward in pages."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from comprehensive.driver import Compilation, compile_file
from comprehensive.explanation import RegionExplanation, explain
from comprehensive.interactive_report.assemble import page_of, to_html
from comprehensive.machine.device import Device, load_device
from tests.compiled_specs import OPTIONS, compiled
from tests.examples import examples

START = {"N": 1000000, "s": 4, "B": 256}

AWKWARD = """\
/* Names that are words of JavaScript, an assert with a remainder, </script> and <b>markup</b> in a comment. */
#include <assert.h>
void let(int in, float *a, const float *b, int B)
{
  assert(B % 32 == 0 && in < 100000);
  int var = in / 2;
  meta_schedule block(B) {
    meta_for (int i = 0; i < var; i++)
      a[i] = b[i] + b[i + var]; // "</script>"
  }
}
"""


@cache
def device() -> Device:
    return load_device("h200")


@cache
def page() -> str:
    """The page of jacobi1d."""
    return to_html(page_of(compiled("jacobi1d"), device(), START))


def awkward(folder: Path) -> Compilation:
    source = folder / "awkward.mf"
    source.write_text(AWKWARD)
    return compile_file(source, OPTIONS)


@cache
def points() -> tuple[tuple[int, int], ...]:
    """Pairs of s and B: small ones, powers of two and what is next to them, in every leaf and dead end."""
    draw = random.Random(20)
    near = [
        1,
        2,
        3,
        4,
        7,
        8,
        15,
        16,
        17,
        31,
        32,
        33,
        113,
        114,
        127,
        128,
        256,
        510,
        511,
        512,
        1023,
        1024,
        1025,
        2048,
    ]
    return tuple(
        (draw.choice(near), draw.choice([*near, draw.randint(1, 2048)])) for _ in range(examples(200))
    )


def runs(explained: RegionExplanation) -> str:
    """The leaf or dead end that `explain` says holds, or `refused` where an assert keeps out of all."""
    holding = [f"{c.kind} {c.index}" for c in explained.cases if c.applies and c.kind in ("leaf", "dead end")]
    assert len(holding) <= 1
    return holding[0] if holding else "refused"


@cache
def expected() -> tuple[str, ...]:
    """Return the text of `explain` at the points; without a size it ranks nothing, and decides all the same."""
    (explained,) = zip(
        *(explain(compiled("jacobi1d"), device(), {"s": s, "B": b}) for s, b in points()), strict=True
    )
    return tuple(map(runs, explained))
