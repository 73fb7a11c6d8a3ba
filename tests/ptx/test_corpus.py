"""The corpus compiles for what it names, its runs fit its kernels, and it holds what PTX can hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from comprehensive.toolchain.cache import Cache
from comprehensive.toolchain.nvcc import Tool, assemble
from tests.ptx.corpus import Source, assemblies, compiled, is_first, is_quick, sources
from tests.ptx.runs import Buffer, Run, drawn

WIDTH_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


PAIRS = [
    pytest.param(
        source, arch, id=f"{source.name}-{arch}", marks=() if is_quick(source, arch) else (pytest.mark.slow,)
    )
    for source in sources()
    for arch in source.archs
]


def without_comments(ptx: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", ptx, flags=re.DOTALL)


def base_opcodes(ptx: str) -> set[str]:
    """Return the opcodes at the beginning of statements, after labels and a guard."""
    start = r"(?:^|[;{}]|(?<![:.]):(?!:))\s*(?:[\w$%]+:\s*)*(?:@\s*!?\s*[\w%$]+\s+)?"
    opcode = start + r"(ret|exit|trap|brkpt|(?:call|pmevent)(?=\s)|[a-z]\w*(?=\.[a-zA-Z]))"
    return set(re.findall(opcode, without_comments(ptx), re.MULTILINE))


def parameter_bytes(ptx: str, kernel: str) -> list[int] | None:
    """The size of each parameter of an entry; None where there is none of that name."""
    entry = re.search(
        rf"\.entry\s+{re.escape(kernel)}(?![\w$])\s*(?:\(([^)]*)\))?\s*[^;(\s]", without_comments(ptx)
    )
    if entry is None:
        return None
    declared = re.findall(
        r"\.param\s+(?:\.align\s+\d+\s+)?\.[a-z](\d+)[^,\[]*(?:\[(\d+)\])?", entry[1] or "", re.DOTALL
    )
    return [WIDTH_BYTES[width] * int(count or 1) for width, count in declared]


def argument_bytes(run: Run) -> list[int]:
    """A buffer is passed by its address."""
    return [
        8 if isinstance(argument, Buffer) else len(value)
        for argument, value in zip(run.arguments, drawn(run), strict=True)
    ]


@pytest.mark.toolchain
@pytest.mark.parametrize(("source", "arch"), PAIRS)
def test_a_source_compiles_and_its_runs_are_of_its_kernels(
    source: Source, arch: str, corpus_cache: Cache, tmp_path: Path
):
    ptx = compiled(source, arch, tmp_path, cache=corpus_cache).read_text()
    assert f".target {arch}" in ptx
    for run in source.runs:
        assert parameter_bytes(ptx, run.kernel) == argument_bytes(run), run.kernel


@pytest.mark.toolchain
@pytest.mark.parametrize("source", assemblies(), ids=lambda source: source.name)
def test_ptx_by_hand_assembles_and_its_runs_are_of_its_kernels(source: Source, ptxas: Tool):
    assert assemble(ptxas, source.path, source.archs[0], source.flags).output
    ptx = source.path.read_text(encoding="utf-8")
    for run in source.runs:
        assert parameter_bytes(ptx, run.kernel) == argument_bytes(run), run.kernel


# What a parser, an interpreter or a pass meets, each somewhere in what nvcc writes.
COMPILED = {
    "kernel": r"\.visible \.entry saxpy\(",
    "device function": r"^\.func ",
    "function declared before its definition": r"^\.func[^{};]*;",
    "extern function": r"^\.extern \.func",
    "weak function": r"^\.weak \.func",
    "function that does not return": r"\.noreturn",
    "struct as a result": r"\.func\s*\(\.param \.align 8 \.b8 func_retval0\[32\]\)",
    "call in a scope": r"\{ // callseq",
    "call by a prototype": r"call \(retval0\),\s+%rd\d+,\s+\([^)]*\)\s*,\s*prototype_\d+",
    "prototype": r"prototype_\d+ : \.callprototype \(",
    "direct recursion": r"fibonacci\w*\s*\((?s:.(?!^\}))*?call[^;]*fibonacci",
    "table of functions": r"\.global \.align 8 \.u64 operations\[5\] = \{_Z",
    "table of virtual functions": r"\.global \.align 8 \.u64 _ZTV\w+\[\d\]",
    "address of a global with an offset": r"= \{?.*generic\(numbers\)\+\d+",
    "masks of an address": r"0[xX]FF00\(generic\(",
    "initialised bytes": r"\.b8 \w+\[\d+\] = \{\d+, \d+",
    "constant bank": r"\.const \.align \d+ \.",
    "managed variable": r"\.attribute\(\.managed\)",
    "extern variable": r"\.extern \.global",
    "static shared memory": r"^\s*\.shared \.align",
    "dynamic shared memory": r"\.extern \.shared \.align 128 \.b8 \w+\[\]",
    "local depot": r"\.local \.align \d+ \.b8\s+__local_depot",
    "stack pointer": r"%SPL",
    "space taken on the stack": r"alloca\.u64",
    "threads of a launch": r"\.maxntid 256",
    "blocks of a launch": r"\.minnctapersm 2",
    "limit of registers": r"\.maxnreg 32",
    "dimensions of a cluster": r"\.reqnctapercluster 2",
    "limit of a cluster": r"\.maxclusterrank 4",
    "exact block": r"\.reqntid 64",
    "pragma of a loop": r'\.pragma "nounroll"',
    "pragma of a load": r'\.pragma "used_bytes_mask \w+";\s+ld',
    "parameter larger than 4 KB or near it": r"\.b8 big_argument_param_0\[4000\]",
    "pair of predicate and value": r"shfl\.sync\.\w+\.b32\s+%r\d+\|%p\d+",
    "sink": r"[{|,(]\s*_\s*[,}|]|\s_,",
    "float as bits": r"0f[0-9A-F]{8}",
    "double as bits": r"0d[0-9A-F]{16}",
    "vector access": r"ld\.\w+\.v4\.\w+\s+\{",
    "access of 256 bits": r"ld\.global\.v8\.f32",
    "unaligned offset": r"\[%rd\d+\+1\]",
    "negative offset": r"\[%rd\d+\+-\d+\]",
    "packing": r"mov\.b64\s+%rd\d+, \{%r\d+, %r\d+\}",
    "unpacking": r"mov\.b64\s+\{%r\d+, %r\d+\}, %rd\d+",
    "uniform branch": r"bra\.uni",
    "labels of inline assembly": r"^\s*(again|TOP|LAB_WAIT):",
    "statements on one line": r";[^\n/]*;[^\n/]*;",
    "comment with a semicolon": r"/\*[^*]*;[^*]*\*/|//[^\n]*; \d",
    "names declared anew": r"\.reg \.f32 p;",
    "lines of the source": r"\.loc\s+\d+ \d+ \d+, function_name \$L__info_string\d+, inlined_at",
    "files": r'\.file\s+\d+ "',
    "debugging sections": r"\.section\s+\.debug_abbrev",
    "target with debugging": r"\.target sm_90, debug",
    "string in a section": r"\.section\s+\.debug_str",
    "texture": r"tex\.2d\.v4\.f32\.f32\s+\{[^}]*\}, \[%rd\d+, \{",
    "gather": r"tld4\.",
    "surface": r"sust\.b\.2d",
    "bulk copy": r"cp\.async\.bulk\.shared::cluster\.global\.mbarrier::complete_tx::bytes",
    "tensor copy": r"cp\.async\.bulk\.tensor\.2d",
    "reduction by the copy engine": r"cp\.reduce\.async\.bulk\.global",
    "matrix product of a warp": r"mma\.sync\.aligned\.m16n8k16",
    "matrix product of four warps": r"wgmma\.mma_async",
    "tensor memory": r"tcgen05\.mma",
    "registers given away": r"setmaxnreg\.dec",
    "elected lane": r"elect\.sync",
    "vector atomic": r"(?:atom|red)\.\S*v4\.f32",
    "atomic of 128 bits": r"cas\.b128",
    "atomic of halves": r"\.noftz\.f16x2",
    "atomic of the system": r"\.sys\.\S*add|add\S*\.sys",
    "atomic of the block": r"(?:atom|red)\.\S*cta",
    "acquire": r"ld\.acquire\.gpu",
    "release": r"st\.release\.gpu",
    "long symbol": r"\w{150}",
    "kernel without parameters": r"\.entry nothing\(\)",
    "dollar in a name": r"\$entry",
    "launch of dependents": r"griddepcontrol\.launch_dependents",
    "trap": r"^\s*trap;",
}
# What nvcc does not write, each somewhere in the files by hand.
BY_HAND = {
    "jump by index": r"brx\.idx\s",
    "table of targets": r"\.branchtargets \w+,\s",
    "table of called functions": r"\.calltargets",
    "type before space": r"ld\.u32\.global",
    "negated guard": r"@!%p\d+",
    "pair of predicates": r"setp\.\S+ \S+\|\S+,",
    "alias": r"^\.alias \w+, \w+;",
    "common variable": r"^\.common \.global",
    "pragma of a module": r"^\.pragma",
    "mask of an address": r"0xff00\(target\)",
    "expression in an operand": r"mov\.u32 x, \(3 \+ 4\) \* 5;",
    "condition in an operand": r"\? 100 : 200",
    "octal": r"\b0777U",
    "binary": r"\b0b1011\b",
    "hexadecimal in capitals": r"0XabcdEF",
    "decimal float": r"-2\.5e-3",
    "register of 128 bits": r"\.reg \.b128",
    "vector register": r"\.reg \.v4 \.f32",
    "element of an array": r"table\[2\]",
    "register without a sign": r"\.reg \.u64 to, offset;",
    "range of registers": r"other<3>",
    "comment between opcode and operand": r"\bld /\* opcode \*/",
    "carriage return": r"\r\n",
    "two labels": r"second: third:",
    "label before a statement": r"^\w+:\tadd",
    "bytes of a section": r"\.section\t\.debug_info",
    "older line": r"\.loc 1 2 0",
    "texture of the module": r"^\.global \.texref",
    "sampler": r"\.samplerref",
    "independent samplers": r"texmode_independent",
    "kernel without a list of parameters": r"\.entry no_parentheses \{",
    "empty body": r"\(\) \{ \}",
    "parameter with attributes": r"\.ptr \.shared \.align 4",
    "arguments of any number": r"\.b8 rest\[\]",
    "vote without a mask": r"vote\.ballot\.b32",
    "blocks that are clusters": r"\.blocksareclusters",
    "stack pointer given back": r"stackrestore",
    "module without functions": r"\A\.version 9\.0\n\.target sm_90\n\Z",
}


def _ptx_of_all(cache: Cache, directory: Path) -> list[str]:
    return [
        compiled(source, arch, directory, cache=cache).read_text()
        for source in sources()
        for arch in source.archs
        if is_first(source, arch)
    ]


def _missing(constructs: dict[str, str], texts: list[str]) -> list[str]:
    return [
        name
        for name, pattern in constructs.items()
        if not any(re.search(pattern, text, re.MULTILINE) for text in texts)
    ]


@pytest.mark.slow
@pytest.mark.toolchain
def test_what_nvcc_writes_is_all_there(corpus_cache: Cache, tmp_path: Path):
    texts = _ptx_of_all(corpus_cache, tmp_path)
    assert _missing(COMPILED, texts) == []
    # Kinds of instructions, such as ld and mma, not their forms.
    assert len({opcode for text in texts for opcode in base_opcodes(text)}) >= 120


def test_what_nvcc_does_not_write_is_all_there():
    texts = [source.path.read_bytes().decode() for source in assemblies()]
    assert _missing(BY_HAND, texts) == []


def test_the_corpus_is_large_enough():
    assert len(sources()) >= 70
    assert len(assemblies()) >= 35


def test_opcodes_are_found_behind_labels_guards_and_braces():
    ptx = "L: M:\tadd.u32 a, b, c; @!p sub.u32 a, b, c;{mul.lo.u32 d.x,\n p1\n);}// div.u32\n@%p1 ret;\n\t.reg .b32 x;"
    assert base_opcodes(ptx) == {"add", "sub", "mul", "ret"}


def test_sizes_of_parameters_are_read_from_the_definition():
    ptx = """.entry k;
    .visible .entry k2(.param .u8 x) { }
    .visible .entry k( // one (two)
        .param .u64 .ptr .global .align 16 k_param_0, .param .align 8 .b8 s[24], .param .f32 f)
    .maxntid 8 { }"""
    assert parameter_bytes(ptx, "k") == [8, 24, 4]
    assert parameter_bytes(ptx, "k2") == [1]
    assert parameter_bytes(ptx, "absent") is None
