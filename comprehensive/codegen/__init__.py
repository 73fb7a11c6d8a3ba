"""Code generation: a leaf becomes a CUDA kernel, a tree its dispatcher, a program its header."""
