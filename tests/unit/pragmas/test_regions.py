"""Loops with directives are the regions that one would write with the keywords of MetaFork."""

from __future__ import annotations

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.metafork.ast import HostAssert, MetaSchedule
from tests.unit.pragmas.sources import LOOP, in_function, nests, nests_of_metafork, read

FOR = "#pragma omp parallel for"
MATMUL = """void matmul(int n, const float a[n][n], const float b[n][n], float c[n][n]{block})
{{
{before}
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
{after}
}}
"""
AS_METAFORK = MATMUL.format(
    block=", int B0, int B1",
    before="  meta_schedule block(B0, B1) {\n    meta_for (int i = 0; i < n; i++)\n"
    "    meta_for (int j = 0; j < n; j++)",
    after="}",
)


@pytest.mark.parametrize(
    "before",
    [
        "#pragma omp parallel for collapse(2)\n  for (int i = 0; i < n; i++)\n for (int j = 0; j < n; j++)",
        "#pragma omp parallel for\n  for (int i = 0; i < n; i++)\n for (int j = 0; j < n; j++)",
        "int i, j;\n#pragma omp parallel for private(j)\n  for (i = 0; i < n; ++i)\n for (j = 0; j < n; j += 1)",
        "int i, j;\n#pragma omp parallel for collapse(2)\n  for (i = 0; n > i; i++)\n for (j = 0; j < n; j++)",
        '_Pragma("omp parallel for")\n  for (int i = 0; i < n; i++) {\n for (int j = 0; j < n; j++)',
        "#pragma omp target teams distribute\n  for (int i = 0; i < n; i++)\n"
        "#pragma omp parallel for\n for (int j = 0; j < n; j++)",
        "#ifdef _OPENMP\n#pragma omp parallel for\n#endif\n  for (int i = 0; i < n; i++)\n for (int j = 0; j < n; j++)",
        "#pragma omp parallel\n#pragma omp for\n  for (int i = 0; i < n; i++)\n for (int j = 0; j < n; j++)",
    ],
)
def test_a_product_is_the_same_region_in_every_spelling(before: str) -> None:
    text = MATMUL.format(block="", before=before, after="}" if "{" in before else "")
    assert nests(text) == nests_of_metafork(AS_METAFORK)


@pytest.mark.parametrize(
    "body",
    [
        "for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) c[i][j] += a[i][k] * b[k][j];",
        "for (int k = 0; k < n; k++) { float x = a[i][k]; for (int j = 0; j < n; j++) c[i][j] += x * b[k][j]; }",
        "for (int j = 0; j < n; j++) c[i][j] = 0;\n"
        "for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) c[i][j] += a[i][k] * b[k][j];",
        "for (int m = 0; m < n; m++) c[i][m] = 0;\n"
        "for (int k = 0; k < n; k++) for (int j = 0; j < n; j++) c[i][j] += a[i][k] * b[k][j];",
    ],
)
def test_a_loop_that_is_proved_to_be_parallel_leaves_the_serial_ones(body: str) -> None:
    text = "void f(int n, const float a[n][n], const float b[n][n], float c[n][n])\n{\n#pragma omp parallel for\n"
    (nest,) = nests(f"{text}for (int i = 0; i < n; i++) {{ {body} }}\n}}\n")
    assert nest.count("meta_for") == 4
    assert nest.count("for (int k") == 1


STENCIL = "a[i*n + j] = a[(i - 1)*n + j] + a[(i + 1)*n + j] + a[i*n + j - 1] + a[i*n + j + 1];"


@pytest.mark.parametrize(
    "loop",
    [
        "for (int j = 1 + (i & 1); j < n - 1; j += 2)",
        "for (int j = i % 2 ? 1 : 2; j < n - 1; j += 2)",
        "int begin = 2 - (i + c) % 2; for (int j = begin; j < n - 1; j += 2)",
        "for (size_t j = 1 + (size_t)i % 2; j < n - 1; j += 2)",
        "for (int j = 1; j < n - 1; j++) if ((i ^ j) & 1)",
    ],
)
def test_the_columns_of_one_colour_are_parallel(loop: str) -> None:
    text = f"void f(int n, int c, float *a)\n{{\nassert(c >= 0 && n >= 2);\n{FOR}\n"
    (nest,) = nests(
        f"#include <stddef.h>\n{text}for (int i = 1; i < n - 1; i++) {{ {loop} {STENCIL} }}\n}}\n"
    )
    assert nest.count("meta_for") == 4


