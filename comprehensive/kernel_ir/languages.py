"""The languages in which the tool prints calls of its own arithmetic: C for headers, JavaScript for pages.

In: names and integers.  Out: their text.  Everything else of an expression is calls of functions that both languages
have under the same names (`templates/runtime/cf_runtime.h` and `templates/report/arithmetic.js`)::

    cf_plus(cf_times(2, cf_amount(B)), 2)        -->  C
    cf_plus(cf_times(2n, cf_amount(v.B)), 2n)    -->  JAVASCRIPT

Integers of JavaScript are of any size (`BigInt`), so that what the page computes is exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

INT_MAX = 2**31 - 1


class Language(Struct, frozen=True):
    """The notation of integers, counts (which are unsigned in C) and variables."""

    integer: Callable[[int], str]
    count: Callable[[int], str]
    variable: Callable[[str], str]


def _of_point(name: str) -> str:
    """A member of the point `v`: what C calls `new` or `let` is no word of the language there.

    Symbols may also be quotients of integers and names in the notation of C, `(n)/(2)`.
    """
    return re.sub(
        r"[A-Za-z_]\w*|\d+",
        lambda found: f"{found[0]}n" if found[0].isdecimal() else f"v.{found[0]}",
        name,
    )


C = Language(
    integer=lambda value: str(value) if value <= INT_MAX else f"{value}LL",
    count=lambda value: str(value) if value <= INT_MAX else f"{value}ULL",
    variable=lambda name: name,
)
JAVASCRIPT = Language(
    integer=lambda value: f"{value}n",
    count=lambda value: f"{value}n",
    variable=_of_point,
)
