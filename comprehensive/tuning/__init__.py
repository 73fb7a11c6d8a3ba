"""Measures candidates on devices, remembers what was found, and tells which are best."""
