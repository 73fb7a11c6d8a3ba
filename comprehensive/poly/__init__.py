"""Polyhedra with symbolic tile sizes: footprints, dependences, guards. The only package that imports islpy."""
