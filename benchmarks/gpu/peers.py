"""The peers that are timed, in order, and how long each may take: what matters most comes first."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer to be timed.

    ``module`` of this package has its ``attempts``; ``libraries`` are built for it, beside those of the
    specs.
    """

    name: str
    title: str
    module: str
    seconds: float
    libraries: tuple[str, ...] = ()


CEILINGS = Peer("ceilings", "ceilings", "ceilings", 40, ("ceilings",))
OURS = Peer("ours", "ours", "ours", 120)
PEERS = (
    OURS,
    Peer("cublas", "cuBLAS", "cublas", 40),
    Peer("torch", "torch, eager", "torch_eager", 60),
    Peer("naive", "naive kernel", "naive", 60, ("naive",)),
    Peer("figure4", "figure-4 shape", "figure4", 60, ("figure4",)),
    Peer("triton", "Triton, autotuned", "triton_autotuned", 180),
    Peer("compiled", "torch, compiled", "torch_compiled", 100),
)
BY_NAME = {peer.name: peer for peer in (CEILINGS, *PEERS)}
