"""The parameters of a kernel: a nest and the names its body uses in, parameters in a fixed order out.

Arrays come first, then strides of their rows, then scalars; what the body does not use is not passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from comprehensive.kernel_ir.kernel import KernelParameter, Source
from comprehensive.kernel_ir.terms import total, widen
from comprehensive.loops.ir import Nest, Role
from comprehensive.loops.types import names_declared
from comprehensive.metafork.ast import Expr, Index, Name, ScalarType
from comprehensive.metafork.terms import times
from comprehensive.records import replace


class Strides(Struct, frozen=True):
    """The strides of ``arrays``, from the first subscript to the one before the last; ``unsigned`` are the names whose
    products wrap around in 32 bits."""

    arrays: Mapping[str, tuple[KernelParameter, ...]]
    unsigned: frozenset[str]

    def __getitem__(self, array: str) -> tuple[KernelParameter, ...]:
        return self.arrays[array]

    def __contains__(self, array: str) -> bool:
        return array in self.arrays


def strides_of(nest: Nest, name: Callable[[str], str]) -> Strides:
    """The strides of all arrays; ``name`` gives free names."""
    unsigned = frozenset((ScalarType.UNSIGNED,))
    return Strides(
        {
            array.name: tuple(
                KernelParameter(
                    name(f"{array.name}_stride{d}"), ScalarType.LONG, Source.STRIDE, array.name, d
                )
                for d in range(array.rank - 1)
            )
            for array in nest.arrays
        },
        names_declared(nest.body, unsigned) | {s.name for s in nest.scalars if s.type in unsigned},
    )


def flat(index: Index, strides: Strides) -> Index:
    """A reference to data with one subscript, in ``long`` but for what the program computes in ``unsigned``."""
    factors = [Name(p.name) for p in strides[index.array]]
    subscripts = [widen(s, strides.unsigned) for s in index.subscripts]
    return replace(index, subscripts=(flat_index(subscripts, factors),))


def used_parameters(
    nest: Nest, strides: Strides, written: frozenset[str], used: frozenset[str]
) -> Sequence[KernelParameter]:
    """Return kernel parameters for the arrays, strides and scalars that are ``used``.

    Arrays that are not ``written`` are const.
    """
    arrays = [
        KernelParameter(a.name, a.type, Source.ARRAY, a.name, pointer=True, const=a.name not in written)
        for a in nest.arrays
        if a.name in used
    ]
    rows = [p for a in nest.arrays for p in strides[a.name] if p.name in used]
    scalars = [
        KernelParameter(s.name, s.type, Source.SCALAR, s.name)
        for s in nest.scalars
        if s.name in used and s.role is not Role.TILE
    ]
    return (*arrays, *rows, *scalars)


def flat_index(subscripts: Sequence[Expr], strides: Sequence[Expr]) -> Expr:
    """Return ``s0 * stride0 + s1 * stride1 + ... + s_last``.

    ``strides`` has one entry less than ``subscripts``.
    """
    scaled = [times(s, stride) for s, stride in zip(subscripts[:-1], strides, strict=True)]
    return total([*scaled, subscripts[-1]])
