"""Symbolic emulation of kernels: which loads have been done before, and where their addresses lie."""
