"""Integer expressions on all iterations at once, beside what C computes."""

from __future__ import annotations

import numpy as np
import pytest

from comprehensive.metafork.ast import Binary, Cast, IntLiteral, Name, ScalarType
from comprehensive.soundness.columns import evaluate

WIDE, LARGE = ScalarType.UNSIGNED_LONG, 0x9E3779B97F4A7C15


@pytest.mark.parametrize("count", [IntLiteral(60), Name("i"), Cast(ScalarType.UNSIGNED_CHAR, Name("i"))])
def test_products_that_wrap_around_can_be_shifted(count: IntLiteral | Name | Cast) -> None:
    columns, types = {"i": np.arange(64)}, {"i": ScalarType.INT}
    product = Binary("*", Cast(WIDE, Name("i")), IntLiteral(LARGE, WIDE))
    for symbol in (">>", "<<"):
        found = evaluate(Binary(symbol, product, count), columns, types)
        by = [60] * 64 if isinstance(count, IntLiteral) else range(64)
        whole = [i * LARGE % 2**64 for i in range(64)]
        assert found.tolist() == [
            number >> places if symbol == ">>" else (number << places) % 2**64
            for number, places in zip(whole, by, strict=True)
        ]
