"""The languages in which the tool prints calls of its own arithmetic: C for headers, JavaScript for pages.

In: names and integers.  Out: their text.  Everything else of an expression is calls of functions that both languages
have under the same names (`templates/host/runtime.h.j2` and `templates/report/arithmetic.js`)::

    cf_plus(cf_times(2, cf_amount(B)), 2)        -->  C
    cf_plus(cf_times(2n, cf_amount(v.B)), 2n)    -->  JAVASCRIPT

Integers of JavaScript are of any size (`BigInt`), so that what the page computes is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

INT_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Language:
    """How integers, counts (which are unsigned in C) and variables are written."""

    integer: Callable[[int], str]
    count: Callable[[int], str]
    variable: Callable[[str], str]


C = Language(
    integer=lambda value: str(value) if value <= INT_MAX else f"{value}LL",
    count=lambda value: str(value) if value <= INT_MAX else f"{value}ULL",
    variable=lambda name: name,
)
JAVASCRIPT = Language(
    integer=lambda value: f"{value}n",
    count=lambda value: f"{value}n",
    # A member of the point: what C calls `new` or `let` is no word of the language there.
    variable=lambda name: f"v.{name}",
)
