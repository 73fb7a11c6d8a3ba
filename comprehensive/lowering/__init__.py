"""Lowering: a leaf of the tree to its kernel."""
