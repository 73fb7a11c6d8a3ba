"""Names that generated code cannot have are refused where they are declared, and the program hears why."""

from __future__ import annotations

import re
import subprocess

import pytest

from comprehensive.data import template_directory
from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.metafork.fresh import fresh
from comprehensive.metafork.parse import parse
from comprehensive.metafork.reserved import why_reserved
from comprehensive.toolchain.host import find_cxx_compiler

BODY = "meta_schedule block(B) { meta_for (int i = 0; i < n; i++) { float x = a[i]; a[i] = x + k; } }"
FUNCTION = f"void f(int n, float *a, int k, int B) {{ int h = n; {BODY} }}\n"


def complaints(text: str) -> list[tuple[str, str]]:
    sink = DiagnosticSink()
    parse(SourceFile("f.mf", text), sink)
    return [(d.code, d.span.text.split("\n")[0] if d.span is not None else "") for d in sink.diagnostics]


def renamed(old: str, new: str) -> str:
    return re.sub(rf"\b{old}\b", new, FUNCTION)


REFUSED = """
new char16_t co_await typeof __global__ __shared__ _Foo __x threadIdx warpSize NULL EOF errno INT_MAX M_PI stdin
linux cudaStreamDefault MAP_FAILED cf_x CF_X
"""


@pytest.mark.parametrize("name", REFUSED.split())
def test_a_name_that_cannot_be_emitted_is_refused_in_every_role(name: str) -> None:
    assert complaints(FUNCTION) == []
    for role in ("n", "a", "k", "B", "i", "x"):
        codes = {code for code, _ in complaints(renamed(role, name))}
        # In a region words of CUDA are spoken of as such.
        assert codes & {"CF0219", "CF0129"}, role


@pytest.mark.parametrize(
    "name", ["known", "T0", "I", "min", "ssize", "dim3", "cf", "f_size", "CFX", "_x", "std"]
)
def test_a_name_that_can_be_emitted_is_taken_in_every_role(name: str) -> None:
    for role in ("n", "a", "k", "B", "i", "x", "h"):
        assert complaints(renamed(role, name)) == [], role


@pytest.mark.parametrize("name", ["f_params", "f_launch", "f_select", "f_tile", "f_leaf0", "f_leaf12_run"])
def test_what_is_generated_for_a_function_is_no_name_of_its_parameters(name: str) -> None:
    assert complaints(renamed("k", name)) == [("CF0219", f"int {name}")]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("#define cf_state 3\n" + FUNCTION, "cf_state"),
        ("#define CF_OK 3\n" + FUNCTION, "CF_OK"),
        ("static int cf_add(int a) { return a; }\n" + FUNCTION.replace("h = n", "h = cf_add(n)"), "cf_add"),
        (FUNCTION.replace("int h = n", "double cf_x[2]"), "cf_x"),
        (FUNCTION.replace("int h = n", "size_t f_run = 1"), "f_run"),
        ("typedef int f_params;\n" + FUNCTION.replace("int h = n", "f_params h = n"), "f_params"),
    ],
)
def test_host_code_has_no_name_of_generated_code(text: str, where: str) -> None:
    assert ("CF0219", where) in complaints(text)


def test_a_function_is_not_called_what_generated_names_begin_with() -> None:
    assert [code for code, _ in complaints(FUNCTION.replace(" f(", " cf("))] == ["CF0219"]


@pytest.mark.parametrize(
    ("first", "second", "is_error"),
    [
        ("f", "g", False),
        ("f", "f_launch", True),
        ("f", "f_leaf3", True),
        ("f_leaf3", "f", True),
        ("f_leaf1", "f_leaf2", False),
        ("f", "f_tile", True),
        ("f", "f_x", False),
    ],
)
def test_two_functions_share_no_generated_name(first: str, second: str, is_error: bool) -> None:
    text = "".join(FUNCTION.replace(" f(", f" {name}(") for name in (first, second))
    assert ("CF0322" in [code for code, _ in complaints(text)]) is is_error


def test_a_name_that_is_made_of_the_users_is_never_reserved() -> None:
    assert fresh("cf_block", frozenset()) == "x_cf_block"
    assert fresh("co_await", frozenset(["x_co_await"])) == "x_co_await_1"
    assert complaints(renamed("i", "cf")) == []


def test_the_macros_in_front_of_generated_code_are_listed() -> None:
    compiler = find_cxx_compiler()
    if compiler is None:
        pytest.skip("no C++ compiler on this machine")
    shim = template_directory() / "host" / "cuda_on_cpu.h"
    text = (
        f'#include "{shim}"\n#include <atomic>\n#include <cstring>\n#include <cstdio>\n#include <cstdlib>\n'
    )
    command = [*compiler.command, "-std=gnu++17", "-x", "c++", "-dM", "-E", "-"]
    answer = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    words = [line.split()[1] for line in answer.stdout.splitlines()]
    assert [word for word in words if "(" not in word and why_reserved(word) is None] == []
