"""Verdicts on loops against brute force: never Parallel where some small run shows a conflict."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from comprehensive.loops.ir import Nest
from comprehensive.poly.legality import parallel_loops, serial_is_parallel, threads_meet
from comprehensive.poly.model import Conflict, Parallel, Undecided
from tests.examples import examples
from tests.laws.nests import nests_of
from tests.unit.poly.enumeration import Touch, admissible, host, touches
from tests.unit.poly.nests import assign, let, loop, matmul, nest, step, threads, when


def region(statement: str, *, guard: str = "p < n", dim: str = "(n + B - 1)/B") -> Nest:
    return nest(
        threads("j < B", let("p", "i*B + j"), when(guard, loop("k from 0 to s", assign(statement)))),
        grid="i < dim",
        arrays={"a": None, "b": None},
        data="n",
        program="s B",
        host={"dim": dim},
    )


def conflicting(region: Nest, point: dict[str, int], loop_name: str) -> bool:
    """Whether two touches of one element, one writing, differ in the loop (and agree as its place demands)."""
    grid = [g.iterator for g in region.grid]
    seen: dict[tuple[object, ...], list[Touch]] = {}
    for touch in touches(region, host(region, point)):
        key: tuple[object, ...] = (touch.access.array, touch.element)
        if loop_name not in grid and loop_name not in touch.serial:
            key += (touch.grid, touch.steps, touch.access.context.band)
        seen.setdefault(key, []).append(touch)

    def at(touch: Touch) -> int:
        if loop_name in grid:
            return touch.grid[grid.index(loop_name)]
        if loop_name in touch.serial:
            return touch.serial[loop_name]
        names = [t.iterator for t in region.bands[touch.access.context.band].loops]
        return touch.threads[names.index(loop_name)]

    return any(
        at(x) != at(y) for group in seen.values() for x in group if x.access.mode.writes for y in group
    )


indices = st.sampled_from(
    [
        "p",
        "p + 1",
        "2*p",
        "p*s + k",
        "p + k",
        "k*n + p",
        "n - 1 - p",
        "i",
        "j",
        "k*B + j",
        "i*s + k",
        "p + n",
        "3",
        "(2*p + k)*2*n + k",
        "4*p*n + 2*j + k",
        "6*n*k + 3*p",
        "p - 1",
        "2*p + p % 2",
        "p / 2",
        "p / 2 * 2 + k",
        "2*k + (p & 1)",
        "p - 1 if p > 0 else n - 1",
        "p + (1 if p % 2 < 1 else -1)",
        "(p - 2) % 3 + 3*p",
    ]
)
guards = st.sampled_from(
    ["p < n", "p % 2 == 1", "p % 3 == s", "(p + 1) % 2 != 0", "p % 2", "p / 2 < s", "(p & 1) == (s & 1)"]
)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(target=indices, source=indices, update=st.booleans(), floor=st.booleans(), guard=guards)
def test_no_loop_is_called_parallel_that_carries_a_conflict(
    target: str, source: str, update: bool, floor: bool, guard: str
) -> None:
    subject = region(
        f"a[{target}] {'+=' if update else '='} a[{source}] + b[p]",
        guard=guard,
        dim="n/B" if floor else "(n + B - 1)/B",
    )
    verdicts = (*parallel_loops(subject), ("k", serial_is_parallel(subject, 0, "k")))
    for name, verdict in verdicts:
        refuted = any(
            conflicting(subject, {"n": n, "B": B, "s": s}, name)
            for n, B, s in product((4, 5), (1, 2, 3), (1, 2))
        )
        if refuted:
            assert not isinstance(verdict, Parallel), (name, verdict)
        if isinstance(verdict, Conflict):
            witness = verdict.witness
            point = {k: witness.parameters[k] for k in ("n", "B", "s")}
            assert admissible(subject, point)
            assert conflicting(subject, point, name)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("a[p*s + k] = b[p*s + k]", True),
        ("a[k*n + p] = b[p]", True),
        ("a[p] += b[p*s + k]", True),
        ("a[2*p] = a[2*p + 1]", True),
        ("a[p + 1] = a[p]", False),
        ("a[j] = b[p]", False),
    ],
)
def test_the_grid_loop_gets_the_right_verdict(statement: str, expected: bool) -> None:
    verdict = dict(parallel_loops(region(statement)))["i"]
    assert isinstance(verdict, Parallel if expected else Conflict)


LINEAR = """void f(int h, int w, double *y, const double *x, int B0, int B1)
{{
  {host}
  meta_schedule block(B0, B1) {{
    meta_for (int i = {begin}; i < h; i++)
      meta_for (int j = {begin}; j < w; j++)
        {body}
  }}
}}
"""


@pytest.mark.parametrize(
    ("body", "begin", "host"),
    [
        (
            "for (int d = 0; d < 2; d++) for (int e = 0; e < 2; e++) y[(2*i + d)*(2*w) + 2*j + e] = x[i*w + j];",
            0,
            "",
        ),
        ("for (int u = 0; u < 8; u++) for (int v = 0; v < 8; v++) y[((i*w + j)*8 + u)*8 + v] = x[i];", 0, ""),
        ("y[i*w + j] -= y[i*w + k] * y[k*w + j];", "k + 1", "for (int k = 0; k < h; k++)"),
        ("if (j != k) y[i*w + j] += y[i*w + k];", 0, "for (int k = 0; k < w; k++)"),
        ("if (j != k) y[i*w + j] += y[i*w + k];", 0, "int k = h - 1; assert(k >= 0 && k < w);"),
        ("if ((i + j) % 2 == c) y[i*w + j] = y[(i + 1)*w + j] + y[(i - 1)*w + j];", 1, "int c = h % 2;"),
        ("if ((i + j) & 1) y[i*w + j] = y[i*w + j - 1];", 1, ""),
        ("if ((i + j) % 2) y[i*w + j] = y[i*w + j - 1] + y[(i - 1)*w + j];", 1, ""),
        ("if ((i + j) % 3 == 2) y[i*w + j] = y[i*w + j - 1] + y[i*w + j - 2];", 2, ""),
        ("if ((i + j) % 2 != 1) y[i*w + j] = y[i*w + j + 1];", 1, ""),
        ("if (i % 2 == j % 2) y[i*w + j] = y[i*w + j + 1];", 1, ""),
        ("for (int k = 0; k < 4; k++) y[(2*i + (k >> 1))*(2*w) + 2*j + (k & 1)] = x[i*w + j];", 0, ""),
        ("y[(j >> 1)*2 + (j & 1) + i*w] = 1;", 0, ""),
        ("y[((j - 4) >> 1)*2 + ((j - 4) & 1) + 4 + i*w] = 1;", 0, ""),
        ("if ((i ^ j) & 1) y[i*w + j] = y[(i - 1)*w + j];", 1, ""),
        ("if (j < w / 2) y[i*w + 2*j + (i & 1)] = y[i*w + 2*j + 1 - (i & 1)];", 0, ""),
        ("for (int l = 1 + i % 2; l < 9; l += 2) y[i*(9*w) + 9*j + l] += y[i*(9*w) + 9*j + l - 1];", 0, ""),
        ("y[(j % 3)*(h*w) + i*w + j / 3] = 1;", 0, ""),
        ("if ((i + j) & 1) y[i*w + j] = y[(i == 0 ? h - 1 : i - 1)*w + j];", 0, "assert(h % 2 == 0);"),
        ("if ((i + j) & 1) y[i*w + j] = y[i*w + (j == 0 ? w - 1 : j - 1)];", 0, "assert(w % 2 == 0);"),
    ],
)
def test_elements_behind_a_pointer_are_told_apart(body: str, begin: object, host: str) -> None:
    (subject,) = nests_of(LINEAR.format(body=body, begin=begin, host=host))
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(subject))


@pytest.mark.parametrize(
    ("body", "begin", "host"),
    [
        ("for (int d = 0; d < 3; d++) y[(2*i + d)*(2*w) + 2*j] = x[i*w + j];", 0, ""),
        ("for (int v = 0; v < 9; v++) y[(i*w + j)*8 + v] = x[i];", 0, ""),
        ("y[i*w + j] -= y[i*w + k] * y[k*w + j];", "k", "for (int k = 0; k < h; k++)"),
        ("if (j != k) y[i*w + j] += y[i*w + k];", 0, "for (int k = 0; k < h; k++)"),
        ("if ((i + j) % 2 == 1) y[i*w + j] = y[(i + 1)*w + j + 1];", 1, ""),
        ("if ((i + j) & 2) y[i*w + j] = y[i*w + j + 1];", 1, ""),
        ("if ((i + j) % 3) y[i*w + j] = y[i*w + j + 1];", 1, ""),
        ("if ((i - j) % 2 != 1) y[i*w + j] = y[i*w + j + 1];", 1, ""),
        ("if (j < w / 2) y[i*w + 2*j + (i & 1)] = y[i*w + 2*j + 2 + (i & 1)];", 0, ""),
        ("y[i*w + j / 2] = 1;", 0, ""),
        ("y[i*w + (j >> 1)] = 1;", 0, ""),
        ("y[i*w + (j - 2) % 3 + 2] = 1;", 0, ""),
        ("if (i == 1 || i == 5) y[((i - 4) % 2u + 1)*w + j] = 1;", 0, ""),
        ("if (i == 1 || i == 7) y[((i - 4) / 3u % 2 + 1)*w + j] = 1;", 0, ""),
        ("if ((i + j) & 1) y[i*w + j] = y[(i == 0 ? h - 1 : i - 1)*w + j];", 0, ""),
        ("if ((i + j) & 1) y[i*w + j] = y[i*w + (j == 0 ? w - 1 : j - 1)];", 0, "assert(h % 2 == 0);"),
    ],
)
def test_elements_that_may_meet_are_not_told_apart(body: str, begin: object, host: str) -> None:
    (subject,) = nests_of(LINEAR.format(body=body, begin=begin, host=host))
    assert not all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(subject))


STRIDED = """void f(int b, int h, int w, int s, int ld, float *c, int B0, int B1)
{{
  {asserted}
  meta_schedule block(1, B0, B1) {{
    meta_for (int l = 0; l < b; l++)
      meta_for (int i = 0; i < h; i++)
        meta_for (int j = 0; j < w; j++)
          {body}
  }}
}}
"""


@pytest.mark.parametrize(
    ("asserted", "body", "apart"),
    [
        ("assert(s >= h * w);", "c[l*s + i*w + j] = 1;", True),
        ("assert(s >= h * w);", "c[7 + l*s + i*w + j] += c[7 + l*s + i*w + j];", True),
        ("assert(ld >= w && s >= h * ld);", "c[l*s + i*ld + j] = 1;", True),
        ("assert(ld >= h && s >= w * ld);", "c[l*s + j*ld + i] = 1;", True),
        ("assert(s >= h * w - 1);", "c[l*s + i*w + j] = 1;", False),
        ("assert(ld >= w && s >= (h - 1) * ld);", "c[l*s + i*ld + j] = 1;", False),
        ("assert(s >= h * w);", "c[l*s + i*w + j] = c[l*s + i*w + j + 1];", False),
    ],
)
def test_planes_and_rows_that_do_not_divide_each_other_are_told_apart_where_they_are_long_enough(
    asserted: str, body: str, apart: bool
) -> None:
    (subject,) = nests_of(STRIDED.format(asserted=asserted, body=body))
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(subject)) is apart


def test_an_iterator_that_may_begin_below_zero_is_large_where_it_is_compared_without_its_sign() -> None:
    below = "for (int k = s; k < 2; k++) if (k > 3u && k > -4) c[k + 4] = 1;"
    (subject,) = nests_of(STRIDED.format(asserted="", body=below))
    assert not isinstance(dict(parallel_loops(subject))["i_block"], Parallel)


def test_an_indirect_write_is_undecided_and_names_its_term() -> None:
    verdict = dict(parallel_loops(region("a[b[p]] = 1")))["i"]
    assert isinstance(verdict, Undecided)
    assert "b[" in verdict.reason


def test_an_indirect_read_of_data_that_is_never_written_does_no_harm() -> None:
    subject = region("a[p*s + k] = b[b[p]]")
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(subject))


def test_a_clamped_neighbour_is_harmless_in_an_array_that_is_only_read() -> None:
    subject = region("a[p*s + k] = b[p - 1 if p > 0 else 0]")
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(subject))


def test_a_conflict_that_data_may_hide_is_not_an_error() -> None:
    subject = nest(
        threads("j < B", let("p", "i*B + j"), when("b[p] > 0", assign("a[0] = 1"))),
        grid="i < dim",
        arrays={"a": None, "b": None},
        data="n",
        program="B",
        host={"dim": "n/B"},
    )
    assert all(isinstance(verdict, Undecided) for _, verdict in parallel_loops(subject))


def test_a_branch_on_a_time_variable_keeps_its_sides_apart() -> None:
    subject = nest(
        threads(
            "j < B",
            let("p", "i*B + j"),
            when("t % 2", assign("a[p] = b[p + 1]"), otherwise=(assign("b[p] = a[p + 1]"),)),
        ),
        grid="i < dim",
        arrays={"a": None, "b": None},
        data="n",
        program="B",
        host={"dim": "n/B", "t": None},
    )
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(subject))


def test_threads_that_read_what_their_neighbours_wrote_a_step_ago_need_a_barrier() -> None:
    def stepped(source: str) -> Nest:
        return nest(
            step("k from 0 to s", threads("j < B", assign(f"a[(k + 1)*n + i*B + j] = a[k*n + {source}]"))),
            grid="i < dim",
            arrays={"a": None},
            data="n",
            program="s B",
            host={"dim": "n/B"},
        )

    assert threads_meet(stepped("i*B + (B - 1 - j)"))
    assert not threads_meet(stepped("i*B + j"))
    assert not threads_meet(matmul())


def test_two_bands_that_exchange_elements_need_a_barrier() -> None:
    subject = nest(
        threads("u < B", assign("a[i*B + u] = 1")),
        threads("x < B", assign("b[i*B + x] = a[i*B + B - 1 - x]")),
        grid="i < dim",
        arrays={"a": None, "b": None},
        data="n",
        program="B",
        host={"dim": "n/B"},
    )
    assert threads_meet(subject)
    assert all(isinstance(verdict, Parallel) for _, verdict in parallel_loops(subject))
