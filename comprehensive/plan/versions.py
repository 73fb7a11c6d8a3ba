"""Versions of the kernels of a function: the same computation, compiled through other passes over its PTX.

In: a function, and which of its kernels shall be there through which pipelines.  Out: :class:`Version` values, which
stand in :attr:`FunctionPlan.versions` by number; number 0 is :data:`ORIGINAL`::

    Version("register-cap{registers=64}", ((("gemm_leaf0", ()), "register-cap{registers=64}"),))

A launcher is asked for a version by its number (the member ``version`` of ``<function>_params``).  A kernel that a
version does not name is the original one there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

from comprehensive.records import replace
from comprehensive.toolchain.usage import simple_name, template_arguments

KernelKey: TypeAlias = tuple[str, tuple[int, ...]]
"""The name of a kernel, and the constants of an instance of one over tiles; no constants for a leaf."""


class Version(Struct, frozen=True):
    """A version of kernels; ``name`` is how people and logs tell it from others.

    ``pipelines`` are the passes (as for ``opt``) that the PTX of nvcc goes through, by kernel; an empty pipeline is
    that PTX as it is, whatever the original goes through.
    """

    name: str
    pipelines: tuple[tuple[KernelKey, str], ...] = ()

    @staticmethod
    def of(pipeline: str, kernels: Iterable[KernelKey]) -> Version:
        """The version in which all these kernels go through one pipeline, by which it is called."""
        return Version(pipeline or PLAIN, tuple((kernel, pipeline) for kernel in sorted(set(kernels))))

    @staticmethod
    def of_pairs(otherwise: str, pipelines: Mapping[KernelKey, str]) -> Version:
        """The version of these pipelines: one for all kernels is what it is called by, else as is said."""
        different = set(pipelines.values())
        name = different.pop() if len(different) == 1 else otherwise
        return Version(name, tuple(sorted(pipelines.items())))

    def beside(self, changed: Collection[KernelKey]) -> Version:
        """The version without copies of originals that go through no passes, as all but the ``changed`` ones do."""
        kept = ((kernel, pipeline) for kernel, pipeline in self.pipelines if pipeline or kernel in changed)
        return replace(self, pipelines=tuple(kept))


PLAIN = "none"
"""The name of a version without passes, as ``--passes none`` has it."""
ORIGINAL = Version("")
"""The kernels as all of them are compiled where no version is asked for."""


class Candidate(Struct, frozen=True):
    """A candidate of a launcher: a version of the kernels, with blocks of at most so many threads; 0 for no limit."""

    version: int
    threads: int = 0


class Adaptation(Struct, frozen=True):
    """The candidates of a launcher, to keep the fastest while a function runs (Orion, section 3.4): the original first.

    The ``along`` next ones are tried until one is slower, those behind them where none of these is faster.
    """

    candidates: tuple[Candidate, ...]
    along: int
    parts: int = 0
    """The version in the place of the original where one launch is divided; 0 where none is.

    Then all candidates have the blocks of the original, and a launch of their kernels says which blocks run.
    """


def key_of(symbol: str) -> KernelKey:
    """The kernel of a symbol."""
    return simple_name(symbol), template_arguments(symbol)


def version_symbol(number: int, original: str) -> str:
    """The symbol of a kernel in the version of that number, from that of the original.

    What stands before a mangled name makes it none: it is found under this symbol alone.
    """
    return f"cf_version{number}_{original}"


def symbols_of(
    versions: Iterable[Version], originals: Mapping[KernelKey, str]
) -> Mapping[str, tuple[str, str]]:
    """The kernels that versions have of their own: by symbol, the symbol of the original, and the pipeline."""
    return {
        version_symbol(number, originals[kernel]): (originals[kernel], pipeline)
        for number, version in enumerate(versions)
        for kernel, pipeline in version.pipelines
    }
