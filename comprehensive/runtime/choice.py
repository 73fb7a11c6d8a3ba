"""``cf_choice`` of generated headers, as ctypes sees it: the one place in Python that knows its members.

Needs the standard library only, as do the processes that measure.
"""

from __future__ import annotations

import ctypes


class Choice(ctypes.Structure):
    """The account of what ran, or of why nothing did.

    Members and their meanings are those of `templates/runtime/cf_runtime.h`.
    """

    _fields_ = [
        ("leaf", ctypes.c_int),
        ("status", ctypes.c_int),
        ("constraint", ctypes.c_char_p),
        ("needed", ctypes.c_longlong),
        ("available", ctypes.c_longlong),
        ("cycles", ctypes.c_longlong),
        ("left_out", ctypes.c_longlong),
        ("candidate", ctypes.c_int),
        ("adaptation", ctypes.c_char_p),
    ]
