"""Measures the speeds of a device, and writes them down as a machine file."""
