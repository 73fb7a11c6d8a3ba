"""Compiled kernels in the outputs of ``gen``: see the README of this package."""
