"""The state of one statement about generated code: it holds, it fails, or nobody has looked."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    HOLDS = "holds"
    FAILS = "fails"
    NOT_CHECKED = "not checked"
