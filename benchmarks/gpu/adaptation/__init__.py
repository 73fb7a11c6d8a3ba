"""Versions found while functions run (the paper *Orion*) beside nvcc's default and beside the best of all versions."""
