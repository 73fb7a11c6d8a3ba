"""Loops that put many values together, as sums do, and how several threads share them."""