@pytest.mark.parametrize(
    "loop",
    [
        "for (int j = 1 + (i & 1); j < n - 1; j++)",
        "for (int j = 1 + (i & 3); j < n - 1; j += 2)",
        "int begin = 1 + (i & 1); begin += i; for (int j = begin; j < n - 1; j += 2)",
        "int begin = 2 * i; for (int begin = 1; begin < 9; begin++) for (int j = begin; j < n - 1; j += 2)",
    ],
)
def test_columns_that_meet_are_not(loop: str) -> None:
    text = f"void f(int n, float *a)\n{{\n{FOR}\n"
    (nest,) = nests(
        f"{text}for (int i = 1; i < n - 1; i++) {{ {loop} a[i*n + j] = a[i*n + j - 1] + a[i*n + j - 2]; }}\n}}\n"
    )
    assert nest.count("meta_for") == 2


STEP = "c[i][j] += a[i][k] * b[k][j];"
OVER_I, OVER_J = (f"for (int {i} = {i}{i}; {i} < min({i}{i} + 32, n); {i}++)" for i in "ij")
OVER_K = "for (int k = 0; k < n; k++)"
II, JJ, KK = (f"for (int {i}{i} = 0; {i}{i} < n; {i}{i} += 32)" for i in "ijk")


@pytest.mark.parametrize(
    "loops",
    [
        f"{II} {JJ} {OVER_I} {OVER_J} {OVER_K} {STEP}",
        f"{II} {JJ} {{ {OVER_I} {OVER_J} {OVER_K} {STEP} }}",
        f"{II} {OVER_I} for (int j = 0; j < n; j++) {OVER_K} {STEP}",
        f"{II} {JJ} {KK} {OVER_I} {OVER_J} for (int k = kk; k < min(kk + 32, n); k++) {STEP}",
        f"{II} {KK} {JJ} {OVER_I} for (int k = kk; k < kk + 32 && k < n; k++) {OVER_J} {STEP}",
        f"{II} {JJ} {{ int ie = ii + 32 < n ? ii + 32 : n, je = jj + 32 > n ? n : jj + 32; {KK} {{"
        "int ke = kk + 32 <= n ? kk + 32 : n; for (int i = ii; i < ie; i++) for (int j = jj; j < je; j++)"
        f"for (int k = kk; k < ke; k++) {STEP} }} }}",
        f"{II} {JJ} for (int i = ii; i < ii + 32 && i < n; i++) for (int j = jj; j < n && j < jj + 32; j++)"
        f"{OVER_K} {STEP}",
        "for (int p = 0; p < (n + 15) / 16; p++) for (int q = 0; q < (n + 63) / 64; q++)"
        "for (int i = p * 16; i < min(p * 16 + 16, n); i++) for (int j = 64 * q; j < min((q + 1) * 64, n); j++)"
        f"{OVER_K} {STEP}",
    ],
)
def test_a_product_that_is_cut_into_blocks_by_hand_is_that_product(loops: str) -> None:
    text = "#define min(a, b) ((a) < (b) ? (a) : (b))\n" + MATMUL.format(block="", before="LOOPS", after="")
    before, _, after = text.partition("LOOPS")
    blocked = f"{before}#pragma omp parallel for\n{loops}\n}}{after.rpartition('}')[2]}"
    assert nests(blocked) == nests_of_metafork(AS_METAFORK)


PARTS = {
    "a step of a factorization": (
        "a[i][k] /= a[k][k];",
        "for (int j = k + 1; j < n; j++) a[i][j] -= a[i][k] * a[k][j];",
    ),
    "a diagonal beside a triangle": (
        "a[i][i] = 1;",
        "for (int j = i + 1; j < n; j++) { float s = 0;"
        "for (int l = 0; l < n; l++) s += b[l][i] * b[l][j]; a[i][j] = s; }",
    ),
    "a scalar that both parts read": (
        "float x = b[i][0]; a[i][0] = x;",
        "for (int j = 1; j < n; j++) a[i][j] = x * b[i][j];",
    ),
}
ROWS = "#pragma omp parallel for\nfor (int i = k + 1; i < n; i++) {{ {0} }}\n"
PARTED = "void f(int n, int k, float a[n][n], const float b[n][n])\n{{\n{0}}}\n"


