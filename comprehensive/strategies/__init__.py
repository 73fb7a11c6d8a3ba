"""Optimization procedures O_1, ..., O_w, one per file; the laws they obey are in this folder's README.md."""
