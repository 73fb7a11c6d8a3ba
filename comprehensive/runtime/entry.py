"""The names of the functions of the serial program that set the variables of its file before they run one."""

from __future__ import annotations

ENTRY = "cf_serial_"
"""The prefix of the name of the function that is run."""
