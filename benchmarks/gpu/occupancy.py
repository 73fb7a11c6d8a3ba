"""The occupancy calculator beside the CUDA runtime, on one device: ``python3 -m benchmarks.gpu.occupancy``.

In: a device with nvcc, and the commit that is looked at. Out: ``gpu-occupancy.md``: on how many points (kernel,
threads of a block, dynamic shared memory) ``comprehensive.machine.occupancy`` agrees with
``cudaOccupancyMaxActiveBlocksPerMultiprocessor``, and each on which it does not. Needs the standard library only.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from comprehensive.machine.device import Device, load_device
from comprehensive.machine.occupancy import occupancy

HERE = Path(__file__).resolve().parent
LIVE = (1, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 136, 160, 200, 240)
"""Values of a thread that are alive at once: about as many registers, and some more."""
STATIC_BYTES = (0, 100, 1024, 10_000, 48 * 1024)
CAPS = (255, 40)
"""The values of ``__maxnreg__``; the smaller one only for kernels that would take more."""
THREADS = (1, 31, 32, 33, 64, 96, 128, 160, 192, 255, 256, 320, 384, 512, 513, 640, 768, 896, 1000, 1024)
DYNAMIC_BYTES = (0, 1, 128, 1000, 4096, 10_001, 16_384, 33_000, 49_152, 65_536, 100_000)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel as the compiler made it; ``threads`` is the most that a block of it may have."""

    name: str
    registers: int
    static_bytes: int
    threads: int


@dataclass(frozen=True, slots=True)
class Point:
    """A point: ``found`` is what the runtime says; negative for an error, which goes for no block."""

    kernel: Kernel
    threads: int
    dynamic_bytes: int
    found: int
    expected: int

    @property
    def agrees(self) -> bool:
        return max(self.found, 0) == self.expected


def kernels() -> tuple[tuple[int, int, int], ...]:
    """Live values, static bytes and cap of every kernel."""
    return tuple(
        (live, static, cap)
        for cap in CAPS
        for live in LIVE
        for static in STATIC_BYTES
        if cap == CAPS[0] or live > cap
    )


def kernel_lines() -> str:
    """Return the lines that ``occupancy.cu`` includes."""
    return "".join(f"KERNEL({live}, {static}, {cap})\n" for live, static, cap in kernels())


def sizes(device: Device, static_bytes: int) -> tuple[int, ...]:
    """Dynamic bytes for a kernel: some of every order, and all that the device admits, and a little less."""
    most = device.optin_shared_bytes_per_block - static_bytes
    found = {
        size for size in (*DYNAMIC_BYTES, most // 2, most // 3, most - 1024, most - 1, most) if size <= most
    }
    return tuple(sorted(size for size in found if size >= 0))


def expected(device: Device, kernel: Kernel, threads: int, dynamic_bytes: int) -> int:
    held = occupancy(
        device,
        threads_per_block=threads,
        registers_per_thread=kernel.registers,
        shared_bytes_per_block=kernel.static_bytes + dynamic_bytes,
    )
    return held.blocks_per_sm


def report(commit: str, name: str, device: Device, points: Sequence[Point]) -> str:
    """Markdown: how many points there are, how many agree, and the others."""
    wrong = [point for point in points if not point.agrees]
    registers = sorted({point.kernel.registers for point in points})
    lines = [
        "# Occupancy: the calculator beside the CUDA runtime",
        "",
        f"{name} as {device.name}, commit {commit}. A point is a kernel, a number of threads of its blocks and dynamic",
        "shared memory; the runtime is asked with `cudaOccupancyMaxActiveBlocksPerMultiprocessor`, at the largest",
        "carve-out.",
        "",
        "| what | how many |",
        "|---|---|",
        f"| kernels | {len({point.kernel for point in points})} |",
        f"| registers of a thread | {registers[0]} to {registers[-1]}, {len(registers)} different numbers |"
        if registers
        else "| registers of a thread | none |",
        f"| points | {len(points)} |",
        f"| equal | {len(points) - len(wrong)} |",
        f"| different | {len(wrong)} |",
    ]
    if wrong:
        lines += [
            "",
            "| kernel | registers | static bytes | threads | dynamic bytes | runtime | calculator |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {p.kernel.name} | {p.kernel.registers} | {p.kernel.static_bytes} | {p.threads} | {p.dynamic_bytes} "
            f"| {p.found} | {p.expected} |"
            for p in wrong
        ]
    return "\n".join(lines) + "\n"


def build(folder: Path, nvcc: str, arch: str) -> Path:
    """The library of all kernels; raises CalledProcessError where nvcc rejects them."""
    (folder / "kernels.inc").write_text(kernel_lines(), encoding="utf-8")
    library = folder / "occupancy.so"
    command = [nvcc, "-O3", f"-arch={arch}", "-shared", "-Xcompiler", "-fPIC", "-I", str(folder)]
    subprocess.run([*command, str(HERE / "occupancy.cu"), "-o", str(library)], check=True)
    return library


def measured(library: ctypes.CDLL, device: Device) -> Iterator[Point]:
    for number, (live, static, cap) in enumerate(kernels()):
        kernel = _attributes(library, device, number, f"live{live}_shared{static}_cap{cap}")
        for threads in THREADS:
            if threads > kernel.threads:
                continue
            for dynamic in sizes(device, kernel.static_bytes):
                found = library.occupancy_blocks(number, threads, dynamic)
                yield Point(kernel, threads, dynamic, found, expected(device, kernel, threads, dynamic))


def _attributes(library: ctypes.CDLL, device: Device, number: int, name: str) -> Kernel:
    registers, shared, threads = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    places = (ctypes.byref(value) for value in (registers, shared, threads))
    status = library.occupancy_attributes(number, device.optin_shared_bytes_per_block, *places)
    if status != 0:
        raise RuntimeError(f"CUDA error {status} for {name}")
    return Kernel(name, registers.value, shared.value, threads.value)


def _architecture(library: ctypes.CDLL) -> tuple[int, str]:
    name = ctypes.create_string_buffer(256)
    found = library.occupancy_architecture(name, len(name))
    if found < 0:
        raise RuntimeError(f"CUDA error {-found}: there is no device")
    return found, name.value.decode()


def main() -> int:
    parser = argparse.ArgumentParser(description="The occupancy calculator beside the CUDA runtime.")
    parser.add_argument("--commit", required=True, help="what is looked at")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/gpu-bench"))
    parser.add_argument("--nvcc", default="nvcc")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        library = ctypes.CDLL(str(build(Path(scratch), arguments.nvcc, "native")))
        capability, name = _architecture(library)
        device = load_device(f"sm_{capability}")
        points = tuple(measured(library, device))
    text = report(arguments.commit, name, device, points)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "gpu-occupancy.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 0 if all(point.agrees for point in points) else 1


if __name__ == "__main__":
    sys.exit(main())
