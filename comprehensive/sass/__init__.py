"""The machine code of a kernel as values, and how long it is expected to take.

``read(cubin, "matmul_0") -> SassFunction``, ``predict(function, device, launch) -> Prediction``; README.md has the
rest.
"""
