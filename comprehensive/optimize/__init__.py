"""Comprehensive optimization: Algorithms 1 and 2 of the paper and the decision tree that they grow."""