@pytest.mark.parametrize("name", PARTS)
def test_what_an_iteration_does_beside_its_loops_is_a_region_of_its_own(name: str) -> None:
    first, second = PARTS[name]
    together = PARTED.format(ROWS.format(f"{first} {second}"))
    (scalar, _, _) = first.partition("a[")
    apart = PARTED.format(ROWS.format(first) + ROWS.format(f"{scalar}{second}"))
    assert nests(together) == nests(apart)
    assert len(nests(together)) == 2


ELIMINATION = "for (int j = k + 1; j < n; j++) a[i][j] -= {0} * a[k][j];"


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (
            f"float l = a[i][k] / a[k][k]; {ELIMINATION.format('l')} a[i][k] = l;",
            (
                f"float l = a[i][k] / a[k][k]; {ELIMINATION.format('l')}",
                "float l = a[i][k] / a[k][k]; a[i][k] = l;",
            ),
        ),
        (
            f"const float l = a[i][k] / a[k][k]; a[i][k] = l; {ELIMINATION.format('l')}",
            (
                "const float l = a[i][k] / a[k][k]; a[i][k] = l;",
                f"const float l = a[i][k]; {ELIMINATION.format('l')}",
            ),
        ),
        (
            f"if (i != k + 7) {{ float l = a[i][k]; {ELIMINATION.format('l')} a[i][k] = 0; }}",
            (
                f"if (i != k + 7) {{ float l = a[i][k]; {ELIMINATION.format('l')} }}",
                "if (i != k + 7) a[i][k] = 0;",
            ),
        ),
    ],
)
def test_scalars_of_an_iteration_are_computed_where_parts_of_it_read_them(
    body: str, parts: tuple[str, str]
) -> None:
    together, apart = (PARTED.format("".join(map(ROWS.format, each))) for each in ((body,), parts))
    assert nests(together) == nests(apart)
    assert len(nests(together)) == 2


@pytest.mark.parametrize(
    "body",
    [
        # The loop writes what the scalar is computed from, a double is rounded where it is stored, a condition reads
        # data, and a later scalar says where the first one is.
        "float l = a[i][k] / a[k][k]; for (int j = k; j < n; j++) a[i][j] -= l * a[k][j]; a[i][k] = l;",
        f"double l = a[i][k] / 3.0; a[i][k] = l; {ELIMINATION.format('l')}",
        f"if (a[i][k] != 0) {{ a[i][k] = 0; {ELIMINATION.format('b[i][k]')} }}",
        f"float l = a[i][k]; int p = i; a[p][k] = l; {ELIMINATION.format('l')}",
        # Another row is read, a scalar comes from what is written, and the loop is no parallel one.
        "a[i][k] /= a[i - 1][k]; for (int j = k + 1; j < n; j++) a[i][j] -= a[i][k] * a[k][j];",
        "float x = a[i][k]; a[i][k] = 1; for (int j = k + 1; j < n; j++) a[i][j] -= x * b[k][j];",
        "a[i][k] = 0; for (int j = k + 1; j < n; j++) a[i][k] += b[i][j];",
        "float x = 0; for (int j = 0; j < n; j++) x += b[i][j]; for (int j = 0; j < n; j++) a[i][j] = x;",
    ],
)
def test_other_iterations_stay_whole(body: str) -> None:
    assert len(nests(PARTED.format(ROWS.format(body)))) == 1


@pytest.mark.parametrize(
    "loops",
    [
        f"{II} for (int i = ii; i < min(ii + 16, n); i++) c[i][0] = 1;",
        f"{II} for (int i = ii; i < ii + 32; i++) c[i % 7][ii] = 1;",
        f"{II} {OVER_I} c[i][ii] = 1;",
        f"{II} {OVER_I} c[ii][0] += c[ii][1];",
    ],
)
def test_other_blocks_stay(loops: str) -> None:
    text = "#define min(a, b) ((a) < (b) ? (a) : (b))\nvoid f(int n, float c[n][n])\n{\n#pragma omp parallel for\n"
    (nest,) = nests(f"{text}{loops}\n}}\n")
    assert "ii_number" in nest


