"""The data that candidates are measured on."""

from __future__ import annotations

from comprehensive.tuning.data import drawn


def test_indices_that_shall_differ_do_where_there_is_room() -> None:
    argument = {"name": "p", "dtype": "int32", "pointer": True, "shape": [64], "low": 0, "distinct": True}
    assert sorted(drawn([{**argument, "high": 64}], 7)["p"].tolist()) == list(range(64))
    assert max(drawn([{**argument, "high": 8}], 7)["p"].tolist()) < 8
