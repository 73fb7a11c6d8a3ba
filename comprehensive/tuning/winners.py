"""The best candidates: a store in, a winner for every function, device and sizes out, as values and as a file.

    winners(store, digest)     # (Winner("matmul", "NVIDIA H200", ..., parameters=(("B0", 16), ...), median_us=43.9),)

Of candidates that are right and equally fast the one whose parameters come first wins: the same results give the same
winners, and the same bytes in ``<stem>.tuned.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, cast

from comprehensive.codegen.emit import write_outputs
from comprehensive.diagnostics import CommandLineError
from comprehensive.ptx.passes.pipeline_text import passes_of
from comprehensive.records import replace
from comprehensive.tuning.store import Observation, Result, Store, Subject

SCHEMA = 2
FEWEST_OBSERVATIONS = 3
"""The fewest launches in production whose median counts instead of what was measured."""


@dataclass(frozen=True, slots=True)
class Winner:
    """The best verified candidate; ``parameters`` are the members of ``<function>_params`` in order."""

    function: str
    device: str
    compute_capability: str
    driver: str
    sizes: tuple[tuple[str, int], ...]
    parameters: tuple[tuple[str, int], ...]
    pipeline: str
    """The passes that its kernels were compiled through; empty for none."""
    leaf: int
    median_us: float
    runs: int
    verified: str
    candidates: int
    """The number of candidates that were measured or tried for it."""


def winners(
    store: Store,
    source: str,
    *,
    tool: str | None = None,
    options: str | None = None,
    device: str | None = None,
) -> tuple[Winner, ...]:
    """The winners of a program (by its digest), sorted by function, device and sizes.

    ``tool``, ``options`` and ``device`` leave out results of others; without them, the best one of all counts.
    """
    groups: dict[tuple[Any, ...], dict[tuple[Subject, str], tuple[Subject, Result]]] = {}
    for subject, result in store.everything(source):
        asked = ((tool, subject.tool), (options, subject.options), (device, subject.device))
        if any(wanted is not None and wanted != found for wanted, found in asked):
            continue
        candidate = result.candidate
        place = (candidate.function, subject.device, subject.compute_capability, candidate.sizes)
        groups.setdefault(place, {})[subject, candidate.key] = (subject, result)  # the last one counts
    observed = _observed(store, source)
    found: list[Winner] = []
    for place in sorted(groups):
        function, name, _, sizes = place
        times = observed.get((function, name, sizes), ())
        right = [
            (s, _as_observed(r, times))
            for s, r in groups[place].values()
            if r.status == "ok" and r.median_us is not None
        ]
        if right:
            best = min(right, key=lambda each: (each[1].median_us, each[1].candidate.key, each[0].driver))
            found.append(_winner(*best, len(groups[place])))
    return tuple(found)


def _observed(store: Store, source: str) -> Mapping[tuple[Any, ...], Sequence[Observation]]:
    found: dict[tuple[Any, ...], list[Observation]] = {}
    for each in store.observations(source):
        found.setdefault((each.function, each.device, each.sizes), []).append(each)
    return found


def _as_observed(result: Result, observations: Sequence[Observation]) -> Result:
    """The result with the time that launches of the same kernel took in production, where enough of them were seen.

    A tile is the same with any blocks; a leaf is, with the same parameters.
    """
    candidate = dict(result.candidate.parameters)
    is_tile = candidate.get("tile_", candidate.get("tile", 0)) > 0
    times = [
        o.microseconds
        for o in observations
        if (o.leaf, o.pipeline) == (result.leaf, result.candidate.pipeline)
        and (is_tile or o.parameters == result.candidate.parameters)
    ]
    if len(times) < FEWEST_OBSERVATIONS:
        return result
    return replace(result, times_us=tuple(times), median_us=median(times))


def _winner(subject: Subject, result: Result, candidates: int) -> Winner:
    candidate = result.candidate
    assert result.median_us is not None
    return Winner(
        candidate.function,
        subject.device,
        subject.compute_capability,
        subject.driver,
        candidate.sizes,
        candidate.parameters,
        candidate.pipeline,
        -1 if result.leaf is None else result.leaf,
        result.median_us,
        result.runs,
        result.verified,
        candidates,
    )


def document(found: Iterable[Winner], source_name: str, source: str, tool: str) -> dict[str, Any]:
    """The winners as one JSON document."""
    return {
        "schema": SCHEMA,
        "tool": tool,
        "source": {"name": source_name, "sha256": source},
        "winners": [
            {
                "function": w.function,
                "device": w.device,
                "compute_capability": w.compute_capability,
                "driver": w.driver,
                "sizes": dict(w.sizes),
                "parameters": dict(w.parameters),
                "pipeline": w.pipeline,
                "leaf": w.leaf,
                "median_us": w.median_us,
                "runs": w.runs,
                "verified": w.verified,
                "candidates": w.candidates,
            }
            for w in found
        ],
    }


def write_winners(
    found: Iterable[Winner], directory: Path, stem: str, source_name: str, source: str, tool: str
) -> Path:
    """Write ``<stem>.tuned.json``, whole or not at all, and return its path.

    CompileError (CF0620) where it cannot be written.
    """
    name = f"{stem}.tuned.json"
    text = json.dumps(document(found, source_name, source, tool), indent=1, ensure_ascii=False) + "\n"
    write_outputs(directory, {name: text})
    return directory / name


def read_winners(path: Path, source: str | None = None) -> tuple[Winner, ...]:
    """The winners in such a file; those of a program of this digest, where it is given.

    CommandLineError (CF0916) for a file that cannot be read, is none, or is of another schema or program.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _unread(path, f"{type(error).__name__}: {error}") from error
    found = cast(dict[str, Any], found if isinstance(found, dict) else {})
    schema = found.get("schema")
    if schema != SCHEMA:
        raise _unread(path, f"its schema is {schema!r}, this tool reads {SCHEMA}")
    try:
        if source is not None and found["source"]["sha256"] != source:
            raise _unread(path, f"it is of another version of {found['source']['name']}")
        return tuple(_read(each) for each in found["winners"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unread(path, f"{type(error).__name__}: {error}") from error


def _read(document: dict[str, Any]) -> Winner:
    pairs = {
        name: tuple((key, int(value)) for key, value in document[name].items())
        for name in ("sizes", "parameters")
    }
    return Winner(
        str(document["function"]),
        str(document["device"]),
        str(document["compute_capability"]),
        str(document["driver"]),
        pairs["sizes"],
        pairs["parameters"],
        _pipeline(str(document["pipeline"])),
        int(document["leaf"]),
        float(document["median_us"]),
        int(document["runs"]),
        str(document["verified"]),
        int(document["candidates"]),
    )


def _pipeline(text: str) -> str:
    """The text of a pipeline that this tool knows. ValueError for another one."""
    try:
        passes_of(text)
    except CommandLineError as error:
        raise ValueError(f"'{text}': {error.diagnostics[0].message}") from error
    return text


def _unread(path: Path, words: str) -> CommandLineError:
    message = f"cannot read winners from {path}: {words}"
    help = "give a file that `comprehensive tune` has written for this program"
    return CommandLineError.of("CF0916", message, help=help)
