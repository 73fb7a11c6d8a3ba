from functools import cache
from typing import NamedTuple


class Opcode(NamedTuple):
    text: str


@cache
def opcode(text: str) -> Opcode:
    return Opcode(text)
