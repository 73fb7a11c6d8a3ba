"""The CPU time from a change of a program to its diagnostics, as the language server finds them.

    python -m benchmarks.editor

The server has started, and read a first program (`settle`).  Each text differs from all before it by a comment: what is
remembered of its regions answers from the second round on.  An edit changes what the first region computes, in each
round otherwise: that region is looked at anew.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from comprehensive.language_server.analysis import analysed, settle

SPECS = Path(__file__).resolve().parent.parent / "specs"
ROUNDS = 5


def main() -> None:
    """Prints a table: CPU seconds of the first round, and the slowest of the others."""
    settle()
    print("| program | error, first | error, later | no error, first | no error, later | an edit |")
    print("|---|---|---|---|---|---|")
    for path in sorted(SPECS.glob("*.mf")):
        text = path.read_text(encoding="utf-8")
        wrong = [_seconds(path, text.replace("meta_for", "meta_fro", 1), k) for k in range(ROUNDS)]
        right = [_seconds(path, text, k) for k in range(ROUNDS)]
        edited = [_seconds(path, _edited(text, k), k) for k in range(ROUNDS)]
        cells = (wrong[0], max(wrong[1:]), right[0], max(right[1:]), max(edited))
        print(f"| {path.stem} | {' | '.join(f'{cell:.3f}' for cell in cells)} |")


def _edited(text: str, number: int) -> str:
    """The text with another number added to what the first region stores first."""
    head, region = text.split("meta_schedule", 1)
    changed, count = re.subn(r"\] (\+?=) ", rf"] \1 {number + 2} + ", region, count=1)
    assert count == 1
    return f"{head}meta_schedule{changed}"


def _seconds(path: Path, text: str, round_number: int) -> float:
    changed = f"/* {round_number} */ {text}"
    start = time.process_time()
    analysed(str(path), changed)
    return time.process_time() - start


if __name__ == "__main__":
    main()
