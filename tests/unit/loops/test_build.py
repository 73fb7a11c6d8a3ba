"""The way from program text to nests."""

from __future__ import annotations

import numpy as np
import pytest

from comprehensive.diagnostics import CompileError, DiagnosticSink, SourceFile
from comprehensive.loops.build import build
from comprehensive.loops.interpreter import c_value, run
from comprehensive.loops.ir import Role, Threads
from comprehensive.loops.printer import print_nest
from comprehensive.loops.traverse import declared_names
from comprehensive.metafork.ast import Declare, For, Function, If, MetaSchedule, Name, Program
from comprehensive.metafork.printer import print_expr, print_program
from comprehensive.records import replace
from tests.unit.loops.nests import (
    SPEC_NAMES,
    body_of,
    nest_of,
    nests_of,
    program_of,
    spec_nests,
    spec_text,
    unchecked_nest_of,
)


def test_a_perfect_nest_is_split_in_the_middle() -> None:
    (nest,) = spec_nests("transpose")
    assert [loop.iterator for loop in nest.grid] == ["v0", "v1"]
    assert [loop.iterator for loop in nest.thread_loops] == ["u0", "u1"]


def test_serial_statements_between_grid_and_threads_belong_to_the_block() -> None:
    nest = nest_of(
        "meta_for (int v = 0; v < n; v++) { int w = v*2; for (int k = 0; k < s; k++) if (k < w)"
        " meta_for (int u = 0; u < B; u++) a[u] = w + k; else meta_for (int u = 0; u < B; u++) a[u] = 0; }"
    )
    declare, loop = nest.body
    assert isinstance(declare, Declare)
    assert isinstance(loop, For)
    (choice,) = loop.body
    assert isinstance(choice, If)
    assert isinstance(choice.then[0], Threads)
    assert len(nest.bands) == 2


def test_regions_are_named_after_their_function_and_numbered_where_it_has_several() -> None:
    assert [n.name for n in spec_nests("matmul")] == ["matmul"]
    assert [n.name for n in spec_nests("jacobi2d")] == ["jacobi2d_1", "jacobi2d_2"]


def test_a_loop_from_zero_in_steps_of_one_keeps_its_bound_as_extent() -> None:
    assert body_of("a[u] = 0;").thread_loops[0].extent == Name("B")


HEADERS = [
    "i = 3; i < n; i++",
    "i = 3; i <= n; i++",
    "i = 3; i != n; i++",
    "i = n; i > 3; i--",
    "i = n; i >= 3; i--",
    "i = n; i > 3; i -= 4",
    "i = 0; i < n; i += 5",
    "i = s; i <= n; i += s",
    "i = -2; i < n - 2; i += 3",
    "i = n; i >= 1; i -= s",
]


@pytest.mark.parametrize("type", ["int", "long"])
@pytest.mark.parametrize("header", HEADERS)
def test_a_parallel_loop_counted_from_zero_visits_what_c_visits(header: str, type: str) -> None:
    parallel = nest_of(f"meta_for (int v = 0; v < 1; v++) meta_for ({type} {header}) a[i + 2] += (int)i + 1;")
    serial = body_of(f"for ({type} {header}) a[i + 2] += (int)i + 1;")
    for n in range(3, 20):
        data = {"a": np.zeros(40, "int32")}
        ours = run(parallel, {"n": n, "s": 4, "B": 1}, data)["a"]
        theirs = run(replace(serial, grid=parallel.grid), {"n": n, "s": 4, "B": 1}, data)["a"]
        assert ours.tolist() == theirs.tolist()


def test_a_loop_whose_bound_is_below_its_start_runs_zero_times() -> None:
    nest = nest_of("meta_for (int v = 0; v < 1; v++) meta_for (int i = 5; i < n; i += 3) a[i] = 1;")
    assert c_value(nest.thread_loops[0].extent, {"n": 2}) <= 0
    assert not run(nest, {"n": 2}, {"a": np.zeros(9, "int32")})["a"].any()


def test_an_unsigned_bound_below_the_start_does_not_wrap_around() -> None:
    nest = nest_of(
        "meta_for (int v = 0; v < 1; v++) meta_for (unsigned i = 2; i < n; i++) a[i] = 1;",
        "unsigned n, int *a",
    )
    assert run(nest, {"n": 1}, {"a": np.zeros(4, "int32")})["a"].tolist() == [0, 0, 0, 0]
    assert run(nest, {"n": 4}, {"a": np.zeros(4, "int32")})["a"].tolist() == [0, 0, 1, 1]


