"""The ends of constructs in host code: tokens and the positions of regions in, the position after a construct out.

``for (;;) while (c) { a = 1; } b = 2;`` as tokens: the statement at ``for`` ends after ``}``.  What is
not well formed ends somewhere, at the latest where the text does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from comprehensive.metafork.brackets import closing_of
from comprehensive.metafork.tokens import Token


class Extents:
    """Ends in one sequence of tokens; ``regions`` maps the position of each region's keyword to its last one.

    Ends of loops are remembered: a loop and what it governs end together.
    """

    def __init__(self, tokens: Sequence[Token], regions: Mapping[int, int]) -> None:
        self._tokens = tokens
        self._regions = regions
        self._ends: dict[int, int] = {}

    def statement(self, position: int) -> int:
        """The position after the loop or condition at ``position``, or a later one."""
        headers: list[int] = []
        while (end := self._ends.get(position)) is None:
            if not self._is_header(position):
                end = self._simple_statement(position)
                break
            headers.append(position)
            position = self.group(position + 1)
        self._ends.update(dict.fromkeys(headers, end))
        return end

    def _is_header(self, position: int) -> bool:
        if position >= len(self._tokens) or position in self._regions:
            return False
        return self._tokens[position].type in ("FOR", "WHILE", "SWITCH")

    def _simple_statement(self, position: int) -> int:
        """The position after a block, a region or a statement that governs nothing, or a later one."""
        if position >= len(self._tokens):
            return position
        if position in self._regions:
            return self._regions[position] + 1
        match self._tokens[position].type:
            case "LBRACE":
                return self.brackets(position, len(self._tokens))
            case "IF" | "DO" | "ELSE":
                return len(self._tokens)
            case _:
                return min(self.semicolon(position, len(self._tokens)) + 1, len(self._tokens))

    def semicolon(self, position: int, end: int) -> int:
        """The position of the next ``;`` before ``end``, or ``end``."""
        while position < end and self._tokens[position].type != "SEMI":
            position += 1
        return position

    def group(self, position: int) -> int:
        """The position after a group in parentheses that opens at ``position``; ``position`` where none does."""
        depth = 0
        while position < len(self._tokens) and position not in self._regions:
            kind = self._tokens[position].type
            depth += (kind == "LPAR") - (kind == "RPAR")
            if depth <= 0 and kind != "RPAR":
                return position  # no parenthesis where one belongs
            position += 1
            if depth == 0:
                return position
        return position

    def brackets(self, position: int, end: int) -> int:
        """The position after the brackets that open at ``position``, at most ``end``."""
        return min(closing_of(self._tokens, position, end) + 1, end)
