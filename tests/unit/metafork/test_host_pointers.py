"""The targets of pointers of host code: every way in which a run comes to a region is among the answers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from comprehensive.metafork.ast import Address, IntLiteral, MetaSchedule
from tests.unit.metafork.trees import parse_text

NEST = "meta_schedule { meta_for (int i = 0; i < n; i++) meta_for (int k = 0; k < 8; k++) z[i*8+k] = 1; }"


def region_behind(text: str, before: str = "") -> MetaSchedule:
    """The last region of a function with this host code."""
    head = "void f(int n, int T, float *a, float *b, float *c, float u[2][n], float *z)\n{\n"
    program, sink = parse_text(f"{before}{head}{text}\n{NEST}\n}}\n")
    assert not sink.diagnostics
    return program.functions[0].regions[-1]


def ways(region: MetaSchedule, *names: str) -> set[tuple[str | None, ...]]:
    """Return the data that the names point to, on each way."""
    found: set[tuple[str | None, ...]] = set()
    for way in region.addresses:
        known = {name: address.base for name, address in way}
        found.add(tuple(known.get(name, name) for name in names))
    return found


SWAP = "static void swap(float **x, float **y) { float *t = *x; *x = *y; *y = t; }\n"
BOTH = {("a", "b"), ("b", "a")}


@pytest.mark.parametrize(
    ("text", "before", "expected"),
    [
        ("float *t = a; a = b; b = t;", "", {("b", "a")}),
        ("float *t; t = a, a = b, b = t;", "", {("b", "a")}),
        ("for (int t = 0; t < T; t++) { float *s = a; a = b; b = s; }", "", BOTH),
        ("float *s; for (int t = 0; t < T; t++, s = a, a = b, b = s) ;", "", BOTH),
        ("while (T-- > 0) { swap(&a, &b); }", SWAP, BOTH),
        ("do { swap(&a, &b); swap(&a, &b); } while (T-- > 0);", SWAP, {("a", "b")}),
        ("X(a, b);", "#define X(p, q) do { __typeof__(p) t_ = p; p = q; q = t_; } while (0)\n", {("b", "a")}),
        ("if (n > 3) { float *s = a; a = b; b = s; } else { }", "", BOTH),
        ("if (n > 3) { a = b; return; }", "", {("a", "b")}),
        ("switch (n) { case 1: a = b; break; default: b = a; }", "", {("b", "b"), ("a", "a"), ("a", "b")}),
        ("for (;;) { if (T > 3) break; swap(&a, &b); if (T > 5) continue; swap(&a, &b); }", SWAP, BOTH),
        ("if (a != b) swap(&a, &b);", SWAP, {("b", "a")}),
        ("a = n % 2 ? b : c; b = n % 2 ? c : b;", "", {("b", "c"), ("c", "b")}),
        (
            "int w = 1; a = w ? b : c; w = n; b = w ? c : b;",
            "",
            {("b", "c"), ("b", "b"), ("c", "c"), ("c", "b")},
        ),
    ],
)
def test_every_way_and_no_other(text: str, before: str, expected: set[tuple[str, str]]) -> None:
    assert ways(region_behind(text, before), "a", "b") == expected


def test_offsets_are_those_of_elements() -> None:
    region = region_behind("float *p = &a[4], *q = p + 3; q -= 2; float (*r)[n] = u + 1; float *s = u[1];")
    (way,) = region.addresses
    known = dict(way)
    assert [str(known[name].base) for name in "pqrs"] == ["a", "a", "u", "u"]
    assert known["p"] == Address("a", IntLiteral(4))
    assert known["r"] == known["s"]
    assert known["r"].offset is not None


def test_a_pointer_that_goes_on_and_on_is_somewhere_in_its_array() -> None:
    region = region_behind("float *p = a; for (int t = 0; t < T; t++) { p += n; }")
    offsets = {dict(way)["p"].offset for way in region.addresses}
    assert None in offsets
    assert {dict(way)["p"].base for way in region.addresses} == {"a"}


def test_an_offset_is_known_until_what_it_reads_changes() -> None:
    before = "static void go(float **p, int n) { *p = *p + n; }\n"
    region = region_behind("int w = n; float *p = a + w, *q = p, *r = a; w++; q = b + w; go(&r, 3);", before)
    (way,) = region.addresses
    assert dict(way)["p"].offset is None
    assert dict(way)["q"].offset is not None
    assert dict(way)["r"].offset is None


def test_names_end_with_their_blocks() -> None:
    region = region_behind("float *p = a; { float *p = b; p = c; }")
    assert ways(region, "p") == {("a",)}
    assert [pointer.name for pointer in region.pointers] == ["p"]


@pytest.mark.parametrize(
    ("turn", "exchange"),
    [
        ("float *s = a; a = b; b = s;", {"a": "b", "b": "a"}),
        ("float *s = a; a = b; b = c; c = s;", {"a": "b", "b": "c", "c": "a"}),
        ("do { float *s = a; a = b; b = s; } while (0);", {"a": "b", "b": "a"}),
        ("if (t) { float *s = a; a = b; b = s; }", None),
        ("T--; float *s = a; a = b; b = s;", None),
        ("a = b + 1;", None),
    ],
)
def test_what_a_turn_exchanges(turn: str, exchange: Mapping[str, str] | None) -> None:
    program, _ = parse_text(
        "void f(int n, int T, float *a, float *b, float *c, float *z)\n{\n"
        f"for (int t = 0; t < T; t++) {{ {NEST} {turn} }}\n}}\n"
    )
    loops = program.functions[0].regions[0].loops
    if exchange is None:
        assert all(loop.regions == 0 for loop in loops)
    else:
        assert dict(loops[-1].exchange) == exchange
        assert loops[-1].regions == 1


@dataclass(frozen=True)
class Copy:
    target: str
    source: str


@dataclass(frozen=True)
class Governed:
    """Statements behind ``head``, which run any number of times."""

    head: str
    body: tuple[Copy | Governed, ...]


def _random(rng: random.Random, depth: int) -> tuple[Copy | Governed, ...]:
    found: list[Copy | Governed] = []
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.6 or depth == 0:
            found.append(Copy(rng.choice("abcp"), rng.choice("abcp")))
        else:
            head = rng.choice(("for (int t = 0; t < T; t++)", "if (n > T)", "while (T-- > 0)"))
            found.append(Governed(head, _random(rng, depth - 1)))
    return tuple(found)


def _text(statements: tuple[Copy | Governed, ...]) -> str:
    return " ".join(
        f"{s.target} = {s.source};" if isinstance(s, Copy) else f"{s.head} {{ {_text(s.body)} }}"
        for s in statements
    )


def _run(statements: tuple[Copy | Governed, ...], state: dict[str, str], rng: random.Random) -> None:
    for statement in statements:
        match statement:
            case Copy(target, source):
                state[target] = state[source]
            case Governed(head, body):
                for _ in range(rng.randint(0, 1 if head.startswith("if") else 3)):
                    _run(body, state, rng)


@pytest.mark.parametrize("seed", range(25))
def test_no_run_is_missed(seed: int) -> None:
    rng = random.Random(seed)
    statements = _random(rng, 3)
    region = region_behind(f"float *p = c; {_text(statements)}")
    possible = ways(region, *"abcp")
    for _ in range(40):
        state = {"a": "a", "b": "b", "c": "c", "p": "c"}
        _run(statements, state, rng)
        assert tuple(state[name] for name in "abcp") in possible
