"""Triangular description: a system and an order of variables in, bounds on each variable by the earlier ones out.

    {1 <= B, 1 <= u, B^2 + B*u <= Z}  in the order B, u   -->   1 <= B, B^2 + B <= Z;   1 <= u, u <= (Z - B^2)/B

The last variable is taken first: its atoms become bounds, and what they say of the earlier ones is added to these
(Fourier-Motzkin).  Where the sign of a coefficient is not known, the space is cut into pieces by it.  An atom of
higher degree bounds a variable where it is monotone in it.  A symbol that is not in the order is a parameter.

The pieces are disjoint and their union is the set, over the reals; `uncovered` says which atoms are no bounds, only
checks, and where earlier variables may have values for which a later one has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from comprehensive.algebra.atom import Atom, Relation, at_least
from comprehensive.algebra.limits import Limit, beyond_start, cross, limits_on, monotone_limit
from comprehensive.algebra.polynomial import Polynomial, Scalar
from comprehensive.algebra.refute import contradicts_by_sign
from comprehensive.algebra.sign_sets import AT_LEAST_0, AT_MOST_0, EITHER, Signs
from comprehensive.algebra.system import System
from comprehensive.algebra.tidy import tidy, without_zeros
from comprehensive.records import replace

# A path is cut at most this often: 3^5 pieces are past what anyone reads.
_MOST_CUTS = 5
# More comparisons of bounds on one variable than this are left out.
_MOST_CROSSINGS = 200


class Level(Struct, frozen=True):
    """The bounds of one variable: it lies above all lower and below all upper limits, and the checks hold."""

    name: str
    lower: tuple[Limit, ...]
    upper: tuple[Limit, ...]
    checks: tuple[Atom, ...]

    def __str__(self) -> str:
        parts = [*map(str, self.lower), *map(str, self.upper), *(f"check {atom}" for atom in self.checks)]
        return f"{self.name}: {', '.join(parts) or 'any'}"


class Piece(Struct, frozen=True):
    """Levels in the order of the variables; the guard holds atoms in the parameters alone."""

    guard: tuple[Atom, ...]
    levels: tuple[Level, ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms that say all that the piece demands."""
        limits = (limit.atom for level in self.levels for limit in (*level.lower, *level.upper))
        return (*self.guard, *limits, *(atom for level in self.levels for atom in level.checks))


class Uncovered(Struct, frozen=True):
    """Atoms that a description does not turn into bounds: at which variable, and what that means."""

    name: str
    atoms: tuple[Atom, ...]
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {', '.join(map(str, self.atoms))}: {self.reason}"


class Triangular(Struct, frozen=True):
    """The union of disjoint pieces, each with one level per variable of the order."""

    order: tuple[str, ...]
    parameters: tuple[str, ...]
    pieces: tuple[Piece, ...]
    uncovered: tuple[Uncovered, ...]
    """The atoms not covered; without any, values that a level admits extend to real values of later ones."""

    def holds(self, point: Mapping[str, Scalar]) -> bool:
        """Whether the point is in a piece; the same as `System.holds` of the system described."""
        return any(all(atom.holds(point) for atom in piece.atoms) for piece in self.pieces)

    def __str__(self) -> str:
        lines: list[str] = []
        for piece in self.pieces:
            lines.append("piece" + (f" where {', '.join(map(str, piece.guard))}" if piece.guard else ""))
            lines += [f"  {level}" for level in piece.levels]
        lines += [f"not covered: {gap}" for gap in self.uncovered]
        return "\n".join(lines or ["no points"])


def triangularize(system: System, order: Sequence[str]) -> Triangular:
    """The triangular description for an order of variables, the outermost first.

    ValueError where a variable comes twice.
    """
    twice = sorted({name for name in order if list(order).count(name) > 1})
    if twice:
        raise ValueError(f"{', '.join(twice)}: more than once in the order")
    parameters = tuple(name for name in system.symbols if name not in order)
    found = list(_pieces(_Branch(system.all_atoms, tuple(order), (), (), 0)))
    uncovered = dict.fromkeys(gap for branch in found for gap in branch.uncovered)
    pieces = tuple(Piece(branch.atoms, branch.levels) for branch in found)
    return Triangular(tuple(order), parameters, pieces, tuple(uncovered))


