"""Calls generated functions from Python on a GPU, with arrays of torch, of cupy and of others, and compares.

``python3 -m tests.gpu.from_python DIRECTORY``, where DIRECTORY has what ``comprehensive gen`` writes for all specs,
on a machine with nvcc, torch, cupy, and the extra ``gpu``.  What is computed on the GPU is compared with what the same
source computes on the processor.  Exits 1 on a failure.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import comprehensive
from comprehensive.bindings.load import Module


@dataclass(frozen=True)
class Case:
    """``scalars`` and the shapes of all data, by name."""

    function: str
    scalars: Mapping[str, int | float]
    shapes: Mapping[str, tuple[int, ...]]
    dtype: str = "float32"


CASES = (
    Case("matmul", {"n": 131}, {"a": (131, 131), "b": (131, 131), "c": (131, 131)}),
    Case("matmul", {"n": 512}, {"a": (512, 512), "b": (512, 512), "c": (512, 512)}),
    Case("gemm", {"m": 65, "n": 130, "k": 77}, {"a": (65, 77), "b": (77, 130), "c": (65, 130)}),
    Case("matvec", {"m": 333, "n": 1001}, {"a": (333, 1001), "x": (1001,), "y": (333,)}),
    Case("transpose", {"N": 129}, {"a": (129, 129), "c": (129 * 129,)}),
    Case("matadd", {"N": 257}, {"a": (257, 257), "b": (257, 257), "c": (257, 257)}, "int32"),
    Case("reverse", {"n": 1003}, {"in": (1003,), "out": (1003,)}),
    Case("blur5x5", {"h": 67, "w": 93}, {"in": (67 * 93,), "out": (67 * 93,)}),
    Case("jacobi1d", {"T": 7, "N": 1001}, {"a": (2002,)}, "int32"),
    Case("jacobi2d", {"T": 7, "n": 97}, {"a": (97, 97), "b": (97, 97)}),
    Case("heat3d", {"T": 5, "n": 35, "r": 0.1}, {"a": (35, 35, 35), "b": (35, 35, 35)}),
)


class OnlyInterface:
    """A library that has ``__cuda_array_interface__`` and no DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> Any:
        return self.array.__cuda_array_interface__


def main(directory: Path) -> int:
    import cupy
    import torch

    failures = 0
    for case in CASES:
        manifest = directory / f"{case.function}.json"
        began = time.perf_counter()
        on_gpu, on_cpu = comprehensive.load(manifest), comprehensive.load(manifest, device="cpu")
        seconds = time.perf_counter() - began
        rng = np.random.default_rng(1)
        data = {name: _drawn(rng, shape, case.dtype) for name, shape in case.shapes.items()}
        expected = {name: array.copy() for name, array in data.items()}
        on_cpu[case.function](**case.scalars, **expected)
        for kind, moved, back in (
            ("torch", lambda a: torch.from_numpy(a.copy()).cuda(), lambda t: t.cpu().numpy()),
            ("cupy", cupy.asarray, cupy.asnumpy),
            ("interface", lambda a: OnlyInterface(cupy.asarray(a)), lambda o: cupy.asnumpy(o.array)),
        ):
            arrays = {name: moved(array) for name, array in data.items()}
            launched = on_gpu[case.function](**case.scalars, **arrays)
            torch.cuda.synchronize()
            wrong = [n for n, a in arrays.items() if not _agree(back(a), expected[n])]
            failures += bool(wrong)
            said = f"differs in {', '.join(wrong)}" if wrong else "as on the processor"
            print(
                f"{case.function} {dict(case.scalars)} {kind}: {launched}, {said} (loaded in {seconds:.1f} s)"
            )
    module = comprehensive.load(directory / "matmul.json")
    operator = _operator(directory / "matmul.json", torch)
    for said in (*_refusals(module, torch), *_streams(module, torch, cupy), *operator):
        failures += said is not None
        if said is not None:
            print(said)
    _time(module, torch)
    print("failed" if failures else "passed")
    return 1 if failures else 0


def _drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    if dtype == "int32":
        return rng.integers(-50, 50, shape, dtype=np.int32)
    return rng.random(shape, dtype=np.float32)


def _agree(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
    if found.dtype.kind == "i":
        return bool((found == expected).all())
    return bool(np.allclose(found, expected, rtol=1e-4, atol=1e-5))


def _refusals(module: Module, torch: Any) -> Iterator[str | None]:
    good = [torch.ones(8, 8, device="cuda") for _ in range(3)]
    a, b, c = good
    for bad, words in (
        ((8, a.cpu(), b, c), "GPU"),
        ((8, a.double(), b, c), "float64"),
        ((8, a.T[:, ::2], b, c), "contiguous"),
        ((9, a, b, c), "9 x 9"),
        ((8, a.requires_grad_(), b, c), ""),
    ):
        try:
            module.matmul(*bad)
        except (TypeError, ValueError) as error:
            yield None if words in str(error) else f"refused for another reason than {words}: {error}"
        else:
            # Data that is differentiated is data like other data, as far as cuda-core sees it.
            yield None if words == "" else f"not refused: {words}"


def _streams(module: Module, torch: Any, cupy: Any) -> Iterator[str | None]:
    """Work that is under way on one stream is waited for on another."""
    n = 1024
    for name, stream in (("torch", torch.cuda.Stream()), ("cupy", cupy.cuda.Stream(non_blocking=True))):
        a = torch.rand(n, n, device="cuda")
        b = torch.eye(n, device="cuda")
        c = torch.zeros(n, n, device="cuda")
        torch.cuda.synchronize()
        for _ in range(200):
            a = a * 1.0
        module.matmul(n, a, b, c, stream=stream)
        stream.synchronize()
        yield None if torch.equal(a, c) else f"on a stream of {name}: the product came too early"


def _operator(manifest: Path, torch: Any) -> Iterator[str | None]:
    """An operator of torch runs on both kinds of devices, also in a compiled function and on another stream."""
    product = comprehensive.torch_op(
        comprehensive.load(manifest).matmul, comprehensive.load(manifest, device="cpu").matmul
    )

    def doubled(a: Any, b: Any) -> Any:
        c = torch.zeros_like(a)
        product(a.shape[0], a, b, c)
        return 2 * c

    for device in ("cuda", "cpu"):
        a, b = torch.rand(128, 128, device=device), torch.eye(128, device=device)
        for name, run in (("plain", doubled), ("compiled", torch.compile(doubled))):
            yield None if torch.equal(run(a, b), 2 * a) else f"the operator is wrong on {device}, {name}"
    a, b = torch.rand(1024, 1024, device="cuda"), torch.eye(1024, device="cuda")
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for _ in range(200):
            a = a * 1.0
        found = doubled(a, b)
    stream.synchronize()
    yield None if torch.equal(found, 2 * a) else "the operator came too early on another stream"


def _time(module: Module, torch: Any) -> None:
    a, b, c = (torch.ones(64, 64, device="cuda") for _ in range(3))
    module.matmul(64, a, b, c)
    torch.cuda.synchronize()
    samples: list[float] = []
    for _ in range(200):
        began = time.perf_counter()
        module.matmul(64, a, b, c)
        samples.append(time.perf_counter() - began)
    torch.cuda.synchronize()
    print(f"a call takes {sorted(samples)[100] * 1e6:.0f} us of the processor")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
