"""Other solvers on the same queries, each in a process of its own that is killed when it overruns its limit.

A query is the path of atoms from the root, with integers for integers. The process keeps what it asserted last, and an
incremental solver takes back only what the new path does not share with it.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol

from comprehensive.algebra import Atom, Relation
from comprehensive.algebra.symbols import is_integer_symbol

Path = tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """ "sat", "unsat" or "unknown", after so many seconds."""

    verdict: str
    seconds: float


class _Session(Protocol):
    def ask(self, path: Path) -> str: ...


def available() -> tuple[str, ...]:
    """The names of the rivals that are installed."""
    names = ["z3 incremental", "z3 fresh"]
    if importlib.util.find_spec("cvc5") is not None:
        names.append("cvc5")
    return tuple(names)


def answers(name: str, queries: Sequence[Path], limit: float, budget: float) -> list[Answer]:
    """Return the rival's answers to the queries in this order, until the budget of seconds is used up."""
    context = multiprocessing.get_context("spawn")
    given: list[Answer] = []
    process, connection = None, None
    start = time.perf_counter()
    for path in queries:
        if time.perf_counter() - start > budget:
            break
        if process is None or connection is None:
            connection, remote = context.Pipe()
            process = context.Process(target=_serve, args=(name, limit, remote), daemon=True)
            process.start()
            connection.recv()
        asked = time.perf_counter()
        connection.send(path)
        # The solver is asked to stop at the limit by itself; the rest of the time is for it to obey.
        if connection.poll(2 * limit + 1):
            given.append(connection.recv())
        else:
            given.append(Answer("unknown", time.perf_counter() - asked))
            process.kill()
            process.join()
            process = connection = None
    if process is not None:
        process.kill()
        process.join()
    return given


def _serve(name: str, limit: float, connection: Connection) -> None:
    session: _Session
    match name:
        case "z3 incremental":
            session = _Z3Incremental(limit)
        case "z3 fresh":
            session = _Z3Fresh(limit)
        case _:
            session = _Cvc5(limit)
    session.ask(())  # libraries are loaded and warm
    connection.send("ready")
    while True:
        path: Path = connection.recv()
        start = time.process_time()
        verdict = session.ask(path)
        connection.send(Answer(verdict, time.process_time() - start))


class _Z3Incremental:
    def __init__(self, limit: float) -> None:
        import z3  # pyright: ignore[reportMissingTypeStubs]

        self._z3: Any = z3
        self._solver: Any = z3.Solver()
        self._solver.set("timeout", int(limit * 1000))
        self._variables: dict[str, Any] = {}
        self._path: Path = ()

    def ask(self, path: Path) -> str:
        shared = 0
        while shared < min(len(path), len(self._path)) and path[shared] == self._path[shared]:
            shared += 1
        if shared < len(self._path):
            self._solver.pop(len(self._path) - shared)
        for atom in path[shared:]:
            self._solver.push()
            self._solver.add(self._translated(atom))
        self._path = path
        return str(self._solver.check())

    def _variable(self, name: str) -> Any:
        if name not in self._variables:
            make = self._z3.Int if is_integer_symbol(name) else self._z3.Real
            self._variables[name] = make(name)
        return self._variables[name]

    def _translated(self, atom: Atom) -> Any:
        total: Any = self._z3.IntVal(0)
        for term in atom.polynomial.terms():
            product: Any = self._z3.IntVal(term.coefficient.numerator)
            for name, power in term.powers:
                for _ in range(power):
                    product = product * self._variable(name)
            total = total + product
        match atom.relation:
            case Relation.GE:
                return total >= 0
            case Relation.GT:
                return total > 0
            case Relation.EQ:
                return total == 0


class _Z3Fresh:
    def __init__(self, limit: float) -> None:
        self._limit = limit
        _Z3Incremental(limit)  # loads z3

    def ask(self, path: Path) -> str:
        return _Z3Incremental(self._limit).ask(path)


class _Cvc5:
    def __init__(self, limit: float) -> None:
        import cvc5  # pyright: ignore[reportMissingImports]

        self._cvc5: Any = cvc5
        self._limit = limit

    def ask(self, path: Path) -> str:
        kind = self._cvc5.Kind
        solver: Any = self._cvc5.Solver()
        solver.setLogic("QF_NIRA")
        solver.setOption("tlimit-per", str(int(self._limit * 1000)))
        whole = all(is_integer_symbol(name) for atom in path for name in atom.symbols)
        number = solver.mkInteger if whole else solver.mkReal
        variables: dict[str, Any] = {}
        for name in sorted({name for atom in path for name in atom.symbols}):
            if is_integer_symbol(name):
                made = solver.mkConst(solver.getIntegerSort(), name)
                variables[name] = made if whole else solver.mkTerm(kind.TO_REAL, made)
            else:
                variables[name] = solver.mkConst(solver.getRealSort(), name)
        relations = {Relation.GE: kind.GEQ, Relation.GT: kind.GT, Relation.EQ: kind.EQUAL}
        for atom in path:
            total = number(0)
            for term in atom.polynomial.terms():
                product = number(str(term.coefficient.numerator))
                for name, power in term.powers:
                    for _ in range(power):
                        product = solver.mkTerm(kind.MULT, product, variables[name])
                total = solver.mkTerm(kind.ADD, total, product)
            solver.assertFormula(solver.mkTerm(relations[atom.relation], total, number(0)))
        answer = solver.checkSat()
        return "sat" if answer.isSat() else "unsat" if answer.isUnsat() else "unknown"
