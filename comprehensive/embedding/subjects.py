"""The kernels of a program as subjects of occupancy: how each is launched with blocks of several sizes.

In: a plan, its compiled kernels and a device.  Out: a :class:`Subject` for each kernel, by symbol::

    subjects_of(plan, compiled, assembler, load_device("h200"))["matmul_leaf0"].launches[128].shared_bytes

Blocks of an instance of a tile are what they are; those of a leaf are 256, 128 and 64 threads, a warp along x.
Launches of all sizes of block have as many threads in all, so that their predictions compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

from comprehensive.diagnostics import SourceFile
from comprehensive.embedding.automatic import launches_of
from comprehensive.embedding.compiled import CompiledKernels
from comprehensive.kernel_ir.kernel import Kernel
from comprehensive.loops.interpreter import c_value
from comprehensive.machine.device import Device
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.metafork.walk import names
from comprehensive.occupancy_tuning.subject import Subject
from comprehensive.plan.plan import ProgramPlan
from comprehensive.ptx.module import parse
from comprehensive.records import replace
from comprehensive.sass.launch import MANY_BLOCKS, Launch, multiprocessors_of
from comprehensive.toolchain.assembler import Assembler

BLOCKS = (256, 128, 64)
"""Threads of the blocks of leaves; more occupancy never paid with smaller or larger ones on the H200."""
_ALONG_X = 32


def subjects_of(
    plan: ProgramPlan, compiled: CompiledKernels, assembler: Assembler, device: Device
) -> Mapping[str, Subject]:
    """Return the kernels of a program, in its order.

    Leaves of which no block has one of the sizes are left out.
    """
    module = parse(SourceFile("kernels.ptx", compiled.ptx))
    leaves = {leaf.kernel.name: leaf.kernel for f in plan.functions for r in f.regions for leaf in r.leaves}
    threads = MANY_BLOCKS * multiprocessors_of(device) * BLOCKS[0]
    found: dict[str, Subject] = {}
    for symbol, launch in launches_of(plan, compiled.usages).items():
        kernel = leaves.get(symbol)
        launches = {launch.threads_per_block: launch} if kernel is None else dict(_launches(kernel))
        if launches:
            counted = {size: replace(each, blocks=-(-threads // size)) for size, each in launches.items()}
            found[symbol] = Subject(module, symbol, assembler, device, counted)
    return found


def _launches(kernel: Kernel) -> Iterator[tuple[int, Launch]]:
    """Yield launches of a leaf, by the threads of a block: with powers of two, the others of its sizes being 1."""
    sizes = sorted({name for extent in kernel.block for name in names(extent)})
    every = {*sizes, *kernel.order}
    powers = [1 << bits for bits in range(9)]
    for threads in BLOCKS:
        for values in product(powers, repeat=len(sizes)):
            given = {**dict.fromkeys(every, 1), **dict(zip(sizes, values, strict=True))}
            extents = [int(c_value(extent, given)) for extent in kernel.block]
            if prod(extents) == threads and extents[-1] == min(
                threads, _ALONG_X if len(extents) > 1 else threads
            ):
                words = int(kernel.shared_words.evaluate(given))
                yield threads, Launch(threads, shared_bytes=WORD_BYTES * words)
                break
