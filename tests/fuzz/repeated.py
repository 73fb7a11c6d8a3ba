"""The command line in a process of its own: the same bytes under another hash seed, and no traceback.

In: a program and what it was turned into in this process.  Out: what differs, or None.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from comprehensive.driver import Options

SEED = "12345"


def differs_in_another_process(
    path: Path, texts: Mapping[str, str], out: Path, options: Options
) -> str | None:
    """Runs ``gen`` with these options and compares every file that it writes."""
    command = [
        sys.executable,
        "-m",
        "comprehensive",
        "gen",
        str(path),
        "-o",
        str(out),
        "--registers",
        "estimate",
        *(["--reassociate"] if options.reassociate else []),
    ]
    environment = {**os.environ, "PYTHONHASHSEED": SEED}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
    if done.returncode != 0:
        return f"gen exits {done.returncode}\n{done.stderr[-2000:]}"
    written = {p.name: p.read_text(encoding="utf-8") for p in out.iterdir() if p.is_file()}
    if set(written) != set(texts):
        return f"gen writes other files\n{sorted(set(written) ^ set(texts))}"
    different = [name for name in sorted(texts) if texts[name] != written[name]]
    return f"gen writes other bytes\n{', '.join(different)}" if different else None
