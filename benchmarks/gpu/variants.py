"""Variants of kernels on a GPU: assembled, compared bit for bit, and timed in turns; for the benchmarks of PTX passes.

In: a folder with PTX and ``launches.json``, and the command line of :func:`parser`.  Out: a :class:`Found`::

    found = all_measured("ptx-passes", parser(...).parse_args())
    found.rows[0].speedup("all")       # over the unchanged PTX

Needs ptxas, a GPU and its driver, and this Python: nothing but the standard library and what the tool has without
dependencies.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import math
import os
import statistics
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.gpu.driver import Device, DriverError
from benchmarks.gpu.table import markdown_table
from comprehensive.toolchain import find
from comprehensive.toolchain.cubin import code_of
from comprehensive.toolchain.nvcc import Tool, assemble, load_tool
from comprehensive.toolchain.process import ToolError

UNCHANGED = "unchanged"
RUNS = 15
WARM_UPS = 3
SAMPLE_MS = 2.0
"""Launches between two events take so long together, or are one."""
COPIED_BYTES = 1 << 30
UNWRITTEN = 0xA5
"""The byte of memory that nothing has written."""
_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}
_FILLS = {"f32": "fill_floats", "f64": "fill_doubles"}
"""Kernels that fill arrays with numbers; other types get any bits."""
_HELPERS = 4096, 256
"""Blocks and threads of the kernels that fill and compare."""


@dataclass(frozen=True)
class Assembled:
    """A kernel of a cubin: its machine code, registers, bytes spilled (stored and loaded) and of shared memory."""

    code: bytes
    registers: int
    spilled: int
    shared: int = 0


@dataclass(frozen=True)
class Measured:
    """A kernel with all its variants by name; ``wrong`` counts words that differ from the unchanged one's.

    Variants that the launch names under ``wrong`` compute something else, and are not compared.
    """

    launch: Mapping[str, Any]
    variants: Mapping[str, Assembled]
    milliseconds: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    wrong: Mapping[str, int] = field(default_factory=dict[str, int])
    failed: str = ""

    def ms(self, name: str) -> float:
        return statistics.median(self.milliseconds[name])

    def speedup(self, name: str) -> float:
        """Return the speed-up over the unchanged PTX."""
        return self.ms(UNCHANGED) / self.ms(name)

    def is_same(self, name: str, other: str = UNCHANGED) -> bool:
        """Whether ptxas makes the same machine code of both."""
        return self.variants[name] == self.variants[other]


def assembled(ptxas: Tool, ptx: Path, arch: str) -> tuple[bytes, dict[str, Assembled]]:
    """The cubin and what is in it. ToolError where ptxas does not take the PTX."""
    answer = assemble(ptxas, ptx, arch)
    usage = answer.usage
    return answer.output, {
        name: Assembled(
            code.instructions,
            usage[name].registers_per_thread,
            usage[name].spill_store_bytes + usage[name].spill_load_bytes,
            usage[name].shared_bytes,
        )
        for name, code in code_of(answer.output).items()
    }


def bytes_of(argument: Mapping[str, Any]) -> int:
    """Return the number of bytes of an array."""
    return int(argument["count"]) * _SIZES[str(argument["type"]).strip("iufb")]


def traffic(launch: Mapping[str, Any]) -> int:
    """Bytes of all arrays, those that are read and written twice."""
    arrays = [a for a in launch["arguments"] if "type" in a]
    return sum(bytes_of(a) * (2 if a["direction"] == "inout" else 1) for a in arrays)


class Bench:
    """Launches on one device, with the kernels that fill arrays and compare them."""

    def __init__(self, device: Device, directory: Path) -> None:
        self._device = device
        self._modules: dict[bytes, ctypes.c_void_p] = {}
        helpers = device.load(directory / "helpers.ptx")
        self._helpers = {
            name: device.function(helpers, name)
            for name in ("fill_bits", *_FILLS.values(), "compare", "copy")
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
        self,
        launch: Mapping[str, Any],
        cubins: Mapping[str, bytes],
        runs: int,
        smem_bytes: Mapping[str, int] | None = None,
    ) -> tuple[dict[str, list[float]], dict[str, int]]:
        """Milliseconds of a launch (of none where ``runs`` is 0), and words that differ from the first variant's.

        Both by variant; ``smem_bytes`` is the dynamic shared memory of variants, where it is not the launch's.
        """
        arrays = [a for a in launch["arguments"] if "type" in a]
        sizes = [bytes_of(a) for a in arrays]
        expected = launch.get("wrong", ())
        reference = next(iter(cubins))
        with self._arrays(sizes * 2) as pointers:
            given, wanted = pointers[: len(sizes)], pointers[len(sizes) :]
            passed = list(self._passed(launch, given))

            def run_of(name: str) -> Callable[[], None]:
                function = self._device.function(self._module(cubins[name]), launch["kernel"])
                shared = (smem_bytes or {}).get(name, launch["smem_bytes"])
                return lambda: self._device.launch(function, launch["grid"], launch["block"], shared, passed)

            works = {name: run_of(name) for name in cubins}
            wrong: dict[str, int] = {}
            for name, work in works.items():
                self._fill(launch["kernel"], arrays, given)
                work()
                self._device.synchronize()
                if name == reference:
                    for source, target, size in zip(given, wanted, sizes, strict=True):
                        self._device.check("cuMemcpyDtoD_v2", target, source, ctypes.c_size_t(size))
                elif name not in expected:
                    wrong[name] = self._different(given, wanted, sizes)
            return self._timed(works, runs) if runs else {}, wrong

    def _module(self, cubin: bytes) -> ctypes.c_void_p:
        """Return a module that is loaded once, and never unloaded."""
        if cubin not in self._modules:
            self._modules[cubin] = self._device.load_image(cubin)
        return self._modules[cubin]

    def _timed(self, works: Mapping[str, Callable[[], None]], runs: int) -> dict[str, list[float]]:
        """Return milliseconds of a launch by name, run in turns of which each has another first one."""
        for work in works.values():
            for _ in range(WARM_UPS):
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
        """Fill arrays as they begin: floats between -4 and 4, any bits for other types, and marks in outputs."""
        for position, (array, pointer) in enumerate(zip(arrays, pointers, strict=True)):
            size = bytes_of(array)
            if array["direction"] == "out":
                self._device.check("cuMemsetD8_v2", pointer, UNWRITTEN, ctypes.c_size_t(size))
                continue
            name = _FILLS.get(array["type"], "fill_bits")
            count = array["count"] if array["type"] in _FILLS else size // 4
            key = ctypes.c_uint32(zlib.crc32(f"{kernel} {position}".encode()))
            self._help(name, [pointer, ctypes.c_int64(count), key])

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


def parser(name: str, description: str, prepared_by: str) -> argparse.ArgumentParser:
    """The command line of ``benchmarks.gpu.NAME``."""
    found = argparse.ArgumentParser(prog=f"python3 -m benchmarks.gpu.{name}", description=description)
    found.add_argument("directory", type=Path, help=f"what {prepared_by} has written")
    found.add_argument("--only", default="", help="beginnings of the names of kernels, with commas")
    found.add_argument("--runs", type=int, default=RUNS, help="times of each variant, of which the median")
    found.add_argument("--commit", default=None, help="that the report names, instead of the prepared one")
    found.add_argument("--write", type=Path, default=None, help="a file for the report")
    found.add_argument("--arch", default=None, help="assemble for it and time nothing: no GPU is needed")
    return found


@dataclass(frozen=True)
class Found:
    """The measurements: ``head`` says where and when.

    ``copy_rate`` is in bytes a second, 0 where nothing is timed.
    """

    rows: Sequence[Measured]
    variants: Mapping[str, str]
    head: str
    arch: str
    copy_rate: float

    @property
    def failures(self) -> Sequence[str]:
        """Lines for a report: what did not run, and what computed something else."""
        differ = (
            f"FAIL: {row.launch['name']}, {name}: {count} words differ"
            for row in self.rows
            for name, count in row.wrong.items()
            if count
        )
        return [*(f"FAIL: {row.launch['name']}: {row.failed}" for row in self.rows if row.failed), *differ]


def all_measured(
    name: str, chosen: argparse.Namespace, *, launches: str = "launches", is_timed: bool = True
) -> Found | None:
    """Measure all launches; None, and words on standard output, where ptxas or the GPU is missing.

    ``launches`` is the entry of ``launches.json``.
    """
    about = json.loads((chosen.directory / "launches.json").read_text(encoding="utf-8"))
    tool = find.find_tool("ptxas")
    if not isinstance(tool, find.Found):
        print(f"{name}: skipped: {tool.explain()}")
        return None
    ptxas = load_tool(tool)
    bench: Bench | None = None
    arch, where, rate = chosen.arch, chosen.arch, 0.0
    if arch is None:
        try:
            device = Device()
        except (OSError, DriverError) as error:
            print(f"{name}: skipped: no GPU on this machine: {error}")
            return None
        bench, arch = Bench(device, chosen.directory), f"sm_{device.sm}"
        where, rate = f"{device.name} ({arch})", bench.copy_rate() if is_timed else 0.0
    wanted = [each for each in about[launches] if each["name"].startswith(tuple(chosen.only.split(",")))]
    files = _all_assembled(wanted, chosen.directory, ptxas, arch)
    rows: list[Measured] = []
    for launch in wanted:
        rows.append(measured(launch, files, bench, chosen.runs if is_timed else 0))
        print(_progress(rows[-1]), file=sys.stderr, flush=True)
    head = (
        f"{where}, ptxas {ptxas.version}, PTX by nvcc {about['nvcc']}, {datetime.date.today()}, "
        f"commit {chosen.commit or about['commit']}."
    )
    return Found(rows, about["variants"], head, arch, rate)


def told(found: Found, text: str, target: Path | None) -> int:
    """Prints a report and writes it; the exit status."""
    print(text, end="")
    if target is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return int(bool(found.failures))


Cubins: TypeAlias = Mapping[str, "Future[tuple[bytes, dict[str, Assembled]]]"]


def _all_assembled(launches: Iterable[Mapping[str, Any]], directory: Path, ptxas: Tool, arch: str) -> Cubins:
    """Assemble all variants on all processors, wait for that, and return the results by file."""
    names = dict.fromkeys(file for launch in launches for file in launch["ptx"].values())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        files = {name: pool.submit(assembled, ptxas, directory / name, arch) for name in names}
        wait(files.values())
    return files


def measured(launch: Mapping[str, Any], files: Cubins, bench: Bench | None, runs: int) -> Measured:
    """A row; what goes wrong is told in it, and the others go on."""
    variants: dict[str, Assembled] = {}
    cubins: dict[str, bytes] = {}
    try:
        for name, file in launch["ptx"].items():
            cubins[name], kernels = files[file].result()
            variants[name] = kernels[launch["kernel"]]
        if bench is None:
            return Measured(launch, variants)
        return Measured(launch, variants, *bench.measure(launch, cubins, runs))
    except (DriverError, ToolError, KeyError) as error:
        return Measured(launch, variants, failed=f"{type(error).__name__}: {error}".splitlines()[0])


def _progress(row: Measured) -> str:
    times = ", ".join(f"{name} {row.speedup(name):.3f}" for name in row.milliseconds if name != UNCHANGED)
    return f"{row.launch['name']}: {row.failed or times or ('computed' if row.wrong else 'assembled')}"


def speeds(found: Found) -> list[str]:
    """Return the parts of a report on the rate of a copy, on times and speed-ups, and on equal code's noise."""
    timed = [row for row in found.rows if row.milliseconds]
    columns = [name for name in found.variants if name != UNCHANGED]
    head = ("kernel", "unchanged, ms", "arrays, GB/s", "of a copy", *columns)
    cells = [*(_speedups(row, columns, found.copy_rate) for row in timed), _means(timed, columns)]
    return [
        f"A copy of 1 GiB in the same run: {found.copy_rate / 1e9:.0f} GB/s, read and written.",
        markdown_table(head, cells),
        _noise(timed),
    ]


def pipelines(found: Found) -> str:
    """Return the part of a report that says what each variant is."""
    return "\n".join(
        f"- {name}: `{text}`" if text else f"- {name}: no pass" for name, text in found.variants.items()
    )


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
    """Return the row of geometric means; the same machine code counts as 1."""
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
