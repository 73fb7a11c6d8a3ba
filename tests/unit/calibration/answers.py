"""Answers of the benchmark: one such as an H200 gives, made up, and variations of it."""

from __future__ import annotations

from collections.abc import Mapping

L2_BYTES = 60 << 20
KEPT_BYTES = 40_000_000
RUNS: Mapping[str, str] = {
    "clock_mhz": "1980 1980 1979.5",
    "issued": "3.97 3.97 3.97",
    "wide": "63.6 63.7 63.6",
    "matrix": "127.5 127.6 127.4",
    "half_matrix": "1251.5 1252.4 1250.9",
    "shared_latency": "23.1 23.2 23.1",
    "barrier": "25.6 25.6 25.8",
    "block": "410 412 414",
    "turn": "620 630 625",
    "launch": "2700 2712 2724",
    "warp_start": "38.6 38.5 39.1",
    "dram": "2146012.5 2146100 2140000",
    "l2": "24240 24244.5 24200",
    "memory_latency": "700 720 710",
    "l2_latency": "300 310 305",
}


def rereads(kept: float = 3200, lost: float = 2300, least_step: int = -12, most_step: int = 12) -> str:
    """Read at one speed up to KEPT_BYTES and at another one above."""
    lines: list[str] = []
    for step in range(least_step, most_step + 1):
        size = int(L2_BYTES * 2 ** (step / 4))
        speed = kept if size <= KEPT_BYTES else lost
        lines.append(f"reread {size} {speed} {speed} {speed}\n")
    return "".join(lines)


def answer(curve: str | None = None, device: str = "NVIDIA H200", **runs: str) -> str:
    """Return an answer with other numbers for some of the runs."""
    every = {**RUNS, **runs}
    return (
        f"calibration 2\ndevice {device}\nfact compute_capability 90\nfact multiprocessors 132\n"
        f"fact l2_bytes {L2_BYTES}\nfact memory_bytes 150754820096\nfact memory_khz 3201000\nfact memory_bits 6144\n"
        + "".join(f"runs {name} {numbers}\n" for name, numbers in every.items())
        + (rereads() if curve is None else curve)
        + "done\n"
    )
