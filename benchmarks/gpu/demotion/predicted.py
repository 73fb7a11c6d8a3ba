"""The predictions for a plan before anything is timed: usage, spills that are left, and times, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.gpu.demotion.variant import DEFAULT, STRATEGIES, Plan, Planned, Variant
from benchmarks.gpu.table import markdown_table

LANES = 32
WORD_BYTES = 4


def predictions(plan: Plan) -> str:
    """The whole text, ending in a newline."""
    parts = [
        f"{len(plan.kernels)} kernels, {sum(len(each.distinct) for each in plan.kernels)} different variants; "
        f"predicted for {plan.device}.",
        PREDICTED,
        markdown_table(
            ("kernel", "targets", "default", "predicted best", "bound", "over the default", "by the paper"),
            (_choice(each) for each in plan.kernels),
        ),
        SPILLS,
        markdown_table(
            (
                "kernel",
                "target",
                "local",
                "pragma",
                "patch",
                *(f"{each}, weak, volatile" for each in STRATEGIES),
            ),
            (row for kernel in plan.kernels for row in _spills(kernel)),
        ),
        *missing(plan),
    ]
    return "\n\n".join(parts) + "\n"


PREDICTED = """Registers in parentheses; "over the default" is the predicted time of the default variant over that of
the best one; "by the paper" is the variant that has the fewest stalls by the count of the paper."""
SPILLS = """Bytes of spills to local memory, stored and loaded, at each target, with bytes of shared memory of a block
in parentheses; "-" where there is no such variant, "full" where there is no shared memory for one slot more."""


def choice(kernel: Planned) -> Variant:
    """The variant that is expected to be the fastest; of equal ones the one that stands first."""
    return min(kernel.distinct, key=lambda each: each.predicted_cycles)


def choice_of_paper(kernel: Planned) -> Variant:
    return min(kernel.distinct, key=lambda each: each.paper_cycles)


def is_full(kernel: Planned, variant: Variant) -> bool:
    """Whether shared memory has no room for a slot more."""
    slot = -(-kernel.threads // LANES) * LANES * WORD_BYTES
    own = kernel.launch["smem_bytes"]
    return variant.shared_bytes - own + slot > kernel.room_bytes


def missing(plan: Plan) -> Iterator[str]:
    """Yield a list of variants that are not there, with the reasons."""
    found: list[str] = []
    for kernel in plan.kernels:
        reasons: dict[str, list[str]] = {}
        for name, why in kernel.missing.items():
            reasons.setdefault(why, []).append(name)
        found += [f"- `{kernel.name}`: no {', '.join(names)}: {why}" for why, names in reasons.items()]
    if found:
        yield "\n".join(found)


def _choice(kernel: Planned) -> list[str]:
    default, best, paper = kernel.variants[0], choice(kernel), choice_of_paper(kernel)
    assert default.name == DEFAULT
    return [
        kernel.name,
        ", ".join(map(str, kernel.targets)) or "none",
        str(default.registers),
        f"{best.name} ({best.registers})",
        best.bound,
        f"{default.predicted_cycles / best.predicted_cycles:.2f}",
        f"{paper.name} ({paper.registers})",
    ]


def _spills(kernel: Planned) -> Iterator[list[str]]:
    by_name = {each.name: each for each in kernel.variants}

    def cell(*names: str) -> str:
        return ", ".join(one(by_name.get(name)) for name in names)

    def one(variant: Variant | None) -> str:
        if variant is None:
            return "-"
        full = " full" if variant.spill_bytes and is_full(kernel, variant) else ""
        return f"{variant.spill_bytes} ({variant.shared_bytes}{full})"

    for target in kernel.targets:
        yield [
            kernel.name,
            str(target),
            cell(f"cap {target}"),
            cell(f"pragma {target}"),
            cell(f"patch {target}"),
            *(cell(f"{each} {target}", f"{each} volatile {target}") for each in STRATEGIES),
        ]
