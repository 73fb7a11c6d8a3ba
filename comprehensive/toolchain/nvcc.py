"""Compiles CUDA and assembles PTX, and remembers the answers.

In: a tool that :func:`comprehensive.toolchain.find.find_tool` has found, and a source file.  Out:
:class:`Compiled`, with the bytes, the warnings and what each kernel takes::

    nvcc = load_tool(find_tool("nvcc"))
    compile_cubin(nvcc, Path("matmul.cu"), "sm_90").usage["matmul_0"].registers_per_thread

The tool works in a temporary directory that goes with it; nothing is written beside the source.  The answer for
the same tool, flags and bytes (of the source and of every header it includes) comes from the cache.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from comprehensive.toolchain.cache import Cache, cache_key
from comprehensive.toolchain.find import Found
from comprehensive.toolchain.process import Completed, ToolError, run
from comprehensive.toolchain.usage import Usage, resource_usage

TIMEOUT_S = 300.0

# Part of every key: entries of another form are never read.
_ENTRY_FORMAT = "compiled 1"

# What nvcc and the host preprocessor read besides the command line.
_ENVIRONMENT = (
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "PATH",
)


@dataclass(frozen=True, slots=True)
class Tool:
    """An executable with its version, such as ``13.0.88``."""

    name: str
    path: Path
    version: str


@dataclass(frozen=True, slots=True)
class Compiled:
    """``log`` is everything the tool printed; ``usage`` is empty for PTX, which has no registers yet."""

    output: bytes
    log: str

    @property
    def warnings(self) -> tuple[str, ...]:
        """The lines of the log that warn, in order, each once."""
        lines = (line.strip() for line in self.log.splitlines())
        return tuple(dict.fromkeys(line for line in lines if re.search(r"\bwarning\b", line, re.IGNORECASE)))

    @property
    def usage(self) -> Mapping[str, Usage]:
        """By symbol; :func:`comprehensive.toolchain.usage.usage_of` looks up names of the source."""
        return resource_usage(self.log)


class SourceRejectedError(ToolError):
    """The tool has rejected the source; ``log`` holds its words, ``command`` the line that repeats it."""

    def __init__(self, command: Sequence[str], log: str) -> None:
        super().__init__(f"{' '.join(command)}\n{log}".rstrip())
        self.command = tuple(command)
        self.log = log


def load_tool(found: Found) -> Tool:
    """The tool with its version; raises ToolError if it does not run or says no version."""
    answer = run((found.path, "--version"), timeout_s=60)
    version = re.search(r"\bV(\d+(?:\.\d+)+)", answer.stdout)
    if answer.returncode != 0 or version is None:
        raise ToolError(f"{found.path} --version gives no version: {(answer.stdout + answer.stderr).strip()}")
    return Tool(found.name, found.path, version[1])


def compile_ptx(
    nvcc: Tool, source: Path, arch: str, extra: Sequence[str] = (), *, cache: Cache | None = None
) -> Compiled:
    """CUDA to PTX text for ``sm_90`` and the like; arguments and errors as for :func:`compile_cubin`."""
    flags = ("-ptx", f"-arch={arch}", *extra)
    return _cached(nvcc, source, flags, cache or Cache.default(), has_dependencies=True)


def compile_cubin(
    nvcc: Tool, source: Path, arch: str, extra: Sequence[str] = (), *, cache: Cache | None = None
) -> Compiled:
    """CUDA (``.cu``) or PTX (``.ptx``) to a cubin, with the usage of its kernels.

    ``extra`` are further flags, their paths absolute.  Raises SourceRejectedError with the words of nvcc, ToolError
    if nvcc does not run to its end, OSError if the source cannot be read.
    """
    flags = ("-cubin", f"-arch={arch}", "-Xptxas=-v", *extra)
    return _cached(nvcc, source, flags, cache or Cache.default(), has_dependencies=source.suffix != ".ptx")


def assemble(
    ptxas: Tool, source: Path, arch: str, extra: Sequence[str] = (), *, cache: Cache | None = None
) -> Compiled:
    """PTX to a cubin by ptxas alone, which needs no host compiler; otherwise as :func:`compile_cubin`."""
    flags = (f"-arch={arch}", "-v", *extra)
    return _cached(ptxas, source, flags, cache or Cache.default(), has_dependencies=False)


def _cached(
    tool: Tool, source: Path, flags: tuple[str, ...], cache: Cache, *, has_dependencies: bool
) -> Compiled:
    source = source.absolute()
    contents = source.read_bytes()
    environment = [f"{name}={os.environ.get(name, '')}" for name in _ENVIRONMENT if has_dependencies]
    place = str(source) if _place_matters(contents, flags) else source.suffix
    key = cache_key(
        _ENTRY_FORMAT, tool.name, str(tool.path), tool.version, *flags, *environment, place, contents
    )
    kept = _decode(cache.load(key))
    if kept is not None:
        return kept
    compiled, dependencies = _invoke(tool, source, flags, has_dependencies)
    entry = _encode(compiled, dependencies)
    if entry is not None:
        cache.store(key, entry)
    return compiled


def _place_matters(contents: bytes, flags: tuple[str, ...]) -> bool:
    """Whether the answer depends on where the source is: headers beside it, or its name in the output."""
    in_text = re.search(rb"#\s*include\s*[^<\s]|__FILE__|__BASE_FILE__|\bassert\b", contents) is not None
    return in_text or any(
        flag in ("-lineinfo", "--generate-line-info", "-G", "--device-debug") for flag in flags
    )


def _invoke(
    tool: Tool, source: Path, flags: tuple[str, ...], has_dependencies: bool
) -> tuple[Compiled, tuple[Path, ...]]:
    with tempfile.TemporaryDirectory(prefix="comprehensive-") as name:
        directory = Path(name)
        output, listed = directory / "output", directory / "dependencies"
        command = [str(tool.path), *flags, "-o", str(output)]
        if has_dependencies:
            command += ["-MD", "-MF", str(listed)]
        command.append(str(source))
        # TMPDIR: what the tool would leave in /tmp when it is ended goes with the directory.
        answer = run(command, timeout_s=TIMEOUT_S, cwd=directory, environment={"TMPDIR": name})
        log = _clean_log(answer, directory)
        if answer.returncode != 0 or not output.is_file():
            raise SourceRejectedError([str(tool.path), *flags, str(source)], log)
        # The source is in the key already, and may be elsewhere next time.
        listing = _dependencies(listed.read_text()) if has_dependencies else ()
        return Compiled(output.read_bytes(), log), tuple(path for path in listing if path != source)


def _clean_log(answer: Completed, directory: Path) -> str:
    # Temporary names and times would make two runs differ.
    text = (answer.stdout + answer.stderr).replace(f"{directory}/", "")
    return re.sub(r"^ptxas info +: Compile time = .*\n", "", text, flags=re.MULTILINE)


def _dependencies(makefile: str) -> tuple[Path, ...]:
    r"""The files to the right of the colon of a make rule; ``\ `` is a space in a name, ``$$`` a dollar."""
    _, _, right = makefile.replace("\\\n", " ").partition(" : ")
    words = re.findall(r"(?:\\.|\S)+", right)
    return tuple(Path(re.sub(r"\\(.)", r"\1", word).replace("$$", "$")) for word in words)


def _encode(compiled: Compiled, dependencies: Sequence[Path]) -> bytes | None:
    hashes = {str(path): _file_hash(path) for path in dependencies}
    if None in hashes.values():
        # A file that went away meanwhile: the answer cannot be checked later.
        return None
    output = base64.b64encode(compiled.output).decode()
    return json.dumps({"output": output, "log": compiled.log, "dependencies": hashes}).encode()


def _decode(entry: bytes | None) -> Compiled | None:
    """The entry, if every file that it was made from is what it was."""
    if entry is None:
        return None
    document = json.loads(entry)
    if any(_file_hash(Path(path)) != digest for path, digest in document["dependencies"].items()):
        return None
    return Compiled(base64.b64decode(document["output"]), document["log"])


def _file_hash(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
