"""Tunes a program: candidates are compiled, compared with the serial C, timed, and remembered, one by one.

In: a compilation, sizes, devices and a store.  Out: what the store then has of them, as :class:`Tuned` values::

    with Store.open(Path("tuning.sqlite")) as store:
        tune(compilation, options, [{"n": 1024}], find_devices("gpu"), store, Path("out"))
        winners(store, compilation.plan.source_digest)

Steps for every function, device and sizes: candidates in order, the first ones; what the store does not have yet is
compiled in one pool of workers and measured in another; then the best leaves once more, with fewer registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from comprehensive.driver import Compilation, Options
from comprehensive.generate import source_texts
from comprehensive.plan.plan import ProgramPlan
from comprehensive.tuning.case import Case, Tuned
from comprehensive.tuning.choices import Choices
from comprehensive.tuning.devices import Target
from comprehensive.tuning.pools import Pool
from comprehensive.tuning.problems import size_names
from comprehensive.tuning.session import Session
from comprehensive.tuning.store import Store
from comprehensive.watch import UNWATCHED, Watch


def tune(
    compilation: Compilation,
    options: Options,
    sizes: Iterable[Mapping[str, int]],
    targets: Iterable[Target],
    store: Store,
    directory: Path,
    choices: Choices | None = None,
    *,
    compile_pool: Pool | None = None,
    measure_pool: Pool | None = None,
    texts: Callable[[ProgramPlan], Mapping[str, str]] = source_texts,
    tell: Callable[[str], object] = lambda line: None,
    watch: Watch = UNWATCHED,
) -> tuple[Tuned, ...]:
    """Measures what the store does not have yet; every result is stored as it comes.

    ``directory`` is for libraries and reference results; workers of a cluster must see it under the same name.  By
    default compilers run in threads, and one measuring process a device.  ``texts`` gives header and source of a plan.
    The watch is asked for time before each candidate; those that there is none for are counted (`Tuned.missing`).

    Raises ToolError where a compiler is missing, CommandLineError for sizes at which a function cannot be run,
    SerialBuildError where the C compiler rejects the program.
    """
    tuned: list[Tuned] = []
    every = list(sizes)
    for target in targets:
        session = Session(
            compilation,
            options,
            target,
            store,
            directory,
            choices or Choices(),
            texts,
            tell,
            compile_pool=compile_pool,
            measure_pool=measure_pool,
            watch=watch,
        )
        try:
            for plan in compilation.plan.functions:
                own = [{name: each[name] for name in size_names(plan)} for each in every]
                for each in {tuple(values.items()): values for values in own}.values():
                    case = Case(session, plan, each)
                    try:
                        tuned.append(case.tune())
                    finally:
                        case.close()
        finally:
            session.close()
    return tuple(tuned)
