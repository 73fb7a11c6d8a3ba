"""Shared objects of CUDA sources, built by nvcc on the machine at hand and called through ctypes."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from benchmarks.gpu.outcome import PeerError

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent
GENERATED = ROOT / "build" / "gpu"
LIBRARIES = ROOT / "build" / "gpu-bench"
REFUSED = "refused.txt"
"""The file beside what is generated, or in its place: the words with which ``gen`` refuses a kernel."""
BY_HAND = ("ceilings", "figure4", "naive")


def sources() -> dict[str, Path]:
    """Every source by the name of its library: those beside this file, and a generated one for each spec."""
    headers = (path for path in sorted(GENERATED.glob("*/*.h")) if not path.name.startswith("cf_"))
    generated = {path.parent.name: path.with_suffix(".cu") for path in headers}
    return {name: SOURCES / f"{name}.cu" for name in BY_HAND} | generated


def library_path(name: str) -> Path:
    return LIBRARIES / f"{name}.so"


def build_all(names: Iterable[str], arch: str) -> dict[str, str]:
    """Builds all at once; the compiler's words for each that fails, which :func:`load` repeats."""
    LIBRARIES.mkdir(parents=True, exist_ok=True)
    there = sources()
    wanted = [name for name in names if name in there]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        answers = pool.map(lambda name: _build(there[name], library_path(name), arch), wanted)
        return {name: answer for name, answer in zip(wanted, answers, strict=True) if answer}


def _build(source: Path, target: Path, arch: str) -> str:
    target.unlink(missing_ok=True)
    command = [
        "nvcc",
        f"-arch={arch}",
        "-O3",
        "-shared",
        "-Xcompiler",
        "-fPIC",
        str(source),
        "-o",
        str(target),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    complaint = "" if answer.returncode == 0 else (answer.stderr + answer.stdout).strip()
    target.with_suffix(".txt").write_text(complaint, encoding="utf-8")
    return complaint


@cache
def load(name: str) -> ctypes.CDLL:
    """The library, or PeerError."""
    path = library_path(name)
    if path.exists():
        return ctypes.CDLL(str(path))
    said = path.with_suffix(".txt")
    if not said.exists():
        raise PeerError(f"{name} was not built: `make gpu-prepare` makes what is built")
    errors = [line for line in said.read_text(encoding="utf-8").splitlines() if "error" in line]
    raise PeerError(f"{name} does not compile: {' '.join(errors[:1])}")
