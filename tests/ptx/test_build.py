"""The limits that a build is said to have are those that ptxas heeds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.build import ALONE, Build, Limits, tuning_of, with_cap
from comprehensive.ptx.dropin.arguments import Assembly, understand
from comprehensive.ptx.dropin.build import build_of
from comprehensive.ptx.module import parse
from comprehensive.toolchain.assembler import find_assembler
from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.nvcc import Tool
from comprehensive.toolchain.usage import resource_usage
from tests.ptx.corpus import compiled, sources
from tests.ptx.grudging import Grudging

DIRECTIVES = (
    "",
    ".maxntid 256",
    ".reqntid 256",
    ".maxnreg 64",
    ".maxntid 256 .maxnreg 64",
    ".maxntid 256 .minnctapersm 4",
)
FLAGS: tuple[tuple[str, ...], ...] = (
    (),
    ("--maxrregcount", "48"),
    ("--maxrregcount=48", "--override-directive-values"),
    ("--maxntid=256", "-minnctapersm=5"),
    ("-maxntid=1024",),
)
FREE = 80


def _build(ptxas: str, flags: Sequence[str]) -> Build:
    call = understand(("-arch=sm_90", *flags, "k.ptx", "-o", "k.cubin"))
    assert isinstance(call, Assembly)
    return build_of(ptxas, call)


@pytest.mark.toolchain
@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
@pytest.mark.parametrize("directives", DIRECTIVES)
def test_ptxas_heeds_the_limits_that_are_said_to_hold(
    directives: str, flags: tuple[str, ...], tmp_path: Path, corpus_cache: Cache, ptxas: Tool
) -> None:
    (source,) = (each for each in sources("demotion") if each.name == "accumulators")
    text = compiled(source, "sm_90", tmp_path, cache=corpus_cache).read_text(encoding="utf-8")
    text = re.sub(r"\.maxntid[^\n]*", directives, text)
    module = parse(SourceFile("k.ptx", text))
    kernel = module.kernels["accumulators"]
    build = _build(str(ptxas.path), flags)
    assert build.flags == flags
    stated = tuning_of(kernel, build.limits)
    usage = build.usage(module, kernel)
    assert usage is not None
    # 65536 registers for so many warps, in steps of 8.
    of_blocks = 65536 // ((stated.threads or 1) * stated.blocks) // 8 * 8
    assert usage.registers_per_thread == min(FREE, of_blocks, stated.registers or FREE)


def test_a_kernel_gets_one_limit() -> None:
    text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f()\n.maxntid 32 {\nret;\n}\n"
    (kernel,) = parse(SourceFile("k.ptx", text)).functions.values()
    once = with_cap(kernel, 64)
    assert once.tuning("maxnreg") == (64,)
    assert with_cap(once, 48).header == with_cap(kernel, 48).header


@pytest.mark.parametrize("name", ["f", "g", "h"])
def test_other_kernels_are_not_assembled(name: str) -> None:
    kernels = "".join(f".visible .entry {each}() {{\nret;\n}}\n" for each in "fgh")
    module = parse(SourceFile("k.ptx", f".version 8.0\n.target sm_90\n.address_size 64\n{kernels}// end"))
    grudging = Grudging()
    assert Build(grudging).usage(module, module.functions[name]) is not None
    (asked,) = grudging.asked
    assert re.findall(r"entry (\w)", asked) == [name]
    assert asked.endswith("// end")


def test_without_an_assembler_nothing_is_known() -> None:
    module = parse(SourceFile("k.ptx", ".version 8.0\n.target sm_90\n.visible .entry f() {\nret;\n}\n"))
    assert ALONE.usage(module, module.functions["f"]) is None


@pytest.mark.toolchain
def test_limits_of_a_command_line_are_read(ptxas: Tool) -> None:
    def limits(*flags: str) -> Limits:
        return _build(str(ptxas.path), flags).limits

    assert limits("-maxrregcount", "archmax").registers == 255
    assert limits("-maxrregcount", "archmin").registers is None
    assert limits("--maxntid=16,16", "--minnctapersm=2") == Limits(None, (16, 16), 2)
    module = parse(SourceFile("k.ptx", ".version 8.0\n.target sm_90\n.visible .entry f() {\nret;\n}\n"))
    assert _build("/nowhere/ptxas", ()).usages(module) == {}


@pytest.mark.toolchain
def test_passes_before_ptxas_heed_its_command_line(tmp_path: Path, corpus_cache: Cache, ptxas: Tool) -> None:
    (source,) = (each for each in sources("demotion") if each.name == "accumulators")
    path = compiled(source, "sm_90", tmp_path, cache=corpus_cache)
    text = path.read_text(encoding="utf-8").replace(".maxntid 256, 1, 1", "")
    path.write_text(text, encoding="utf-8")
    script = "import sys; from comprehensive.ptx.dropin.run import main; main(sys.argv[1:])"
    said: list[str] = []
    for flags in ((), ("--maxntid=256", "--minnctapersm=5")):
        remarks = tmp_path / f"remarks{len(said)}"
        command = (sys.executable, "-c", script, str(ptxas.path), "demote-registers", "-arch=sm_90", *flags)
        environment = {**os.environ, "COMPREHENSIVE_PTXAS_REMARKS": str(remarks)}
        answer = subprocess.run(
            (*command, "-v", str(path), "-o", str(tmp_path / "k.cubin")),
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        usage = resource_usage(answer.stderr)["accumulators"]
        assert usage.spill_store_bytes == 0
        said.append(f"{usage.registers_per_thread}: {remarks.read_text(encoding='utf-8')}")
    assert said[0].startswith("80: ")
    assert "no .maxntid says" in said[0]
    assert said[1].startswith("48: ")
    assert ".maxnreg 48: 48 registers to 48, 0 bytes of spills" in said[1]


@pytest.mark.toolchain
def test_every_assembler_takes_the_pragma_of_spills(tmp_path: Path, corpus_cache: Cache) -> None:
    (source,) = (each for each in sources("demotion") if each.name == "accumulators")
    text = compiled(source, "sm_90", tmp_path, cache=corpus_cache).read_text(encoding="utf-8")
    text = text.replace(".maxntid 256, 1, 1", ".maxntid 256 .maxnreg 48")
    spilling = text.replace("\n{", '\n{\n.pragma "enable_smem_spilling";', 1)
    one, other = (find_assembler().assemble(each, "sm_90").usage["accumulators"] for each in (text, spilling))
    assert other.spill_store_bytes < one.spill_store_bytes
    assert other.shared_bytes > 0
