"""A nest and given values to the decision tree that Algorithms 1 and 2 grow of them.

::

    tree = grow(nest, values, order=("registers_per_thread", "shared_words_per_block"))

Strategies are those of the tool, applied to the nest; assumptions and caching at the root are those of any tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from comprehensive.algebra import PortfolioSolver
from comprehensive.counters.assumptions import assumptions
from comprehensive.diagnostics import CommandLineError, CompileError, Diagnostic, Severity, Span
from comprehensive.given.fragment import Given, TakenStrategy
from comprehensive.given.values import GivenCounter, GivenValues, Words
from comprehensive.loops.ir import Nest, Variant
from comprehensive.loops.reading_order import reading_order
from comprehensive.optimize.algorithm import comprehensive_optimization
from comprehensive.optimize.problem import Problem
from comprehensive.optimize.protocols import CounterError
from comprehensive.optimize.tree import Performance, Tree
from comprehensive.registry import RegistryError, strategies
from comprehensive.strategies.caching import initial_caching


def problem_of(
    nest: Nest,
    values: GivenValues,
    *,
    order: Sequence[str] = (),
    only: Sequence[str] = (),
    performance: Performance = "demanded",
) -> Problem[Given]:
    """Return the problem that Algorithm 1 is given.

    `order` are the counters in the order of evaluation (none: all, as in the file); `only` are the strategies that take
    part, in the order in which they are tried for any counter (none: all of the file, as each counter lists them).
    CommandLineError (CF1305) for names that the file does not have, CompileError (CF1306) for a value with a symbol
    that is neither a parameter of the nest nor a limit, and where a limit has the name of a scalar.
    """
    counters = _ordered(values, order)
    served = tuple(dict.fromkeys(name for counter in counters for name in counter.strategies))
    for name in only:
        if name not in served:
            raise _unknown("--strategies", name, served)
    names = tuple(dict.fromkeys(only)) or served
    sigma = {} if only else {counter.name: counter.strategies for counter in counters}
    _demand_known_symbols(nest, values, counters)
    try:
        made = strategies().take(names)
    except RegistryError as error:
        raise CompileError((_error("CF1306", str(error), Span(values.file, 0, 0)),)) from error
    taken = [
        TakenStrategy(
            strategy,
            tuple(counter.name for counter in counters if strategy.name in counter.strategies),
            _both(values.words.get(strategy.name, Words())),
        )
        for strategy in made
    ]
    return Problem(
        counters,
        taken,
        assumptions(nest),
        PortfolioSolver(),
        performance=performance,
        order=reading_order(nest),
        sigma=sigma,
    )


def grow(nest: Nest, problem: Problem[Given]) -> Tree[Given]:
    """The tree of the nest; CompileError (CF1306) where a value cannot be compared with its limit."""
    root = Given(Variant(initial_caching(nest)))
    try:
        return comprehensive_optimization(problem.initial(root), problem)
    except CounterError as error:
        text = f"region '{nest.name}' cannot be counted: {error}"
        raise CompileError.of("CF1306", text, nest.span, help=error.help) from error


def region_of(nests: Sequence[Nest], values: GivenValues) -> Nest:
    """The region that the values are of; CommandLineError (CF1305) where that is not clear."""
    names = [nest.name for nest in nests]
    if values.region is None:
        if len(nests) == 1:
            return nests[0]
        message = f"the program has {len(nests)} regions, and the file of values does not say which it is of"
    elif values.region in names:
        return nests[names.index(values.region)]
    else:
        message = f"the program has no region '{values.region}', of which the file of values is"
    help = f"write region = NAME into it; there are {', '.join(names)}" if names else "there are no regions"
    raise CommandLineError.of("CF1305", message, help=help)


def _ordered(values: GivenValues, order: Sequence[str]) -> tuple[GivenCounter, ...]:
    known = {counter.name: counter for counter in values.counters}
    for name in order:
        if name not in known:
            raise _unknown("--order", name, tuple(known))
    return tuple(known[name] for name in dict.fromkeys(order)) or values.counters


def _demand_known_symbols(nest: Nest, values: GivenValues, counters: Sequence[GivenCounter]) -> None:
    scalars = [scalar.name for scalar in nest.scalars if scalar.type.is_integer]
    limits = [counter.limit for counter in counters]
    for counter in counters:
        place = _place(values, counter.limit)
        if counter.limit in scalars:
            message = f"the limit '{counter.limit}' of '{counter.name}' is the name of a scalar of region '{nest.name}'"
            raise CompileError((_error("CF1306", message, place, "call the limit otherwise"),))
        for row in counter.rows:
            for symbol in row.value.symbols:
                if symbol not in scalars and symbol not in limits:
                    message = (
                        f"'{symbol}' in a value of '{counter.name}' is no parameter of region '{nest.name}'"
                    )
                    help = f"its parameters are {', '.join(scalars)}"
                    raise CompileError((_error("CF1306", message, _place(values, symbol), help),))


def _place(values: GivenValues, word: str) -> Span:
    start = max(values.file.text.find(word), 0)
    return Span(values.file, start, start + len(word))


def _both(words: Words) -> tuple[str, str]:
    return words.taken, words.otherwise


def _unknown(option: str, name: str, known: Sequence[str]) -> CommandLineError:
    message = f"{option} names '{name}', which the file of values does not have"
    return CommandLineError((_error("CF1305", message, None, f"it has {', '.join(known)}"),))


def _error(code: str, message: str, span: Span | None, help: str | None = None) -> Diagnostic:
    return Diagnostic(Severity.ERROR, code, message, span, help=help)
