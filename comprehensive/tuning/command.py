"""The command ``comprehensive tune``: a user's request in, winners and observations in files and as a report out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comprehensive import __version__
from comprehensive.diagnostics import CommandLineError, Diagnostic, SourceFile
from comprehensive.driver import Compilation, Options
from comprehensive.tuning.case import Tuned
from comprehensive.tuning.choices import Choices, Limits
from comprehensive.tuning.cluster import cluster
from comprehensive.tuning.devices import Target, find_devices
from comprehensive.tuning.observations import read_log
from comprehensive.tuning.pools import Pool
from comprehensive.tuning.report import to_json, to_text
from comprehensive.tuning.requests import request
from comprehensive.tuning.store import Store
from comprehensive.tuning.tune import tune
from comprehensive.tuning.winners import Winner, document, winners, write_winners
from comprehensive.values import Rational
from comprehensive.watch import UNWATCHED, Watch

CAPPED_LEAVES = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line; None is a default that depends on others."""

    definitions: Sequence[tuple[str, Rational]]
    rows: Sequence[Mapping[str, Rational]]
    domains: Mapping[str, Sequence[int]]
    device: str
    top: int
    caps: int | None
    pipelines: tuple[str, ...]
    limit: float
    reference_limit: float
    store: Path | None
    scheduler: str | None
    log: Path | None
    output: Path
    targets: tuple[Target, ...] | None = None
    """The devices, where they have been found already."""

    @property
    def tunes(self) -> bool:
        """A log alone is read, and nothing is measured."""
        return self.log is None or bool(self.definitions or self.rows)


@dataclass(frozen=True, slots=True)
class Told:
    """The results of the command.

    ``file`` has the winners; ``observed`` lines of the log are new, ``diagnostics`` are about the others.
    """

    tuned: tuple[Tuned, ...]
    best: tuple[Winner, ...]
    document: Mapping[str, Any]
    file: Path | None
    observed: int | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def text(self) -> str:
        lines = [to_text(self.tuned, self.best)] if self.tuned else []
        if self.observed is not None:
            lines.append(f"{self.observed} new observations, {len(self.diagnostics)} lines skipped\n")
        return "".join(lines)

    @property
    def json(self) -> dict[str, Any]:
        observed = None if self.observed is None else {"new": self.observed, "skipped": len(self.diagnostics)}
        return {**to_json(self.tuned, dict(self.document)), "observations": observed}

    @property
    def complete(self) -> bool:
        """Whether there is a winner wherever all candidates were measured."""
        found = {(w.function, w.device, w.sizes) for w in self.best}
        whole = [t for t in self.tuned if t.missing == 0]
        return all((t.function, t.subject.device, t.sizes) in found for t in whole)


def run(
    compilation: Compilation,
    options: Options,
    asked: Asked,
    tell: Callable[[str], object],
    watch: Watch = UNWATCHED,
) -> Told:
    """Tunes, while the watch has time, and reads a log.

    Errors as of :func:`tune`, :func:`request`, :func:`find_devices` and the store.
    """
    plan = compilation.plan
    wanted = request(compilation, asked.definitions, asked.rows, asked.domains) if asked.tunes else None
    observed: int | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    tuned: tuple[Tuned, ...] = ()
    with Store.open(asked.store or asked.output / "tuning.sqlite") as store:
        if asked.log is not None:
            read = read_log(_text_of(asked.log), plan)
            observed = store.observe(plan.source_digest, read.observations, asked.log.name)
            diagnostics = read.diagnostics
        if wanted is not None:
            with _devices(asked) as (targets, pool):
                if (asked.caps or asked.pipelines) and not any(target.on_gpu for target in targets):
                    raise _no_ptx(asked.device)
                choices = Choices(
                    top=asked.top,
                    capped_leaves=CAPPED_LEAVES if asked.caps is None else asked.caps,
                    pipelines=asked.pipelines,
                    domains=wanted.domains,
                    scalars=wanted.scalars,
                    limits=Limits(candidate_s=asked.limit, reference_s=asked.reference_limit),
                )
                directory = asked.output / f"{plan.stem}.tuning"
                tuned = tune(
                    compilation,
                    options,
                    wanted.sizes,
                    targets,
                    store,
                    directory,
                    choices,
                    measure_pool=pool,
                    tell=tell,
                    watch=watch,
                )
        best = _winners(store, plan.source_digest, tuned)
    named = (plan.source_path, plan.source_digest, f"comprehensive {__version__}")
    file = write_winners(best, asked.output, plan.stem, *named) if tuned else None
    return Told(tuned, best, document(best, *named), file, observed, diagnostics)


def _winners(store: Store, source: str, tuned: Sequence[Tuned]) -> tuple[Winner, ...]:
    """Return the winners for all sizes and devices that the store knows for the code that was tuned now."""
    found: dict[tuple[Any, ...], Winner] = {}
    for tool, options in dict.fromkeys((t.subject.tool, t.subject.options) for t in tuned):
        for winner in winners(store, source, tool=tool, options=options):
            found[winner.function, winner.device, winner.compute_capability, winner.sizes] = winner
    return tuple(found[place] for place in sorted(found))


@contextmanager
def _devices(asked: Asked) -> Generator[tuple[tuple[Target, ...], Pool | None]]:
    if asked.scheduler is None:
        yield asked.targets or find_devices(asked.device), None
        return
    with cluster(asked.scheduler) as found:
        yield found.targets(asked.device), found.pool


def _no_ptx(device: str) -> CommandLineError:
    message = f"the device {device} runs no PTX: there are no candidates with passes"
    help = "leave --passes and --caps out, or tune on a GPU"
    return CommandLineError.of("CF0918", message, help=help)


def _text_of(log: Path) -> SourceFile:
    """Return the text of a log. CommandLineError (CF0922) for one that cannot be read."""
    try:
        return SourceFile(str(log), log.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        message = f"cannot read the log {log}: {error.strerror or error}"
        help = "give the path of a text file with --import"
        raise CommandLineError.of("CF0922", message, help=help) from error
