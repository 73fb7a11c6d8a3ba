"""The names that are known at a place: PTX knows one from its declaration on.

    declared = Declared(function.body)
    declared.at(17, ["%r1", "tile"])     # whether a statement at position 17 may name them

Parameters, variables of the module and special registers are known everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from comprehensive.ptx.statements import Declaration, Statement

_NAME = re.compile(r"(?<![.\w$%])[A-Za-z_$%][\w$]*")
_DIGITS = "0123456789"


class Declared:
    def __init__(self, body: Sequence[Statement]) -> None:
        self._last: dict[str, int] = {}
        for position, statement in enumerate(body):
            if isinstance(statement, Declaration):
                # `%r<5>` stands for itself, as it is not asked here which numbers there are.
                for name in _NAME.findall(statement.text):
                    self._last[name] = position

    def at(self, position: int, names: Iterable[str]) -> bool:
        return all(self._known_from(name.partition(".")[0]) < position for name in names)

    def _known_from(self, name: str) -> int:
        return max(self._last.get(name, -1), self._last.get(name.rstrip(_DIGITS), -1))
