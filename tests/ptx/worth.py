"""The values of the symbols of forms while a thread runs.

In: analyses, a thread.  Out: its visits of steps, and numbers for forms::

    symbols = Symbols(analyses, analyses.affine.symbols, thread, counts, dict(enumerate(thread.registers)))
    symbols.form(analyses.affine.addresses[7])     # the address, when the thread comes to step 7
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.analysis.forms import Form
from comprehensive.ptx.analysis.symbols import Symbol
from tests.ptx.threads import Thread, bits, mask, operation, signed

THREADS = 256


@dataclass
class Visit:
    """A step, with the iterations of the loops around it, outer ones first."""

    step: int
    iterations: tuple[int, ...]


def visits(analyses: Analyses, thread: Thread, counts: dict[int, int]) -> Iterator[Visit]:
    """``counts`` are the iterations of loops, as symbols of affine forms have them."""
    block_of, blocks, loops = analyses.cfg.block_of, analyses.cfg.blocks, analyses.loops
    before = 0
    times: dict[int, int] = {}
    for step in thread.run():
        block = block_of[step]
        loop = loops.headers.get(block)
        if loop is not None and step == blocks[block].start:
            counts[loop.number] = counts[loop.number] + 1 if before in loop.blocks else 0
        before = block
        times[step] = times.get(step, -1) + 1
        if loops.irregular:
            # No loop says which visit it is; where branches are uniform, it is the same one in all threads.
            yield Visit(step, (times[step],))
        else:
            yield Visit(step, tuple(counts[loop.number] for loop in reversed(loops.around(block))))


def thread_of(analyses: Analyses, tid: int, block: int, n: int, seed: int = 0) -> Thread:
    special = {"%tid.x": tid, "%ctaid.x": block, "%ntid.x": THREADS}
    return Thread(analyses.flow, special, {"a": 1 << 40, "n": n}, seed=seed + tid + THREADS * block)


@dataclass
class Symbols:
    """The values of symbols while a thread runs."""

    analyses: Analyses
    known: Sequence[Symbol]
    thread: Thread
    counts: dict[int, int]
    values: dict[int, int]

    def form(self, form: Form) -> int:
        total = form.constant + sum(c * self.symbol(s) for s, c in form.terms)
        return total % (1 << form.bits)

    def symbol(self, number: int) -> int:
        symbol = self.known[number]
        found = self._symbol(symbol.kind, symbol.key)
        assert symbol.low <= found <= symbol.high, symbol
        return found

    def _symbol(self, kind: str, key: tuple[object, ...]) -> int:
        match kind, key:
            case "parameter", (str(name), *_):
                return self.thread.parameters[name]
            case "special", (str(name),):
                return self.thread.special[name]
            case "value", (int(value),):
                return self.values[value]
            case "count", (int(loop),):
                return self.counts[loop]
            case "product", numbers:
                total = 1
                for each in numbers:
                    assert isinstance(each, int)
                    total *= self.symbol(each)
                return total
            case "signed", (Form() as inner,):
                return signed(self.form(inner), inner.bits)
            case "unsigned", (Form() as inner,):
                return self.form(inner)
            case "load", (Form() as address, str(type_), int(width), _, since):
                value = self.thread.loaded(self.form(address), since is None) & mask(bits(type_))
                return signed(value, bits(type_)) & mask(width) if type_[0] == "s" else value
            case "operation", (str(text), *operands):
                numbers = [self.form(o) if isinstance(o, Form) else self._value(o) for o in operands]
                return self._operation(text, numbers)
            case _:
                raise NotImplementedError(kind)

    def _value(self, value: object) -> int:
        assert isinstance(value, int)
        return self.values[value]

    def _operation(self, text: str, numbers: list[int]) -> int:
        width = int(text.split(".")[-1][1:]) if not text.startswith("cvt") else int(text.split(".")[1][1:])
        narrow = int(text.split(".")[-1][1:])
        width = 2 * width if ".wide." in text else width
        return operation(text, [n & mask(narrow if i < 2 else 64) for i, n in enumerate(numbers)]) & mask(
            width
        )


def follow_phis(analyses: Analyses, symbols: Symbols, source: int, block: int) -> None:
    if block == 0:
        return
    # An empty entry leaves no visit.
    into = analyses.cfg.blocks[block].predecessors
    place = into.index(source) if source in into else 0
    now = [(phi.value, symbols.values[phi.arguments[place]]) for phi in analyses.ssa.phis[block]]
    for value, held in now:
        symbols.values[value] = held
    for value, held in now:
        form = analyses.affine.values[value]
        if form is not None:
            assert symbols.form(form) == held, analyses.affine.show(form)