@pytest.mark.parametrize(
    "body",
    [
        "for (int j = 1; j < n; j++) m[i][j] += m[i][j - 1];",
        "float s = 0; for (int j = 0; j < n; j++) { s += m[i][j]; m[i][j] = s; }",
        "for (int j = 0; j < n; j++) { if (m[i][j] > 0) break; m[i][j] = 1; }",
        "for (int j = 0; j < c[i]; j++) m[i][j] = 1;",
        "for (int j = 0; j < n; j++) m[i][c[j]] = 1;",
    ],
)
def test_a_loop_stays_serial_where_nothing_proves_it_parallel(body: str) -> None:
    (nest,) = nests(in_function(f"#pragma omp parallel for\n  for (i = 0; i < n; i++) {{ {body} }}\n"))
    assert nest.count("meta_for") == 2


@pytest.mark.parametrize(
    "place", ["i * lda + j", "i * lda + n - j", "c[i] * n + j", "(c[c[i]] + 1) * lda - j"]
)
def test_a_loop_joins_a_grid_where_it_is_parallel_in_each_iteration_of_the_directive(place: str) -> None:
    body = f"for (int j = 0; j < n; j++) {{ t = 0; for (int k = 0; k < n; k++) t += b[k]; a[{place}] = t; }}"
    text = in_function(
        f"#pragma omp parallel for private(t)\n  for (i = 0; i < n; i++) {{ {body} }}\n",
        "int n, int lda, float *a, const float *b, const int *c",
    )
    (nest,) = nests(text)
    assert nest.count("meta_for") == 4


@pytest.mark.parametrize(
    "place", ["i * lda + j / 2", "j * lda + i - j", "i * lda + c[j]", "c[i] + c[i + j] + j"]
)
def test_it_stays_serial_where_it_is_not(place: str) -> None:
    text = in_function(
        f"#pragma omp parallel for\n  for (i = 0; i < n; i++) for (int j = 0; j < n; j++) a[{place}] += 1;\n",
        "int n, int lda, float *a, const int *c",
    )
    (nest,) = nests(text)
    assert nest.count("meta_for") == 2


def test_a_loop_that_is_said_to_be_serial_stays_serial() -> None:
    text = in_function(
        "#pragma acc parallel loop\n  for (i = 0; i < n; i++)\n#pragma acc loop seq\n"
        "    for (j = 0; j < n; j++) m[i][j] = 1;\n"
    )
    assert nests(text, "acc")[0].count("meta_for") == 2
    assert nests(text.replace("#pragma acc loop seq\n", ""), "acc")[0].count("meta_for") == 4


@pytest.mark.parametrize(
    ("header", "extent", "value"),
    [
        ("i = n; i > 0; i--", "n", "n - i_number"),
        ("i = 0; i < n; i += 2", "(n + 1) / 2", "i_number * 2"),
        ("i = 1; i != n; i++", "n - 1", "1 + i_number"),
        ("i = n - 1; i >= 0; i -= 3", "(n + 2) / 3", "n - 1 - i_number * 3"),
    ],
)
def test_loops_count_in_every_way(header: str, extent: str, value: str) -> None:
    text = in_function(f"#pragma omp parallel for\n  for ({header}) a[i] = b[i];\n")
    (nest,) = nests(text)
    assert f"if (i_number < {extent})" in nest
    assert f"int i = {value};" in nest


@pytest.mark.parametrize(
    ("header", "box", "inside"),
    [
        ("j = 0; j <= i; j++", "j < n", "j <= i"),
        ("j = 0; j < i + 1; j++", "j < n", "j < i + 1"),
        ("j = i; j < n; j++", "j < n", "i <= j"),
        ("j = n - i; j < n + 2 * i; j++", "j < n + 2 * (n - 1)", "n - i <= j"),
    ],
)
@pytest.mark.parametrize("clause", ["", " collapse(2)"])
def test_triangles_run_in_the_box_around_them(header: str, box: str, inside: str, clause: str) -> None:
    text = f"{FOR}{clause}\n  for (i = 0; i < n; i++)\n    for (int {header}) m[i][j] = 1;\n"
    (nest,) = nests(in_function(text))
    assert f"i < n && {box}" in nest
    assert f" && {inside}" in nest


