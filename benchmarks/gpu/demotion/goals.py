"""This module says, in a line for each aim, whether the table shows what it is to show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import geometric_mean

from benchmarks.gpu.demotion.predicted import is_full
from benchmarks.gpu.demotion.row import Row, by_model
from benchmarks.gpu.demotion.variant import PRESSURE, STRATEGIES, Variant
from benchmarks.gpu.ranking import regret

MOST_REGRET = 0.03
LEAST_SPEEDUP = 1.15
LEAST_SPEEDUP_BEYOND = 3.0


def goals(table: Sequence[Row]) -> Iterator[str]:
    """Yield lines of a list; there is at least one row."""
    mean = geometric_mean(1 + regret(row.compared(by_model)) for row in table) - 1
    yield (
        f"- {_met(mean <= MOST_REGRET)}: the predictor's choice takes {100 * mean:.1f} % longer than the fastest, "
        f"geometric mean of {len(table)} kernels (aim: {100 * MOST_REGRET:.0f} %)."
    )
    yield from _without_spills(table)
    yield from _over_local(table)
    yield from _beyond(table)


def _without_spills(table: Sequence[Row]) -> Iterator[str]:
    yield _spills_left(table, PRESSURE, f"by {PRESSURE}, the better of weak and volatile")
    for strategy in STRATEGIES:
        if strategy != PRESSURE:
            yield _spills_left(table, strategy, f"by the paper's {strategy}")


def _spills_left(table: Sequence[Row], strategy: str, how: str) -> str:
    """Count targets at which demotion leaves spills, and name those that have shared memory left."""
    best = {
        f"{row.kernel.name} {target}": min(made, key=lambda made: made[1].spill_bytes)
        for row in table
        for target in row.kernel.targets
        if (made := [(row, v) for v in row.demotions(target) if v.strategy.split()[0] == strategy])
    }
    left = {name: found for name, found in best.items() if found[1].spill_bytes}
    short = [name for name, (row, variant) in left.items() if not is_full(row.kernel, variant)]
    text = (
        f"- {_met(not short)}: demotion {how}: of {len(best)} targets {len(best) - len(left)} have no spills, "
        f"{len(left) - len(short)} no shared memory left"
    )
    return f"{text}; spills in spite of room: {', '.join(short)}." if short else f"{text}."


def _over_local(table: Sequence[Row]) -> Iterator[str]:
    speedups = {
        f"{row.kernel.name} {target}": row.ms(local) / row.ms(best)
        for row in table
        for target in row.kernel.targets
        if (local := row.named(f"cap {target}")) and (best := row.fastest(row.demotions(target)))
    }
    if speedups:
        below = [f"{name} {speedup:.2f}" for name, speedup in speedups.items() if speedup < LEAST_SPEEDUP]
        text = (
            f"- {_met(not below)}: demotion over local spills at the same target, the best strategy: "
            f"{geometric_mean(speedups.values()):.2f} in geometric mean of {len(speedups)} targets "
            f"(aim: {LEAST_SPEEDUP} at each)"
        )
        yield f"{text}; below: {', '.join(below)}." if below else f"{text}."


def _beyond(table: Sequence[Row]) -> Iterator[str]:
    for row in table:
        local, best = row.fastest(row.caps(spills=True)), row.fastest(row.demotions())
        if row.needs_more_registers and local is not None and best is not None:
            speedup = row.ms(local) / row.ms(best)
            yield (
                f"- {_met(speedup >= LEAST_SPEEDUP_BEYOND)}: {row.kernel.name} needs more registers than there are: "
                f"{_named(best)} over the best with local spills ({_named(local)}): {speedup:.2f} "
                f"(aim: {LEAST_SPEEDUP_BEYOND:.0f})."
            )


def _named(variant: Variant) -> str:
    return f"{variant.name}, {variant.registers} registers"


def _met(is_met: bool) -> str:
    return "met" if is_met else "NOT MET"
