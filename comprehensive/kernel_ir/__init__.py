"""The kernel IR: one CUDA kernel, and what is said in terms of it."""
