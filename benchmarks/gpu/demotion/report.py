"""The report: the table of the paper, what is aimed at, predictions beside times, and every variant, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import geometric_mean

from benchmarks.gpu.demotion.goals import goals
from benchmarks.gpu.demotion.predicted import is_full, missing
from benchmarks.gpu.demotion.row import Model, Row, by_model, by_paper, rows
from benchmarks.gpu.demotion.timed import Timed
from benchmarks.gpu.demotion.variant import DEFAULT, STRATEGIES, Plan, Variant
from benchmarks.gpu.ranking import Compared, rank_correlation, regret
from benchmarks.gpu.table import markdown_table

KEPT = 3


def report(head: str, plan: Plan, found: Sequence[Timed], runs: int) -> str:
    """The whole text, ending in a newline."""
    table = rows(plan.kernels, found)
    parts = ["# Registers: caps, spills and demotion", head, HOW.format(runs=runs), *failures(found)]
    if table:
        parts += [
            "The best of each class:",
            markdown_table(
                (
                    "kernel",
                    "default",
                    "best cap without spills",
                    "best cap with spills",
                    "best pragma",
                    "best patch",
                    "best demotion",
                    "over the default",
                    "over the best of the others",
                ),
                (_best(row) for row in table),
            ),
            "At each target (ms, and bytes of spills left in parentheses):",
            markdown_table(
                (
                    "kernel",
                    "target",
                    "local",
                    "pragma",
                    "patch",
                    *(f"{s}, weak, volatile" for s in STRATEGIES),
                    "speed-up",
                ),
                (cells for row in table for cells in _targets(row)),
            ),
            "What is aimed at:",
            "\n".join(goals(table)),
            PREDICTED.format(kept=KEPT, device=plan.device),
            markdown_table(
                (
                    "kernel",
                    "variants",
                    "fastest",
                    "predicted",
                    "regret",
                    f"of {KEPT}",
                    "rank correlation",
                    "by the paper",
                    "regret",
                    f"of {KEPT}",
                    "rank correlation",
                ),
                [*(_predicted(row) for row in table), _means(table)],
            ),
            "The kernels:",
            "\n".join(f"- `{row.kernel.name}`: {row.kernel.about} {_launch(row)}" for row in table),
            *missing(plan),
            *_other_blocks(table),
            "Every variant:",
            markdown_table(
                (
                    "kernel",
                    "variant",
                    "registers",
                    "spills",
                    "shared",
                    "blocks",
                    "ms",
                    "spread",
                    "result",
                    "predicted, Mcycles",
                    "bound",
                    "paper, Mstalls",
                ),
                (_every(row, each) for row in table for each in row.kernel.variants),
            ),
        ]
    return "\n\n".join(parts) + "\n"


HOW = """In the manner of Sakdhnagool, Sabne and Eigenmann, RegDem: Increasing GPU performance via shared memory
register spilling (2019). Times are medians of {runs} runs in turns after 3 warm-ups, in one process a kernel; a run is
a row of launches between two events, so many that the default variant takes 2 ms; registers stand in parentheses.
Everything starts from the same PTX, in which additions and multiplications have `.rn`, so that results are the same to
the bit; each was compared with that of the default variant before it was timed. Caps are the cliffs of the occupancy;
targets are the three greatest of them at which ptxas spills. Spills are bytes a thread, stored and loaded. A
patch is the machine code of the cap with STS and LDS in place of STL and LDL."""


PREDICTED = """Predictions for {device} beside times. "Predicted" is the variant that is predicted to be the fastest;
its regret is how much longer it takes than the fastest; "of {kept}" is the regret of the best of the {kept} that are
predicted to be the fastest. "By the paper" is the same by the paper's count of stalls."""


def failures(found: Sequence[Timed]) -> Iterator[str]:
    for each in found:
        if each.failed:
            yield f"FAIL: {each.name}: {each.failed}"
        for variant, why in each.wrong.items():
            yield f"FAIL: {each.name}, {variant}: {why}"


