"""The everyday kernels: what their descriptions say is what their C computes, and nothing of them is forgotten."""

from __future__ import annotations

import ast
import ctypes
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.gpu import everyday
from benchmarks.gpu.everyday.computation import Array, Role
from benchmarks.gpu.everyday.computations import COMPUTATIONS
from benchmarks.gpu.everyday.programs import PROGRAMS, SPELLINGS, Program
from benchmarks.gpu.everyday.timed import OURS, THEIRS
from benchmarks.gpu.header import C_TYPES
from comprehensive.diagnostics import CompileError, DiagnosticSink, Severity, SourceFile
from comprehensive.loops import bfloat16
from comprehensive.metafork.parse import parse
from comprehensive.metafork.read import read_source
from comprehensive.runtime.elided import elision
from comprehensive.runtime.serial import serial_text
from comprehensive.toolchain.host import headers_on_cpu

PACKAGE = Path(everyday.__file__).parent
LEAST_KERNELS = 40
REFUSED_SPELLINGS = ("macro", "types", "helper", "literal", "triangular", "swap")
REFUSED = ("black_scholes_declared",)
"""Kernels that a parser may refuse; all others it must take."""
POISON = 77


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The serial C of all kernels in one library, macros as tiny as the sizes."""
    directory = tmp_path_factory.mktemp("everyday")
    parts = ["#include <math.h>", "#include <stdlib.h>"]
    for program in PROGRAMS:
        text = program.at(program.computation.size(program.computation.tiny))
        if has_halves(program):
            elided = elision(parse(SourceFile(program.path.name, text), DiagnosticSink()), every_access=False)
            text = f"{elided.before}{elided.text}"
        parts += [
            serial_text(text),
            *(f"#undef {name}" for name in re.findall(r"^#define (\w+)", text, re.MULTILINE)),
        ]
    (directory / "all.c").write_text("\n".join(parts), encoding="utf-8")
    command = ["gcc", "-std=gnu99", "-O0", "-ffp-contract=off", "-w", "-shared", "-fPIC", *headers_on_cpu()]
    command += ["all.c", "-lm"]
    subprocess.run([*command, "-o", "all.so"], cwd=directory, check=True)
    return ctypes.CDLL(str(directory / "all.so"))


def has_halves(program: Program) -> bool:
    arrays = program.computation.arrays(**program.computation.size(program.computation.tiny))
    return any(array.dtype in ("float16", "bfloat16") for array in arrays.values())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_kernels_compute_what_their_descriptions_say(serial: ctypes.CDLL, program: Program) -> None:
    computation = program.computation
    size = computation.size(computation.tiny)
    described = computation.arrays(**size)
    arrays = {name: begun(each, seed) for seed, (name, each) in enumerate(described.items())}
    exact = {
        name: wide(array, described[name].dtype)
        for name, array in arrays.items()
        if described[name].role != Role.WRITTEN
    }
    scalars = dict(computation.scalars or {})
    expected = computation.reference(SimpleNamespace(**size, **scalars, **exact, xp=np))

    serial[program.name](*arguments(program, {**size, **scalars}, arrays))

    actual = wide(arrays[computation.result], described[computation.result].dtype)
    assert actual.shape == np.shape(expected)
    if computation.is_exact:
        assert np.array_equal(actual, expected)
    else:
        assert np.abs(actual - expected).max() <= computation.tolerance * np.abs(expected).max()


def begun(array: Array, seed: int) -> NDArray[np.generic]:
    dtype = "uint16" if array.dtype == bfloat16.NAME else array.dtype
    if array.role == Role.WRITTEN:
        return np.full(array.shape, POISON, dtype)
    if array.rule is not None:
        return array.rule(np.arange(array.elements)).astype(array.dtype).reshape(array.shape)
    random = np.random.default_rng(seed)
    if array.is_integer:
        return random.integers(int(array.low), int(array.high) + 1, array.shape, array.dtype)
    values = random.uniform(array.low, array.high, array.shape)
    return bfloat16.to_bits(values) if array.dtype == bfloat16.NAME else values.astype(dtype)


def wide(array: NDArray[np.generic], dtype: str) -> NDArray[np.generic]:
    if dtype == bfloat16.NAME:
        return bfloat16.from_bits(array).astype(np.float64)
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


def arguments(
    program: Program, values: Mapping[str, float], arrays: Mapping[str, NDArray[np.generic]]
) -> list[object]:
    """Return the arguments of the C function; blocks have one thread."""
    found: list[object] = []
    for type_, name in parameters(program):
        if name in arrays:
            found.append(ctypes.c_void_p(arrays[name].ctypes.data))
        elif type_ == "float":
            found.append(ctypes.c_float(values[name]))
        else:
            found.append(C_TYPES[type_](int(values.get(name, 1))))
    return found


def parameters(program: Program) -> list[tuple[str, str]]:
    """Types and names, from the text."""
    head = re.search(rf"void {program.name}\((.*?)\)\n{{", program.text, re.DOTALL)
    assert head is not None, program.name
    each = [
        re.match(r"\s*(?:const )?((?:un)?signed char|\w+) (?:\*(?:restrict )?)?(\w+)", part)
        for part in head[1].split(",")
    ]
    return [(found[1], found[2]) for found in each if found is not None]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_names_are_those_of_the_computation(program: Program) -> None:
    size = program.computation.size(program.computation.tiny)
    described = {*program.computation.arrays(**size), *(program.computation.scalars or {}), *size}
    blocks = {name for _, name in parameters(program) if name not in described}
    assert blocks <= {"B", "B0", "B1", "B2", "B3"}
    assert described - {name for _, name in parameters(program)} == set(program.fixed)
    assert program.sizes
    assert program.text.startswith("/* ")


def test_there_are_enough_kernels_in_every_spelling() -> None:
    assert len(PROGRAMS) >= LEAST_KERNELS
    assert {program.computation.name for program in PROGRAMS} == set(COMPUTATIONS)
    assert {program.spelling for program in PROGRAMS} == set(SPELLINGS)
    assert len({task.name for task in (*OURS, *THEIRS)}) == len(OURS) + len(THEIRS)


def test_the_parser_takes_all_but_a_few() -> None:
    refused: set[str] = set()
    for program in PROGRAMS:
        sink = DiagnosticSink()
        with suppress(CompileError):
            parse(read_source(program.path), sink)
        if any(each.severity == Severity.ERROR for each in sink.diagnostics):
            refused.add(program.name)
    allowed = {
        program.name
        for program in PROGRAMS
        if program.spelling in REFUSED_SPELLINGS or program.path.suffix == ".c" or program.name in REFUSED
    }
    assert refused <= allowed


def test_every_computation_has_its_peers() -> None:
    torch_calls = ast.parse((PACKAGE / "torch_calls.py").read_text(encoding="utf-8"))
    tables = [
        node.value
        for node in torch_calls.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict)
    ]
    called = [str(key.value) for table in tables for key in table.keys if isinstance(key, ast.Constant)]
    assert sorted(called) == sorted(COMPUTATIONS)
    by_hand = [
        name
        for source in (PACKAGE / "by_hand").glob("*.cu")
        for name in re.findall(r"^KERNEL (\w+)\(", source.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert sorted([*by_hand, "atax"]) == sorted(COMPUTATIONS)  # two kernels of others make that one
