"""Small programs to tune, and the generated code with faults put into it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from comprehensive.driver import Compilation, Options, compile_file
from comprehensive.generate import source_texts
from comprehensive.plan.plan import ProgramPlan

OPTIONS = Options(registers="estimate")
# Without tiles, as a block does two things one after the other: blocks of B threads, two elements a thread.
PAIRS = """void pairs(int n, const int x[2*n], int y[2*n], int B)
{
  int dim = (n + B - 1) / B;
  meta_schedule {
    meta_for (int v = 0; v < dim; v++) {
      meta_for (int u = 0; u < B; u++) {
        int i = v * B + u;
        if (i < n)
          y[2*i] = 2 * x[2*i] + x[2*i+1];
      }
      meta_for (int u = 0; u < B; u++) {
        int i = v * B + u;
        if (i < n && x[2*i] > 0)
          y[2*i+1] = x[2*i] - x[2*i+1];
      }
    }
  }
}
"""
LAUNCH = "  pairs_host(&cf_state, n"


@cache
def compiled(text: str = PAIRS) -> Compilation:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.mf"
        path.write_text(text, encoding="utf-8")
        return compile_file(path, OPTIONS)


class Faulty:
    """Generated texts with a fault at some values of B: C++ that stands where the launcher is about to launch."""

    def __init__(self, faults: Mapping[int, str]) -> None:
        self._faults = faults

    def __call__(self, plan: ProgramPlan) -> dict[str, str]:
        texts = source_texts(plan)
        source = texts[f"{plan.stem}.cu"]
        assert source.count(LAUNCH) == 1
        cases = "".join(f"  if (cf_chosen->B == {b}) {{ {code} }}\n" for b, code in self._faults.items())
        includes = "#include <csignal>\n#include <unistd.h>\n"
        return {**texts, f"{plan.stem}.cu": includes + source.replace(LAUNCH, cases + LAUNCH)}
