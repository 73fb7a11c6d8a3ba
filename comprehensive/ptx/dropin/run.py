"""One call of ptxas with passes over its inputs.

In: the real ptxas, the passes, the arguments of the call.  Out: what ptxas does, and its exit status::

    main(("/usr/local/cuda/bin/ptxas", "dce", "-arch=sm_90", "k.ptx", "-o", "k.cubin"))

Inputs are rewritten into temporary files of the same names, and ptxas assembles those.  Whatever goes wrong, a pass
that fails or code that ptxas rejects, ptxas gets the original, and a remark says so: a build that would succeed without
passes does with them.  Where nothing is rewritten this process becomes ptxas.

The environment: ``COMPREHENSIVE_PTXAS_REMARKS`` names a file to which remarks are appended; without it those that
say why PTX was not rewritten go to stderr.  With a ``COMPREHENSIVE_PTXAS_IN_PLACE`` that is not empty, rewritten PTX
takes the place of the input when ptxas has accepted it, so that nvcc embeds that for other GPUs, too.
``COMPREHENSIVE_PTXAS_SECONDS`` is how long passes may take before the original is assembled.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import NoReturn, Protocol

from comprehensive.ptx.dropin.arguments import Assembly, Untouched, understand
from comprehensive.ptx.dropin.time_limit import SECONDS, TimeLimitError, seconds_of, time_limit

REMARKS = "COMPREHENSIVE_PTXAS_REMARKS"
IN_PLACE = "COMPREHENSIVE_PTXAS_IN_PLACE"
_STOPPING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Rewrite(Protocol):
    """Passes over a text; remarks are printed by ``str``, a line each.  Any exception means: as it was."""

    def __call__(self, text: str, pipeline: str, *, name: str) -> tuple[str, Sequence[object]]: ...


class _StoppedError(BaseException):
    """A signal asks this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    stdout: bytes
    stderr: bytes


def main(arguments: Sequence[str]) -> NoReturn:
    """Run the wrapper: the arguments are ptxas, the pipeline of passes, and the arguments of ptxas."""
    ptxas, pipeline, *rest = arguments
    run(ptxas, rest, pipeline)


def run(ptxas: str, arguments: Sequence[str], pipeline: str, *, rewrite: Rewrite | None = None) -> NoReturn:
    """Ends this process as ptxas ends.

    ``rewrite`` stands for ``comprehensive.ptx.pipeline.rewrite``, which is imported only where there are passes.
    """
    if pipeline:
        _with_passes(ptxas, arguments, pipeline, rewrite)
    _become(ptxas, arguments)


