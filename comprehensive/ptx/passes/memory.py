"""The instructions that may not pass a load or a store.

memory = Memory(analyses)
memory.may_write(17, 3)       # whether the load at step 3 may read something else before step 17, in any iteration
memory.keeps_apart(17, 3)     # whether the two have to stay in their order, in one visit of their block
"""

from __future__ import annotations

from dataclasses import dataclass

from comprehensive.ptx.analysis.alias import Relation
from comprehensive.ptx.analysis.analyses import Analyses

NOALIAS = "different pointers given to a kernel never lead to the same array"
"""The help of the option ``assume_noalias``."""


@dataclass(frozen=True)
class Memory:
    analyses: Analyses

    def may_write(self, step: int, load: int) -> bool:
        access, read = self.analyses.accesses.get(step), self.analyses.accesses[load]
        if access is None:
            return False
        if read.is_constant:
            return access.gates
        if access.orders:
            return True
        return access.writes and self.analyses.alias.may_alias(access, read, Relation.ANY_VISIT)

    def orders(self, step: int) -> bool:
        """Whether no access may pass a step."""
        access = self.analyses.accesses.get(step)
        return access is not None and access.orders

    def keeps_apart(self, step: int, other: int) -> bool:
        one, two = self.analyses.accesses.get(step), self.analyses.accesses.get(other)
        if one is None or two is None or not (one.writes or two.writes):
            return False
        return self.analyses.alias.may_alias(one, two)