def test_a_range_that_depends_on_a_product_of_iterators_stays_serial() -> None:
    text = f"{FOR} collapse(3)\n  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++)\n"
    body = "      for (int k = 0; k < i * j; k++) a[(i * n + j) * n * n + k] = 1;\n"
    (nest,) = nests(in_function(text + body))
    assert nest.count("meta_for") == 4
    assert "for (int k = 0; k < i * j; k++)" in nest


def test_four_parallel_loops_are_three_and_a_serial_one() -> None:
    loops = "".join(f"for (int {v} = 0; {v} < n; {v}++) " for v in "wxyz")
    head = "void f(int n, float a[n][n][n][n])\n{\n#pragma omp parallel for collapse(4)\n"
    text = f"{head}{loops}a[w][x][y][z] = 1;\n}}\n"
    (nest,) = nests(text)
    assert nest.count("meta_for") == 6
    assert "for (int w = 0; w < n; w++)" in nest


def test_private_variables_are_declared_where_they_are_needed() -> None:
    body = (
        "#pragma omp parallel for private(j, t)\n  for (i = 0; i < n; i++) {\n    t = 0;\n"
        "    for (j = 0; j < n; j++) t += m[i][j];\n    a[i] = t;\n  }\n"
    )
    (nest,) = nests(in_function(body))
    assert "float t = 0;" in nest
    assert "for (int j = 0; j < n; j++)" in nest


@pytest.mark.parametrize("where", ["private(j)", "inside"])
def test_what_is_private_to_threads_is_private_to_their_loops(where: str) -> None:
    clause, declared = (" private(j)", "") if where == "private(j)" else ("", "    int k;\n")
    loop = "    for (i = 0; i < n; i++)\n      for (j = 0; j < n; j++) m[i][j] = 1;\n"
    body = f"#pragma omp parallel{clause}\n  {{\n{declared}#pragma omp for\n{loop}  }}\n"
    (nest,) = nests(in_function(body if clause else body.replace("j", "k")))
    assert nest.count("meta_for") == 4


def test_variables_without_a_value_are_declared_where_they_get_one() -> None:
    body = (
        f"{FOR}\n  for (i = 0; i < n; i++) {{\n    int k; float x, y;\n"
        "    for (k = 0; k < n; k++) { x = m[i][k]; if (x > 0) y = x; else y = -x; m[i][k] = y; }\n  }\n"
    )
    (nest,) = nests(in_function(body))
    assert nest.count("meta_for") == 4
    assert "float x = m[i][k];" in nest
    assert "float y;" in nest


def test_a_private_parameter_has_a_name_of_its_own() -> None:
    text = "void f(int n, float t, float *a)\n{\n#pragma omp parallel for firstprivate(t)\n"
    (nest,) = nests(
        f"{text}  for (int i = 0; i < n; i++) {{ t = i; a[i] = t; }}\n  a;\n}}\n".replace("  a;\n", "")
    )
    assert "float t_1 = i;" in nest


def test_regions_of_a_function_share_their_blocks() -> None:
    program, said = read(in_function(f"#pragma omp parallel for\n{LOOP}#pragma omp parallel for\n{LOOP}"))
    assert said == ()
    (function,) = program.functions
    assert len(function.regions) == 2
    assert [p.name for p in function.parameters if p.added] == ["B0"]
    assert [p.name for p in function.written_parameters] == ["n", "a", "b", "c", "m"]


def test_blocks_take_names_that_are_free() -> None:
    program, _ = read(in_function(f"#pragma omp parallel for\n{LOOP}").replace("int *c", "int *B0"))
    assert [p.name for p in program.functions[0].parameters if p.added] == ["B0_1"]


