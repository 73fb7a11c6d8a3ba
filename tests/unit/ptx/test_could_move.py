"""The expressions that code motion could move, beside what the pass does in all its rounds."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from comprehensive.diagnostics import SourceFile
from comprehensive.ptx.analysis.analyses import Analyses
from comprehensive.ptx.module import Module, parse
from comprehensive.ptx.operands import Operand
from comprehensive.ptx.passes import pre
from comprehensive.ptx.passes.could_move import could_move
from comprehensive.ptx.passes.redundancies import Redundancies
from comprehensive.ptx.pipeline import rewrite
from comprehensive.ptx.statements import Instruction
from tests.ptx.random_programs import analysed
from tests.ptx.test_passes_at_random import graph, kernel

LOOP = "mov.u32 %r0, %tid.x;\nAGAIN: {inside}\nsetp.lt.u32 %p0, %r9, 9;\n@%p0 bra AGAIN;\nst.global.u32 [%rd0], %r3;"


def movable(analyses: Analyses) -> list[str]:
    """The opcodes of what could move."""
    facts = Redundancies(analyses)
    mask = could_move(facts.cfg, facts.expressions)
    return [each.key[0] for each in facts.expressions.expressions if mask >> each.number & 1]


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        # The same in every round, and what is made of that.
        ("add.u32 %r1, %r0, 5; div.u32 %r3, %r1, 7;", ["add.u32", "div.u32"]),
        # A counter, and what is made of it.
        ("add.u32 %r9, %r9, 1; div.u32 %r3, %r9, 7;", []),
        # What a load makes, and what is made of a mov.
        ("ld.global.u32 %r1, [%rd1]; mov.u32 %r2, %r1; div.u32 %r3, %r2, 7;", ["ld.global.u32"]),
        # Computed a second time behind the change.
        ("div.u32 %r3, %r9, 7; add.u32 %r9, %r9, 1; div.u32 %r4, %r9, 7;", ["div.u32"]),
    ],
)
def test_what_could_leave_a_loop_is_made_of_what_could(inside: str, expected: list[str]) -> None:
    assert movable(analysed(LOOP.format(inside=inside))) == expected


def instructions(module: Module) -> Counter[tuple[str, tuple[Operand, ...]]]:
    body = module.functions["f"].body
    return Counter((s.opcode.text, s.operands) for s in body if isinstance(s, Instruction))


@pytest.mark.parametrize("seed", range(12))
def test_what_could_not_move_stands_as_it_stood(seed: int) -> None:
    text = (graph if seed % 2 else kernel)(Random(seed))
    module = parse(SourceFile("k.ptx", text))
    facts = Redundancies(Analyses(module.functions["f"], module))
    mask = could_move(facts.cfg, facts.expressions)
    staying = {each.key for each in facts.expressions.expressions if not mask >> each.number & 1}
    made, _ = rewrite(text, "pre", name="k.ptx")
    after = instructions(parse(SourceFile("k.ptx", made)))
    for (opcode, operands), count in instructions(module).items():
        if (opcode, operands[1:]) in staying:
            assert after[opcode, operands] == count
    assert staying


def test_rounds_that_are_left_out_would_have_changed_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [(graph if seed % 2 else kernel)(Random(seed)) for seed in range(8)]
    shortly = [rewrite(text, "pre", name="k.ptx") for text in texts]
    asked: list[bool] = []
    decide = pre._may_be_needed_outside  # pyright: ignore[reportPrivateUsage]

    def always(facts: Redundancies) -> bool:
        asked.append(decide(facts))
        return True

    monkeypatch.setattr(pre, "_may_be_needed_outside", always)
    assert [rewrite(text, "pre", name="k.ptx") for text in texts] == shortly
    assert set(asked) == {False, True}
