"""The difference between two sets of arrays: expected and actual ones in, the first element that differs out.

    first_difference({"c": [1.0, 2.0]}, {"c": [1.0, 3.0]})      -->  "c[1] is 3.0, expected 2.0"

Needs nothing but numpy, and no more memory than a part of an array: it also compares what a GPU has filled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from comprehensive.loops import bfloat16
from comprehensive.loops.bfloat16 import from_bits

PART = 1 << 22
"""Elements that are compared at once."""


def first_difference(
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    tolerances: Mapping[str, float] | None = None,
    bits: Collection[str] = (),
) -> str | None:
    """Names the first element whose bits differ; two NaNs count as equal.

    ``tolerances`` by type (``float32``): elements may differ by so much of the largest finite one of their array.
    Arrays named in ``bits`` hold those of ``bfloat16``.
    """
    for name in sorted(expected):
        left, right = np.asarray(expected[name]), np.asarray(actual[name])
        type = left.dtype.name
        if name in bits:
            left, right, type = from_bits(left), from_bits(right), bfloat16.NAME
        at = _first(left.reshape(-1), right.reshape(-1), (tolerances or {}).get(type))
        if at is not None:
            place = tuple(int(i) for i in np.unravel_index(at, left.shape))
            subscripts = "".join(f"[{i}]" for i in place)
            return f"{name}{subscripts} is {right[place]!s}, expected {left[place]!s}"
    return None


def _first(left: Any, right: Any, tolerance: float | None) -> int | None:
    """The number of the first element that differs."""
    allowed: float | None = None
    for start in range(0, len(left), PART):
        a, b = left[start : start + PART], right[start : start + PART]
        same = a == b
        if a.dtype.kind == "f":
            same |= np.isnan(a) & np.isnan(b)
            same &= (np.signbit(a) == np.signbit(b)) | np.isnan(a)
            if tolerance is not None and not same.all():
                if allowed is None:
                    allowed = tolerance * _largest(left)
                with np.errstate(invalid="ignore", over="ignore"):
                    same |= np.abs(b - a) <= allowed
        if not same.all():
            return start + int(np.argmin(same))
    return None


def _largest(values: Any) -> float:
    """The largest magnitude of a finite element, 0 where there is none."""
    largest = 0.0
    for start in range(0, len(values), PART):
        part = values[start : start + PART]
        largest = max(largest, float(np.abs(part[np.isfinite(part)]).max(initial=0.0)))
    return largest
