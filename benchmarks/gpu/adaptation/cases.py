"""The programs that are timed, with their sizes and the numbers that they are given.

Those of ``programs/`` are written from what *Orion* (Hayes et al., 2016, table 2) says of its benchmarks and from what
is generally known of these methods, and two stencils with many live values; the others are kernels of the everyday
benchmark that have no tile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
    """The number of elements of the arrays that are declared as pointers, by name."""
    long: Mapping[str, int] = field(default_factory=dict[str, int])
    """Values of scalars that make one launch long enough to be divided into parts; none where it cannot be."""

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def lengthened(self) -> Case:
        """The same with the sizes of one long launch; numbers of indices are below the greater size, too."""
        most = self.long.get("n", 0)
        indices = {name: most or below for name, below in self.indices.items()}
        return replace(self, scalars={**self.scalars, **self.long}, indices=indices)


def _own(
    name: str,
    indices: Mapping[str, int] | None = None,
    long: Mapping[str, int] | None = None,
    **scalars: float,
) -> Case:
    return Case(HERE / "programs" / f"{name}.mf", scalars, indices or {}, long=long or {})


def _everyday(
    name: str, elements: Mapping[str, int], long: Mapping[str, int] | None = None, **scalars: float
) -> Case:
    return Case(EVERYDAY / f"{name}.mf", scalars, elements=elements, long=long or {})


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
    _own("hotspot", long={"n": 24575}, n=8191, cap=0.5, rx=0.1, ry=0.1, rz=0.05),
    _own("srad_coefficients", long={"n": 16383}, n=8191, q0=0.05),
    _own("srad_update", long={"n": 16383}, n=8191, **{"lambda": 0.5}),
    _own("gaussian", long={"n": 24575}, n=8191),
    _own("backprop", long={"n": 16383}, n=8191, eta=0.3, momentum=0.3),
    _own("cfd", {"next": 4000037}, {"n": 16000037}, n=4000037),
    _own("denoise", long={"h": 16383, "w": 16383}, h=4095, w=4095, noise=0.3, distance=0.1),
    _own("lattice", long={"n": 8191}, n=4095, omega=1.2),
    _own("distances", long={"n": 16000003}, n=1000003, m=64, k=32),
    _own("box27", long={"n": 900}, n=400, c0=0.4, c1=0.05, c2=0.02, c3=0.01),
    _own("recursive", h=4096, w=16384, a0=0.1, a1=0.05, a2=0.05, a3=0.02, b1=-0.9, b2=0.2),
    _everyday("nbody_linear", _OF_POINTS, n=_POINTS),
    _everyday("softmax_linear", _OF_ROWS, m=_ROWS, n=_COLUMNS),
    _everyday("layer_norm_linear", _OF_ROWS, m=_ROWS, n=_COLUMNS, epsilon=1e-5),
    _everyday("black_scholes_declared", {}, {"n": 268435456}, n=33554432, rate=0.02, volatility=0.3),
)
