"""Shares of what memory moves, over all accesses of a block: weighted shares in, a value of a counter out.

    (256 accesses of share 1, 256*s of share 1/8)   -->   (s + 1)/(8*s + 1)

The weight of an access is what it uses, so that the value is what is used over what is moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from comprehensive.algebra import Atom, Polynomial, RationalFunction
from comprehensive.algebra.sign_sets import AT_LEAST_0, Signs
from comprehensive.counters.assumptions import assumptions
from comprehensive.counters.lanes import Share
from comprehensive.counters.work import Access, Count, UncountableError, work_of
from comprehensive.loops.ir import Variant
from comprehensive.optimize.protocols import Evaluation, Value

WeightedShare = tuple[Count, int, Share]
"""The number of times, the amount each time, and the share of what is moved that it is."""


def share_of_accesses(
    fragment: Variant, weighted: Callable[[Access], WeightedShare], *, is_shared: bool, worst: Fraction | int
) -> Evaluation:
    """Return the share over all accesses of a block to shared or to global memory; ``worst`` where none is counted."""
    scalars = assumptions(fragment.nest)
    try:
        cases = work_of(fragment)
    except UncountableError as reason:
        return Evaluation(Polynomial(worst), f"bound: {reason} is not counted")
    accesses = ([weighted(a) for a in work.accesses if a.is_shared is is_shared] for work in cases)
    return least_of_cases([share_of(each, scalars) for each in accesses], scalars)


def share_of(accesses: Sequence[WeightedShare], scalars: Sequence[Atom]) -> Evaluation:
    """Return what is used over what is moved, 1 where nothing is moved.

    Without counts it is the share of the worst access.

    ``scalars`` are what holds of the parameters, for which a block has to do something.
    """
    if not accesses:
        return Evaluation(Polynomial(1), "exact")
    worst = min(share.value for _, _, share in accesses)
    exact = all(share.exact for _, _, share in accesses)
    if worst == max(share.value for _, _, share in accesses):
        return Evaluation(Polynomial(worst), "exact" if exact else "bound: strides that are not known")
    used, moved = RationalFunction(0), RationalFunction(0)
    for count, amount, share in accesses:
        if count is None:
            return Evaluation(Polynomial(worst), "bound: counts that are not known")
        used, moved = used + count * amount, moved + count * (amount / share.value)
    found = quotient(used, moved, scalars)
    if found is None:
        return Evaluation(Polynomial(worst), "bound: perhaps nothing is done")
    return Evaluation(found, "exact" if exact else "bound: strides that are not known")


def least_of_cases(cases: Sequence[Evaluation], scalars: Sequence[Atom]) -> Evaluation:
    """Return the least value among the cases of a kernel, or one that is not above any of them."""
    first, *others = dict.fromkeys(cases)
    if not others:
        return first
    source = first.source if len({case.source for case in cases}) == 1 else "bound"
    if len({case.value for case in cases}) == 1:
        return Evaluation(first.value, source)
    signs = Signs(scalars)
    for case in cases:
        if all(_is_at_most(case.value, other.value, signs) for other in cases):
            return Evaluation(case.value, f"{case.source}, of the worst case")
    # 1/v1 + 1/v2 is at least the larger of 1/v1 and 1/v2.
    inverse = RationalFunction(0)
    for case in dict.fromkeys(case.value for case in cases):
        inverse = inverse + 1 / (RationalFunction(1) * case)
    return Evaluation(plain(1 / inverse), "bound: of several cases")


def plain(value: RationalFunction) -> Value:
    """A polynomial where it is one."""
    found = value.as_polynomial()
    return value if found is None else found


def quotient(above: RationalFunction, below: RationalFunction, scalars: Sequence[Atom]) -> Value | None:
    """Return the quotient in lowest terms; None where it may have a pole.

    Where nothing is done in no step, the value is that of one step.
    """
    if below == RationalFunction(0):
        return None
    found = above / below
    return plain(found) if 0 not in Signs(scalars).of(found.denominator) else None


def _is_at_most(left: Value, right: Value, signs: Signs) -> bool:
    difference = RationalFunction(1) * right - left
    return signs.of(difference.numerator * difference.denominator) <= AT_LEAST_0
