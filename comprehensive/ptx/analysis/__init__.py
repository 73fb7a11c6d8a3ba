"""Analyses of a function: control flow, dominance, liveness, values, variance, memory spaces, addresses."""
