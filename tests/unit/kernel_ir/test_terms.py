"""Terms as people write them."""

from __future__ import annotations

import pytest

from comprehensive.kernel_ir.terms import onward
from comprehensive.metafork.attempt import expression
from comprehensive.metafork.printer import print_expr


@pytest.mark.parametrize(
    ("first", "place", "sum"),
    [
        ("o0", "r0 * T0 + t0", "o0 + r0 * T0 + t0"),
        ("piece", "z * (T0 + 4) + (4 * t0 + r0 % 4)", "piece + z * (T0 + 4) + 4 * t0 + r0 % 4"),
        ("0", "r0 * T0 + t0", "r0 * T0 + t0"),
        # A difference may be less than what it is taken from.
        ("o0", "n - t0", "o0 + (n - t0)"),
    ],
)
def test_a_place_is_added_part_by_part(first: str, place: str, sum: str) -> None:
    assert print_expr(onward(expression(first), expression(place))) == sum
