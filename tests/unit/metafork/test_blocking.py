"""The block clause: plain loops mean what the same loops in blocks mean, and other nests are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from comprehensive.diagnostics import DiagnosticSink, SourceFile
from comprehensive.driver import Options, compile_file
from comprehensive.loops.traverse import declared_names
from comprehensive.metafork.ast import Program
from comprehensive.metafork.parse import parse
from comprehensive.metafork.printer import print_stmts
from comprehensive.runtime.serial import serial_text


def parsed(text: str) -> tuple[Program, DiagnosticSink]:
    sink = DiagnosticSink()
    return parse(SourceFile("f.mf", text), sink), sink


PLAIN = """void f(int m, int n, float a[m][n], int B0, int B1)
{
  meta_schedule block(B0, B1) {
    meta_for (int i = 0; i < m; i++)
      meta_for (int j = 2; j <= n - 3; j++)
        a[i][j] = i - j;
  }
}
"""
IN_BLOCKS = """void f(int m, int n, float a[m][n], int B0, int B1)
{
  meta_schedule {
    meta_for (int i_block = 0; i_block < (m + B0 - 1) / B0; i_block++)
      meta_for (int j_block = 0; j_block < (n - 3 - 2 + B1) / B1; j_block++)
        meta_for (int i_thread = 0; i_thread < B0; i_thread++)
          meta_for (int j_thread = 0; j_thread < B1; j_thread++) {
            int i = i_block * B0 + i_thread;
            int j = 2 + (j_block * B1 + j_thread);
            if (i < m && j <= n - 3)
              a[i][j] = i - j;
          }
  }
}
"""


def test_plain_loops_are_those_in_blocks() -> None:
    (plain, sink), (written, _) = parsed(PLAIN), parsed(IN_BLOCKS)
    assert sink.diagnostics == ()
    assert plain.functions[0].regions[0].body == written.functions[0].regions[0].body


def test_a_number_is_the_extent_of_all_blocks() -> None:
    plain, sink = parsed(PLAIN.replace("block(B0, B1)", "block(4, (2*8))"))
    written, _ = parsed(
        IN_BLOCKS.replace("B0", "4").replace("B1", "16").replace("int 4, int 16", "int B0, int B1")
    )
    assert sink.diagnostics == ()
    assert plain.functions[0].regions[0].body == written.functions[0].regions[0].body


@pytest.mark.parametrize(
    ("type", "place", "blocks"),
    [
        ("unsigned char", "i_block * B0 + i_thread", "(m + B0 - 1) / B0"),
        ("size_t", "(unsigned long)i_block * B0 + i_thread", "((long)m + B0 - 1) / B0"),
        ("int64_t", "(long)i_block * B0 + i_thread", "((long)m + B0 - 1) / B0"),
        ("unsigned", "(unsigned)i_block * B0 + i_thread", "((long)m + B0 - 1) / B0"),
    ],
)
def test_an_iterator_of_another_type_is_computed_in_it(type: str, place: str, blocks: str) -> None:
    plain, sink = parsed(PLAIN.replace("int i = 0", f"{type} i = 0"))
    wide = "int" if "char" in type else type
    text = IN_BLOCKS.replace("int i = i_block * B0 + i_thread", f"{wide} i = {place}")
    if type == "unsigned":  # which would be at its first values again behind the last one of 32 bits
        text = text.replace("if (i < m", "if ((long)i_block * B0 + i_thread < m")
    written, _ = parsed(text.replace("(m + B0 - 1) / B0", blocks))
    assert sink.diagnostics == ()
    assert plain.functions[0].regions[0].body == written.functions[0].regions[0].body


def test_the_trees_of_both_are_the_same(tmp_path: Path) -> None:
    trees: list[object] = []
    for number, text in enumerate((PLAIN, IN_BLOCKS)):
        path = tmp_path / f"f{number}.mf"
        path.write_text(text, encoding="utf-8")
        compilation = compile_file(path, Options(registers="estimate"))
        (tree,) = compilation.trees
        tile = tree.alternatives[0].tree
        trees.append(([leaf.system for leaf in tree.leaves], tile))
    assert trees[0] == trees[1]


def test_clauses_come_in_any_order_and_the_serial_program_has_none() -> None:
    for clauses in ("cache(a) block(B0, B1)", "block(B0, B1)\n    cache(a)"):
        text = PLAIN.replace("block(B0, B1)", clauses)
        program, sink = parsed(text)
        assert sink.diagnostics == ()
        (region,) = program.functions[0].regions
        assert region.cache == ("a",)
        serial = serial_text(text)
        assert "block" not in serial
        assert "cache" not in serial
        assert serial.count("\n") == text.count("\n")


def test_a_name_that_host_code_hides_is_refused() -> None:
    text = PLAIN.replace("meta_schedule", "{ int B0 = n - 5;\n  meta_schedule").rstrip() + "\n}\n"
    _, sink = parsed(text)
    assert [d.code for d in sink.diagnostics] == ["CF0323"]
    assert "'B0' in the block clause is declared again or changed" in sink.diagnostics[0].message


def test_an_iterator_may_be_called_as_names_of_generated_code_begin() -> None:
    program, sink = parsed(
        PLAIN.replace("int i = 0; i < m; i++", "int cf = 0; cf < m; cf++")
        .replace("[i]", "[cf]")
        .replace("= i -", "= cf -")
    )
    assert sink.diagnostics == ()
    assert not any(name.startswith("cf_") for name in declared_names(program.functions[0].regions[0].body))


def test_names_of_the_program_are_not_taken() -> None:
    text = PLAIN.replace("B0", "i_block").replace("B1", "i_thread")
    program, sink = parsed(text)
    assert sink.diagnostics == ()
    assert "i_block_1" in repr(program.functions[0].regions[0].body)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("block(B0, B1)", "block(B0)"), "the block clause has 1 name, and the nest 2 loops"),
        (("block(B0, B1)", "block(B0, B1, B1)"), "the block clause has 3 names, and the nest 2 loops"),
        (
            ("block(B0, B1)", "block(B0 B1)"),
            "the block clause must name parameters or give numbers",
        ),
        (
            ("block(B0, B1)", "block()"),
            "the block clause must name parameters or give numbers",
        ),
        (("block(B0, B1)", "block(B0, 2*B1)"), "the block clause must name parameters or give numbers"),
        (("block(B0, B1)", "block(B0, 0)"), "asks for 0 threads, and a block has 1 to 1024"),
        (("block(B0, B1)", "block(64, 4*8)"), "asks for 2048 threads, and a block has 1 to 1024"),
        (("block(B0, B1)", "block(16)"), "the block clause has 1 name, and the nest 2 loops"),
        (("block(B0, B1)", "block(B0, B1) block(B0, B1)"), "there are two block clauses"),
        (("j = 2;", "j = i * i;"), "has bounds that depend on another loop of the nest"),
        (("j++", "j += m"), "does not count to its bound in constant steps in an integer"),
        (("j++", "j--"), "does not count to its bound in constant steps in an integer"),
        (("int j = 2; j <= n - 3; j++", "unsigned j = n; j > 2; j--"), "does not count to its bound"),
        (("int j = 2; j <= n - 3", "unsigned j = 2; j != n - 3"), "does not count to its bound"),
        (
            ("a[i][j] = i - j;", "{ a[i][j] = 0; meta_for (int l = 0; l < 2; l++) a[i][j] = l; }"),
            "the block clause has 2 names, and the nest 3 loops",
        ),
        (("    meta_for (int i = 0; i < m; i++)", "    int i = 0;"), "is one nest"),
        (("block(B0, B1)", "block(B0, C)"), "'C' in the block clause is no int parameter of the function"),
        (("block(B0, B1)", "block(B0, a)"), "'a' in the block clause is no int parameter of the function"),
        (("block(B0, B1)", "block(B0, n)"), "'n' in the block clause gives a dimension of data"),
        (("a[i][j] = i - j;", "{ i = i + 1; a[i][j] = 1; }"), "assigns its iterator"),
        (("a[i][j] = i - j;", "{ for (i = n; i < n + 1; i++) { } a[i][j] = 1; }"), "assigns its iterator"),
        (
            ("meta_schedule", "B0 = n - 5;\n  meta_schedule"),
            "'B0' in the block clause is declared again or changed",
        ),
        (
            ("meta_schedule", "B0++;\n  meta_schedule"),
            "'B0' in the block clause is declared again or changed",
        ),
    ],
)
def test_other_nests_are_refused(change: tuple[str, str], message: str) -> None:
    _, sink = parsed(PLAIN.replace(*change))
    assert any(message in diagnostic.message for diagnostic in sink.diagnostics), sink.diagnostics


def test_a_pragma_in_the_body_is_warned_of_and_the_region_is_cut_all_the_same() -> None:
    plain, _ = parsed(PLAIN)
    marked, sink = parsed(PLAIN.replace("        a[i]", "#pragma GCC ivdep\n        a[i]"))
    assert [d.code for d in sink.diagnostics] == ["CF0118"]
    assert marked.functions[0].regions[0].body == plain.functions[0].regions[0].body


# Places behind the last one do not fit into an int in larger steps.
FAR = "((long)j_block * B1 + j_thread)"


@pytest.mark.parametrize(
    ("header", "count", "value", "inside"),
    [
        ("j = 2; j != n; j++", "n - 2 + B1 - 1", "2 + (j_block * B1 + j_thread)", "j < n"),
        ("j = 0; j < n; j += 4", "(n + 3) / 4 + B1 - 1", "(j_block * B1 + j_thread) * 4", f"{FAR} * 4 < n"),
        (
            "j = 1; j <= n; j += 4",
            "(n - 1 + 4) / 4 + B1 - 1",
            "1 + (j_block * B1 + j_thread) * 4",
            f"1 + {FAR} * 4 <= n",
        ),
        ("j = n - 1; j >= 0; j--", "n - 1 + B1", "n - 1 - (j_block * B1 + j_thread)", "j >= 0"),
        (
            "j = n; j > 2; j -= 3",
            "(n - 2 + 2) / 3 + B1 - 1",
            "n - (j_block * B1 + j_thread) * 3",
            f"n - {FAR} * 3 > 2",
        ),
    ],
)
def test_loops_in_other_steps_are_cut_by_their_turns(
    header: str, count: str, value: str, inside: str
) -> None:
    other, sink = parsed(PLAIN.replace("j = 2; j <= n - 3; j++", header))
    assert sink.diagnostics == ()
    written = IN_BLOCKS.replace("(n - 3 - 2 + B1)", f"({count})").replace("j <= n - 3", inside)
    expected, _ = parsed(written.replace("2 + (j_block * B1 + j_thread)", value))
    found, same = (print_stmts(p.functions[0].regions[0].body, 0) for p in (other, expected))
    assert found == same
