"""Values of parameters as a caller of Python gives them: a mapping and keywords in, exact numbers out.

given({"n": 1000}, {"B": numpy.int64(256), "P_occupancy": Fraction(3, 4)})
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from operator import index

from comprehensive.values import Rational

Given = int | Fraction
"""A value of a parameter: an integer of any library, or a fraction for a share."""


def given(values: Mapping[str, Given] | None, named: Mapping[str, Given]) -> dict[str, Rational]:
    """Return all values by name.

    TypeError for a name that is given twice, and for what is neither an integer nor a fraction.
    """
    found: dict[str, Rational] = {}
    for name, value in (*(values or {}).items(), *named.items()):
        if name in found:
            raise TypeError(f"{name} is given twice")
        found[name] = _exact(name, value)
    return found


def _exact(name: str, value: Given) -> Rational:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else value
    try:
        return index(value)
    except TypeError:
        raise TypeError(
            f"{name} = {value!r} is no exact number: give an int, or a fractions.Fraction for a share"
        ) from None
