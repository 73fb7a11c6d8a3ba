"""The table against ptxas: what it takes, and from which ``.version`` and ``.target`` on; and against nvcc's output."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from comprehensive.ptx.opcodes import opcode
from comprehensive.ptx.special_registers import SpecialRegister, special_registers
from comprehensive.toolchain.nvcc import Tool, compile_ptx
from comprehensive.toolchain.process import run
from tests.examples import quick_of
from tests.unit.ptx.statements import FOLDER, Line, instructions_of, listed, misfits, widths_of

FRAME = """.version {version}
.target {target}
.address_size 64
.global .texref tex0; .global .surfref surf0; {sampler} .global .b32 gvar;
.func callee0 () {{ ret; }}
.func callee1 (.param .b32 a) {{ ret; }}
.func (.param .b32 r) callee2 () {{ ret; }}
.func (.param .b32 r) callee3 (.param .b32 a) {{ ret; }}
.visible .entry kernel (.param .b64 kparam) {{
.reg .pred %p<9>; .reg .b8 %b<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .f32 %f<20>;
.reg .b64 %rd<9>; .reg .f64 %fd<9>; .reg .b128 %q<5>;
.param .b32 pin; .param .b32 pout;
T: .branchtargets L;
proto: .callprototype (.param .b32 _) _ (.param .b32 _);
proto2: .callprototype _ (.param .b32 _);
proto0: .callprototype _ ();
"""
# An error of its own, so that ptxas stops after it has read everything.
END = "\nno_such_instruction;\nL: ret;\n}\n"

VERSIONS = sorted(
    [(1, n) for n in range(6)] + [(2, n) for n in range(4)] + [(3, 0), (3, 1), (3, 2)]
    + [(4, n) for n in range(4)] + [(5, 0)] + [(6, n) for n in range(6)]
    + [(7, n) for n in range(9)] + [(8, n) for n in range(9)] + [(9, 0)]
)  # fmt: skip
TARGETS = (10, 11, 12, 13, 20, 30, 32, 50, 52, 53, 60, 61, 70, 72, 75, 80, 86, 89, 90, 100, 120)


def _errors(ptxas: Tool, folder: Path, texts: list[str], version: tuple[int, int], target: str) -> list[str]:
    """Return the errors of ptxas for each text, at that version and target; empty where it takes it."""
    separate = any("samp0" in text for text in texts)
    frame = FRAME.format(
        version=f"{version[0]}.{version[1]}",
        target=target + (", texmode_independent" if separate else ""),
        sampler=".global .samplerref samp0;" if separate else "",
    )
    path = folder / "probe.ptx"
    path.write_text(frame + "\n".join(f"{text};" for text in texts) + END)
    number = int(re.sub(r"\D", "", target))
    gpu = target if number >= 75 else "sm_75"
    done = run([ptxas.path, "-c", "-arch", gpu, path, "-o", folder / "out"], timeout_s=60)
    first = frame.count("\n") + 1
    said: dict[int, list[str]] = defaultdict(list)
    for line, message in re.findall(r"line (\d+); error\s*: (.*)", (done.stdout + done.stderr)):
        said[int(line) - first].append(message)
    assert said[len(texts)], done.stdout + done.stderr
    return ["; ".join(said[index]) for index in range(len(texts))]


def _target_name(number: int, specific: bool) -> str:
    return f"sm_{number or 10}{'a' if specific else ''}"


def _grouped(lines: Iterable[Line]) -> dict[tuple[tuple[int, int], int, bool, bool], list[str]]:
    """Group lines by what the table says that they need; those with samplers stand by themselves."""
    groups: dict[tuple[tuple[int, int], int, bool, bool], list[str]] = defaultdict(list)
    for line in lines:
        op = opcode(line.opcode)
        groups[op.min_version, op.min_target, op.arch_specific, "samp0" in line.text].append(line.text)
    return groups


EXACT = [line for line in listed() if opcode(line.opcode).version_known and not line.more]


@pytest.mark.toolchain
def test_ptxas_takes_each_instruction_somewhere(ptxas, tmp_path):
    plain = [line.text for line in listed() if "samp0" not in line.text]
    separate = [line.text for line in listed() if "samp0" in line.text]
    targets = ("sm_90a", "sm_100a", "sm_103a", "sm_120a")
    for texts in (plain, separate):
        answers = [_errors(ptxas, tmp_path, texts, (9, 0), target) for target in targets]
        assert [(text, said) for text, *said in zip(texts, *answers, strict=True) if all(said)] == []


@pytest.mark.toolchain
def test_ptxas_takes_each_instruction_from_the_version_and_target_on_that_the_table_has(ptxas, tmp_path):
    wrong: list[tuple[str, str]] = []
    for (version, target, specific, _), texts in _grouped(EXACT).items():
        # ptxas judges the rounding that is asked for by the version where that is older than the target.
        at = max(version, (2, 0)) if target >= 20 else version
        said = _errors(ptxas, tmp_path, texts, at, _target_name(target, specific))
        wrong += [(text, message) for text, message in zip(texts, said, strict=True) if message]
    assert wrong == []


@pytest.mark.toolchain
def test_ptxas_refuses_each_instruction_below_the_version_of_the_table(ptxas, tmp_path):
    taken: list[str] = []
    for (version, target, specific, _), texts in _grouped(EXACT).items():
        if version > (1, 0):
            below = VERSIONS[VERSIONS.index(version) - 1]
            said = _errors(ptxas, tmp_path, texts, below, _target_name(target, specific))
            taken += [text for text, message in zip(texts, said, strict=True) if "or later" not in message]
    assert taken == []


@pytest.mark.toolchain
def test_ptxas_refuses_each_instruction_below_the_target_of_the_table(ptxas, tmp_path):
    taken: list[str] = []
    for (_, target, specific, _), texts in _grouped(EXACT).items():
        if target:
            below = f"sm_{target}" if specific else f"sm_{TARGETS[TARGETS.index(target) - 1]}"
            said = _errors(ptxas, tmp_path, texts, (9, 0), below)
            refused = re.compile("or higher|not supported")
            taken += [text for text, message in zip(texts, said, strict=True) if not refused.search(message)]
    assert taken == []


@pytest.mark.toolchain
def test_what_the_table_says_is_a_bound_from_below_where_it_is_not_exact(ptxas, tmp_path):
    lines = [line for line in listed() if not opcode(line.opcode).version_known or line.more]
    taken: list[str] = []
    for (version, target, specific, _), texts in _grouped(lines).items():
        if version > (1, 0):
            below = VERSIONS[VERSIONS.index(version) - 1]
            said = _errors(ptxas, tmp_path, texts, below, _target_name(target, specific))
            taken += [text for text, message in zip(texts, said, strict=True) if not message]
    assert taken == []


def _reading(register: SpecialRegister) -> str:
    destination = {"u32": "%r1", "b32": "%r1", "u64": "%rd1", "pred": "%p1"}[register.type]
    vector = "v4." if register.vector == 4 else ""
    to = "{%r1, %r2, %r3, %r4}" if vector else destination
    return f"mov.{vector}{register.type} {to}, {register.name}"


@pytest.mark.toolchain
def test_ptxas_knows_each_special_register_from_its_version_and_target_on(ptxas, tmp_path):
    groups: dict[tuple[tuple[int, int], int], list[str]] = defaultdict(list)
    for register in special_registers().values():
        groups[register.min_version, register.min_target].append(_reading(register))
    for (version, target), texts in groups.items():
        assert [
            said for said in _errors(ptxas, tmp_path, texts, version, _target_name(target, False)) if said
        ] == []
        if version > (1, 0):
            below = VERSIONS[VERSIONS.index(version) - 1]
            said = _errors(ptxas, tmp_path, texts, below, _target_name(target, False))
            assert [
                text for text, message in zip(texts, said, strict=True) if "or later" not in message
            ] == []


@pytest.mark.toolchain
@pytest.mark.parametrize("arch", quick_of(["sm_90", "sm_100"], {"sm_90"}))
def test_what_nvcc_prints_is_known(nvcc, arch):
    module = compile_ptx(nvcc, FOLDER / "kernels.cu", arch, ("-std=c++17",)).output.decode()
    lines = list(instructions_of(module))
    assert len({opcode(line.opcode).base for line in lines}) > 50
    assert [line for line in lines if not opcode(line.opcode).is_known] == []
    assert [line for line in lines if not opcode(line.opcode).accepts(len(line.operands))] == []
    widths = widths_of(module)
    assert {"%p", "%rs", "%r", "%rd"} <= set(widths)
    assert [found for line in lines for found in misfits(line, widths)] == []
    declared = tuple(int(number) for number in re.findall(r"\.version (\d+)\.(\d+)", module)[0])
    number = int(arch.removeprefix("sm_"))
    needs_more = [line for line in lines if opcode(line.opcode).min_version > declared]
    assert needs_more + [line for line in lines if opcode(line.opcode).min_target > number] == []
