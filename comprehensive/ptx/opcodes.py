from functools import lru_cache
from typing import NamedTuple
class Opcode(NamedTuple):
    text: str
@lru_cache(maxsize=None)
def opcode(text: str) -> Opcode:
    return Opcode(text)
