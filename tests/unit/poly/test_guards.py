"""Guards: only what holds in every iteration goes, and all of the paper's does."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from comprehensive.loops.ir import Nest
from comprehensive.metafork.ast import Block, If, Stmt
from comprehensive.poly.guards import drop_implied_guards
from tests.examples import examples
from tests.unit.poly.enumeration import host, touches
from tests.unit.poly.nests import assign, jacobi, let, loop, matadd, nest, threads, when


def region(condition: str, dim: str = "n/B") -> Nest:
    return nest(
        threads(
            "j < B", let("p", "i*B + j"), loop("k from 0 to s", when(condition, assign("a[p + k] = b[p]")))
        ),
        grid="i < dim",
        arrays={"a": None, "b": None},
        data="n m",
        program="s B",
        host={"dim": dim},
    )


def ifs_in(body: tuple[Stmt, ...]) -> list[If]:
    found: list[If] = []
    for statement in body:
        if isinstance(statement, If):
            found += [statement, *ifs_in(statement.then), *ifs_in(statement.otherwise)]
        elif not isinstance(statement, If) and hasattr(statement, "body"):
            found += ifs_in(statement.body)
    return found


conditions = st.sampled_from(
    [
        "p < n", "p <= n", "p + 1 < n", "p + k < n", "p >= 0", "p > 0", "j < s", "k < s", "j <= B - 1", "i < n/B",
        "p < n/2", "p != n", "p != 3", "n > 0", "m > 0", "2*p < 2*n", "k + j < B + s", "b[p] > 0", "not (p >= n)",
        "p < m or p < n", "i*B + B <= n",
    ]
)  # fmt: skip


@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(conditions, min_size=1, max_size=2), ceiling=st.booleans())
def test_dropping_implied_guards_changes_no_iteration(parts: list[str], ceiling: bool) -> None:
    subject = region(" and ".join(parts), "(n + B - 1)/B" if ceiling else "n/B")
    reduced = drop_implied_guards(subject)
    if "b[p] > 0" in parts:
        assert "b" in str(ifs_in(reduced.bands[0].body))
        return
    for n, m, B, s in ((0, 0, 1, 1), (1, 0, 2, 1), (4, 3, 2, 2), (5, 9, 3, 1), (7, 2, 2, 3)):
        point = host(subject, {"n": n, "m": m, "B": B, "s": s})
        before = [(t.grid, t.threads, t.serial, t.element) for t in touches(subject, point)]
        after = [(t.grid, t.threads, t.serial, t.element) for t in touches(reduced, point)]
        assert before == after


def test_the_guards_of_matrix_addition_are_dead_code() -> None:
    # comprehensive, figure 1: floor grids
    assert ifs_in(matadd().bands[0].body)
    assert not ifs_in(drop_implied_guards(matadd()).bands[0].body)


def test_a_nest_without_guards_stays_as_it_is() -> None:
    assert drop_implied_guards(jacobi()) == jacobi()


def test_a_dropped_test_keeps_declarations_in_a_scope_of_their_own() -> None:
    subject = nest(
        threads("j < B", when("j < B", let("q", "i*B + j"), assign("a[q] = 1"))),
        grid="i < n",
        arrays={"a": None},
        data="n",
        program="B",
    )
    assert isinstance(drop_implied_guards(subject).bands[0].body[0], Block)
