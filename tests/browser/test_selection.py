"""Selection as a page has it: the same answers as Python's and C's, without a page around it."""

from __future__ import annotations

import ctypes
import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings

from comprehensive import __version__
from comprehensive.algebra import Polynomial
from comprehensive.codegen.dispatch import dispatch
from comprehensive.codegen.runtime_files import runtime_files
from comprehensive.driver import Compilation
from comprehensive.explanation import explain
from comprehensive.kernel_ir.c_expr import count, wide
from comprehensive.kernel_ir.languages import JAVASCRIPT
from comprehensive.machine.occupancy import occupancy
from comprehensive.metafork.ast import Expr
from comprehensive.metafork.printer import print_expr
from comprehensive.plan.interface import interface
from comprehensive.report.page_selection import selection_of, selection_script
from tests.browser.javascript import answer, arithmetic
from tests.browser.programs import awkward, device, expected, points, runs
from tests.compiled_specs import compiled
from tests.unit.codegen.compiled import compile_text
from tests.unit.kernel_ir.test_c_expr import TYPES, UNDEFINED, expressions


def script(compilation: Compilation) -> str:
    trees = iter(compilation.trees)
    regions = [
        selection_of(region, next(trees), interface(function))
        for function in compilation.plan.functions
        for region in function.regions
    ]
    return arithmetic() + selection_script(regions)


def literal(values: Mapping[str, int]) -> str:
    """A point as JavaScript writes it."""
    return "{" + ", ".join(f"{json.dumps(name)}: {value}n" for name, value in values.items()) + "}"


def jacobi(**values: int) -> dict[str, int]:
    return {**device().parameters(), "N": 1000, "T": 10, "t": 0, **values}


def test_expressions_have_the_value_that_they_have_in_c(tmp_path: Path) -> None:
    """60 expressions at 5 points, undefined ones included."""
    drawn: list[Expr] = []

    @settings(max_examples=60, deadline=None, database=None, derandomize=True)
    @given(expressions)
    def collect(expr: Expr) -> None:
        drawn.append(expr)

    collect()
    arguments = "int i, int j, long k, unsigned u, unsigned char c"
    unused = "(void)i; (void)j; (void)k; (void)u; (void)c;"
    text = [runtime_files(__version__)["cf_runtime.h"]]
    text += [
        f"long long f{number}({arguments}) {{ {unused} return {wide(expr, TYPES)}; }}"
        for number, expr in enumerate(drawn)
    ]
    library = ctypes.CDLL(str(compile_text("\n".join(text), ".c", ("-std=gnu99", "-w"), tmp_path)))
    at = [(0, 1, 2, 3, 4), (7, 3, 40, 2, 255), (-5, 2, -9, 1, 0), (100, -7, 1000, 4000000000, 9)]
    at.append((2**31 - 1, -(2**31), 2**62, 2**32 - 1, 128))
    points = ", ".join(literal(dict(zip(TYPES, each, strict=True))) for each in at)
    functions = ", ".join(f"(v) => {wide(expr, TYPES, JAVASCRIPT)}" for expr in drawn)
    found = answer(f"{arithmetic()} const answer = [{functions}].map((f) => [{points}].map((v) => f(v)));")
    for number, expr in enumerate(drawn):
        function = library[f"f{number}"]
        function.restype = ctypes.c_longlong
        function.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_uint, ctypes.c_ubyte]
        for point, value in zip(at, found[number], strict=True):
            in_c = function(*point)
            assert value == (None if in_c == UNDEFINED else in_c), (print_expr(expr), point)


def test_counts_are_exact_beyond_64_bits() -> None:
    b = Polynomial.symbol("B")
    text = count(3 * b**3 + 1, JAVASCRIPT)
    assert (
        text
        == "cf_plus(cf_times(3n, cf_times(cf_amount(v.B), cf_times(cf_amount(v.B), cf_amount(v.B)))), 1n)"
    )
    assert answer(f"{arithmetic()} const v = {{ B: {10**15}n }}; const answer = {text};") == 3 * 10**45 + 1


def test_a_quotient_in_the_notation_of_c_is_one_of_big_integers() -> None:
    assert JAVASCRIPT.variable("(n)/(2)") == "(v.n)/(2n)"
    assert JAVASCRIPT.variable("new") == "v.new"


def test_the_same_case_holds_as_explain_says_at_many_points() -> None:
    at = ", ".join(literal(jacobi(s=s, B=b)) for s, b in points())
    found = answer(
        f"{script(compiled('jacobi1d'))} const answer = [{at}].map((v) => cf_select(CF_REGIONS.jacobi1d, v));"
    )
    assert tuple(f"{each['kind']} {each['index']}" for each in found) == expected()
    assert {*expected()} >= {"leaf 0", "leaf 2", "dead end 3"}


def test_conditions_are_those_of_the_header_word_by_word() -> None:
    compilation = compiled("jacobi1d")
    (function,) = compilation.plan.functions
    (region,), host = function.regions, interface(function)
    in_c, in_script = dispatch(region, host), dispatch(region, host, JAVASCRIPT)
    assert [(f.text, f.relation, f.kind) for f in in_c.facts] == [
        (f.text, f.relation, f.kind) for f in in_script.facts
    ]
    assert in_c.cases == in_script.cases
    assert in_c.dead_ends == in_script.dead_ends


