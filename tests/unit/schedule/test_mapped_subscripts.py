"""Subscripts that are functions of a sum: what stands at a border lies in boxes, too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from comprehensive.loops.integers import Ring
from comprehensive.metafork.ast import Assign, Expr, Name
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.rewrite import substitute
from comprehensive.schedule.mapped_subscripts import PLACE, mapped_subscript
from tests.examples import seeds
from tests.unit.loops.nests import body_of
from tests.unit.schedule.test_window_product import BLOCK, LINE, PLANE, VOLUME, Arrays
from tests.unit.schedule.tile_runs import compilation_of, run_all, sources_of


def _read(text: str) -> Expr:
    (statement,) = (
        body_of(f"a[0] = {text};", "int n, int B, int y, int r, int h, int z, int *a").bands[0].body
    )
    assert isinstance(statement, Assign)
    return statement.value


@pytest.mark.parametrize(
    ("subscript", "sum_", "function"),
    [
        ("y - r", "y - r", None),
        ("y - r < 0 ? 0 : y - r", "y - r", "p < 0 ? 0 : p"),
        ("y < r ? 0 : y - r", "y", "p < r ? 0 : p + -r"),
        ("(y + h - r) % h", "y + h - r", "p % h"),
        ("y < r ? r - y : y - r", "y", "p < r ? -p + r : p + -r"),
        ("(y - h/2) / 2", "y - h / 2", "p / 2"),
    ],
)
def test_a_subscript_is_a_function_of_a_sum(subscript: str, sum_: str, function: str | None) -> None:
    found = mapped_subscript(Ring(), _read(subscript), {"y"}, {"r", "h"})
    assert found is not None
    assert print_expr(found.sum) == sum_
    assert (
        None if found.of_place is None else print_expr(substitute(found.of_place, {PLACE: Name("p")}))
    ) == function


@pytest.mark.parametrize("subscript", ["y < 0 ? 0 : 2 * y", "(y * y) % h + y", "y < z ? 0 : y"])
def test_what_two_sums_decide_is_no_function_of_one(subscript: str) -> None:
    assert mapped_subscript(Ring(), _read(subscript), {"y", "z"}, {"r", "h"}) is None


FIRST = "int a = i + r - k / 2, b = j + t - k / 2; "
STEPS = "float s = 0; for (int r = 0; r < k; r++) for (int t = 0; t < k; t++) {{ {step} }} y[i*n + j] = s;"
OF_PLANE: Arrays = {"x": (("m*n",), "f4"), "w": (("k*k",), "f4"), "y": (("m*n",), "f4")}
PLANES = [
    {"m": m, "n": n, "p": 1, "k": k}
    for m, n, k in ((37, 131, 5), (1, 1, 1), (33, 128, 8), (3, 4, 0), (19, 40, 9), (40, 23, 17), (20, 150, 2))
]
SURE = [run for run in PLANES if run["k"] <= 2 * min(run["m"], run["n"]) - 1]
"""The planes in which a mirror image reaches far enough."""
PARAMETERS = "const float *x, const float *w, float *y"
CASES: dict[str, tuple[str, Arrays, list[dict[str, int]]]] = {
    "the element at the border": (
        PLANE.format(
            parameters=PARAMETERS,
            body=STEPS.format(
                step=FIRST
                + "a = a < 0 ? 0 : a > m - 1 ? m - 1 : a; if (b < 0) b = 0; if (b >= n) b = n - 1; "
                "s += x[a*n + b] * w[r*k + t];"
            ),
        ),
        OF_PLANE,
        PLANES,
    ),
    "the element on the other side": (
        PLANE.format(
            parameters="const float x[m][n], const float w[k][k], float *y",
            body=STEPS.format(step=FIRST + "s += x[(a % m + m) % m][(b % n + n) % n] * w[r][t];"),
        ),
        {"x": (("m", "n"), "f4"), "w": (("k", "k"), "f4"), "y": (("m*n",), "f4")},
        PLANES,
    ),
    "a mirror image": (
        PLANE.format(
            parameters=PARAMETERS,
            body=STEPS.format(
                step=FIRST + "a = a < 0 ? -a : a; b = b < 0 ? -b : b; "
                "s += x[(a < m ? a : 2*m - 2 - a)*n + (b < n ? b : 2*n - 2 - b)] * w[r*k + t];"
            ),
        ),
        OF_PLANE,
        SURE,
    ),
    "every element twice": (
        PLANE.format(
            parameters="const float x[m+k][n+k], float *y",
            body=STEPS.format(step="s += x[(i + r) / 2][(j + t) / 2];"),
        ),
        {"x": (("m+k", "n+k"), "f4"), "y": (("m*n",), "f4")},
        PLANES,
    ),
    "rows at a border, columns that are left out": (
        PLANE.format(
            parameters=PARAMETERS,
            body=STEPS.format(
                step=FIRST
                + "if (0 <= b && b < n) s += x[(a < 0 ? 0 : a < m ? a : m - 1)*n + b] * w[r*k + t];"
            ),
        ),
        OF_PLANE,
        PLANES,
    ),
    "several elements of a ring": (
        LINE.format(
            parameters="const double *x, const double *w, double *y",
            body="double s = 0; for (int t = 0; t < k; t++) s += (x[(i + t) % n] - x[(i + t + 1) % n]) * w[t]; "
            "y[i] = s;",
        ),
        {"x": (("n",), "f8"), "w": (("k",), "f8"), "y": (("n",), "f8")},
        [{"n": n, "p": 1, "k": k} for n, k in ((1030, 16), (1, 1), (517, 5), (7, 33), (3, 0))],
    ),
    "layers with the element at the border": (
        VOLUME.format(
            parameters="const float x[p][m][n], const float w[q][p][k][k], float y[q][m][n]",
            body="float s = 0; for (int c = 0; c < p; c++) for (int r = 0; r < k; r++) for (int t = 0; t < k; t++) { "
            + FIRST
            + "s += x[c][a < 0 ? 0 : a < m ? a : m - 1][b < 0 ? 0 : b < n ? b : n - 1] * w[o][c][r][t]; } "
            "y[o][i][j] = s;",
        ),
        {
            "x": (("p", "m", "n"), "f4"),
            "w": (("q", "p", "k", "k"), "f4"),
            "y": (("q", "m", "n"), "f4"),
        },
        [
            {"q": q, "m": m, "n": n, "p": p, "k": k}
            for q, m, n, p, k in (
                (5, 9, 34, 3, 3),
                (33, 17, 36, 2, 5),
                (1, 1, 1, 1, 1),
                (3, 2, 5, 0, 3),
                (2, 7, 20, 2, 9),
            )
        ],
    ),
}


CASES |= {
    "functions that are right only where they are used": (
        PLANE.format(
            parameters="const float x[m+k][n+k], float *y",
            body=STEPS.format(
                step="s += x[i + r > 50 ? i + r - 60 : i + r][j + t] + x[i + r + 60 > 50 ? i + r : i + r + 60][j + t];"
            ),
        ),
        {"x": (("m+k", "n+k"), "f4"), "y": (("m*n",), "f4")},
        [{"m": m, "n": n, "p": 1, "k": k} for m, n, k in ((2, 5, 2), (3, 33, 3), (20, 40, 9))],
    ),
    "conditions of another type": (
        PLANE.format(
            parameters="const float x[m][n], const float *w, float *y",
            body=STEPS.format(
                step="s += (i + r < m && j + t < n ? x[(i + r) % m][j + t] : 0.0) * w[r*k + t];"
            ),
        ),
        {"x": (("m", "n"), "f4"), "w": (("k*k",), "f4"), "y": (("m*n",), "f4")},
        PLANES,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_instance_reads_what_the_source_does(name: str, tmp_path: Path) -> None:
    source, arrays, runs = CASES[name]
    (region,) = compilation_of(source).plan.functions[0].regions
    assert region.tilings[0].recipe == "window product"
    assert "stage_from" in sources_of(source)["f.cu"]
    run_all(source, arrays, [{**run, **BLOCK} for run in runs], tmp_path)


@pytest.mark.parametrize(
    "step",
    [
        "unsigned a = i + r, b = j + t; s += x[(a ^ 1) % m][(b ^ 1) % n] * w[r*k + t];",
        "int a = i + r - 4, b = j + t - 4; s += x[i + r - 4u == 77u ? 0 : a < 0 ? 0 : a]"
        "[j + t - 4u == 77u ? 0 : b < 0 ? 0 : b] * w[r*k + t];",
    ],
)
def test_what_unsigned_numbers_choose_is_in_no_box(step: str) -> None:
    parameters = "const float x[m][n], const float *w, float *y"
    assert (
        "stage_from"
        not in sources_of(PLANE.format(parameters=parameters, body=STEPS.format(step=step)))["f.cu"]
    )


MAPS: Mapping[str, str] = {
    "border": "({v} < 0 ? 0 : {v} >= {e} ? {e} - 1 : {v})",
    "ring": "((({v}) % {e} + {e}) % {e})",
    "half": "(({v} < 0 ? 0 : {v}) / 2 % {e})",
    "zero": "({v} < 0 || {v} >= {e} ? 0 : {v})",
    "down": "({v} < 0 ? {e} - 1 : {v} >= {e} ? 0 : {e} - 1 - ({v}))",
}


def _random_reads(seed: int) -> tuple[str, Arrays]:
    """A sum of products of two arrays, the subscripts of the first random functions of random sums."""
    random = Random(seed)
    subscripts: list[str] = []
    for coordinate, iterator, extent in (("i", "r", "m"), ("j", "t", "n")):
        own = random.choice(
            (f"{coordinate} + {iterator}", f"{coordinate} - {iterator}", f"2*{coordinate} + {iterator}")
        )
        value = f"{own} - {random.choice(('1', 'k/2', '(k - 1)', '0'))}"
        subscripts.append(random.choice(list(MAPS.values())).format(v=value, e=extent))
    rows, columns = subscripts
    is_flat = random.random() < 0.5
    read = f"x[{rows}*n + {columns}]" if is_flat else f"x[{rows}][{columns}]"
    weight = random.choice(("w[r*k + t]", "w[r*k + (k - 1 - t)]", "w[t]", "2.0f"))
    guard = random.choice(("", "", "if (j + t < n + k - 2) "))
    body = STEPS.format(step=f"{guard}s += {read} * {weight};")
    x = "const float *x" if is_flat else "const float x[m][n]"
    source = PLANE.format(parameters=f"{x}, const float *w, float *y", body=body)
    shape: tuple[int | str, ...] = ("m*n",) if is_flat else ("m", "n")
    return source, {"x": (shape, "f4"), "w": (("k*k",), "f4"), "y": (("m*n",), "f4")}


@pytest.mark.parametrize("seed", seeds(40))
def test_random_functions_of_sums_are_those_of_the_source(seed: int, tmp_path: Path) -> None:
    source, arrays = _random_reads(seed)
    run_all(source, arrays, [{**run, **BLOCK} for run in PLANES], tmp_path)
