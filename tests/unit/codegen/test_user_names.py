"""Programs may call their things what generated code calls its own: the tool's names give way.

Every identifier of generated code, and what C++, CUDA and the standard library have besides, is the name of a size, a
parameter, an array, a host scalar, an iterator or a local of some program here, unless the front end refuses it.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

from comprehensive.codegen.acceptance import accepted
from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.driver import compile_file
from comprehensive.generate import source_texts
from comprehensive.metafork.reserved import generated_names, is_machine_symbol, why_reserved, with_leaf_zero
from comprehensive.metafork.tokens import Origin, tokens
from comprehensive.toolchain.host import find_c_compiler, find_cxx_compiler
from tests.compiled_specs import OPTIONS
from tests.examples import quick_of

STENCIL = """void {function}(int {n}, int {m}, float {w}, long {l}, const float {a}[{n}][{m}],
  float {b}[{n}][{m}], int {p}, int {q})
{{
  int {h} = {n} - 1;
  meta_schedule block({p}, {q}) {{
    meta_for (int {i} = 1; {i} < {h}; {i}++)
      meta_for (int {j} = 1; {j} < {m} - 1; {j}++) {{
        float {t} = {a}[{i} - 1][{j}] + {a}[{i} + 1][{j}];
        {b}[{i}][{j}] = {t}*{w} + {l};
      }}
  }}
}}
"""
PRODUCT = """void {function}(int {n}, const float {a}[{n}][{n}], const float {b}[{n}][{n}],
  float {c}[{n}][{n}], int {p}, int {q})
{{
  meta_schedule block({p}, {q}) {{
    meta_for (int {i} = 0; {i} < {n}; {i}++)
      meta_for (int {j} = 0; {j} < {n}; {j}++) {{
        float {t} = 0;
        for (int {k} = 0; {k} < {n}; {k}++) {t} += {a}[{i}][{k}]*{b}[{k}][{j}];
        {c}[{i}][{j}] = {t};
      }}
  }}
}}
"""
SWEEPS = """void {function}(int {s}, int {n}, float {a}[{n}], float {b}[{n}], int {p})
{{
  for (int {t} = 0; {t} < {s}; {t}++) {{
    meta_schedule block({p}) {{
      meta_for (int {i} = 1; {i} < {n} - 1; {i}++) {b}[{i}] = {a}[{i} - 1] + {a}[{i} + 1];
    }}
    meta_schedule block({p}) {{
      meta_for (int {i} = 1; {i} < {n} - 1; {i}++) {a}[{i}] = {b}[{i} - 1] + {b}[{i} + 1];
    }}
  }}
}}
"""
PARTS = 48
"""Into so many parts are the names divided; `make test` tries the first."""
SHAPES = {"stencil": STENCIL, "product": PRODUCT, "sweeps": SWEEPS}

_ELSEWHERE = """
size_t int8_t uint32_t ptrdiff_t FILE va_list min max abs fabsf sqrtf exp powf fma y0 y1 yn j0 j1 gamma lgamma signgam
environ puts malloc memcpy rand index remove dim3 float4 int2 half uint3 warp block grid thread lane clock64 atomicAdd
cudaStream_t cudaError_t CUstream_st cudaMalloc std cf main complex I far near final override import module self None
lambda T0 U0 T1 U1 D S M e0 x0 t0 known machine params choice stream tile wanted feasible leaf why device chosen once
limit store sizes arguments shape next extent row place here
"""
ELSEWHERE = _ELSEWHERE.split()
_COMMENTS_AND_STRINGS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.DOTALL)


def roles(shape: str) -> list[str]:
    fields = {field for _, field, _, _ in string.Formatter().parse(SHAPES[shape]) if field}
    return sorted(fields - {"function"})


def plain_names(shape: str) -> list[str]:
    return [f"v{k}" for k in range(len(roles(shape)))]


def program(shape: str, names: Sequence[str], stem: str = "named") -> str:
    """Functions whose things have these names, in turn."""
    wanted, functions = roles(shape), list[str]()
    for start in range(0, len(names), len(wanted)):
        given = [*names[start : start + len(wanted)], *(f"unused{k}" for k in range(len(wanted)))]
        function = f"{stem}_{shape}{start}"
        functions.append(SHAPES[shape].format(function=function, **dict(zip(wanted, given, strict=False))))
    return "\n".join(functions)


def emitted(folder: Path, text: str) -> dict[str, str]:
    """The header and the source of a program, both of which compilers have accepted."""
    path = folder / "named.mf"
    path.write_text(text, encoding="utf-8")
    compilation = compile_file(path, OPTIONS)
    found = source_texts(compilation.plan)
    assert accepted("named", found, compilation.source, "sm_90", None) == ("named.h", "named.cu")
    return found


def identifiers(texts: Iterable[str]) -> set[str]:
    return {
        name for text in texts for name in re.findall(r"[A-Za-z_]\w*", _COMMENTS_AND_STRINGS.sub(" ", text))
    }


def is_a_name(word: str) -> bool:
    file = SourceFile("word", word)
    return [token.type for token in tokens(Origin(file, DiagnosticSink()))] == ["NAME"]


def usable(names: Iterable[str]) -> list[str]:
    """Return names in an order that has nothing to do with the alphabet, so that roles are mixed."""
    found = sorted(n for n in names if is_a_name(n) and why_reserved(n) is None and not is_machine_symbol(n))
    random.Random(9).shuffle(found)
    return found


@cache
def names_of_generated_code(folder: Path, *, library: bool) -> tuple[str, ...]:
    """Return the names that stand in scopes of the user's names.

    With ``library`` those of the code that all files share are among them.
    """
    texts = [
        emitted(folder, program(shape, [f"v{k}" for k in range(len(roles(shape)))], "collected"))
        for shape in SHAPES
    ]
    lines = [set("\n".join(found.values()).split("\n")) for found in texts]
    shared = set[str]() if library else set.intersection(*lines)
    found = identifiers("\n".join(each - shared) for each in lines)
    return tuple(usable(name for name in found if not name.startswith("collected")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_c_compiler() is None or find_cxx_compiler() is None:
        pytest.skip("no C or no C++ compiler on this machine")
    return tmp_path_factory.mktemp("names")


@pytest.mark.parametrize(
    "part", [pytest.param(k, marks=[pytest.mark.slow] if k else []) for k in range(PARTS)]
)
def test_any_name_of_generated_code_is_free_for_the_program(folder: Path, part: int) -> None:
    found = usable({*names_of_generated_code(folder, library=False), *ELSEWHERE})
    assert len(found) > 150
    # In an order that has nothing to do with the alphabet: each part has names of all kinds.
    names = found[part::PARTS]
    for shape, some in zip(("stencil", "sweeps", "product"), _parts(names, (0.6, 0.3, 0.1)), strict=True):
        if some:
            emitted(folder, program(shape, some))


def test_names_of_functions_that_launchers_call_are_free_for_the_program(folder: Path) -> None:
    names = {"a": "memcpy", "b": "memset", "n": "memcmp", "p": "snprintf", "s": "machine", "t": "strcmp"}
    emitted(folder, SWEEPS.format(function="named", **names, i="i"))


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_any_name_of_the_shared_code_is_free_for_the_program(folder: Path, shape: str) -> None:
    emitted(folder, program(shape, usable({*names_of_generated_code(folder, library=True), *ELSEWHERE})))


def _parts(names: Sequence[str], shares: Sequence[float]) -> list[Sequence[str]]:
    ends = [round(sum(shares[: k + 1]) * len(names)) for k in range(len(shares))]
    return [names[start:end] for start, end in zip((0, *ends), ends, strict=False)]


def test_what_is_generated_for_a_function_is_listed(folder: Path) -> None:
    """`reserved.generated_names` keeps programs from defining it."""
    for shape in SHAPES:
        text = "\n".join(emitted(folder, program(shape, plain_names(shape))).values())
        function, regions = f"named_{shape}0", 2 if shape == "sweeps" else 1
        found = set(re.findall(rf"\b{function}_\w+", _COMMENTS_AND_STRINGS.sub(" ", text)))
        # Kernels over tiles give way to names of the program.
        kernels = {f"{function}{region}_time" for region in ("", "_1", "_2")}
        assert {with_leaf_zero(name) for name in found - kernels} <= generated_names(function, regions)


# --- macros of the program -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", quick_of(SHAPES, {"stencil", "sweeps"}))
def test_no_macro_of_the_program_reaches_generated_code(folder: Path, shape: str) -> None:
    names = plain_names(shape)
    own = emitted(folder, program(shape, names))
    words = usable(identifiers(own.values()) - set(names))
    # What stands in host code after the program's lines keeps its meaning.
    kept = {"int", "return", "if", "for", "defined", *(w for w in words if w.startswith("named_"))}
    macros = "\n".join(f"#define {word} 9 9" for word in words if word not in kept)
    assert "#define T0 9" in macros or shape == "stencil"
    emitted(folder, f"{macros}\n{program(shape, names)}")