class _Branch(Struct, frozen=True):
    """A piece in the making: atoms in the parameters and the variables that wait, levels of the others."""

    atoms: tuple[Atom, ...]
    waiting: tuple[str, ...]
    levels: tuple[Level, ...]
    uncovered: tuple[Uncovered, ...]
    cuts: int


def _pieces(branch: _Branch) -> Iterator[_Branch]:
    tidied = tidy(branch.atoms)
    if tidied is None:
        return
    branch = replace(branch, atoms=tidied)
    if not branch.waiting:
        yield branch
        return
    name = branch.waiting[-1]
    signs = Signs(tidied)
    atoms = tuple(without_zeros(atom, name, signs) for atom in tidied)
    if atoms != tidied:
        yield from _pieces(replace(branch, atoms=atoms))
        return
    cut = _undecided(branch.atoms, name) if branch.cuts < _MOST_CUTS else None
    if cut is None:
        yield from _pieces(_finish(branch, name))
        return
    for case in (Atom(cut, Relation.GT), Atom(cut, Relation.EQ), Atom(-cut, Relation.GT)):
        if not contradicts_by_sign(case, branch.atoms):
            yield from _pieces(replace(branch, atoms=(*branch.atoms, case), cuts=branch.cuts + 1))


def _undecided(atoms: Sequence[Atom], name: str) -> Polynomial | None:
    """A polynomial without the variable whose sign has to be known for its atoms to be bounds that compare."""
    signs = Signs(atoms)
    for atom in atoms:
        degree = atom.polynomial.degree(name)
        if degree == 0 or (degree > 1 and signs.bounds.get(name, (Fraction(-1),))[0] < 0):
            continue
        if degree > 1 and monotone_limit(atom.polynomial, False, name, signs) is not None:
            continue
        powers = [atom.polynomial.coefficient(name, power) for power in range(1, degree + 1)]
        settled = [signs.of(coefficient) for coefficient in powers]
        if any(1 in found and -1 not in found for found in settled) and any(
            -1 in found and 1 not in found for found in settled
        ):
            continue  # pulls in both directions, whatever the others do
        for coefficient, found in zip(powers, settled, strict=True):
            if len(found) > 1 and (degree == 1 or found >= EITHER):
                return signs.first(coefficient, AT_LEAST_0) or signs.first(coefficient, AT_MOST_0)
    found = limits_on(atoms, name, signs)
    for low in found.lower:
        for high in found.upper:
            gap = beyond_start(low, high)
            if gap is not None and signs.of(gap) >= EITHER:
                return signs.first(gap, EITHER)
    return None


def _finish(branch: _Branch, name: str) -> _Branch:
    """The branch with a level for its last waiting variable, and what that says of the others."""
    known = Signs(branch.atoms)
    found = limits_on(branch.atoms, name, known)
    atoms = [atom for atom in branch.atoms if name not in atom.symbols]
    # Of the variable only its least value: bounds are compared at values that not all of its atoms admit.
    least = [at_least(Polynomial.symbol(name), known.bounds[name][0])] if name in known.bounds else []
    signs = Signs((*atoms, *least))
    gaps = [Uncovered(name, (atom,), "only checked") for atom in found.checks]
    if len(found.lower) * len(found.upper) > _MOST_CROSSINGS:
        everything = tuple(bound.limit.atom for bound in (*found.lower, *found.upper))
        gaps.append(Uncovered(name, everything, "too many bounds to compare"))
    else:
        for low in found.lower:
            for high in found.upper:
                crossed, gap = cross(low, high, signs)
                atoms += [] if crossed is None else [crossed]
                gaps += [] if gap is None else [Uncovered(name, (low.limit.atom, high.limit.atom), gap)]
    if not any(high.slope is not None for high in found.upper):
        weak = (low.limit.atom for low in found.lower if not low.strictly)
        gaps += [Uncovered(name, (atom,), "may not depend on the variable") for atom in weak]
    level = Level(
        name,
        tuple(bound.limit for bound in found.lower),
        tuple(bound.limit for bound in found.upper),
        found.checks,
    )
    return replace(
        branch,
        atoms=tuple(atoms),
        waiting=branch.waiting[:-1],
        levels=(level, *branch.levels),
        uncovered=(*branch.uncovered, *gaps),
    )
