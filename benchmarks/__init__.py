"""Measurements of the tool and of what it generates; ``results/`` keeps their tables."""