def test_host_code_stays_to_the_byte_but_for_directives() -> None:
    text = in_function(
        "#pragma omp parallel num_threads(4)\n  {\n#pragma omp for nowait\n"
        f"{LOOP}#pragma omp barrier\n    t = 1; /* #pragma omp x */\n#pragma omp single\n    t = 2;\n  }}\n"
    )
    program, said = read(text)
    assert said == ()
    (function,) = program.functions
    parts = ["@" if isinstance(p, MetaSchedule | HostAssert) else p.text for p in function.parts]
    expected = "\n  int i, j;\n  float t;\n\n  {\n@\n\n    t = 1; /* #pragma omp x */\n\n    t = 2;\n  }\n"
    assert "".join(parts) == expected
    assert program.file == SourceFile("f.c", text)


def test_directives_of_the_other_kind_do_not_count() -> None:
    both = in_function(f"#pragma acc parallel loop\n#pragma omp parallel for collapse(1)\n{LOOP}")
    assert nests(both, "omp") == nests(both, "acc") == nests(both, "auto")
    assert nests(in_function(f"#pragma acc parallel loop\n{LOOP}"), "auto")


# --- OpenACC --------------------------------------------------------------------------------------------------


def test_kernels_leaves_what_is_parallel_to_be_proved() -> None:
    body = (
        "#pragma acc kernels\n  {\n    for (i = 0; i < n; i++) a[i] = b[i];\n"
        "    for (i = 1; i < n; i++)\n      for (j = 0; j < n; j++) m[i][j] += m[i - 1][j];\n  }\n"
    )
    first, second = nests(in_function(body), "acc")
    assert "a[i] = b[i];" in first
    assert second.count("meta_for") == 2
    assert "j_block" in second


def test_scalars_are_private_in_openacc() -> None:
    body = (
        "#pragma acc parallel loop gang\n  for (i = 0; i < n; i++) {\n    t = 0;\n"
        "#pragma acc loop vector reduction(+: t)\n    for (j = 0; j < n; j++) t += m[i][j];\n    a[i] = t;\n  }\n"
    )
    (nest,) = nests(in_function(body), "acc")
    assert "float t = 0;" in nest


# --- sums -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["c[i % 7] += 2;", "c[i % 7] = c[i % 7] + 2;", "c[i % 7] = 2 + c[i % 7];"])
@pytest.mark.parametrize("atomic", [True, False])
def test_sums_of_elements_are_atomic(update: str, atomic: bool) -> None:
    clause = "" if atomic else " reduction(+: c[0:7])"
    before = "#pragma omp atomic\n" if atomic else ""
    text = in_function(
        f"#pragma omp parallel for{clause}\n  for (i = 0; i < n; i++) {{\n{before}{update}\n}}\n"
    )
    (nest,) = nests(text)
    assert "meta_atomic c[i % 7] += 2;" in nest


@pytest.mark.parametrize("operator", ["=", "+="])
def test_a_sum_in_a_scalar_stays_on_the_device(operator: str) -> None:
    body = (
        "  t = 3;\n#pragma omp parallel for reduction(+: t)\n  for (i = 0; i < n; i++)\n    t += a[i];\n"
        f"  *b {operator} 2 * t;\n"
    )
    parts, whole = nests(in_function(body))
    assert "float t_1_part = 0;" in parts
    assert "t_1_part += a[i];" in parts
    assert "parts_of_float[i_part] = t_1_part;" in parts
    assert "float t_1 = t;" in whole
    assert "t_1_whole += parts_of_float[i_fold];" in whole
    assert "t_1 += t_1_whole;" in whole
    assert f"b[0] {operator} 2 * t_1;" in whole


STORING = (
    "#pragma omp parallel for reduction(+: t)\n  for (i = 0; i < n; i++) for (int j = 1; j < n; j++) {{ {} }}\n"
    "  *b = t;\n"
)


@pytest.mark.parametrize(
    ("body", "shared"),
    [
        ("m[i][j] = 2 * a[j]; t += m[i][j];", 2),
        ("a[i * n + j] *= 2; t += a[i * n + j];", 2),
        ("m[i][j] += m[i][j - 1]; t += m[i][j];", 1),
        ("m[i][j / 2] = a[j]; t += m[i][j / 2];", 1),
    ],
)
def test_a_loop_that_stores_and_adds_up_is_shared_where_its_stores_are_apart(body: str, shared: int) -> None:
    parts, _ = nests(in_function(STORING.format(body)))
    assert parts.count("_part_block = 0;") == shared
