"""The comparison with a device, without one: what counts as equal, as near, as wrong."""

from __future__ import annotations

import numpy as np
import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.module import parse
from tests.gpu.ptx_bits import compared, distance
from tests.gpu.ptx_instructions import instruction_cases
from tests.gpu.ptx_prepare import uncontracted


@pytest.mark.parametrize(
    ("left", "right", "ulps"),
    [(1.0, 1.0, 0), (1.0, 1.0 + 2**-23, 1), (0.0, -0.0, 0), (2**-149, -(2**-149), 2), (np.nan, -np.nan, 0)],
)
def test_distances_count_the_numbers_between(left: float, right: float, ulps: int) -> None:
    assert distance("f32", np.array([left], np.float32), np.array([right], np.float32)) == ulps


def test_a_number_is_far_from_no_number() -> None:
    assert distance("f64", np.array([1.0]), np.array([np.nan])) == 1 << 64


def test_differences_are_wrong_unless_the_kernel_approximates() -> None:
    one, other = np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0 + 2**-22], np.float32)
    case = {"types": ["f32"], "kinds": ["array"], "approximate": False}
    assert compared(case, [one], [one]) == ("equal", True)
    said, good = compared(case, [one], [other])
    assert not good
    assert "1 of 2 differ; at 1 the interpreter has 40000000, the device 40000001" in said
    assert compared({**case, "approximate": True}, [one], [other]) == (
        "argument 0: 1 of 2 differ, by 1 ulp",
        True,
    )


def test_of_one_instruction_some_differences_are_told_with_operands() -> None:
    one, other = np.arange(100, dtype=np.uint32), np.zeros(100, np.uint32)
    operands = [one, np.arange(100, dtype=np.uint16)]
    case = {"types": ["b32", "b16"], "kinds": ["array"] * 2, "approximate": False, "sources": (1,)}
    said, good = compared({**case, "inputs": operands}, [one, operands[1]], [other, operands[1]])
    first, *examples = said.splitlines()
    assert (first, good, len(examples)) == ("argument 0: 99 of 100 differ", False, 6)
    assert examples[0].strip() == "at 1 the interpreter has 00000001, the device 00000000 of 0001"


def test_nothing_is_left_to_contract() -> None:
    text = "{mul.f16 a,b,c;\n}@p add.ftz.sat.f32 a, b, c; mul.rz.f32 a, b, c; atom.add.f32 a; sub.bf16x2 d; add.s32 e;"
    assert uncontracted(text) == (
        "{mul.rn.f16 a,b,c;\n}@p add.rn.ftz.sat.f32 a, b, c; mul.rz.f32 a, b, c; atom.add.f32 a; sub.rn.bf16x2 d; "
        "add.s32 e;"
    )


@pytest.mark.parametrize(
    ("opcode", "wanted"),
    [
        ("add.f32.rn.ftz", "add.f32.rn.ftz"),
        ("mul.f64.rm", "mul.f64.rm"),
        ("mul.f32.ftz", "mul.rn.f32.ftz"),
        ("sub.sat.f32.ftz", "sub.rn.sat.f32.ftz"),
        ("add.s32.sat", "add.s32.sat"),
        ("mul.u32.wide", "mul.u32.wide"),
    ],
)
def test_a_rounding_is_seen_in_any_place(opcode: str, wanted: str) -> None:
    assert uncontracted(f"{opcode} a, b, c;") == f"{wanted} a, b, c;"


def test_bits_of_no_number_are_compared_too() -> None:
    bits = (
        np.array([0x7FFFFFFF], np.uint32).view(np.float32),
        np.array([0x7FC00000], np.uint32).view(np.float32),
    )
    said, good = compared({"types": ["f32"], "kinds": ["array"], "approximate": False}, [bits[0]], [bits[1]])
    assert not good
    assert "7fffffff" in said


def test_instructions_for_the_device_are_parsed_and_each_is_there_once() -> None:
    cases = list(instruction_cases())
    names = [case.name for case in cases]
    assert len(set(names)) == len(names) > 700
    for case in cases[::40]:
        assert list(parse(SourceFile("case.ptx", case.ptx)).kernels) == ["k"]