def test_asserts_and_words_of_javascript_are_no_obstacle(tmp_path: Path) -> None:
    compilation = awkward(tmp_path)
    draw = random.Random(5)
    at = [
        (draw.choice((1, 1000, 99999, 100000)), draw.choice((1, 31, 32, 33, 96, 1024, 1056)))
        for _ in range(40)
    ]
    listed = ", ".join(literal({**device().parameters(), "in": size, "B": b}) for size, b in at)
    found = answer(
        f"{script(compilation)} const answer = [{listed}].map((v) => cf_select(CF_REGIONS.let, v));"
    )
    for (size, b), each in zip(at, found, strict=True):
        (explained,) = explain(compilation, device(), {"in": size, "B": b})
        shown = "refused" if each["kind"] == "refused" else f"{each['kind']} {each['index']}"
        assert shown == runs(explained), (size, b)


def test_changes_along_a_slider_are_all_that_there_are() -> None:
    """Pieces against a look at every integer: along B and s, and along the limits."""
    draw = random.Random(3)
    starts = [
        jacobi(s=draw.randint(1, 600), B=draw.randint(1, 1200), Z_B=draw.randint(4, 3000)) for _ in range(12)
    ]
    found = answer(
        f"""{script(compiled("jacobi1d"))}
        const R = CF_REGIONS.jacobi1d, name = (f) => f.kind + f.index + f.because;
        const answer = [{", ".join(map(literal, starts))}].flatMap((v) => ["B", "s", "Z_B", "R_B"].map((p) => {{
          const pieces = cf_pieces(R, v, p, 1n, 2100n);
          const flat = pieces.flatMap(([a, b, f]) => Array(Number(b - a) + 1).fill(name(f)));
          const every = Array.from({{ length: 2100 }}, (_, i) => name(cf_select(R, {{ ...v, [p]: BigInt(i + 1) }})));
          return [pieces.length, JSON.stringify(flat) === JSON.stringify(every)];
        }}));"""
    )
    assert all(same for _, same in found)
    assert max(pieces for pieces, _ in found) >= 3


def test_signs_of_polynomials_change_where_halving_between_their_turns_says() -> None:
    """(x-3)(x-3)(x-50), which touches 0 and crosses it, and steeper ones, at every integer from 0 to 80."""
    found = answer(
        f"""{arithmetic()}
        const cases = [[(x) => (x - 3n) * (x - 3n) * (x - 50n), 3], [(x) => (x - 7n) * (x - 8n), 2],
          [(x) => -x * x + 100n, 2], [(x) => (x - 1n) * (x - 2n) * (x - 30n) * (x - 31n), 4], [(x) => 5n, 1]];
        const truths = [(y) => y >= 0n, (y) => y > 0n];
        const answer = cases.map(([f, degree]) => {{
          const all = [];
          for (let x = 1n; x <= 80n; x++) if (truths.some((is) => is(f(x)) !== is(f(x - 1n)))) all.push(x);
          const told = [...new Set(cf_changes(f, degree, 0n, 80n, truths))].sort((a, b) => (a < b ? -1 : 1));
          return [all, told];
        }});"""
    )
    assert all(every == told for every, told in found)
    assert found[0][0] == [3, 4, 50, 51]


def test_occupancy_is_that_of_the_calculator() -> None:
    compilation, machine = compiled("jacobi1d"), device()
    (region,) = compilation.plan.functions[0].regions
    at = [(s, b) for s in (1, 4, 9, 40) for b in (1, 32, 33, 100, 256, 500, 768, 1024)]
    listed = ", ".join(literal(jacobi(s=s, B=b)) for s, b in at)
    found = answer(
        f"{script(compilation)} const answer = [{listed}].map((v) =>"
        " CF_REGIONS.jacobi1d.residencies.map((r) => cf_occupancy(r, v)));"
    )
    compared = 0
    for (s, b), leaves in zip(at, found, strict=True):
        for plan, leaf, told in zip(region.leaves, compilation.trees[0].leaves, leaves, strict=True):
            words = int(plan.kernel.shared_words.evaluate({"s": s, "B": b}))
            if words > machine.parameters()["Z_B"]:
                continue
            compared += 1
            exact = occupancy(
                machine,
                threads_per_block=b,
                registers_per_thread=plan.registers,
                shared_bytes_per_block=4 * words,
            )
            assert (told["blocks"], told["warps"]) == (exact.blocks_per_sm, exact.warps_per_block), (
                s,
                b,
                leaf.index,
            )
            assert told["resident"] == exact.warps_per_sm
    assert compared > 100


@pytest.mark.parametrize("value", [2**53 + 1, 2**62 - 1])
def test_sizes_beyond_what_a_double_holds_are_exact(tmp_path: Path, value: int) -> None:
    compilation = awkward(tmp_path)
    found = answer(
        f"{script(compilation)} const answer = cf_completed(CF_REGIONS.let, {literal({'in': value, 'B': 32})}).var;"
    )
    assert found == value // 2
