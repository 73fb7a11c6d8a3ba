"""Machines: the symbols that systems speak of, the table of devices, and how full a device can be.

``parameters`` names the machine parameters, ``device`` reads ``specs/machines/*.toml``, ``occupancy`` counts the
thread blocks that one multiprocessor holds.
"""
