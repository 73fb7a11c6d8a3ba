"""Schedules: points of a nest to kernels over tiles of them."""
