"""What the PTX passes change in time, on a GPU: ``python3 -m benchmarks.gpu.ptx_passes build/ptx-passes-bench``.

In: the folder that :mod:`benchmarks.gpu.ptx_passes_prepare` has written.  Every variant of a kernel is assembled by
ptxas, its result is compared with that of the unchanged PTX bit for bit, and all are timed in turns.  Out: a report,
printed and written to ``--write FILE``; the exit status is 1 if a result differs.  Needs ptxas, a GPU and its driver,
and this Python: nothing but the standard library and what the tool has without dependencies.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import math
import statistics
import struct
import sys
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.gpu.driver import Device, DriverError
from benchmarks.gpu.table import markdown_table
from comprehensive.toolchain.find import Found, find_tool
from comprehensive.toolchain.nvcc import Tool, assemble, load_tool
from comprehensive.toolchain.process import ToolError

UNCHANGED, ALL = "unchanged", "all"
RUNS = 15
SAMPLE_MS = 2.0
"""Launches between two events take so long together, or are one."""
COPIED_BYTES = 1 << 30
UNWRITTEN = 0xA5
"""What nothing has written reads as this in every byte."""
_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}
_HELPERS = 4096, 256
"""Blocks and threads of the kernels that fill and compare."""


@dataclass(frozen=True)
class Assembled:
    """A kernel of a cubin: its machine code, registers, and bytes spilled (stored and loaded)."""

    code: bytes
    registers: int
    spilled: int


@dataclass(frozen=True)
class Measured:
    """A kernel with all its variants by name; ``wrong`` counts words that differ from the unchanged one's."""

    launch: Mapping[str, Any]
    variants: Mapping[str, Assembled]
    milliseconds: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    wrong: Mapping[str, int] = field(default_factory=dict[str, int])
    failed: str = ""

    def ms(self, name: str) -> float:
        return statistics.median(self.milliseconds[name])

    def speedup(self, name: str) -> float:
        """Over the unchanged PTX."""
        return self.ms(UNCHANGED) / self.ms(name)

    def is_same(self, name: str, other: str = UNCHANGED) -> bool:
        """Whether ptxas makes the same machine code of both."""
        return self.variants[name] == self.variants[other]


