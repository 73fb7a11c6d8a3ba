"""Compares the PTX interpreter with a device, bit for bit.

    python3 -m tests.gpu.ptx_bits build/ptx-bits

In: a directory that :mod:`tests.gpu.ptx_prepare` has written: PTX, inputs and the interpreter's results.  Needs a GPU,
its driver, python3 and numpy, and ptxas where the driver is older than the PTX.  Out: a table; the exit status is 1
if a kernel gives other bits, or fails.  Of a kernel with one instruction some differences are listed with operands.
Those with approximate instructions may differ: they are listed with the largest distance in units of the last place.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu.driver import Device, DriverError

_EXAMPLES = 6
_FLOATS = {"f16": ("i2", 5), "bf16": ("i2", 8), "f32": ("i4", 8), "f64": ("i8", 11)}
"""Integers of the size, and the bits of the exponent."""


def launched(
    device: Device, ptx: Path, case: Mapping[str, Any], arguments: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The arguments after the launch; those that are arrays in global memory are read back."""
    module = device.load(ptx)
    pointers: list[ctypes.c_uint64] = []
    try:
        function = device.function(module, case["kernel"])
        passed: list[Any] = []
        for kind, array in zip(case["kinds"], arguments, strict=True):
            if kind == "value":
                passed.append(ctypes.create_string_buffer(array.tobytes(), max(array.nbytes, 1)))
                continue
            pointer = device.array(array.nbytes)
            pointers.append(pointer)
            passed.append(pointer)
            source = array.ctypes.data_as(ctypes.c_void_p)
            device.check("cuMemcpyHtoD_v2", pointer, source, ctypes.c_size_t(array.nbytes))
        device.launch(function, case["grid"], case["block"], case["smem_bytes"], passed)
        device.synchronize()
        results: list[np.ndarray] = []
        for kind, array, place in zip(case["kinds"], arguments, _places(case["kinds"]), strict=True):
            found = array.copy()
            if kind == "array":
                target = found.ctypes.data_as(ctypes.c_void_p)
                device.check("cuMemcpyDtoH_v2", target, pointers[place], ctypes.c_size_t(found.nbytes))
            results.append(found)
        return results
    finally:
        for pointer in pointers:
            device.free(pointer)
        device.unload(module)


def _places(kinds: Sequence[str]) -> list[int]:
    """The number of each array among the arrays."""
    return [sum(kind == "array" for kind in kinds[:position]) for position in range(len(kinds))]


def distance(type_: str, left: np.ndarray, right: np.ndarray) -> int:
    """The largest distance of two arrays in units of the last place; NaN is nothing but NaN."""
    integer, exponent = _FLOATS[type_]
    one, other = (array.view(integer).astype(object) for array in (left, right))
    bits = 8 * np.dtype(integer).itemsize
    infinity = ((1 << exponent) - 1) << (bits - 1 - exponent)
    worst = 0
    for a, b in zip(one.tolist(), other.tolist(), strict=True):
        sizes = [value & ((1 << (bits - 1)) - 1) for value in (a, b)]
        if all(size > infinity for size in sizes):
            continue
        if any(size > infinity for size in sizes):
            return 1 << bits
        places = [-size if value < 0 else size for value, size in zip((a, b), sizes, strict=True)]
        worst = max(worst, abs(places[0] - places[1]))
    return worst


def compared(
    case: Mapping[str, Any], wanted: Sequence[np.ndarray], found: Sequence[np.ndarray]
) -> tuple[str, bool]:
    """Return a text about a case, and whether it is as it should be."""
    said: list[str] = []
    good = True
    for position, type_ in enumerate(case["types"]):
        if case["kinds"][position] != "array" or wanted[position].tobytes() == found[position].tobytes():
            continue
        left, right = wanted[position], found[position]
        where = np.flatnonzero(left != right)
        if len(where) == 0 and type_ in _FLOATS:
            # Only what does not compare differs: NaN.
            where = np.flatnonzero(left.view(_FLOATS[type_][0]) != right.view(_FLOATS[type_][0]))
        word = f"argument {position}: {len(where)} of {len(left)} differ"
        if case["approximate"]:
            word += f", by {distance(type_, left, right)} ulp" if type_ in _FLOATS else ""
        else:
            some = where if len(where) <= _EXAMPLES else where[:: len(where) // _EXAMPLES][:_EXAMPLES]
            separator = "\n    " if case.get("sources") else "; "
            for place in map(int, some if case.get("sources") else some[:1]):
                word += separator + _difference(case, place, left, right)
            good = False
        said.append(word)
    return ("; ".join(said) or "equal"), good


def _difference(case: Mapping[str, Any], place: int, left: np.ndarray, right: np.ndarray) -> str:
    inputs = [case["inputs"][position] for position in case.get("sources", ())]
    one, other, *sources = (
        array[place : place + 1].tobytes()[::-1].hex() for array in (left, right, *inputs)
    )
    word = f"at {place} the interpreter has {one}, the device {other}"
    return f"{word} of {' '.join(sources)}" if sources else word


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    device = Device()
    cases = json.loads((directory / "cases.json").read_text(encoding="utf-8"))
    print(f"{device.name}, sm_{device.sm}: {len(cases)} kernels")
    equal = approximate = wrong = 0
    for case in cases:
        name = f"{case['source']} {case['kernel']}"
        with np.load(directory / case["data"]) as data:
            inputs = [data[f"in{number}"] for number in range(len(case["kinds"]))]
            wanted = [data[f"out{number}"] for number in range(len(case["kinds"]))]
        try:
            found = launched(device, directory / case["ptx"], case, inputs)
            said, good = compared({**case, "inputs": inputs}, wanted, found)
        except (DriverError, subprocess.CalledProcessError) as error:
            said, good = str(error), False
        equal += said == "equal"
        approximate += good and said != "equal"
        wrong += not good
        if said != "equal":
            print(f"{'approximate' if good else 'WRONG':12} {name:50} {said}", flush=True)
    print(f"{equal} equal, {approximate} approximate, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
