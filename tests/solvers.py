"""SMT solvers on a script in SMT-LIB: their answers, one for each question."""

from __future__ import annotations

import re

import pytest


def statuses(script: str) -> list[str]:
    """The verdicts that the script expects."""
    return re.findall(r"\(set-info :status (\w+)\)", script)


def z3_answers(script: str) -> list[str]:
    import z3

    context = z3.Context()
    return z3.Z3_eval_smtlib2_string(context.ref(), script).split()


def cvc5_answers(script: str, milliseconds: int = 5000) -> list[str]:
    """The answers of cvc5; each question is read by a solver of its own, and `unknown` after so long."""
    cvc5 = pytest.importorskip("cvc5", reason="cvc5 is not installed")
    answers: list[str] = []
    for question in script.split("(reset)\n")[1:]:
        solver = cvc5.Solver(cvc5.TermManager())
        solver.setOption("tlimit-per", str(milliseconds))
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, question, "tree.smt2")
        while not (command := parser.nextCommand()).isNull():
            answers += command.invoke(solver, parser.getSymbolManager()).split()
    return answers