def _best(row: Row) -> list[str]:
    classes = (row.caps(spills=False), row.caps(spills=True), row.pragmas(), row.patches())
    demotion = row.fastest(row.demotions())
    others = row.fastest(each for variants in classes for each in variants)
    best = row.fastest(row.ran)
    assert best is not None
    default = row.ms(row.default)
    return [
        row.kernel.name,
        f"{default:.3f} ({row.default.registers})",
        *(_named(row, row.fastest(variants)) for variants in (*classes, row.demotions())),
        "" if demotion is None else f"{default / row.ms(demotion):.2f}",
        "" if demotion is None or others is None else f"{row.ms(others) / row.ms(demotion):.2f}",
    ]


def _named(row: Row, variant: Variant | None) -> str:
    return "" if variant is None else f"{row.ms(variant):.3f} {variant.name} ({variant.registers})"


def _targets(row: Row) -> Iterator[list[str]]:
    def cell(*names: str) -> str:
        found = [(name, row.named(name)) for name in names]
        return ", ".join("-" if v is None else f"{row.ms(v):.3f} ({_left(row, v)})" for _, v in found)

    for target in row.kernel.targets:
        local, best = row.named(f"cap {target}"), row.fastest(row.demotions(target))
        yield [
            row.kernel.name,
            str(target),
            cell(f"cap {target}"),
            cell(f"pragma {target}"),
            cell(f"patch {target}"),
            *(cell(f"{each} {target}", f"{each} volatile {target}") for each in STRATEGIES),
            "" if local is None or best is None else f"{row.ms(local) / row.ms(best):.2f}",
        ]


def _left(row: Row, variant: Variant) -> str:
    is_cut = variant.kind == "demotion" and variant.spill_bytes and is_full(row.kernel, variant)
    return f"{variant.spill_bytes}{' full' if is_cut else ''}"


def _predicted(row: Row) -> list[str]:
    fastest = row.fastest(row.distinct)
    return [
        row.kernel.name,
        str(len(row.distinct)),
        _named(row, fastest),
        *_model(row, by_model),
        *_model(row, by_paper),
    ]


def _model(row: Row, model: Model) -> list[str]:
    compared = row.compared(model)
    return [
        _named(row, row.chosen(model)),
        _percent(regret(compared)),
        _percent(regret(compared, KEPT)),
        _correlation(compared),
    ]


def _correlation(compared: Sequence[Compared]) -> str:
    try:
        return f"{rank_correlation(compared):.2f}"
    except ValueError:
        return ""


def _means(table: Sequence[Row]) -> list[str]:
    def mean(model: Model, kept: int) -> str:
        return _percent(geometric_mean(1 + regret(row.compared(model), kept) for row in table) - 1)

    return [
        "geometric mean",
        "",
        "",
        *(cell for model in (by_model, by_paper) for cell in ("", mean(model, 1), mean(model, KEPT), "")),
    ]


def _launch(row: Row) -> str:
    grid, block = ("x".join(map(str, row.kernel.launch[name])) for name in ("grid", "block"))
    return f"{grid} blocks of {block}."


def _other_blocks(table: Sequence[Row]) -> Iterator[str]:
    """Yield where the driver says that another number of blocks fits than our calculator."""
    for row in table:
        for each in row.distinct:
            said = row.timed.blocks_per_sm.get(each.name)
            if said != each.blocks_per_sm:
                yield f"The driver says {said} blocks of {row.kernel.name}, {each.name}; expected {each.blocks_per_sm}."


def _every(row: Row, variant: Variant) -> list[str]:
    known = [
        row.kernel.name,
        variant.name,
        str(variant.registers),
        str(variant.spill_bytes),
        str(variant.shared_bytes),
        str(variant.blocks_per_sm),
    ]
    forecast = [f"{variant.predicted_cycles / 1e6:.3f}", variant.bound, f"{variant.paper_cycles / 1e6:.3f}"]
    if variant.name in row.timed.wrong:
        return [*known, "", "", row.timed.wrong[variant.name], *forecast]
    if variant.same_as:
        return [*known, "", "", f"same code as {variant.same_as}", *forecast]
    shortest, longest = row.spread(variant)
    result = "" if variant.name == DEFAULT else "same"
    return [*known, f"{row.ms(variant):.3f}", f"{shortest:.3f}..{longest:.3f}", result, *forecast]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
