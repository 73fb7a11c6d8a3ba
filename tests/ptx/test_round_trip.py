"""PTX is read without loss: it prints back to the byte; printed anew, and under other names, it is the same code.

Same code: instructions, registers, constants and shared memory of every kernel, as ptxas makes them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.flow import flow_of
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.printer import print_module
from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.cubin import code_of
from comprehensive.toolchain.find import Missing, find_tool
from comprehensive.toolchain.nvcc import assemble, load_tool
from tests.ptx.corpus import Source, assemblies, compiled, is_quick, sources
from tests.ptx.rewritten import canonical, with_other_names

COMPILED = [
    pytest.param(s, arch, id=f"{s.name}-{arch}", marks=() if is_quick(s, arch) else (pytest.mark.slow,))
    for s in sources()
    for arch in s.archs
]
BY_HAND = [pytest.param(s, s.archs[0], id=s.name) for s in assemblies()]


def text_of(source: Source, arch: str, directory: Path, cache: Cache) -> str:
    """Return the text with the ends of line that it has."""
    if source.path.suffix == ".ptx":
        return source.path.read_bytes().decode()
    if isinstance(find_tool("nvcc"), Missing):
        pytest.skip("nvcc is not found")
    return compiled(source, arch, directory, cache=cache).read_bytes().decode()


def parsed(text: str) -> Module:
    return parse(SourceFile("corpus.ptx", text))


@pytest.mark.toolchain
@pytest.mark.parametrize(("source", "arch"), [*COMPILED, *BY_HAND])
def test_text_and_code_survive(source: Source, arch: str, tmp_path: Path, corpus_cache: Cache) -> None:
    text = text_of(source, arch, tmp_path, corpus_cache)
    module = parsed(text)
    assert print_module(module) == text
    for function in module.functions.values():
        assert function.open is not None
        statements = "".join(text[s.start : s.end] for s in function.body)
        assert text[function.open : function.close].startswith(statements)
        flow = flow_of(function)
        assert all(step.instruction.opcode.is_known for step in flow.steps)
    found = find_tool("ptxas")
    if isinstance(found, Missing):
        pytest.skip("ptxas is not found")
    tool = load_tool(found)

    def code(text: str) -> object:
        place = tmp_path / "again.ptx"
        place.write_bytes(text.encode())
        flags = source.flags if source.path.suffix == ".ptx" else ("-c",) * ("-rdc=true" in source.flags)
        return code_of(assemble(tool, place, arch, flags, cache=corpus_cache).output)

    before = code(text)
    assert code(print_module(canonical(module))) == before
    if "debug" in module.target:
        # For a debugger ptxas gives out the registers of the device by the names of those of PTX, so that other names
        # give other code: compared is the code of the same text for no debugger.
        text = re.sub(r"(\.target\s+\w+)\s*,\s*debug\b", r"\1", text, count=1)
        module = parsed(text)
        assert "debug" not in module.target
        before = code(text)
    assert code(print_module(with_other_names(module))) == before
