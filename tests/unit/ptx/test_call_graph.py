"""The calls of kernels: functions in order, and copies of them with one parameter more."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.module import Module, Parameter, parse
from comprehensive.ptx.passes.added_parameters import copied, with_parameters
from comprehensive.ptx.passes.call_graph import CallGraph, call_graph_of
from comprehensive.ptx.printer import print_module

HEAD = """.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
"""


def _module(**calls: str) -> Module:
    """Functions by name, each with the names that it calls; the last one is a kernel."""
    texts: list[str] = []
    for number, (name, callees) in enumerate(calls.items()):
        kind = ".visible .entry" if number == len(calls) - 1 else ".func"
        body = "".join(f"call {callee};\n" for callee in callees.split())
        texts.append(f"{kind} {name}()\n{{\n.reg .b64 %rd<2>;\n{body}ret;\n}}\n")
    declared = "".join(f".func {name}();\n" for name in list(calls)[:-1])
    return parse(SourceFile("a.ptx", HEAD + declared + "".join(texts)))


def _graph(**calls: str) -> CallGraph | str:
    module = _module(**calls)
    return call_graph_of(module.functions[list(calls)[-1]], module)


def test_callees_come_before_their_callers_and_each_once() -> None:
    graph = _graph(leaf="", other="leaf", unused="leaf", mid="leaf vprintf", k="mid other mid leaf")
    assert isinstance(graph, CallGraph)
    assert graph.order == ("leaf", "mid", "other", "k")
    assert graph.calls["mid"] == ((0, "leaf"),)
    assert [callee for _, callee in graph.calls["k"]] == ["mid", "other", "mid", "leaf"]


def test_what_only_functions_that_are_left_out_call_is_not_in_a_graph() -> None:
    graph = _graph(leaf="", low="", mid="leaf low", k="mid low")
    assert isinstance(graph, CallGraph)
    left = graph.without({"mid"})
    assert left.order == ("low", "k")
    assert left.calls == {"low": (), "k": ((1, "low"),)}


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ({"g": "g", "k": "g"}, "it calls 'g', which calls itself"),
        ({"g": "h", "h": "g", "k": "h"}, "it calls 'h', which calls itself"),
        ({"g": "%rd1", "k": "g"}, "it calls a function through a pointer"),
    ],
)
def test_recursion_and_pointers_are_named(calls: dict[str, str], why: str) -> None:
    found = _graph(**calls)
    assert isinstance(found, str)
    assert why in found


@pytest.mark.parametrize(
    ("head", "changed"),
    [
        (".func g", ".func g_in_k(\n\t.param .b32 slots\n)"),
        (".func g()", ".func g_in_k(\n\t.param .b32 slots\n)"),
        ("// g is visible\n.visible .func g()", ".func g_in_k(\n\t.param .b32 slots\n)"),
        (
            ".weak .func (.param .b32 g) g(.param .b32 x) .noreturn",
            ".func (.param .b32 g) g_in_k(.param .b32 x,\n\t.param .b32 slots\n) .noreturn",
        ),
    ],
)
def test_copies_have_another_name_and_one_parameter_more(head: str, changed: str) -> None:
    module = parse(SourceFile("a.ptx", f"{HEAD}{head}\n{{\nret;\n}}\n.visible .entry k()\n{{\nret;\n}}\n"))
    copy = copied(module.functions["g"], "g_in_k")
    added = module.with_functions_before("k", [with_parameters(copy, (Parameter("slots", "b32", 4, 4),))])
    again = parse(SourceFile("b.ptx", print_module(added)))
    assert list(again.functions) == ["g", "g_in_k", "k"]
    assert again.functions["g_in_k"].header.strip() == f"{changed}\n{{"
    assert [each.name for each in again.functions["g_in_k"].parameters][-1] == "slots"
    assert again.functions["g_in_k"].linkage == ()