PARALLEL = "meta_schedule { meta_for (int v = 0; v < n; v++) meta_for (int u = 0; u < B; u++)"


def test_names_are_declared_once_on_a_path() -> None:
    nest = unchecked_nest_of(
        f"void f(int n, int B, int *a) {{ {PARALLEL} {{"
        " int x = 1; for (int k = 0; k < 2; k++) { int x = 5; a[x] = x; } a[x] = x; } } }"
    )
    assert declared_names(nest.bands[0].body) == {"x", "k", "x_1"}
    assert run(nest, {"n": 1, "B": 1}, {"a": np.zeros(7, "int32")})["a"].tolist() == [0, 1, 0, 0, 0, 5, 0]


def test_siblings_may_share_a_name() -> None:
    nest = body_of("if (u < 1) { int x = 1; a[u] = x; } else { int x = 2; a[u] = x; }")
    assert declared_names(nest.bands[0].body) == {"x"}


def test_a_local_that_hides_a_parameter_of_the_nest_is_renamed() -> None:
    nest = unchecked_nest_of(
        f"void f(int n, int B, int *a) {{ {PARALLEL} {{ float c = 1; int n = u; a[n] = n; }} }} }}"
    )
    assert declared_names(nest.bands[0].body) == {"c", "n_1"}


def test_only_what_the_region_needs_is_in_the_nest() -> None:
    nest = nest_of(
        "meta_for (int v = 0; v < dim; v++) meta_for (int u = 0; u < B; u++) a[v*B + u] = 0;",
        "int n, int m, int B, int unused, int a[n], float *other",
        "int dim = n/B; int idle = m + 1; ",
    )
    assert [s.name for s in nest.scalars] == ["n", "B", "dim"]
    assert [a.name for a in nest.arrays] == ["a"]


def test_roles_follow_definition_1() -> None:
    (nest,) = spec_nests("matmul")
    roles = {s.name: s.role for s in nest.scalars}
    assert roles == {
        "n": Role.DATA,
        "B0": Role.PROGRAM,
        "ub1": Role.PROGRAM,
        "s": Role.PROGRAM,
        "dim0": Role.HOST,
        "dim1": Role.HOST,
    }


def test_a_size_behind_a_pointer_and_a_factor_are_plain_scalars() -> None:
    nest = nest_of(
        "meta_for (int v = 0; v < n/B; v++) meta_for (int u = 0; u < B; u++) x[v*B + u] *= f;",
        "int n, int B, float f, float *x",
    )
    roles = {s.name: s.role for s in nest.scalars}
    assert roles == {"n": Role.SCALAR, "B": Role.PROGRAM, "f": Role.SCALAR}


def test_the_variable_of_a_time_loop_is_a_host_scalar_without_a_value() -> None:
    (nest,) = spec_nests("jacobi1d")
    assert nest.scalar("t").role is Role.HOST
    assert nest.scalar("t").value is None
    value = nest.scalar("dim").value
    assert value is not None
    assert print_expr(value) == "(N - 2) / (s * B)"


def test_asserts_of_known_names_are_preconditions() -> None:
    (nest,) = spec_nests("matmul")
    assert [print_expr(p) for p in nest.preconditions] == ["B0 <= ub1 * s"]


@pytest.mark.parametrize("name", SPEC_NAMES)
def test_a_printed_nest_builds_to_an_equal_nest(name: str) -> None:
    text = spec_text(name)
    nests = nests_of(text)
    again = print_program(program_of(text), {number: print_nest(nest) for number, nest in enumerate(nests)})
    assert nests_of(again) == nests


def test_a_tree_that_no_check_has_seen_is_refused_with_a_diagnostic() -> None:
    region = MetaSchedule(None, ())
    with pytest.raises(CompileError, match="CF0318"):
        build(Program(SourceFile("x.mf", ""), (Function("f", (), (region,)),)), DiagnosticSink())


def test_a_host_value_of_unknown_names_is_taken_at_the_launch() -> None:
    nest = nest_of(
        "meta_for (int v = 0; v < d; v++) meta_for (int u = 0; u < B; u++) a[u] = 0;",
        host="int d = size_of_the_problem() + 1;",
    )
    assert nest.scalar("d").value is None
