"""The table of accesses beside ptxas: the same forms exist, and every pass asks it before it writes one."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.access_forms import access_forms, form_obstacle, parameters_version, register_types
from comprehensive.ptx.flow import flow_of
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.ptx.pipeline import run as run_passes
from comprehensive.ptx.statements import Instruction
from comprehensive.ptx.verify import problems
from comprehensive.toolchain.nvcc import Tool
from comprehensive.toolchain.process import run
from tests.ptx.rewritten import canonical

HEAD = """.version 9.0
.target {target}
.address_size 64
.const .align 32 .b8 c[64];
.visible .entry k(.param .u64 o, .param .align 32 .b8 pp[64])
{{
.shared .align 32 .b8 s[64];
.local .align 32 .b8 l[64];
.reg .b16 %h<9>; .reg .u16 %uh<9>; .reg .s16 %sh<9>; .reg .f16 %fh<9>;
.reg .b32 %r<9>; .reg .u32 %ur<9>; .reg .s32 %sr<9>; .reg .f32 %fr<9>; .reg .f16x2 %xr<9>;
.reg .b64 %d<9>; .reg .u64 %ud<9>; .reg .s64 %sd<9>; .reg .f64 %fd<9>;
ld.param.u64 %d0, [o];
"""
# An error of its own, so that ptxas stops after it has read everything.
END = "\nno_such_instruction;\nret;\n}\n"
ADDRESSES = {"shared": "s", "shared::cluster": "s", "local": "l", "const": "c", "param": "pp"}
SPACES = ("", "global", "shared", "shared::cluster", "local", "const", "param")
FIRST = ("weak", "volatile", "relaxed.gpu", "acquire.gpu", "release.gpu", "mmio.relaxed.sys")
"""Words that stand before the memory."""
WORDS = {
    "ld": ("", *FIRST[:4], FIRST[5], "ca", "cg", "cs", "lu", "cv", "nc"),
    "st": ("", *FIRST[:3], *FIRST[4:], "wb", "cg", "cs", "wt"),
    "ldu": ("",),
    "atom": ("", "relaxed.gpu", "acq_rel.gpu", "v2"),
    "red": ("", "relaxed.gpu", "v2"),
}
REGISTERS = ("%h", "%uh", "%sh", "%fh", "%r", "%ur", "%sr", "%fr", "%xr", "%d", "%ud", "%sd", "%fd")


def rejected(ptxas: Tool, folder: Path, texts: list[str], target: str) -> set[int]:
    """Return the numbers of the instructions that ptxas does not take."""
    head = HEAD.format(target=target)
    path = folder / "forms.ptx"
    path.write_text(head + "\n".join(texts) + END)
    done = run([ptxas.path, "-c", "-arch", target, path, "-o", folder / "out"], timeout_s=60)
    first = head.count("\n") + 1
    found = {int(line) - first for line in re.findall(r"line (\d+); error", done.stdout + done.stderr)}
    assert len(texts) in found, done.stdout + done.stderr
    return found - {len(texts)}


def absent(texts: list[str], target: str) -> set[int]:
    """Return the numbers of the instructions that the table does not have."""
    module = parse(SourceFile("forms.ptx", HEAD.format(target=target) + "\n".join(texts) + "\nret;\n}\n"))
    function = module.functions["k"]
    instructions = [each for each in function.body if isinstance(each, Instruction)][1:-1]
    types = register_types(flow_of(function))
    assert len(instructions) == len(texts)
    return {n for n, each in enumerate(instructions) if form_obstacle(each, types, module) is not None}


def access(base: str, word: str, space: str, rest: str) -> str:
    words = (word, space) if word in FIRST or word == "acq_rel.gpu" else (space, word)
    if base in ("atom", "red"):
        words = (space, "add", word) if word == "v2" else (word, space, "add")
        rest = "f32" if word == "v2" else "u32"
    opcode = ".".join((base, *(each for each in words if each), rest))
    data = "{%fr1, %fr2}" if word == "v2" else "%r1"
    address = f"[{ADDRESSES.get(space, '%d0')}]"
    operands = {"st": (address, data), "red": (address, data), "atom": (data, address, data)}.get(
        base, (data, address)
    )
    return f"{opcode} {', '.join(operands)}{', %d1' if 'cache_hint' in word else ''};"


def forms() -> list[str]:
    words = {
        base: (*WORDS[base], *(w for w in row.words if "::" in w)) for base, row in access_forms().items()
    }
    plain = [
        access(base, word, space, "u32")
        for base in words
        for word, space in product(words[base], SPACES)
        # Only parameters of functions that are called can be stored to.
        if (base, space) != ("st", "param")
    ]
    pairs = [
        f"{base}.global.v2.b{bits} {f'{{{a}1, {b}2}}, [%d0]' if base == 'ld' else f'[%d0], {{{a}1, {b}2}}'};"
        for base, bits in (("ld", 16), ("ld", 32), ("ld", 64), ("st", 32))
        for a, b in product(REGISTERS, repeat=2)
        if all({"h": 16, "r": 32, "d": 64}[each[-1]] >= bits for each in (a, b))
    ]  # fmt: skip
    wide = [
        f"ld{space and '.'}{space}.{vector}.{type_} {{{', '.join(f'%{r}{n}' for n in range(count))}}}, "
        f"[{ADDRESSES.get(space, '%d0')}];"
        for space in SPACES
        for vector, count, type_, r in (("v4", 4, "b64", "d"), ("v8", 8, "b32", "r"), ("v4", 4, "u32", "r"))
    ]
    return [*plain, *pairs, *wide]


@pytest.mark.parametrize("target", ["sm_90", "sm_100"])
def test_the_table_has_what_ptxas_takes(ptxas: Tool, tmp_path: Path, target: str):
    texts = forms()
    taken = rejected(ptxas, tmp_path, texts, target)
    known = absent(texts, target)
    assert {texts[n] for n in taken ^ known} == set()
    assert 200 < len(taken) < len(texts) - 200


def module(parameter_bytes: int) -> Module:
    kernel = f".visible .entry k(.param .align 1 .b8 p[{parameter_bytes}])\n{{\nret;\n}}\n"
    return parse(SourceFile("k.ptx", f".version 9.0\n.target sm_90\n.address_size 64\n{kernel}"))


@pytest.mark.parametrize(("bytes_", "version"), [(4352, (1, 0)), (4353, (8, 1)), (32764, (8, 1))])
def test_more_parameters_need_a_later_version(bytes_: int, version: tuple[int, int]):
    assert parameters_version(module(bytes_).kernels["k"]) == version


def test_a_version_is_not_lowered_below_what_parameters_need():
    assert run_passes(module(4353), passes_of("lower-version"))[-1].after.version == (8, 1)
    assert run_passes(module(4352), passes_of("lower-version"))[-1].after.version < (8, 1)


@pytest.mark.parametrize(("version", "bytes_"), [("8.0", 4353), ("8.1", 32765)])
def test_ptxas_has_the_same_limits_of_parameters(ptxas: Tool, tmp_path: Path, version: str, bytes_: int):
    def takes(count: int) -> bool:
        path = tmp_path / "parameters.ptx"
        text = module(count).file.text.replace(".version 9.0", f".version {version}")
        path.write_text(text)
        done = run([ptxas.path, "-c", "-arch", "sm_90", path, "-o", tmp_path / "out"], timeout_s=60)
        return done.returncode == 0

    assert takes(bytes_ - 1)
    assert not takes(bytes_)


def test_a_form_that_does_not_exist_is_a_bug_of_the_pass():
    text = HEAD.format(target="sm_90") + "ld.volatile.u32 %r1, [%d0];\nret;\n}\n"
    before = parse(SourceFile("k.ptx", text))
    after = canonical(parse(SourceFile("k.ptx", text.replace("ld.volatile.u32", "ld.volatile.local.u32"))))
    changed = before.with_functions({"k": before.functions["k"].with_body(after.functions["k"].body)})
    (found,) = problems(changed, before)
    assert "'.volatile' does not go with '.local'" in found
