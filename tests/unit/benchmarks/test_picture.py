"""The picture of made-up times: bars as long as the shares, names at the bars, nothing outside."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.gpu.picture import picture
from benchmarks.gpu.table import Results
from tests.unit.benchmarks.made_up import MOVE, PRODUCT, SWEEPS, TALL, failed, ran, results

SVG = "{http://www.w3.org/2000/svg}"
TRAFFIC_MS = MOVE.traffic / 3000e6


def _drawn(found: Results) -> ElementTree.Element:
    return ElementTree.fromstring(picture(found))


def _widths(root: ElementTree.Element, kind: str) -> list[float]:
    return [float(each.get("width", "")) for each in root.iter(f"{SVG}rect") if each.get("class") == kind]


def _texts(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def test_a_bar_is_as_long_as_the_share_of_the_ceiling() -> None:
    root = _drawn(results(ran(MOVE.name, "ours", 2 * TRAFFIC_MS), ran(MOVE.name, "torch", 4 * TRAFFIC_MS)))
    (ours,), (peer,) = _widths(root, "ours"), _widths(root, "peer")
    assert ours == pytest.approx(2 * peer, abs=0.2)
    assert f"0.50, {2 * TRAFFIC_MS:.3g} ms" in _texts(root)


def test_a_share_above_the_ceiling_still_fits() -> None:
    root = _drawn(results(ran(SWEEPS.name, "ours", SWEEPS.traffic / 3000e6 / 4)))
    (ceiling,) = [each for each in root.iter(f"{SVG}line") if each.get("class") == "ceiling"]
    width = float(root.get("width", ""))
    for bar in root.iter(f"{SVG}rect"):
        assert float(bar.get("x", "0")) + float(bar.get("width", "")) <= width
    assert float(ceiling.get("x1", "")) < width / 2


def test_what_did_not_run_is_named() -> None:
    root = _drawn(results(ran(PRODUCT.name, "ours", 1.0), failed(PRODUCT.name, "triton", "why < not")))
    assert "not there: Triton, autotuned" in _texts(root)


def test_cases_without_times_take_no_room() -> None:
    root = _drawn(results(failed(TALL.name, "ours", "no spec")))
    assert TALL.name not in _texts(root)


def test_everything_stands_above_the_lower_edge() -> None:
    cases = (PRODUCT, TALL, MOVE, SWEEPS)
    root = _drawn(results(*(ran(case.name, peer, 1.0) for case in cases for peer in ("ours", "torch"))))
    height = float(root.get("height", ""))
    assert all(float(each.get("y", "")) < height for each in root.iter(f"{SVG}text"))


def test_light_and_dark_have_their_colours() -> None:
    assert "prefers-color-scheme: dark" in picture(results())
