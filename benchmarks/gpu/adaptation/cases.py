"""The programs that are timed, with their sizes and the numbers that they are given.

Those of ``programs/`` are written from what *Orion* (Hayes et al., 2016, table 2) says of its benchmarks and from what
is generally known of these methods, and two stencils with many live values; the others are kernels of the everyday
benchmark that have no tile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
EVERYDAY = HERE.parent / "everyday" / "kernels"


@dataclass(frozen=True)
class Case:
    """A program with the values of its scalars.

    ``indices`` says of each array of indices below which number all of its elements are.
    """

    path: Path
    scalars: Mapping[str, float]
    indices: Mapping[str, int] = field(default_factory=dict[str, int])
    elements: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many elements the arrays have that are declared as pointers, by name."""

    @property
    def name(self) -> str:
        return self.path.stem


def _own(name: str, indices: Mapping[str, int] | None = None, **scalars: float) -> Case:
    return Case(HERE / "programs" / f"{name}.mf", scalars, indices or {})


def _everyday(name: str, elements: Mapping[str, int], **scalars: float) -> Case:
    return Case(EVERYDAY / f"{name}.mf", scalars, elements=elements)


_POINTS, _ROWS, _COLUMNS = 65536, 16384, 1024
_OF_POINTS = {"x": _POINTS, "y": _POINTS, "z": _POINTS, "mass": _POINTS, "force": 3 * _POINTS}
_OF_ROWS = {
    "a": _ROWS * _COLUMNS,
    "y": _ROWS * _COLUMNS,
    "x": _ROWS * _COLUMNS,
    "gamma": _COLUMNS,
    "beta": _COLUMNS,
}


CASES = (
    _own("hotspot", n=8191, cap=0.5, rx=0.1, ry=0.1, rz=0.05),
    _own("srad_coefficients", n=8191, q0=0.05),
    _own("srad_update", n=8191, **{"lambda": 0.5}),
    _own("gaussian", n=8191),
    _own("backprop", n=8191, eta=0.3, momentum=0.3),
    _own("cfd", {"next": 4000037}, n=4000037),
    _own("denoise", h=4095, w=4095, noise=0.3, distance=0.1),
    _own("lattice", n=4095, omega=1.2),
    _own("distances", n=1000003, m=64, k=32),
    _own("box27", n=400, c0=0.4, c1=0.05, c2=0.02, c3=0.01),
    _own("recursive", h=4096, w=16384, a0=0.1, a1=0.05, a2=0.05, a3=0.02, b1=-0.9, b2=0.2),
    _everyday("nbody_linear", _OF_POINTS, n=_POINTS),
    _everyday("softmax_linear", _OF_ROWS, m=_ROWS, n=_COLUMNS),
    _everyday("layer_norm_linear", _OF_ROWS, m=_ROWS, n=_COLUMNS, epsilon=1e-5),
    _everyday("black_scholes_declared", {}, n=33554432, rate=0.02, volatility=0.3),
)
