"""The candidates to try, and for how long: the part of tuning that its callers decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from comprehensive.tuning.candidates import Order


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits in seconds: for a candidate's runs, for its data, and for the serial C at one size."""

    candidate_s: float = 60.0
    prepare_s: float = 900.0
    reference_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of a caller on what is tried.

    ``order`` puts the most promising candidates first (None: what the model expects to be the fastest); ``top`` says
    how many of them are measured (None: all).  On a GPU ``capped_leaves`` of the best leaves are then tried with
    fewer registers, and ``passed`` of the best candidates with each of the ``pipelines``, passes over the PTX of their
    kernels.  ``domains`` are values of program parameters, ``scalars`` those of floating-point arguments.
    """

    order: Order | None = None
    top: int | None = 100
    capped_leaves: int = 2
    pipelines: tuple[str, ...] = ()
    passed: int = 4
    domains: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    scalars: Mapping[str, float] = field(default_factory=dict[str, float])
    limits: Limits = field(default_factory=Limits)
