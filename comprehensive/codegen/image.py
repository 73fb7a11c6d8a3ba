"""Compiled kernels as a C source has them: one container with code for several architectures, as an array.

In: the bytes of a fatbin and the symbols in it.  Out: an :class:`Image`, by which launchers name kernels::

    image.kernel("matmul_tile", (128, 8))  -->  ('{ .symbol = "_Z11matmul_tileILi128ELi8EEvPfi" }',)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from comprehensive.plan.versions import KernelKey

_A_LINE = 5
"""Numbers of the array in one line."""


class EmbeddedKernel(Struct, frozen=True):
    """A kernel in an image: its symbol, and what passes have changed of its launch."""

    symbol: str
    bytes_of_a_warp: int = 0
    """Dynamic shared memory that is added for every warp of a block."""
    has_numbers: bool = False
    """Whether a launch says, in further arguments, which blocks run (pass ``grid-stride``)."""
    resident_warps: int = 0
    """The number of warps that such a launch keeps on a multiprocessor at a time; 0 says as many as fit."""


class Image(Struct, frozen=True):
    """The ``data`` of a fatbin for the C source ``file``; ``targets`` says in words what devices it is for.

    ``kernels`` are the versions of every kernel, the original one first; None where it has none of a number.
    """

    file: str
    targets: str
    data: bytes
    kernels: Mapping[KernelKey, tuple[EmbeddedKernel | None, ...]]

    def kernel(self, name: str, constants: Sequence[int]) -> tuple[str, ...]:
        """The initialisers of the ``cf_kernel`` of a kernel, or of an instance of one over tiles: one a version."""
        return tuple(map(_initialiser, self.kernels[name, tuple(constants)]))

    @property
    def has_numbers(self) -> bool:
        """Whether a launch says of a kernel which blocks run."""
        return any(
            each is not None and each.has_numbers for several in self.kernels.values() for each in several
        )

    def table(self, symbol: str) -> str:
        """The expression by which the place of a constant array is asked for."""
        return f'"{symbol}"'

    @property
    def bytes(self) -> int:
        return len(self.data)

    @property
    def lines(self) -> tuple[str, ...]:
        """The data as numbers of 64 bits with a comma behind each, filled up with zeros.

        Devices that CUDA runs on are little-endian, and so are their hosts.
        """
        padded = self.data + b"\0" * (-len(self.data) % 8)
        numbers = [f"0x{int.from_bytes(padded[k : k + 8], 'little'):x}ULL," for k in range(0, len(padded), 8)]
        return tuple(" ".join(numbers[k : k + _A_LINE]) for k in range(0, len(numbers), _A_LINE))


def _initialiser(kernel: EmbeddedKernel | None) -> str:
    if kernel is None:
        return "{ .symbol = 0 }"
    members = [f'.symbol = "{kernel.symbol}"']
    if kernel.bytes_of_a_warp:
        members.append(f".bytes_of_a_warp = {kernel.bytes_of_a_warp}")
    if kernel.has_numbers:
        members += [".has_numbers = true", f".resident_warps = {kernel.resident_warps}"]
    return f"{{ {', '.join(members)} }}"
