"""The CPU time from a change of a program to its diagnostics, as the language server finds them.

    python -m benchmarks.editor

Each text differs from all before it by a comment: what is remembered of its polyhedra answers from the second round on.
"""

from __future__ import annotations

import time
from pathlib import Path

from comprehensive.language_server.analysis import analysed

SPECS = Path(__file__).resolve().parent.parent / "specs"
ROUNDS = 5


def main() -> None:
    """Prints a table: CPU seconds of the first round and the slowest of the others."""
    print("| program | error, first | error, later | no error, first | no error, later |")
    print("|---|---|---|---|---|")
    for path in sorted(SPECS.glob("*.mf")):
        text = path.read_text(encoding="utf-8")
        wrong = [_seconds(path, text.replace("meta_for", "meta_fro", 1), k) for k in range(ROUNDS)]
        right = [_seconds(path, text, k) for k in range(ROUNDS)]
        cells = (wrong[0], max(wrong[1:]), right[0], max(right[1:]))
        print(f"| {path.stem} | {' | '.join(f'{cell:.3f}' for cell in cells)} |")


def _seconds(path: Path, text: str, round_number: int) -> float:
    changed = f"/* {round_number} */ {text}"
    start = time.process_time()
    analysed(str(path), changed)
    return time.process_time() - start


if __name__ == "__main__":
    main()
