"""The speed of parsing PTX, and the memory that it takes: ``python3 -m benchmarks.ptx_parse -o FILE.md``.

The input is what nvcc makes of the generated matrix product, its kernels repeated under other names, to 20 MB.
Times are those of the processor, the best of several; every operand is typed, all bodies are parsed, and the print is
compared with the text to the byte.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

from comprehensive.data import spec_directory
from comprehensive.diagnostics import SourceFile
from comprehensive.driver import Options, compile_file
from comprehensive.generate import write
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.printer import print_module
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import compile_ptx, load_tool

SIZES = (10_000, 100_000, 1_000_000, 5_000_000, 20_000_000)
TRACED = 1_000_000
"""Bytes of the text whose memory is traced, which takes long."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args()
    source = _ptx()
    lines = [
        "| text | statements | functions found | typed statements | all | printed |",
        "|---|---|---|---|---|---|",
    ]
    for size in SIZES:
        lines.append(_row(_of_size(source, size)))
        print(lines[-1], file=sys.stderr)
    lines += ["", _memory(_of_size(source, TRACED))]
    text = "\n".join(lines) + "\n"
    if chosen.output:
        chosen.output.write_text(text, encoding="utf-8")
    print(text)
    return 0


def _ptx() -> str:
    found = find_tool("nvcc")
    if isinstance(found, Missing):
        raise SystemExit(found.explain())
    options = Options(registers="estimate")
    with tempfile.TemporaryDirectory() as folder:
        write(compile_file(spec_directory() / "matmul.mf", options), Path(folder), options)
        return compile_ptx(load_tool(found), Path(folder) / "matmul.cu", "sm_90").output.decode()


def _of_size(text: str, size: int) -> str:
    """Return a module of about so many bytes: the functions of the text, again and again under new names."""
    module = parse(SourceFile("matmul.ptx", text))
    functions = list(module.functions.values())
    head = text[: functions[0].start]
    parts, length, number = [head], len(head), 0
    while length < size:
        function = functions[number % len(functions)]
        if length + function.end - function.start > size and number >= len(functions):
            break
        if length == len(head):
            function = min(functions, key=lambda f: f.end - f.start)
        part = text[function.start : function.end].replace(function.symbol, f"f{number}_{function.symbol}")
        parts.append(part)
        length += len(part)
        number += 1
        if size <= 2 * len(head) + 10_000:
            break
    return "".join(parts)


def _row(text: str) -> str:
    runs = 5 if len(text) < 3_000_000 else 3
    found = [_times(text) for _ in range(runs)]
    statements = found[0][3]
    scan, bodies, printed = (min(times[i] for times in found) for i in range(3))
    size = len(text)

    def rate(seconds: float) -> str:
        return f"{size / 1e6 / max(seconds, 1e-9):.1f} MB/s"

    return (
        f"| {size:,} bytes | {statements:,} | {rate(scan)} | {rate(bodies)} | {rate(scan + bodies)} | "
        f"{1000 * printed:.1f} ms |"
    )


def _times(text: str) -> tuple[float, float, float, int]:
    gc.collect()
    gc.disable()
    began = time.process_time()
    module = parse(SourceFile("x.ptx", text))
    scanned = time.process_time()
    statements = _statements(module)
    typed = time.process_time()
    again = print_module(module)
    printed = time.process_time()
    gc.enable()
    if again != text:
        raise SystemExit("the text is not printed back")
    return scanned - began, typed - scanned, printed - typed, statements


def _statements(module: Module) -> int:
    return sum(len(function.body) for function in module.functions.values())


def _memory(text: str) -> str:
    tracemalloc.start()
    module = parse(SourceFile("x.ptx", text))
    _statements(module)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (
        f"Memory for {len(text):,} bytes: {held / len(text):.1f} bytes a byte of text when all is parsed, at most "
        f"{peak / len(text):.1f} on the way."
    )


if __name__ == "__main__":
    sys.exit(main())
