"""Whether two accesses may touch the same byte.

In: two of :func:`accesses_of`.  Out: False only where it is proved that they do not::

    alias = Alias(affine, loops, spaces, {"table": ".global"})
    alias.may_alias(load, store)                              # in one thread, in the same iteration of all loops
    alias.may_alias(load, store, Relation.ANY_VISIT)          # in one thread, whenever they are executed
    alias.may_alias(load, store, Relation.ANY_THREAD)         # in any threads of the grid
    alias.distance(load, store)                               # bytes from one to the other, where that is one number

Proofs: what nobody writes (``ld.global.nc``, constants, parameters) aliases no write; different memories; addresses
whose difference is known exactly, or is one modulo a power of two, or is bounded; different variables (an address made
of one variable and offsets stays in it, as the language has it, but not one that holds the distance to another; arrays
whose length is given at the launch are all at one place).
Different kernel parameters only where ``assume_noalias`` says that they point to different arrays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import gcd
from typing import TypeAlias

from comprehensive.ptx.analysis.accesses import Access
from comprehensive.ptx.analysis.affine import Affine
from comprehensive.ptx.analysis.forms import Form, subtract
from comprehensive.ptx.analysis.loops import Loops
from comprehensive.ptx.analysis.space import Space
from comprehensive.ptx.analysis.spaces import Spaces
from comprehensive.ptx.analysis.symbols import Symbol
from comprehensive.ptx.special_registers import special_register
from comprehensive.ptx.statements import Declaration

_MOST_BITS_OF_NUMBER = 32
"""An address has more."""

_Terms: TypeAlias = tuple[tuple[int, int], ...]


class Relation(Enum):
    """The executions of two accesses that are compared."""

    SAME_VISIT = "same visit"
    ANY_VISIT = "any visit"
    ANY_THREAD = "any thread"


@dataclass(frozen=True, eq=False)
class Alias:
    """Answers whether accesses may touch the same byte.

    ``module_variables`` are the texts of the module's variables by symbol, for those that are ``.extern``.
    """

    affine: Affine
    loops: Loops
    spaces: Spaces
    module_variables: Mapping[str, str] = field(default_factory=dict[str, str])
    assume_noalias: bool = False

    def may_alias(self, one: Access, other: Access, relation: Relation = Relation.SAME_VISIT) -> bool:
        """Return whether the two may touch a common byte; for two reads, whether they may read the same.

        >>> alias.may_alias(accesses[7], accesses[9])    # doctest: +SKIP
        False
        """
        if (one.is_constant and other.writes) or (other.is_constant and one.writes):
            return False
        if one.address is None or other.address is None:
            return True
        if one.space.is_one and other.space.is_one and one.space is not other.space:
            return False
        if relation is Relation.ANY_THREAD and one.space is Space.LOCAL and other.space is Space.LOCAL:
            # Every thread has its own; what the same thread does is looked at as before.
            relation = Relation.ANY_VISIT
        if one.address.bits == other.address.bits and self._apart(
            one.address, one.bytes, other.address, other.bytes, relation
        ):
            return False
        return not self.are_different(one.address, other.address)

    def distance(self, one: Access, other: Access) -> int | None:
        """Return the distance in bytes from the first access to the second, in one visit; None where it is not
        constant."""
        if one.address is None or other.address is None or one.address.bits != other.address.bits:
            return None
        found = subtract(other.address, one.address)
        return found.constant if found.is_constant else None

    def _apart(self, one: Form, one_bytes: int, other: Form, other_bytes: int, relation: Relation) -> bool:
        """Whether ``other - one`` is never between ``-other_bytes`` and ``one_bytes``, modulo 2^bits."""
        size = 1 << one.bits
        distance = other.constant - one.constant
        common, low, high = self._spread(one, other, relation)
        low, high = low + distance, high + distance
        # The least distance that is congruent and not below -other_bytes + 1.
        nearest = distance - (distance + other_bytes - 1) // common * common
        if nearest >= one_bytes:
            return True
        # The bounds of the sum as an integer: apart, and not by a whole round.
        return (
            -size + one_bytes <= low
            and high <= size - other_bytes
            and (low >= one_bytes or high <= -other_bytes)
        )

    def _spread(self, one: Form, other: Form, relation: Relation) -> tuple[int, int, int]:
        """Return what ``other - one`` is a multiple of, its least and its greatest number, without their constants."""
        key = one.bits, one.terms, other.terms, relation
        found = self._spreads.get(key)
        if found is None:
            found = self._spreads[key] = self._found_spread(one, other, relation)
        return found

    @cached_property
    def _spreads(self) -> dict[tuple[int, _Terms, _Terms, Relation], tuple[int, int, int]]:
        """The cache of results for pairs of addresses: most differ from others by constants only."""
        return {}

    def _found_spread(self, one: Form, other: Form, relation: Relation) -> tuple[int, int, int]:
        low = high = 0
        common = 1 << one.bits
        of_one, of_other = dict(one.terms), dict(other.terms)
        for number in of_one | of_other:
            symbol = self.affine.symbols[number]
            factors = (-of_one.get(number, 0), of_other.get(number, 0))
            # What is the same in both executions cancels; what varies are two symbols.
            for factor in factors if self._varies(number, relation) else (sum(factors),):
                common = gcd(common, factor)
                ends = sorted((factor * symbol.low, factor * symbol.high))
                low, high = low + ends[0], high + ends[1]
        return common, low, high

    def _varies(self, number: int, relation: Relation) -> bool:
        """Whether the symbol may be another number in the other execution."""
        return relation is not Relation.SAME_VISIT and self._variant[relation][number]

    @cached_property
    def _variant(self) -> Mapping[Relation, tuple[bool, ...]]:
        visits: list[bool] = []
        threads: list[bool] = []
        for symbol in self.affine.symbols:
            visits.append(
                bool(symbol.loops) or (symbol.kind in ("value", "operation") and bool(self.loops.irregular))
            )
            threads.append(visits[-1] or self._by_thread(symbol, threads))
        return {Relation.ANY_VISIT: tuple(visits), Relation.ANY_THREAD: tuple(threads)}

    def _by_thread(self, symbol: Symbol, known: list[bool]) -> bool:
        match symbol.kind, symbol.key:
            case "parameter" | "address" | "window", _:
                return False
            case "special", (str(name),):
                special = special_register(name)
                return special is None or special.varies != "grid"
            case "product", numbers:
                return any(known[n] for n in numbers if isinstance(n, int))
            case "signed" | "unsigned", (Form() as inner,):
                return any(known[n] for n, _ in inner.terms)
            case _:
                return True

    def are_different(self, one: Form, other: Form) -> bool:
        """Whether addresses lead to different variables or arrays, whatever is added to them."""
        if one.terms == other.terms and one.bits == other.bits:
            return False
        a, b = self._base(one), self._base(other)
        if a is None or b is None or a == b:
            return False
        if a.kind == b.kind == "address":
            return self._is_own(a) and self._is_own(b)
        if not self.assume_noalias:
            return False
        return all(each.kind == "parameter" or self._is_own(each) for each in (a, b))

    def _base(self, form: Form) -> Symbol | None:
        """The one variable or pointer that an address is made of, beside offsets."""
        key = form.bits, form.terms
        if key not in self._bases:
            self._bases[key] = self._found_base(form)
        return self._bases[key]

    @cached_property
    def _bases(self) -> dict[tuple[int, _Terms], Symbol | None]:
        """The cache of the bases of addresses, by all but their constants."""
        return {}

    def _found_base(self, form: Form) -> Symbol | None:
        found: list[Symbol] = []
        for number, coefficient in form.terms:
            symbol = self.affine.symbols[number]
            is_parameter = symbol.kind == "parameter" and symbol.key[-1] == form.bits
            if coefficient == 1 and (symbol.kind == "address" or is_parameter):
                found.append(symbol)
            elif not self._is_offset(number, abs(coefficient) > 1):
                return None
        return found[0] if len(found) == 1 else None

    def _is_offset(self, number: int, is_scaled: bool) -> bool:
        """Return whether a symbol is an offset: neither an address nor the distance of two is in it.

        Else it may lead out of the variable.
        """
        key = number, is_scaled
        if key not in self._offsets:
            self._offsets[key] = self._found_offset(self.affine.symbols[number], is_scaled)
        return self._offsets[key]

    @cached_property
    def _offsets(self) -> dict[tuple[int, bool], bool]:
        """The cache of results for symbols, by whether they are scaled."""
        return {}

    def _found_offset(self, symbol: Symbol, is_scaled: bool) -> bool:
        match symbol.kind, symbol.key:
            case "special" | "count" | "window", _:
                return True
            case "parameter", (_, _, int() as bits):
                # What the host passes and is scaled is a length.
                return is_scaled or bits <= _MOST_BITS_OF_NUMBER
            case "product", factors:
                return all(self._is_offset(n, True) for n in factors if isinstance(n, int))
            case "signed" | "unsigned", (Form() as inner,):
                return all(self._is_offset(n, is_scaled or abs(c) > 1) for n, c in inner.terms)
            case "value" | "operation" | "load", _:
                return symbol.value >= 0 and self.spaces.values[symbol.value].is_offset
            case _:
                return False

    def _is_own(self, symbol: Symbol) -> bool:
        """Return whether a symbol is a variable with a place of its own."""
        (name,) = symbol.key
        text = self._declared.get(str(name))
        return text is not None and not re.search(r"\.extern\b|\[\s*\]", text)

    @cached_property
    def _declared(self) -> Mapping[str, str]:
        own: dict[str, str] = {}
        for statement in self.affine.ssa.cfg.flow.function.body:
            if isinstance(statement, Declaration) and statement.kind != ".reg":
                for name in re.findall(r"(?<![.\w%$])[A-Za-z_$%][\w$]*", statement.text.split("=")[0]):
                    # The same name in two scopes is not known to be one variable.
                    own[name] = ".extern" if name in own else statement.text
        return {**self.module_variables, **own}
