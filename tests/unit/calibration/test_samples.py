"""The output of the benchmark is read whole, or refused with what is wrong."""

from __future__ import annotations

import pytest

from comprehensive.calibration.samples import Reread, read_samples
from comprehensive.diagnostics import CompileError
from tests.unit.calibration.answers import answer, rereads


def test_an_answer_is_read() -> None:
    samples = read_samples(answer())
    assert samples.device == "NVIDIA H200"
    assert samples.facts["multiprocessors"] == 132
    assert samples.runs["shared_latency"] == (23.1, 23.2, 23.1)
    assert samples.rereads[0] == Reread(7864320, (3200.0, 3200.0, 3200.0))
    assert samples.count == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "begins with ''"),
        ("hello\n", "begins with 'hello'"),
        (answer().replace("calibration 2", "calibration 1"), "begins with 'calibration 1'"),
        (answer().removesuffix("done\n"), "its end is missing"),
        (answer().replace("runs turn 620 630 625\n", ""), "it lacks turn"),
        (answer().replace("fact l2_bytes", "fact other"), "it lacks l2_bytes"),
        (answer(curve="").replace("device NVIDIA H200\n", ""), "it lacks device"),
        (answer(curve=""), "it lacks reread"),
        (answer(turn="620 630"), "different numbers of runs"),
        (answer(turn="620 nan 3"), "'runs turn 620 nan 3' has no such numbers"),
        (answer(turn="620 x 3"), "has no such numbers"),
        (answer(turn=""), "has no such numbers"),
        (answer(curve=rereads() + "reread many 1 2 3\n"), "'reread many 1 2 3'"),
        (answer().replace("done\n", "warning: hot\ndone\n"), "'warning: hot' is no line of it"),
        (answer(device="H\x1b200"), "name of the device"),
    ],
)
def test_what_is_no_answer_is_refused(text: str, words: str) -> None:
    with pytest.raises(CompileError) as refused:
        read_samples(text)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "CF0955"
    assert words in diagnostic.message
