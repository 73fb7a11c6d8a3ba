"""Array references with what encloses them."""

from __future__ import annotations

from comprehensive.loops.access import Mode, accesses, names_read, rewrite_references
from comprehensive.metafork.ast import Binary, Index, IntLiteral, Name
from comprehensive.metafork.printer import print_expr
from comprehensive.metafork.rewrite import substitute
from comprehensive.records import replace
from tests.unit.loops.nests import SPEC_NAMES, body_of, nest_of, spec_nests


def _shown(nest) -> list[str]:
    return [f"{a.array}[{', '.join(map(print_expr, a.subscripts))}] {a.mode.name}" for a in accesses(nest)]


def test_index_scalars_are_substituted_and_values_come_before_targets() -> None:
    nest = body_of("int i = v*B + u; c[i] += a[i+1];", "int n, int B, int *a, int *c")
    assert _shown(nest) == ["a[v * B + u + 1] READ", "c[v * B + u] UPDATE"]


def test_a_scalar_that_changes_names_no_index() -> None:
    assert _shown(body_of("int i = u; i += 1; a[i] = 0;")) == ["a[i] WRITE"]
    assert _shown(body_of("int k = 1; int i = u + k; k = 2; a[i] = 0;")) == ["a[i] WRITE"]


def test_an_index_scalar_of_block_level_is_substituted() -> None:
    nest = nest_of(
        "meta_for (int v = 0; v < n; v++) { int w = v*B; meta_for (int u = 0; u < B; u++) a[w + u] = 0; }"
    )
    assert _shown(nest) == ["a[v * B + u] WRITE"]


def test_an_index_read_from_data_is_an_access_of_its_own() -> None:
    nest = body_of("c[a[u]] = 1;", "int n, int B, int *a, int *c")
    assert _shown(nest) == ["a[u] READ", "c[a[u]] WRITE"]


def test_guards_and_loops_are_recorded_with_negation_in_else_branches() -> None:
    nest = body_of("int i = u; for (int k = 0; k < i; k++) if (k < n && a[k]) a[0] = 1; else a[1] = 2;")
    reads, then, otherwise = accesses(nest)
    assert [print_expr(g) for g in reads.context.guards] == ["k < n"]
    assert [print_expr(g) for g in then.context.guards] == ["k < n && a[k]"]
    assert [print_expr(g) for g in otherwise.context.guards] == ["!(k < n && a[k])"]
    (loop,) = then.context.loops
    assert (loop.iterator, print_expr(loop.bound), loop.is_block) == ("k", "u", False)
    assert then.mode is Mode.WRITE


def test_bands_are_numbered_in_program_order() -> None:
    nest = nest_of(
        "meta_for (int v = 0; v < n; v++) for (int k = 0; k < s; k++) {"
        " meta_for (int u = 0; u < B; u++) a[u] = 0; meta_for (int u = 0; u < B; u++) a[u] += 1; }"
    )
    assert [a.context.band for a in accesses(nest)] == [0, 1]
    assert all(a.context.loops[0].is_block for a in accesses(nest))


def test_what_follows_a_possible_jump_is_uncertain() -> None:
    nest = body_of("for (int k = 0; k < 9; k++) { a[0] = 1; if (k > u) break; a[1] = 2; } a[2] = 3;")
    uncertain = {print_expr(a.subscripts[0]): a.context.uncertain for a in accesses(nest)}
    assert uncertain == {"0": True, "1": True, "2": False}


def test_a_nested_jump_out_of_a_block_makes_the_rest_uncertain() -> None:
    nest = body_of("for (int k = 0; k < 9; k++) { { if (k > u) break; } a[1] = 2; }")
    assert accesses(nest)[0].context.uncertain


def test_local_arrays_are_not_data() -> None:
    nest = body_of("int t[2]; t[0] = a[u]; a[u] = t[0];")
    assert _shown(nest) == ["a[u] READ", "a[u] WRITE"]


def test_references_are_rewritten_in_the_order_in_which_they_are_listed() -> None:
    for name in SPEC_NAMES:
        for nest in spec_nests(name):
            seen: list[tuple[str, Mode]] = []

            def record(index, mode, context, scalars, seen=seen):
                seen.append((index.array, mode))
                return replace(index, array=f"{index.array}_{len(seen)}")

            body = rewrite_references(nest, record)
            assert seen == [(a.array, a.mode) for a in accesses(nest)]
            assert body != nest.body


def test_substitution_is_simultaneous() -> None:
    swapped = substitute(Binary("-", Name("x"), Index("a", (Name("y"),))), {"x": Name("y"), "y": Name("x")})
    assert swapped == Binary("-", Name("y"), Index("a", (Name("x"),)))
    assert names_read(swapped) == {"x", "y", "a"}
    assert substitute(IntLiteral(1), {"x": Name("y")}) == IntLiteral(1)


def test_a_scalar_converted_from_floating_point_or_cut_to_a_byte_names_no_index() -> None:
    parameters = "int n, int B, float x, int *a"
    assert _shown(body_of("int i = x; a[i] = 0;", parameters)) == ["a[i] WRITE"]
    assert _shown(body_of("float y = u; int i = y * 2; a[i] = 0;", parameters)) == ["a[i] WRITE"]
    nest = nest_of(
        "meta_for (int v = 0; v < n; v++) { unsigned char w = v*B; meta_for (int u = 0; u < B; u++) a[w + u] = 0; }"
    )
    assert _shown(nest) == ["a[w + u] WRITE"]
