"""Writes what :mod:`benchmarks.gpu.ptx_passes` times on a machine with a GPU: each kernel's PTX behind each pipeline.

    python -m benchmarks.gpu.ptx_passes_prepare -o build/ptx-passes-bench

Pipelines are those of table 1 of Chakrabarti et al., CUDA compiler optimizations, 2012: all passes, all but one, and
each alone; then all with less and with more that they are told to assume.  A line ``// time:`` of a source has the form
of ``// run:`` (`tests/ptx/README.md`) and says what is timed.
Needs nvcc; no GPU.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.gpu.ptx_passes import ALL
from benchmarks.gpu.variants import UNCHANGED
from benchmarks.host import commit
from comprehensive.data import spec_directory
from comprehensive.diagnostics import SourceFile
from comprehensive.driver import Options, compile_file
from comprehensive.generate import outputs
from comprehensive.ptx.module import parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.passes.remark import Kind
from comprehensive.ptx.pipeline import run
from comprehensive.ptx.printer import print_module
from comprehensive.toolchain.find import Found, find_tool
from comprehensive.toolchain.nvcc import Tool, compile_ptx, load_tool
from tests.ptx.runs import Buffer, Run, drawn, parse_run, runs_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ARCH = "sm_90"
PASSES: Mapping[str, str] = {
    "memory-space": "memory-space{kernel_pointers_are_global=true}",
    "vectorize-accesses": "vectorize-accesses{assume_pointer_align=16}",
    "pre": "pre",
    "dce": "dce",
}
NOALIAS: Mapping[str, str] = {
    **PASSES,
    "vectorize-accesses": "vectorize-accesses{assume_pointer_align=16 assume_noalias=true}",
    "pre": "pre{assume_noalias=true}",
}
VARIANTS: Mapping[str, str] = {
    UNCHANGED: "",
    ALL: ",".join(PASSES.values()),
    **{f"without {name}": ",".join(text for n, text in PASSES.items() if n != name) for name in PASSES},
    **{f"only {name}": text for name, text in PASSES.items()},
    "all, nothing assumed": ",".join(PASSES),
    "all, also no alias assumed": ",".join(NOALIAS.values()),
}
CORPUS = {
    "saxpy": (
        "// Of the tests: the first kernel of every course.",
        "// run: saxpy(i32=1000, f32=2.5, in f32[1000], inout f32[1000]) grid=(8) block=(128)",
        "// time: saxpy(i32=134217728, f32=2.5, in f32[134217728], inout f32[134217728]) "
        "grid=(524288) block=(256)",
    ),
    "wide_integers": (
        "// Of the tests: products of 128 bits, stored as two words.",
        "// run: product_128(in u64[1000], in u64[1000], out u64[2000], i32=1000) grid=(8) block=(128)",
        "// time: product_128(in u64[33554432], in u64[33554432], out u64[67108864], i32=33554432) "
        "grid=(131072) block=(256)",
    ),
}
_TILE = "_Z11matmul_tileILi16ELi16ELi8ELi8ELi16ELi3ELi2ELi4EEvPKfS1_Pfllliii"
GENERATED = (
    "// Of the generator: a leaf of specs/matmul.mf, with tiles of a and b in shared memory.",
    "// run: matmul_leaf0(in f32[4096], in f32[4096], inout f32[4096], i64=64, i64=64, i64=64, "
    "i32=64, i32=16, i32=16, i32=4, i32=4) grid=(1,4) block=(16,16) smem=5120",
    "// time: matmul_leaf0(in f32[4194304], in f32[4194304], inout f32[4194304], i64=2048, i64=2048, i64=2048, "
    "i32=2048, i32=16, i32=16, i32=4, i32=128) grid=(32,128) block=(16,16) smem=5120",
    "// Of the generator: the register tile of specs/matmul.mf with 8 by 8 elements a thread.",
    f"// run: {_TILE}(in f32[16384], in f32[16384], inout f32[16384], i64=128, i64=128, i64=128, "
    "i32=128, i32=128, i32=128) grid=(1) block=(16,16) smem=49920",
    f"// time: {_TILE}(in f32[16777216], in f32[16777216], inout f32[16777216], i64=4096, i64=4096, i64=4096, "
    "i32=4096, i32=4096, i32=4096) grid=(1024) block=(16,16) smem=49920",
)


@dataclass(frozen=True)
class Timed:
    """A kernel: in words, a launch for the interpreter, and one that takes long enough."""

    about: str
    small: Run
    large: Run

    @property
    def name(self) -> str:
        return "matmul_tile" if self.small.kernel == _TILE else self.small.kernel


@dataclass(frozen=True)
class Source:
    """PTX with nothing in it but what is timed."""

    name: str
    ptx: str
    timed: Sequence[Timed]


@dataclass(frozen=True)
class Variant:
    """The text that a pipeline makes of a source; ``applied`` counts remarks by kernel and pass."""

    text: str
    applied: Mapping[tuple[str, str], int]
    missed: Mapping[str, Sequence[str]]


def timed_of(text: str) -> tuple[Timed, ...]:
    """Return the launches that the comments of a source name: words, a line ``// run:``, a line ``// time:``.
    ValueError where none fits."""
    found: list[Timed] = []
    words: list[str] = []
    small: Run | None = None
    for line in text.splitlines():
        if line.startswith("// run:"):
            (small,) = runs_of(line)
        elif line.startswith("// time:"):
            if small is None:
                raise ValueError(f"no '// run:' before {line}")
            found.append(Timed(" ".join(words), small, parse_run(line.replace("time", "run", 1))))
            small = None
        elif line.startswith("//"):
            words.append(line[2:].strip())
            continue
        words = words if small is not None else []
    return tuple(found)


def own_sources(nvcc: Tool) -> Iterator[Source]:
    """The kernels beside this file."""
    cuda, plain = HERE / "ptx_passes.cu", HERE / "ptx_passes_plain.ptx"
    yield _source("own", compile_ptx(nvcc, cuda, ARCH).output.decode(), cuda.read_text(encoding="utf-8"))
    text = plain.read_text(encoding="utf-8")
    yield _source("plain", text, text)


def other_sources(nvcc: Tool) -> Iterator[Source]:
    """Some of the corpus, and of what the generator makes."""
    for name, lines in CORPUS.items():
        path = ROOT / "tests" / "ptx" / "cuda" / f"{name}.cu"
        yield _source(name, compile_ptx(nvcc, path, ARCH).output.decode(), "\n".join(lines))
    texts = outputs(compile_file(spec_directory() / "matmul.mf", Options("estimate")))
    with tempfile.TemporaryDirectory() as directory:
        for name, text in texts.items():
            (Path(directory) / name).write_text(text, encoding="utf-8")
        made = compile_ptx(nvcc, Path(directory) / "matmul.cu", ARCH).output.decode()
    yield _source("matmul", made, "\n".join(GENERATED))


def _source(name: str, ptx: str, comments: str) -> Source:
    timed = timed_of(comments)
    return Source(name, only(ptx, {each.small.kernel for each in timed}), timed)


def only(ptx: str, kernels: set[str]) -> str:
    """A module without its other kernels."""

    def kept(match: re.Match[str]) -> str:
        return match[0] if match[1] in kernels else ""

    return re.sub(r"^\.visible \.entry ([\w$]+)\(.*?^\}\n", kept, ptx, flags=re.MULTILINE | re.DOTALL)


def variant(source: Source, pipeline: str) -> Variant:
    """Return what a pipeline makes of a source. CompileError where a pass makes what is not well formed."""
    stages = run(parse(SourceFile(f"{source.name}.ptx", source.ptx)), passes_of(pipeline))
    remarks = [remark for stage in stages for remark in stage.remarks]
    missed: dict[str, list[str]] = {}
    for remark in remarks:
        if remark.kind is Kind.MISSED:
            missed.setdefault(str(remark.function), []).append(f"{remark.pass_name}: {remark.text}")
    return Variant(
        print_module(stages[-1].after) if stages else source.ptx,
        Counter((str(r.function), r.pass_name) for r in remarks if r.kind is Kind.APPLIED),
        missed,
    )


def written(source: Source, output: Path) -> list[dict[str, Any]]:
    """The launches of a source as the other machine reads them; the PTX goes into ``output``."""
    variants = {name: variant(source, pipeline) for name, pipeline in VARIANTS.items()}
    files = written_files(source.name, {name: each.text for name, each in variants.items()}, output)
    return [
        {
            "name": each.name,
            "about": each.about,
            "applied": {name: variants[ALL].applied[each.large.kernel, name] for name in PASSES},
            "missed": variants[ALL].missed.get(each.large.kernel, ()),
            "ptx": files,
            **launch(each.large),
        }
        for each in source.timed
    ]


def written_files(source: str, texts: Mapping[str, str], output: Path) -> dict[str, str]:
    """The file of each variant; the same text goes into one."""
    files: dict[str, str] = {}
    by_text: dict[str, str] = {}
    for number, (name, text) in enumerate(texts.items()):
        files[name] = by_text.setdefault(text, f"{source}.{number}.ptx")
        (output / files[name]).write_bytes(text.encode())
    return files


def launch(each: Run) -> dict[str, Any]:
    """Return a launch as the other machine reads it."""
    return {
        "kernel": each.kernel,
        "grid": each.grid,
        "block": each.block,
        "smem_bytes": each.smem_bytes,
        "arguments": _arguments(each),
    }


def _arguments(large: Run) -> list[dict[str, Any]]:
    values = drawn(Run(large.kernel, tuple(_emptied(a) for a in large.arguments), large.grid, large.block))
    return [
        {"direction": argument.direction, "type": argument.type, "count": argument.count}
        if isinstance(argument, Buffer)
        else {"value": value.hex()}
        for argument, value in zip(large.arguments, values, strict=True)
    ]


def _emptied(argument: Any) -> Any:
    """Return the argument without elements to draw if it is an array: the device fills those."""
    return Buffer(argument.direction, argument.type, 0) if isinstance(argument, Buffer) else argument


def prepared(
    name: str, variants: Mapping[str, str], launches: Callable[[Tool, Path], Mapping[str, Any]]
) -> None:
    """The command: writes a folder, with what ``launches`` says of the PTX that it has put there."""
    parser = argparse.ArgumentParser(description=f"Writes what benchmarks.gpu times: {name}.")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / name)
    output: Path = parser.parse_args().output
    found = find_tool("nvcc")
    if not isinstance(found, Found):
        raise SystemExit(found.explain())
    nvcc = load_tool(found)
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    helpers = compile_ptx(nvcc, HERE / "ptx_helpers.cu", ARCH).output
    (output / "helpers.ptx").write_bytes(helpers)
    about = {
        "commit": commit(),
        "nvcc": nvcc.version,
        "variants": dict(variants),
        **launches(nvcc, output),
    }
    (output / "launches.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    print(f"{len(about['launches'])} kernels, {len(variants)} variants in {output}")


def _all_written(nvcc: Tool, output: Path) -> Mapping[str, Any]:
    sources = (*own_sources(nvcc), *other_sources(nvcc))
    return {"launches": [each for source in sources for each in written(source, output)]}


if __name__ == "__main__":
    prepared("ptx-passes-bench", VARIANTS, _all_written)
