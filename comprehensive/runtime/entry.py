"""The names of the functions that run those of the serial program.

Those may be ``static``, and their variables of the file are set first.
"""

from __future__ import annotations

ENTRY = "cf_serial_"
"""The prefix of the name of the function that is run."""
