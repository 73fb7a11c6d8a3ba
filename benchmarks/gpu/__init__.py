"""Generated kernels beside libraries, Triton, hand-written kernels and measured ceilings, on the GPU at hand."""
