"""Random `.mf` programs over the whole language: a seed in, text out."""