def _with_passes(ptxas: str, arguments: Sequence[str], pipeline: str, rewrite: Rewrite | None) -> None:
    """Ends the process where ptxas has accepted rewritten code; returns where it must have the original."""
    call = understand(arguments)
    if isinstance(call, Untouched):
        if call.reason is not None:
            _refuse(" ".join(arguments), call.reason)
        return
    # A signal ends what has been begun, with its files; one that is ignored stays so.
    heeded = [number for number in _STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heeded:
        signal.signal(number, _stop)
    try:
        answer = _assemble_rewritten(ptxas, call, pipeline, rewrite)
    except _StoppedError as stopped:
        _die_of(stopped.number)
    for number in heeded:
        signal.signal(number, signal.SIG_DFL)
    if answer is not None:
        _leave(answer)


def _assemble_rewritten(ptxas: str, call: Assembly, pipeline: str, rewrite: Rewrite | None) -> _Answer | None:
    """Assemble the inputs as the passes rewrite them; None where the original must be assembled.

    A remark has then said why.
    """
    seconds = seconds_of(os.environ)
    try:
        with time_limit(seconds):
            texts = _rewritten_texts(call.paths, pipeline, rewrite or _pipeline(ptxas, call, pipeline))
    except TimeLimitError:
        why = f"passes '{pipeline}' took longer than {seconds:g} seconds ({SECONDS})"
        _refuse(", ".join(call.paths), why)
        return None
    except Exception as problem:
        said = str(problem).partition("\n")[0]
        _refuse(", ".join(call.paths), f"passes '{pipeline}' failed: {type(problem).__name__}: {said}")
        return None
    if not texts:
        return None
    try:
        with tempfile.TemporaryDirectory(prefix="comprehensive-ptxas-") as directory:
            places = _written(directory, texts)
            command = call.with_inputs([places.get(path, path) for path in call.paths])
            answer = _answer((ptxas, *command))
            if answer.status != 0:
                said = (answer.stderr + answer.stdout).decode(errors="replace").strip().splitlines()
                why = f"ptxas rejects what passes '{pipeline}' made ({answer.status}): {' '.join(said[:1])}"
                _refuse(", ".join(call.paths), why)
                return None
    except OSError as problem:
        _refuse(", ".join(call.paths), f"no place for rewritten PTX: {problem}")
        return None
    if os.environ.get(IN_PLACE):
        _put_in_place(texts, pipeline)
    return _Answer(0, _original_names(answer.stdout, places), _original_names(answer.stderr, places))


def _rewritten_texts(paths: Sequence[str], pipeline: str, rewrite: Rewrite) -> dict[str, str]:
    """Return the texts that the passes change, by the path of the original."""
    texts: dict[str, str] = {}
    for path in paths:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            original = file.read()
        if original.endswith(_mark(pipeline)):
            continue
        text, remarks = rewrite(original, pipeline, name=path)
        _remark(*(str(remark) for remark in remarks))
        if text != original:
            texts[path] = text
    return texts


def _pipeline(ptxas: str, call: Assembly, pipeline: str) -> Rewrite:
    from comprehensive.ptx.dropin.remembered import remembered
    from comprehensive.toolchain.cache import Cache

    def load() -> Rewrite:
        from comprehensive.ptx.dropin.build import build_of
        from comprehensive.ptx.passes.pipeline_text import demand_same_launches, passes_of
        from comprehensive.ptx.pipeline import rewrite

        demand_same_launches(passes_of(pipeline))
        return partial(rewrite, build=build_of(ptxas, call))

    return remembered(load, ptxas, call, Cache.default())


def _written(directory: str, texts: Mapping[str, str]) -> dict[str, str]:
    """The files in the directory, by the path of the original; a folder each, since inputs may share a name."""
    places: dict[str, str] = {}
    for number, (path, text) in enumerate(texts.items()):
        places[path] = os.path.join(directory, str(number), os.path.basename(path))
        os.mkdir(os.path.dirname(places[path]))
        _write(places[path], text)
    return places


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)


def _mark(pipeline: str) -> str:
    return f"\n// rewritten by comprehensive: {pipeline}\n"


def _put_in_place(texts: Mapping[str, str], pipeline: str) -> None:
    # nvcc assembles one input for several architectures, and several at once: the mark keeps passes from running
    # over their own output, the renaming others from reading half of it.
    for path, text in texts.items():
        new = f"{path}.{os.getpid()}"
        try:
            _write(new, text + _mark(pipeline))
            os.replace(new, path)
        except OSError as problem:
            _refuse(path, f"rewritten PTX cannot take the place of the input: {problem}")


def _original_names(said: bytes, places: Mapping[str, str]) -> bytes:
    for path, place in places.items():
        said = said.replace(os.fsencode(place), os.fsencode(path))
    return said


def _answer(command: Sequence[str]) -> _Answer:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            stdout, stderr = process.communicate()
        except BaseException:
            process.kill()
            raise
    return _Answer(process.returncode, stdout, stderr)


def _leave(answer: _Answer) -> NoReturn:
    for stream, said in ((sys.stdout, answer.stdout), (sys.stderr, answer.stderr)):
        stream.buffer.write(said)
        stream.flush()
    sys.exit(0)


def _become(ptxas: str, arguments: Sequence[str]) -> NoReturn:
    # Python ignores these, and a program that takes its place would go on doing so.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(ptxas, (ptxas, *arguments))
    except OSError as problem:
        sys.exit(f"comprehensive ptxas: cannot run {ptxas}: {problem.strerror}")


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise _StoppedError(number)


def _die_of(number: int) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    # Not reached: the signal is not blocked.
    os._exit(128 + number)


def _refuse(name: str, reason: str) -> None:
    """Report an input that is not rewritten, in a remark, or on stderr where there is no file for remarks."""
    line = f"{name}: not rewritten: {reason}"
    if not _remark(line):
        print(f"comprehensive ptxas: {line}", file=sys.stderr, flush=True)


def _remark(*lines: str) -> bool:
    """Append lines to the file for remarks; return whether there is one that takes them."""
    place = os.environ.get(REMARKS)
    if not place or not lines:
        return False
    text = "".join(f"{line}\n" for line in lines).encode(errors="backslashreplace")
    try:
        # In one piece: several calls write at once.
        handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(handle, text)
        finally:
            os.close(handle)
    except OSError as problem:
        print(f"comprehensive ptxas: {place}: {problem.strerror}", file=sys.stderr)
        return False
    return True
