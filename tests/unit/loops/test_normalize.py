"""The normal form of a nest computes what the nest does, to the bit, and is what it says to be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from comprehensive.codegen.cuda import print_kernel
from comprehensive.loops.interpreter import EndlessLoopError, UndefinedBehaviour, run
from comprehensive.loops.ir import Nest
from comprehensive.loops.normalize import normalize
from comprehensive.loops.verify import verify
from comprehensive.lowering.lower import lower
from comprehensive.metafork.ast import For, IntLiteral
from comprehensive.metafork.printer import print_stmts
from comprehensive.metafork.walk import statements_in
from comprehensive.optimize.protocols import Applied
from comprehensive.strategies.tilings import tilings
from tests.examples import examples
from tests.unit.loops.nests import body_of, nest_of

SPECIAL = (0.0, -0.0, 1.5, -2.25, float("inf"), float("-inf"), float("nan"), 1e-45, 3e38)


def normal(nest: Nest) -> Nest:
    """The normal form, which is in normal form itself."""
    found = normalize(nest)
    verify(found)
    assert normalize(found) == found
    return found


def text(nest: Nest) -> str:
    return print_stmts(nest.bands[0].body)


def assert_same(nest: Nest, arguments: Mapping[str, int], data: Mapping[str, np.ndarray]) -> None:
    try:
        expected = run(nest, arguments, data)
    except (UndefinedBehaviour, EndlessLoopError):
        assume(False)
        raise
    found = run(normal(nest), arguments, data)
    for name, array in expected.items():
        np.testing.assert_array_equal(array.view(np.uint8), found[name].view(np.uint8), name)


SIGNED = st.sampled_from(["n", "m", "n - 1", "n / 2", "7", "0", "-2", "i", "i + 1", "n - i", "m * 2", "w"])
PLAIN = st.sampled_from(["n", "3", "0", "w", "s", "n / 2"])
STEPS = {
    "<": ("++", " += 2", " += 3", " += s"),
    "<=": ("++", " += 2"),
    ">": ("--", " -= 2"),
    ">=": ("--", " -= 3"),
}


@st.composite
def loops(draw: st.DrawFn, iterator: str, outer: str | None = None) -> str:
    """The header of a loop that ends."""
    type = draw(st.sampled_from(["int", "int", "long", "unsigned", "unsigned long"]))
    if draw(st.integers(0, 5)) == 0:
        return f"for ({type} {iterator} = 0; {iterator} != n; {iterator}++)"
    if type.startswith("unsigned"):
        relation, step = draw(st.sampled_from([("<", "++"), ("<", " += 2"), ("<=", "++"), (">", "--")]))
        start, bound = draw(PLAIN), draw(PLAIN)
    else:
        relation = draw(st.sampled_from(sorted(STEPS)))
        step = draw(st.sampled_from(STEPS[relation]))
        start, bound = draw(SIGNED), draw(SIGNED)
        if outer is not None and draw(st.booleans()):
            start = f"(int){outer}"
    return f"for ({type} {iterator} = {start}; {iterator} {relation} {bound}; {iterator}{step})"


@given(loops("k"), loops("z", "k"), st.booleans(), st.integers(0, 5), st.integers(-3, 6), st.integers(0, 5))
@settings(max_examples=examples(100), deadline=None)
def test_loops_visit_what_they_visited_in_their_order(
    outer: str, inner: str, of_block: bool, n: int, m: int, w: int
) -> None:
    body = (
        f"a[i] = a[i] * 31 + k; b[i] = b[i] * 3.0f - k / 7.0f; {inner} {{ a[i] = a[i] * 17 + z; b[i] += z; }}"
    )
    if of_block:
        outer = (
            outer.replace("n - i", "m").replace("i + 1", "2").replace("= i;", "= 1;").replace("> i;", "> 1;")
        )
        outer = outer.replace("< i;", "< 2;").replace("= i;", "= 3;")
    threads = "meta_for (int i = 0; i < s; i++)"
    nest = nest_of(
        f"meta_for (int v = 0; v < n / s + 1; v++) {outer if of_block else ''} {threads}"
        f" {'' if of_block else outer} {{ {body} }}",
        "int n, int m, unsigned w, int s, unsigned *a, float *b",
    )
    arguments = {"n": n, "m": m, "w": w, "s": 2}
    data = {"a": np.arange(2, dtype=np.uint32), "b": np.ones(2, np.float32)}
    assert_same(nest, {s.name: arguments[s.name] for s in nest.scalars}, data)


@pytest.mark.parametrize(
    ("value", "moved"),
    [
        ("x[k] - x[k]", "x[1 + k] - x[1 + k]"),
        ("x[k] + k - x[k]", "x[1 + k] + (1 + k) - x[1 + k]"),
        ("-x[k] + (1 + x[k])", "-x[1 + k] + (1 + x[1 + k])"),
        ("c - (c - x[k])", "c - (c - x[1 + k])"),
    ],
)
def test_floating_point_terms_stay_where_a_loop_counts_in_another_way(value: str, moved: str) -> None:
    nest = body_of(f"for (int k = 1; k < n; k++) x[k - 1] = {value};", "int n, int B, float c, float *x")
    assert text(normal(nest)) == f"for (int k = 0; k < n - 1; k++)\n  x[k] = {moved};\n"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("for (int k = 1; k <= n; k++) a[k - 1] = k;", "for (int k = 0; k < n; k++)\n  a[k] = 1 + k;\n"),
        ("for (int k = n - 1; k >= 0; k--) a[n - 1 - k] = 2;", "for (int k = 0; k < n; k++)\n  a[k] = 2;\n"),
        (
            "for (int k = 2; k < n; k += 3) a[k] = 0;",
            "for (int k = 0; k < n / 3; k++)\n  a[2 + k * 3] = 0;\n",
        ),
        ("for (long k = 0; k < n; k++) a[k] = k;", "for (int k = 0; k < n; k++)\n  a[k] = (long)k;\n"),
        ("for (long k = 1; k <= n; k++) a[k - 1] = 0;", "for (int k = 0; k < n; k++)\n  a[k] = 0;\n"),
        ("int k; for (k = 0; k < n; k++) a[k] = 0;", "for (int k = 0; k < n; k++)\n  a[k] = 0;\n"),
        (
            "int k; for (k = 0; k < n; k++) for (int z = k; z < n; z++) a[z] = k;",
            "for (int k = 0; k < n; k++)\n  for (int z = 0; z < n - k; z++)\n    a[k + z] = k;\n",
        ),
        ("for (int k = 0; k != n; k++) a[k] = 0;", "for (int k = 0; k < n; k++)\n  a[k] = 0;\n"),
        ("for (unsigned long k = 3; k < w; k++) a[k] = k;",  # w - 3 may be negative
         "for (long k = 0; k < (long)w - 3; k++)\n  a[3 + k] = (unsigned long)(3 + k);\n"),
        ("for (unsigned k = 3; k < w; k++) a[k] = 0;",
         "for (unsigned k = 0; k < (long)w - 3; k++)\n  a[3 + k] = 0;\n"),
    ],
)  # fmt: skip
def test_a_loop_counts_from_zero(written: str, expected: str) -> None:
    assert text(normal(body_of(written, "int n, int B, unsigned w, int *a"))) == expected


@pytest.mark.parametrize(
    "written",
    [
        "int z = n; for (int k = 1; k < z; k++) { a[k] = 0; z = z - 1; }",  # ... the bound
        "for (int k = a[0]; k < a[1]; k++) a[k] = 0;",  # data is read again in each step
        "for (int k = 1; k < w; k++) a[k] = 0;",  # fine: not negative; changes below
        "for (unsigned k = 1; k < m; k++) a[k] = 0;",  # a negative m is a large unsigned number
        "for (unsigned char k = 1; k < n; k++) a[k] = 0;",  # wraps around at 256
        "for (int k = 1; k < n; k += m) a[k] = 0;",  # m may be 0
        "int k; for (k = 1; k < n; k++) { a[k] = 0; if (a[0]) break; } a[0] = k;",  # its last value is not known
    ],
)
def test_a_loop_that_c_counts_in_another_way_stays(written: str) -> None:
    nest = body_of(written, "int n, int B, int m, unsigned w, int *a")
    if "k < w" in written and "unsigned k" not in written:
        assert normal(nest) != nest
    else:
        assert normal(nest) == nest


def test_loops_of_blocks_count_from_zero_too() -> None:
    nest = nest_of(
        "meta_for (int v = 0; v < n; v++) for (int k = n; k >= 1; k--) meta_for (int u = 0; u < B; u++) a[k] = v;"
    )
    (loop,) = normal(nest).body
    assert isinstance(loop, For)
    assert (loop.start, loop.relation, loop.step) == (IntLiteral(0), "<", IntLiteral(1))


# --- first iterations


def rolled(nest: Nest) -> bool:
    """Whether the loop of a nest does as many iterations as its bound says."""
    (before,) = [s for s in statements_in(nest.bands[0].body) if isinstance(s, For)]
    (after,) = [s for s in statements_in(normal(nest).bands[0].body) if isinstance(s, For)]
    return before.bound == after.bound


SUMS = {
    "float": ["s += {e}", "s = s + {e}", "s = {e} + s", "s -= {e}", "s *= {e}", "s = fmaxf(s, {e})",
              "s = {e} < s ? {e} : s", "s = fmin(s, {e})", "if ({e} > s) s = {e}"],
    "int": ["s += {e}", "s *= {e}", "s |= {e}", "s ^= {e}", "s = s & {e}", "s = s > {e} ? s : {e}", "s -= {e}"],
}  # fmt: skip


@pytest.mark.parametrize(("type", "step"), [(t, s) for t, steps in SUMS.items() for s in steps])
@pytest.mark.parametrize("taken", [1, 2])
@pytest.mark.parametrize("target", ["scalar", "element"])
def test_iterations_in_front_of_a_loop_are_rolled_in_bit_for_bit(
    type: str, step: str, taken: int, target: str
) -> None:
    def at(k: str) -> str:
        return f"a[i * n + {k}] * b[{k}]" if type == "float" else f"a[i * n + {k}]"

    first = f"{'-(' if '-' in step else '('}{at('0')})"
    more = "".join(f"{step.format(e=at(str(k)))};" for k in range(1, taken))
    text = f"s = {first}; {more} for (int k = {taken}; k < n; k++) {step.format(e=at('k'))}; c[i] = s;"
    text = f"{type} {text}" if target == "scalar" else text.replace("c[i] = s;", "").replace("s ", "c[i] ")
    text = (
        text.replace("(s,", "(c[i],").replace(" s,", " c[i],").replace("> s)", "> c[i])")
        if target == "element"
        else text
    )
    text = (
        text.replace(": s;", ": c[i];").replace("+ s;", "+ c[i];").replace("? s :", "? c[i] :")
        if target == "element"
        else text
    )
    nest = nest_of(
        f"meta_for (int v = 0; v < n / B; v++) meta_for (int u = 0; u < B; u++) {{ int i = v * B + u; {text} }}",
        f"int n, int B, {type} *a, {type} *b, {type} *c",
    )
    generator = np.random.default_rng(7)
    for n in (2, 5):
        kind = np.float32 if type == "float" else np.int32
        for _ in range(3):
            if type == "float":
                data = {x: generator.choice(SPECIAL, n * n).astype(kind) for x in "abc"}
            else:
                data = {x: generator.integers(-3, 4, n * n).astype(kind) for x in "abc"}
            names = {a.name for a in nest.arrays}
            with np.errstate(all="ignore"):
                assert_same(nest, {"n": n, "B": 2}, {x: d for x, d in data.items() if x in names})


@pytest.mark.parametrize(
    ("text", "is_rolled"),
    [
        ("float s = x[0]; for (int k = 1; k < m; k++) s += x[k]; c[i] = s;", False),  # m may be 0
        ("float s = 0; for (int k = 1; k < n; k++) s += x[k]; c[i] = s;", False),
        ("float s = x[1]; for (int k = 1; k < n; k++) s += x[k]; c[i] = s;", False),
        ("float s = x[0]; for (int k = 1; k < n; k++) s += x[k] * s; c[i] = s;", False),
        ("float s = x[0]; for (int k = 1; k < n; k++) if (x[k] > x[k - 1]) s = x[k]; c[i] = s;", False),
        ("float s = x[0]; for (int k = 1; k < m; k++) s = fmaxf(s, x[k]); c[i] = s;", True),
        ("c[i] = x[0]; for (int k = 1; k < n; k++) c[i] += x[k];", True),
        ("float s = x[0]; float t = x[0] * x[0]; for (int k = 1; k < n; k++) { s += x[k]; t += x[k] * x[k]; }"
         " c[i] = s * t;", True),
        ("float s = x[0]; float t = s * x[0]; for (int k = 1; k < n; k++) { s += x[k]; t += s * x[k]; }"
         " c[i] = s * t;", False),
    ],
)  # fmt: skip
def test_an_iteration_is_rolled_in_only_where_it_is_one(text: str, is_rolled: bool) -> None:
    nest = nest_of(
        "meta_for (int v = 0; v < (n + B - 1) / B; v++) meta_for (int u = 0; u < B; u++)"
        f" {{ int i = v * B + u; if (i < n) {{ {text} }} }}",
        "int n, int m, int B, float *x, float *c",
    )
    assert rolled(nest) is is_rolled


@pytest.mark.parametrize("type", ["int", "unsigned", "long", "unsigned long"])
@pytest.mark.parametrize(
    ("start", "is_rolled"), [("1", True), ("3", False)], ids=["the first", "not the one before"]
)
def test_iterations_of_all_types_are_rolled_in(type: str, start: str, is_rolled: bool) -> None:
    nest = nest_of(
        f"meta_for (int v = 0; v < 2; v++) meta_for (int u = 0; u < B; u++) {{ {type} i = v * B + u; if (w >= 1) {{"
        f" float s = x[i * w] * y[0]; for ({type} k = {start}; k < w; k++) s += x[i * w + k] * y[k]; c[i] = s; }} }}",
        f"{type} w, int B, float *x, float *y, float *c",
    )
    assert rolled(nest) is is_rolled
    generator = np.random.default_rng(3)
    for w in (0, 1, 2, 5):
        data = {name: generator.choice(SPECIAL, 64).astype(np.float32) for name in "xyc"}
        with np.errstate(all="ignore"):
            assert_same(nest, {"w": w, "B": 3}, data)


def test_an_element_that_was_read_is_there() -> None:
    """The read of the first column of an array shows that there is one."""
    nest = nest_of(
        "meta_for (int v = 0; v < m; v++) meta_for (int u = 0; u < 1; u++)"
        " { y[v] = a[v][0] * x[0]; for (int k = 1; k < n; k++) y[v] += a[v][k] * x[k]; }",
        "int m, int n, float a[m][n], float x[n], float y[m]",
    )
    assert rolled(nest)


# --- what it is for

PRODUCTS = {
    "plain": "float s = 0; for (int k = 0; k < n; k++) s += a[i][k] * b[k][j]; c[i][j] = s;",
    "from 1": "float s = 0; for (int k = 1; k <= n; k++) s += a[i][k - 1] * b[k - 1][j]; c[i][j] = s;",
    "of C89": "float s = 0; int k; for (k = 0; k < n; k++) s += a[i][k] * b[k][j]; c[i][j] = s;",
    "long": "float s = 0; for (long k = 1; k <= n; k++) s += a[i][k - 1] * b[k - 1][j]; c[i][j] = s;",
    "first": "float s = a[i][0] * b[0][j]; for (int k = 1; k < n; k++) s += a[i][k] * b[k][j]; c[i][j] = s;",
    "unlike": "float s = 0; for (int k = 0; k != n; k++) s += a[i][k] * b[k][j]; c[i][j] = s;",
}


def product(body: str) -> Nest:
    return nest_of(
        "meta_for (int v = 0; v < (n + 15) / 16; v++) meta_for (int w = 0; w < (n + 15) / 16; w++)"
        " meta_for (int p = 0; p < 16; p++) meta_for (int q = 0; q < 16; q++)"
        f" {{ int i = v * 16 + p, j = w * 16 + q; if (i < n && j < n) {{ {body} }} }}",
        "int n, float a[n][n], float b[n][n], float c[n][n]",
    )


@pytest.mark.parametrize("spelling", PRODUCTS)
def test_a_product_has_the_tile_of_the_plain_one_however_it_is_written(spelling: str) -> None:
    def kernel(body: str) -> str:
        tiled = tilings(normal(product(body)))[0].result
        assert isinstance(tiled, Applied)
        variant = tiled.fragment
        assert variant.tile is not None
        assert variant.tile.recipe == "product"
        return print_kernel(lower(variant, "product"))

    assert kernel(PRODUCTS[spelling]).replace("-0.0f", "0") == kernel(PRODUCTS["plain"])
