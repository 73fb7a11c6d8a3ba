"""From Python a function is asked to look for its best version; results are right whichever one runs."""

from __future__ import annotations

import numpy as np
import pytest

import comprehensive
from comprehensive.bindings.errors import LaunchError
from comprehensive.bindings.load import Module
from comprehensive.generate import outputs
from tests import compiled_specs
from tests.unit.embedding.adapted import planned


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    directory = tmp_path_factory.mktemp("adapt")
    for name, text in outputs(compiled_specs.compiled("matadd"), plan=planned()).items():
        (directory / name).write_text(text, encoding="utf-8")
    return comprehensive.load(directory / "matadd.json", device="cpu")


def matrices(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a = np.arange(n * n, dtype=np.int32).reshape(n, n)
    return a, a.T.copy(), np.zeros_like(a)


@pytest.mark.parametrize("parameters", [{}, {"B0": 16, "B1": 16, "tile": 0, "version": 0}])
def test_all_that_is_tried_computes_the_same(module: Module, parameters: dict[str, int]) -> None:
    n = 96 if parameters else 130
    said: list[str] = []
    for _ in range(8):
        a, b, c = matrices(n)
        launched = module.matadd(n, a, b, c, adapt=True, **parameters)
        assert np.array_equal(c, a + b)
        said.append(launched.adaptation)
    assert said[0] == "looking for the best version"
    assert said[-1].startswith(("settled", "too short"))


def test_where_no_launch_can_be_divided_whole_ones_are_tried(module: Module) -> None:
    n = 300
    a, b, c = matrices(n)
    launched = module.matadd(n, a, b, c, adapt="split")
    assert np.array_equal(c, a + b)
    assert launched.adaptation == "not divided: kernels for that are made by `gen --adapt-split`"


@pytest.mark.parametrize("asked", ["parts", 2, None, 1.0])
def test_what_else_is_asked_for_is_refused(asked: object, module: Module) -> None:
    with pytest.raises(ValueError, match="adapt is True, False or 'split', not"):
        module.matadd(64, *matrices(64), adapt=asked)


def test_without_it_nothing_is_tried(module: Module) -> None:
    a, b, c = matrices(64)
    launched = module.matadd(64, a, b, c)
    assert (launched.candidate, launched.adaptation) == (0, "")
    with pytest.raises(LaunchError):
        module.matadd(64, a, b, c, adapt=True, B0=0, B1=1)