def code_of(cubin: bytes) -> dict[str, bytes]:
    """The machine code of each kernel, by its symbol: sections ``.text.*`` of a 64-bit ELF file."""
    (sections,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    # Of each: the place of the name, place and bytes of the contents.
    heads = [struct.unpack_from("<I20xQQ", cubin, sections + number * size) for number in range(count)]
    found: dict[str, bytes] = {}
    for place, start, length in heads:
        begin = heads[names][1] + place
        name = cubin[begin : cubin.index(b"\0", begin)].decode()
        if name.startswith(".text."):
            found[name.removeprefix(".text.")] = cubin[start : start + length]
    return found


def assembled(ptxas: Tool, ptx: Path, arch: str) -> tuple[bytes, dict[str, Assembled]]:
    """The cubin and what is in it. ToolError where ptxas does not take the PTX."""
    answer = assemble(ptxas, ptx, arch)
    usage = answer.usage
    return answer.output, {
        name: Assembled(
            code,
            usage[name].registers_per_thread,
            usage[name].spill_store_bytes + usage[name].spill_load_bytes,
        )
        for name, code in code_of(answer.output).items()
    }


def bytes_of(argument: Mapping[str, Any]) -> int:
    """Of an array."""
    return int(argument["count"]) * _SIZES[str(argument["type"]).strip("iufb")]


def traffic(launch: Mapping[str, Any]) -> int:
    """Bytes of all arrays, those that are read and written twice."""
    arrays = [a for a in launch["arguments"] if "type" in a]
    return sum(bytes_of(a) * (2 if a["direction"] == "inout" else 1) for a in arrays)


class Bench:
    """Launches on one device, with the kernels that fill arrays and compare them."""

    def __init__(self, device: Device, directory: Path) -> None:
        self._device = device
        helpers = device.load(directory / "helpers.ptx")
        self._helpers = {
            name: device.function(helpers, name) for name in ("fill_bits", "fill_floats", "compare", "copy")
        }

    def copy_rate(self) -> float:
        """Bytes read and written a second by a copy, the faster of the driver's and a kernel's."""
        with self._arrays([COPIED_BYTES, COPIED_BYTES]) as (source, target):
            threads = 256
            blocks = COPIED_BYTES // 16 // threads

            def driver() -> None:
                self._device.check(
                    "cuMemcpyDtoDAsync_v2", target, source, ctypes.c_size_t(COPIED_BYTES), None
                )

            def kernel() -> None:
                self._device.launch(
                    self._helpers["copy"], (blocks, 1, 1), (threads, 1, 1), 0, [source, target]
                )

            times = self._timed({"driver": driver, "kernel": kernel}, RUNS)
        return 2 * COPIED_BYTES / min(statistics.median(each) for each in times.values()) * 1000

    def measure(
        self, launch: Mapping[str, Any], cubins: Mapping[str, bytes], runs: int
    ) -> tuple[dict[str, list[float]], dict[str, int]]:
        """Milliseconds of a launch, and words that differ, by variant."""
        arrays = [a for a in launch["arguments"] if "type" in a]
        sizes = [bytes_of(a) for a in arrays]
        modules = {cubin: self._device.load_image(cubin) for cubin in dict.fromkeys(cubins.values())}
        try:
            with self._arrays(sizes * 2) as pointers:
                given, wanted = pointers[: len(sizes)], pointers[len(sizes) :]
                passed = list(self._passed(launch, given))

                def run_of(name: str) -> Callable[[], None]:
                    function = self._device.function(modules[cubins[name]], launch["kernel"])
                    return lambda: self._device.launch(
                        function, launch["grid"], launch["block"], launch["smem_bytes"], passed
                    )

                works = {name: run_of(name) for name in cubins}
                wrong: dict[str, int] = {}
                for name, work in works.items():
                    self._fill(launch["kernel"], arrays, given)
                    work()
                    self._device.synchronize()
                    if name == UNCHANGED:
                        for source, target, size in zip(given, wanted, sizes, strict=True):
                            self._device.check("cuMemcpyDtoD_v2", target, source, ctypes.c_size_t(size))
                    else:
                        wrong[name] = self._different(given, wanted, sizes)
                return self._timed(works, runs), wrong
        finally:
            for module in modules.values():
                self._device.unload(module)

    def _timed(self, works: Mapping[str, Callable[[], None]], runs: int) -> dict[str, list[float]]:
        """In turns, each turn with another first one."""
        for work in works.values():
            work()
        first = next(iter(works.values()))
        launches = max(1, math.ceil(SAMPLE_MS / max(self._device.milliseconds(first), 1e-3)))
        found: dict[str, list[float]] = {name: [] for name in works}
        names = list(works)
        for turn in range(runs):
            for name in (*names[turn % len(names) :], *names[: turn % len(names)]):

                def several(work: Callable[[], None] = works[name]) -> None:
                    for _ in range(launches):
                        work()

                found[name].append(self._device.milliseconds(several) / launches)
        return found

    @contextmanager
    def _arrays(self, sizes: Sequence[int]) -> Generator[list[ctypes.c_uint64], None, None]:
        pointers: list[ctypes.c_uint64] = []
        try:
            for size in sizes:
                pointers.append(self._device.array(size))
            yield pointers
        finally:
            for pointer in pointers:
                self._device.free(pointer)

    def _passed(self, launch: Mapping[str, Any], given: Sequence[ctypes.c_uint64]) -> Iterator[Any]:
        pointers = iter(given)
        for argument in launch["arguments"]:
            if "type" in argument:
                yield next(pointers)
            else:
                value = bytes.fromhex(argument["value"])
                yield ctypes.create_string_buffer(value, len(value))

    def _fill(
        self, kernel: str, arrays: Sequence[Mapping[str, Any]], pointers: Sequence[ctypes.c_uint64]
    ) -> None:
        """As the arguments begin; floats between -4 and 4, of other types every bit."""
        for position, (array, pointer) in enumerate(zip(arrays, pointers, strict=True)):
            size = bytes_of(array)
            if array["direction"] == "out":
                self._device.check("cuMemsetD8_v2", pointer, UNWRITTEN, ctypes.c_size_t(size))
                continue
            name = "fill_floats" if array["type"] == "f32" else "fill_bits"
            key = ctypes.c_uint32(zlib.crc32(f"{kernel} {position}".encode()))
            self._help(name, [pointer, ctypes.c_int64(size // 4), key])

    def _different(
        self, given: Sequence[ctypes.c_uint64], wanted: Sequence[ctypes.c_uint64], sizes: Sequence[int]
    ) -> int:
        with self._arrays([4]) as (counter,):
            self._device.check("cuMemsetD8_v2", counter, 0, ctypes.c_size_t(4))
            for one, other, size in zip(given, wanted, sizes, strict=True):
                self._help("compare", [one, other, ctypes.c_int64(size // 4), counter])
            found = ctypes.c_uint32()
            self._device.check("cuMemcpyDtoH_v2", ctypes.byref(found), counter, ctypes.c_size_t(4))
        return found.value

    def _help(self, name: str, arguments: Sequence[Any]) -> None:
        blocks, threads = _HELPERS
        self._device.launch(self._helpers[name], (blocks, 1, 1), (threads, 1, 1), 0, arguments)
        self._device.synchronize()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.gpu.ptx_passes", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("directory", type=Path, help="what benchmarks.gpu.ptx_passes_prepare has written")
    parser.add_argument("--only", default="", help="beginnings of the names of kernels, with commas")
    parser.add_argument("--runs", type=int, default=RUNS, help="times of each variant, of which the median")
    parser.add_argument("--commit", default=None, help="that the report names, instead of the prepared one")
    parser.add_argument("--write", type=Path, default=None, help="a file for the report")
    parser.add_argument("--arch", default=None, help="assemble for it and time nothing: no GPU is needed")
    chosen = parser.parse_args()
    about = json.loads((chosen.directory / "launches.json").read_text(encoding="utf-8"))
    found = find_tool("ptxas")
    if not isinstance(found, Found):
        print(f"ptx-passes: skipped: {found.explain()}")
        return 0
    ptxas = load_tool(found)
    bench: Bench | None = None
    arch, name, rate = chosen.arch, chosen.arch, 0.0
    if arch is None:
        try:
            device = Device()
        except (OSError, DriverError) as error:
            print(f"ptx-passes: skipped: no GPU on this machine: {error}")
            return 0
        bench, arch = Bench(device, chosen.directory), f"sm_{device.sm}"
        name, rate = f"{device.name} ({arch})", bench.copy_rate()
    files: dict[str, tuple[bytes, dict[str, Assembled]]] = {}
    rows: list[Measured] = []
    for launch in about["launches"]:
        if any(launch["name"].startswith(word) for word in chosen.only.split(",")):
            rows.append(measured(launch, chosen.directory, files, (ptxas, arch), bench, chosen.runs))
            print(_progress(rows[-1]), file=sys.stderr, flush=True)
    head = (
        f"{name}, ptxas {ptxas.version}, PTX by nvcc {about['nvcc']}, {datetime.date.today()}, "
        f"commit {chosen.commit or about['commit']}."
    )
    text = report(rows, about["variants"], head, rate, chosen.runs)
    print(text, end="")
    if chosen.write is not None:
        chosen.write.parent.mkdir(parents=True, exist_ok=True)
        chosen.write.write_text(text, encoding="utf-8")
    return int(any(row.failed or any(row.wrong.values()) for row in rows))


def measured(
    launch: Mapping[str, Any],
    directory: Path,
    files: dict[str, tuple[bytes, dict[str, Assembled]]],
    assembler: tuple[Tool, str],
    bench: Bench | None,
    runs: int,
) -> Measured:
    """A row; what goes wrong is told in it, and the others go on. ``files`` are those assembled before."""
    variants: dict[str, Assembled] = {}
    cubins: dict[str, bytes] = {}
    try:
        for name, file in launch["ptx"].items():
            if file not in files:
                files[file] = assembled(assembler[0], directory / file, assembler[1])
            cubins[name], kernels = files[file]
            variants[name] = kernels[launch["kernel"]]
        if bench is None:
            return Measured(launch, variants)
        return Measured(launch, variants, *bench.measure(launch, cubins, runs))
    except (DriverError, ToolError, KeyError) as error:
        return Measured(launch, variants, failed=f"{type(error).__name__}: {error}".splitlines()[0])


def _progress(row: Measured) -> str:
    what = row.failed or (f"{row.speedup(ALL):.3f}" if row.milliseconds else "assembled")
    return f"{row.launch['name']}: {what}"


def report(
    rows: Sequence[Measured], variants: Mapping[str, str], head: str, copy_rate: float, runs: int
) -> str:
    """The whole text, ending in a newline."""
    timed = [row for row in rows if row.milliseconds]
    whole = [row for row in rows if not row.failed]
    columns = [name for name in variants if name != UNCHANGED]
    parts = ["# What the PTX passes change in time", head]
    if timed:
        parts += [
            HOW.format(runs=runs),
            f"A copy of 1 GiB in the same run: {copy_rate / 1e9:.0f} GB/s, read and written.",
            markdown_table(
                ("kernel", "unchanged, ms", "arrays, GB/s", "of a copy", *columns),
                [*(_speedups(row, columns, copy_rate) for row in timed), _means(timed, columns)],
            ),
            _noise(timed),
        ]
    parts.append("\n".join(f"- `{row.launch['name']}`: {row.launch['about']}" for row in rows))
    parts.append(COUNTS)
    parts.append(
        markdown_table(
            ("kernel", "applied", "PTX, machine code", "bytes of it", UNCHANGED, *columns),
            (_counts(row, columns) for row in whole),
        )
    )
    parts.append(
        "\n".join(f"- {name}: `{text}`" if text else f"- {name}: no pass" for name, text in variants.items())
    )
    missed = [line for row in whole for line in _missed(row)]
    if missed:
        parts.append("What the passes say that they left:\n\n" + "\n".join(missed))
    parts += [f"FAIL: {row.launch['name']}: {row.failed}" for row in rows if row.failed]
    parts += [
        f"FAIL: {row.launch['name']}, {name}: {count} words differ"
        for row in timed
        for name, count in row.wrong.items()
        if count
    ]
    if timed and all(not any(row.wrong.values()) for row in timed):
        parts.append("Every variant computes what the unchanged PTX computes, bit for bit.")
    return "\n\n".join(parts) + "\n"


HOW = """Numbers behind the times are speed-ups over the unchanged PTX, medians of {runs} runs in turns; "=" says that
ptxas makes the same machine code as of the unchanged PTX, so that nothing can differ but the clock. In the manner of
table 1 of Chakrabarti et al., CUDA compiler optimizations (2012): all passes, one pass off, each pass alone; then all
passes without what they are told to assume (that kernels are given pointers to global memory, and multiples of 16
bytes); last all passes that also assume that different pointers lead to different arrays, which here they do. "arrays"
counts every array once, those that are read and written twice."""


def _speedups(row: Measured, columns: Sequence[str], copy_rate: float) -> list[str]:
    rate = traffic(row.launch) / row.ms(UNCHANGED) * 1000
    return [
        row.launch["name"],
        f"{row.ms(UNCHANGED):.3f}",
        f"{rate / 1e9:.0f}",
        f"{rate / copy_rate:.2f}",
        *("=" if row.is_same(name) else f"{row.speedup(name):.2f}" for name in columns),
    ]


def _means(rows: Sequence[Measured], columns: Sequence[str]) -> list[str]:
    """Geometric; the same machine code counts as 1."""
    means = (
        statistics.geometric_mean(1.0 if row.is_same(name) else row.speedup(name) for row in rows)
        for name in columns
    )
    return ["geometric mean", "", "", "", *(f"{mean:.2f}" for mean in means)]


def _noise(rows: Sequence[Measured]) -> str:
    apart = [
        abs(row.speedup(name) - 1)
        for row in rows
        for name in row.milliseconds
        if name != UNCHANGED and row.is_same(name)
    ]
    if not apart:
        return "No two variants have the same machine code."
    return f"Times of the same machine code are {100 * max(apart):.1f} % apart at most, {len(apart)} pairs."


COUNTS = """By kernel: remarks `applied` of all passes; whether what they give is the same PTX or assembled to the same
machine code; bytes of machine code without and with all passes; registers of each variant, with bytes spilled in
parentheses where there are any."""


def _counts(row: Measured, columns: Sequence[str]) -> list[str]:
    one, other = row.variants[UNCHANGED], row.variants[ALL]
    applied = {name: count for name, count in row.launch["applied"].items() if count}
    sizes = len(one.code), len(other.code)
    return [
        row.launch["name"],
        ", ".join(f"{name} {count}" for name, count in applied.items()) or "none",
        _sameness(row, bool(applied)),
        str(sizes[0]) if one == other else f"{sizes[0]} → {sizes[1]}",
        *(_registers(row.variants[name]) for name in (UNCHANGED, *columns)),
    ]


def _sameness(row: Measured, is_changed: bool) -> str:
    if not is_changed:
        return "same PTX"
    return "ptxas does it, too" if row.is_same(ALL) else "other code"


def _registers(variant: Assembled) -> str:
    return f"{variant.registers} ({variant.spilled})" if variant.spilled else str(variant.registers)


def _missed(row: Measured) -> Iterator[str]:
    """The first remark of each pass, and how many more there are."""
    texts: dict[str, list[str]] = {}
    for text in row.launch["missed"]:
        texts.setdefault(text.partition(":")[0], []).append(text)
    for said in texts.values():
        more = f", and {len(said) - 1} more" if len(said) > 1 else ""
        yield f"- `{row.launch['name']}`, {said[0]}{more}"


if __name__ == "__main__":
    sys.exit(main())
