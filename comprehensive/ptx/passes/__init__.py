"""Passes: each takes a module of PTX and gives another one, with remarks on what it did and what it could not do."""
