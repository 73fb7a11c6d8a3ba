"""The place and the time of a run of a benchmark, and whether it can run."""

from __future__ import annotations

import datetime
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.gpu import native


def missing(generated: Path) -> str | None:
    """Return what a run needs that is not there; None where nothing is missing."""
    lacking = missing_tools()
    if lacking is not None:
        return lacking
    if not any(generated.glob("*/*.h")):
        return f"nothing in {generated}: run `make gpu-prepare` first"
    return None


def missing_tools(*, needs_gpu: bool = True) -> str | None:
    """The compiler or the device, where there is none."""
    if shutil.which("nvcc") is None:
        return "no nvcc on the PATH"
    if needs_gpu and not said("nvidia-smi", "-L"):
        return "no GPU on this machine"
    return None


def line(commit: str, *modules: str) -> str:
    """Device, compiler, Python modules with their versions, day and commit."""
    device = said("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    compiler = said("nvcc", "--version").splitlines()[-1:]
    parts = (
        *device.splitlines()[:1],
        *compiler,
        *(_version(module) for module in modules),
        str(datetime.date.today()),
        f"commit {commit or 'unknown'}",
    )
    return ", ".join(parts) + "."


def _version(module: str) -> str:
    words = f"import {module}; print('{module}', {module}.__version__)"
    return said(sys.executable, "-c", words) or f"no {module}"


def commit() -> str:
    """The one at hand, where git knows it."""
    return said("git", "-C", str(native.ROOT), "rev-parse", "--short", "HEAD")


def said(*command: str) -> str:
    """Return the output of a command; empty where it fails."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""
