"""Rewrites keep the meaning of a nest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.loops.fold import fold
from comprehensive.loops.interpreter import UndefinedBehaviour, c_value, run
from comprehensive.loops.ir import Threads
from comprehensive.loops.traverse import fresh_name, map_bands, rename
from comprehensive.loops.types import environment_of, type_of, with_declarations
from comprehensive.loops.unswitch import unswitch
from comprehensive.loops.verify import VerificationError, verify
from comprehensive.metafork.ast import Binary, Break, Expr, If, Index, IntLiteral, Name, ScalarType, Unary
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.rewrite import map_expression, map_expressions
from comprehensive.records import replace
from tests.examples import examples
from tests.unit.loops.nests import body_of, spec_nests


def _expr(text: str, parameters: str = "int n, int m, int B, int *a") -> Expr:
    (statement,) = body_of(f"a[0] = {text};", parameters).bands[0].body
    return statement.value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n*1 + 0", "n"),
        ("(n + 1) + 2", "n + 3"),
        ("(n + 1) - 3", "n - 2"),
        ("(n - 2) + 2", "n"),
        ("-7/2", "-3"),
        ("-7%2", "-1"),
        ("0*(n + m)", "0"),
        ("n - n", "0"),
        ("1 ? n : m", "n"),
        ("0 && n", "0"),
        ("1 && n", "1 && n"),
        ("1 && n < m", "n < m"),
        ("n + -1", "n - 1"),
        ("n - -1", "n + 1"),
        ("1 + n - 1", "n"),
        ("1 + n + 2", "n + 3"),
        ("0 - n", "-n"),
        ("-1*(n + m)", "-(n + m)"),
        ("n*3*3", "n * 9"),
        ("n*65536*65536", "n * 65536 * 65536"),
    ],
)
def test_fold_simplifies_integers(before: str, after: str) -> None:
    assert print_expr(fold(_expr(before))) == after


@pytest.mark.parametrize(
    "undefined",
    [Binary("+", IntLiteral(2147483647), IntLiteral(1)), Binary("/", Name("n"), IntLiteral(0))],
    ids=["overflow", "division by zero"],
)
def test_fold_gives_no_value_to_what_has_none(undefined: Expr) -> None:
    assert fold(undefined) == undefined


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x + 0", "x + 0"),
        ("x*0", "x * 0"),
        ("x*1", "x"),
        ("x - 0", "x"),
        ("(x + 1) + 2", "x + 1 + 2"),
        ("0 - x", "0 - x"),
        ("x + -x", "x + -x"),
        ("x*3*3", "x * 3 * 3"),
        ("1 + x - 1", "1 + x - 1"),
        ("-1*x", "-1 * x"),
    ],
)
def test_fold_leaves_floating_point_arithmetic_alone(before: str, after: str) -> None:
    expr = _expr(before, "int n, int B, float x, float *a")
    environment = {"x": ScalarType.FLOAT}
    assert print_expr(fold(expr, environment)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n + -m", "n - m"),
        ("n - -m", "n + m"),
        ("n + -1*m", "n - m"),
        ("n + m*-1", "n - m"),
        ("l + -n", "l - n"),
        ("w + -w", "0u"),
        ("n + -w", "n - w"),
        ("l + -w", "l + -w"),  # -w is less than 2^32 there, and not less than 0
        ("0 - w", "-w"),
        ("w*3*3", "w * 9"),
    ],
)
def test_fold_subtracts_what_is_negated_in_the_type_of_the_sum(before: str, after: str) -> None:
    types = {"n": ScalarType.INT, "m": ScalarType.INT, "l": ScalarType.LONG, "w": ScalarType.UNSIGNED}
    expr = _expr(before, "int n, int m, int B, long l, unsigned w, int *a")
    assert print_expr(fold(expr, types)) == after


INTEGERS = st.recursive(
    st.sampled_from(["n", "m"]).map(Name) | st.integers(-3, 3).map(IntLiteral),
    lambda e: (
        st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "%", "<", "==", "&&", "||", "&", "|"]), e, e)
        | st.builds(Unary, st.sampled_from(["-", "!", "~", "+"]), e)
    ),
    max_leaves=10,
)


@settings(max_examples=examples(100), deadline=None)
@given(INTEGERS, st.integers(-5, 5), st.integers(-5, 5))
def test_fold_keeps_every_defined_value(expr: Expr, n: int, m: int) -> None:
    try:
        expected = c_value(expr, {"n": n, "m": m})
    except UndefinedBehaviour:
        return
    for environment in (None, {"n": ScalarType.INT, "m": ScalarType.INT}):
        assert c_value(fold(expr, environment), {"n": n, "m": m}) == expected


def _count_conditions(nest) -> int:
    return sum(isinstance(s, If) for s in nest.body)


def test_unswitch_moves_a_launch_constant_condition_out_of_the_threads() -> None:
    (nest,) = spec_nests("jacobi1d")
    moved = unswitch(nest)
    verify(moved)
    (choice,) = moved.body
    assert isinstance(choice, If)
    assert print_expr(choice.condition) == "t % 2"
    assert len(moved.bands) == 2
    assert unswitch(moved) == moved
    arguments = {"N": 20, "s": 2, "B": 3}
    data = {"a": np.arange(40, dtype="int32") ** 2}
    for t in (0, 1):
        ours, theirs = (run(x, {**arguments, "t": t}, data)["a"] for x in (moved, nest))
        assert ours.tolist() == theirs.tolist()


UNSWITCHED = [
    "if (t % 2) a[u] = 1; else a[u] = 2;",
    "if (t > 3) a[u] = 1;",
    "if (u < 2) { if (t == 0) a[u] = 1; } else if (t != 0) a[u] = 3;",
    "a[u] = t % 2 ? u : 7;",
    "a[u] = t && u;",
    "a[u] = !t + (t || u);",
    "if (t && u > 1 || !t) a[u] = 4;",
    "for (int k = 0; k < 3; k++) { if (t > 1) { int x = k; a[u] += x; } int x = 2; a[u] += x; }",
    "for (int k = 0; k < 3; k++) { if (t > 2) continue; a[u] += k + 1; }",
    "a[t > 1 ? u : 0] = 9;",
    "if (t) if (n) if (B > 3) a[u] = 5; else a[u] = 6;",
    "while (t > 2 && a[u] < 5) a[u]++;",
]


@pytest.mark.parametrize("body", UNSWITCHED)
def test_unswitching_keeps_the_results(body: str) -> None:
    nest = body_of(body, "int n, int B, int t, int *a")
    moved = unswitch(nest)
    verify(moved)
    assert _count_conditions(moved) > 0
    for t in (-1, 0, 1, 2, 3, 4):
        for B in (3, 5):
            data = {"a": np.arange(5, dtype="int32")}
            before, after = (run(x, {"n": 2, "B": B, "t": t}, data)["a"].tolist() for x in (nest, moved))
            assert before == after


def test_unswitch_does_not_evaluate_early_what_may_be_undefined() -> None:
    nest = body_of("if (u < 0) if (n / t > 2) a[u] = 1;", "int n, int B, int t, int *a")
    assert unswitch(nest) == nest
    guarded = body_of("if (t) if (n / t > 2) a[u] = 1;", "int n, int B, int t, int *a")
    moved = unswitch(guarded)
    assert run(moved, {"n": 1, "B": 1, "t": 0}, {"a": np.zeros(1, "int32")})["a"].tolist() == [0]


def test_a_band_with_more_than_three_conditions_stays_as_it_is() -> None:
    text = " ".join(f"if (t > {k}) a[u] = {k};" for k in range(4))
    nest = body_of(text, "int n, int B, int t, int *a")
    assert unswitch(nest) == nest


def test_an_identity_walk_changes_nothing() -> None:
    for nest in spec_nests("matmul") + spec_nests("blur5x5"):
        same = map_bands(
            nest, lambda _, body: map_expressions(body, lambda e: map_expression(e, lambda part: part))
        )
        assert same is nest


def test_rename_reaches_declarations_assignments_and_subscripts() -> None:
    nest = body_of("int x = u; x += 1; for (int k = 0; k < x; k++) a[x + k] = x;")
    renamed = map_bands(nest, lambda _, body: rename(body, {"x": "y", "k": "z"}))
    verify(renamed)
    data = {"a": np.zeros(9, "int32")}
    assert (
        run(renamed, {"n": 1, "B": 3}, data)["a"].tolist() == run(nest, {"n": 1, "B": 3}, data)["a"].tolist()
    )
    assert fresh_name(renamed, "x") == "x"


def test_fresh_names_avoid_everything_in_the_nest() -> None:
    nest = body_of("int x = u; int x_1 = x; a[x_1] = 0;")
    assert fresh_name(nest, "x") == "x_2"
    assert fresh_name(nest, "B") == "B_1"


def test_types_follow_the_usual_arithmetic_conversions() -> None:
    nest = body_of(
        "float y = x; a[u] = c + 1;", "int n, int B, float x, unsigned char c, long l, unsigned w, double *a"
    )
    types = with_declarations(
        environment_of(nest, 0) | {"l": ScalarType.LONG, "w": ScalarType.UNSIGNED}, nest.bands[0].body
    )
    for left, right, expected in [
        ("c", "c", ScalarType.INT),
        ("n", "w", ScalarType.UNSIGNED),
        ("w", "l", ScalarType.LONG),
        ("l", "y", ScalarType.FLOAT),
        ("x", "u", ScalarType.FLOAT),
    ]:
        assert type_of(Binary("*", Name(left), Name(right)), types) is expected
    assert type_of(Binary("<", Name("x"), Name("x")), types) is ScalarType.INT
    assert type_of(Binary("<<", Name("c"), Name("l")), types) is ScalarType.INT
    assert type_of(Index("a", (Name("u"),)), types) is ScalarType.DOUBLE


def _broken_nests():
    nest = body_of("int x = u; a[x] = B;")
    band = nest.bands[0]

    def with_band(**changes):
        return replace(nest, body=(replace(band, **changes),))

    yield "not declared", with_band(body=band.body[1:])
    yield "declared twice", with_band(body=(band.body[0], *band.body))
    yield "extent", with_band(loops=(replace(band.loops[0], extent=Name("v")),))
    yield (
        "different extents",
        replace(nest, body=(band, replace(band, loops=(replace(band.loops[0], extent=Name("n")),)))),
    )
    yield "does not exist", replace(nest, cached=("zz",))
    yield "rank", with_band(body=(replace(band.body[1], target=Index("a", (Name("u"), Name("u")))),))
    yield "may not be assigned", with_band(body=(replace(band.body[1], target=Name("u")),))
    yield "no band", replace(nest, body=())
    yield "outside a loop", with_band(body=(Break(),))
    yield "may not be assigned", replace(nest, arrays=(replace(nest.arrays[0], const=True),))


@pytest.mark.parametrize(("message", "nest"), list(_broken_nests()))
def test_the_verifier_finds_broken_nests(message, nest) -> None:
    with pytest.raises(VerificationError, match=message):
        verify(nest)


def test_bands_split_by_unswitching_are_threads() -> None:
    moved = unswitch(body_of("if (n > 2) a[u] = 1;"))
    (choice,) = moved.body
    assert isinstance(choice, If)
    assert all(isinstance(s, Threads) for s in choice.then)
    assert choice.otherwise == ()
