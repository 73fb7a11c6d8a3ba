"""Soundness without a GPU: random parameters, the interpreter, and the emitted code run on the CPU."""
