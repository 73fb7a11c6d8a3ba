"""Systems are values: order and repetition of what went in do not matter."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from comprehensive.algebra import Atom, Polynomial, System, at_least, at_most, less
from tests.examples import examples
from tests.unit.algebra.strategies import all_hold, atoms, box

B, s, Z, R = (Polynomial.symbol(name) for name in ("B", "s", "Z_B", "R_B"))
space = System((at_least(s, 1), at_least(B, 1), at_least(Z, 0), at_least(R, 0)))


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(atoms, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_atoms_makes_no_difference(found: list[Atom], random: object) -> None:
    shuffled = found + found[:2]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = System((), tuple(found)), System().add(*shuffled)
    assert one == other
    assert hash(one) == hash(other)
    assert one.format() == other.format()
    assert one.all_atoms == other.all_atoms


def test_a_system_holds_where_all_of_it_holds() -> None:
    system = space.add(at_most(2 * B, Z), less(Z, 2 * s * B))
    for point in box(("B", "s", "Z_B", "R_B"), range(4)):
        assert system.holds(point) == all_hold(system.all_atoms, point)


def test_an_assumption_is_not_repeated_as_an_atom_and_constants_vanish() -> None:
    assert space.add(at_least(2 * B, 2), at_most(0, 1)) == space
    assert space.symbols == ("B", "R_B", "Z_B", "s")
    assert space.assume(at_most(B, 7)).atoms == ()


def test_the_three_jacobi_leaves_print_as_in_figure_7() -> None:
    def text(*found: Atom) -> tuple[str, ...]:
        return space.add(*found).format(("s", "B"), isolate=("Z_B", "R_B"))

    kept, reduced, registers = 2 * s * B + 2, 2 * B + 2, at_most(9, R)
    assert text(at_most(kept, Z), registers) == ("2*s*B + 2 <= Z_B", "9 <= R_B")
    assert text(less(Z, kept), at_most(reduced, Z), registers) == (
        "2*B + 2 <= Z_B",
        "Z_B < 2*s*B + 2",
        "9 <= R_B",
    )
    assert text(less(Z, reduced), registers) == ("Z_B < 2*B + 2", "9 <= R_B")
