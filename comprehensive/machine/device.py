"""Descriptions of devices, read from ``specs/machines/*.toml``.

In: the name of an architecture or product, or the path of a TOML file of the same form.  Out: a frozen
:class:`Device`::

    load_device("sm_90").parameters()["Z_B"]      # 58112 words
    load_device("RTX 4090").multiprocessors       # 128

A file may name another one as ``base`` and state only what differs.  What of its speeds was measured it says itself.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, cast

from comprehensive.data import spec_directory
from comprehensive.diagnostics import CommandLineError, CompileError, Diagnostic, Severity, SourceFile, Span
from comprehensive.machine.parameters import WORD_BYTES
from comprehensive.machine.pipes import PIPES
from comprehensive.machine.speeds import SPEEDS, Speed


@dataclass(frozen=True, slots=True)
class Device:
    """Limits of one device; a kibibyte is 1024 bytes, a register has 32 bits."""

    name: str
    arch: str
    compute_capability: int
    """Ten times the compute capability: 90 for 9.0."""
    warp_threads: int
    sub_partitions: int
    """Warp schedulers of a multiprocessor, each with its share of the registers."""

    registers_per_sm: int
    registers_per_block: int
    max_registers_per_thread: int
    register_unit_per_warp: int
    """Registers are given to a warp in multiples of this."""
    register_granularity_per_thread: int

    max_threads_per_block: int
    max_threads_per_sm: int
    max_warps_per_sm: int
    max_blocks_per_sm: int
    barrier_slots_per_sm: int

    shared_bytes_per_sm: int
    static_shared_bytes_per_block: int
    optin_shared_bytes_per_block: int
    """The most dynamic shared memory that a kernel can ask for."""
    reserved_shared_bytes_per_block: int
    """Taken by the system from the multiprocessor's memory, on top of what the block asks for."""
    shared_granularity_bytes: int
    shared_carveouts_kib: tuple[int, ...]

    has_cluster: bool
    has_redux: bool
    has_cp_async: bool
    has_tma: bool
    has_elect: bool

    multiprocessors: int | None = None
    """None for an architecture, which comes in several sizes."""
    l2_mib: int | None = None
    dram_gb: int | None = None
    dram_gb_per_s: int | None = None
    throughput_per_clock_per_sm: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    """Results per clock and multiprocessor, by kind of instruction; empty where not known."""
    memory_latency_cycles: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    issue_distance_cycles: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    """Least distance in issue of ``PRODUCER_CONSUMER`` pairs of SASS instructions; empty where not known."""

    speeds: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    """The values of :data:`comprehensive.machine.speeds.SPEEDS`; those of an architecture are of one of its
    products."""
    measured: tuple[str, ...] = ()
    """The speeds that were measured on this device; the others are recalled, or those of another device."""
    pipes: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    """The values of :data:`comprehensive.machine.pipes.PIPES`; empty where not known."""

    def machine(self) -> Mapping[str, int]:
        """Machine parameters and speeds: all that a choice among kernels depends on. Speeds not known are 1."""
        return {**self.parameters(), **self._known_speeds()}

    def parameters(self) -> Mapping[str, int]:
        """The values of the machine parameters on this device, in the order of ``MACHINE_PARAMETERS``."""
        return {
            "R_B": self.max_registers_per_thread,
            "Z_B": self.optin_shared_bytes_per_block // WORD_BYTES,
            "T_B": self.max_threads_per_block,
            "R_SM": self.registers_per_sm,
            "Z_SM": self.shared_bytes_per_sm // WORD_BYTES,
            "T_SM": self.max_threads_per_sm,
            "W_SM": self.max_warps_per_sm,
            "B_SM": self.max_blocks_per_sm,
            "R_U": self.register_unit_per_warp,
            "Q_SM": self.sub_partitions,
            "Z_U": self.shared_granularity_bytes // WORD_BYTES,
            "Z_0": self.reserved_shared_bytes_per_block // WORD_BYTES,
            **self._rates(),
        }

    def _rates(self) -> Mapping[str, int]:
        """Machine balance, and Little's law: what is in flight is latency times bandwidth.

        Of single precision, for which every lane of a warp has a result in a cycle.
        """
        speeds = self._known_speeds()
        lanes = self.warp_threads * speeds["issued_per_cycle"] * speeds["multiprocessors"]
        words = speeds["dram_bytes_per_kilocycle"] // WORD_BYTES
        in_flight = speeds["global_latency_cycles"] * words // (1000 * speeds["multiprocessors"])
        return {"O_W": max(1, lanes * 1000 // max(1, words)), "F_SM": max(1, in_flight)}

    def _known_speeds(self) -> Mapping[str, int]:
        """The speeds by name; those that the file does not give are 1."""
        count = {} if self.multiprocessors is None else {"multiprocessors": self.multiprocessors}
        known = {**self.speeds, **count}
        return {name: known.get(name, 1) for name in SPEEDS}


def device_names() -> tuple[str, ...]:
    """The names that :func:`load_device` knows: architectures by age, then products by name."""
    names = [path.stem for path in (spec_directory() / "machines").glob("*.toml")]
    return tuple(sorted(names, key=_by_age))


def devices() -> tuple[Device, ...]:
    """Every device of the table, in the order of :func:`device_names`."""
    return tuple(load_device(name) for name in device_names())


def device_of(arch: str) -> Device | None:
    """Return the device of an architecture as ptxas names it (``sm_90a``, ``compute_90``); None if it is not known."""
    stated = re.match(r"(?:sm|compute)_(\d+)[af]?$", arch)
    name = f"sm_{stated[1]}" if stated else ""
    return load_device(name) if name in device_names() else None


def load_device(name_or_path: str | Path) -> Device:
    """The device of that name, or the one a ``.toml`` file describes.

    A name is that of a file (``sm_90``, ``rtx-4090``) or the one it states (``NVIDIA GeForce RTX 4090``).  Neither case
    nor what stands between words matters, nor do the words in which all names of a maker begin: ``rtx 4090``.

    Raises CommandLineError for an unknown name, CompileError for an unreadable file, text that is not TOML, an
    unknown base, and for fields that are missing, unknown or of the wrong type.
    """
    return _read_device(Path(name_or_path)) if _is_path(name_or_path) else _named_device(str(name_or_path))


@cache
def _named_device(name: str) -> Device:
    """Files of the table are read once; those that a user names may change."""
    return _read_device(_locate(name, None))


def _read_device(path: Path) -> Device:
    values = _with_base(path, ())
    return Device(**{key: value for key, (value, _) in values.items()})


def _is_path(name_or_path: str | Path) -> bool:
    return isinstance(name_or_path, Path) or name_or_path.endswith(".toml")


def _by_age(name: str) -> tuple[bool, int, str]:
    match = re.fullmatch(r"sm_(\d+)", name)
    return (match is None, int(match[1]) if match else 0, name)


def _locate(name_or_path: str | Path, mention: Span | None) -> Path:
    text = str(name_or_path)
    if _is_path(name_or_path):
        return Path(text)
    known = device_names()
    paths = [spec_directory() / "machines" / f"{name}.toml" for name in known]
    for name_of in (_file_name, _stated_name):
        for path in paths:
            if _spoken(name_of(path)) == _spoken(text):
                return path
    help = f"name one of {', '.join(known)}, or give the path of a .toml file of the same form"
    unknown = Diagnostic(Severity.ERROR, "CF0801", f"device '{text}' is not known", mention, help=help)
    raise CommandLineError((unknown,)) if mention is None else CompileError((unknown,))


def _spoken(name: str) -> str:
    """The letters and digits by which people know a device: ``rtx4090`` of ``NVIDIA GeForce RTX 4090``."""
    words = re.sub(r"^(?:(?:nvidia|geforce|tesla|jetson)\b[\W_]*)+(?=.)", "", name.lower())
    return re.sub(r"[\W_]", "", words)


def _file_name(path: Path) -> str:
    return path.stem


def _stated_name(path: Path) -> str:
    return str(_read(path)["name"][0])


_Values = dict[str, tuple[Any, Span | None]]


def _with_base(path: Path, seen: tuple[Path, ...]) -> _Values:
    """The checked fields of a file over those of its bases, with the span where each is stated."""
    values = _read(path)
    if "base" in values:
        base, span = values.pop("base")
        base_path = _locate(path.parent / base if str(base).endswith(".toml") else str(base), span)
        chain = (*seen, path.resolve())
        if base_path.resolve() in chain:
            raise CompileError.of(
                "CF0805", f"device '{base}' is its own base", span, help="name another base, or none"
            )
        inherited = _with_base(base_path, chain)
        inherited.pop("measured", None)  # on another device
        for table in _KNOWN_NAMES.keys() & inherited.keys() & values.keys():
            (before, _), (own, place) = inherited[table], values[table]
            values[table] = ({**before, **own}, place)
        values = inherited | values
    if not seen:
        _require_all(path, values)
    return values


def _read(path: Path) -> _Values:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8 text"
        raise CompileError.of(
            "CF0802", f"cannot read device file '{path}': {reason}", help="check the path and its rights"
        ) from None
    file = SourceFile(str(path), text)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _not_toml(file, problem) from None
    return {key: (_checked(file, key, value), _key_span(file, key)) for key, value in table.items()}


def _not_toml(file: SourceFile, problem: tomllib.TOMLDecodeError) -> CompileError:
    # Python 3.11 gives the place only in the message: "... (at line 3, column 7)" or "(at end of document)".
    message = str(problem)
    at = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    span = Span(file, len(file.text), len(file.text))
    if at and at[1]:
        lines = file.text.splitlines(keepends=True)
        offset = sum(len(line) for line in lines[: int(at[1]) - 1]) + int(at[2]) - 1
        span = Span(file, offset, offset + 1)
    reason = message[: at.start()] if at else message
    help = "write the file in TOML, as the files in specs/machines are"
    return CompileError.of("CF0803", f"not a TOML file: {reason[:1].lower()}{reason[1:]}", span, help=help)


_FIELDS = {f.name: f for f in fields(Device)}

# Tables whose names are fixed, with what one entry is called; a file states those that differ from its base.
_KNOWN_NAMES: Mapping[str, tuple[Mapping[str, Speed], str]] = {
    "speeds": (SPEEDS, "speed"),
    "pipes": (PIPES, "number of the pipes"),
}

# The occupancy calculator divides by these.
_DIVISORS = frozenset(
    {
        "warp_threads",
        "sub_partitions",
        "register_unit_per_warp",
        "max_warps_per_sm",
        "shared_granularity_bytes",
    }
)


def _checked(file: SourceFile, key: str, value: object) -> object:
    """The value as ``Device`` stores it, if its type is the field's."""
    if key == "base":
        if isinstance(value, str):
            return value
        raise _wrong_type(file, key, "a string")
    if key not in _FIELDS:
        raise CompileError.of(
            "CF0804",
            f"'{key}' is not a field of a device",
            _key_span(file, key),
            help="correct its name; the fields are those of the files in specs/machines",
        )
    match _FIELDS[key].type:
        case "str":
            if isinstance(value, str):
                return value
            raise _wrong_type(file, key, "a string")
        case "bool":
            if isinstance(value, bool):
                return value
            raise _wrong_type(file, key, "true or false")
        case "int" | "int | None":
            if _is_count(value) and not (value == 0 and key in _DIVISORS):
                return value
            expected = "a positive integer" if key in _DIVISORS else "an integer that is not negative"
            raise _wrong_type(file, key, expected)
        case "tuple[str, ...]":
            if isinstance(value, list) and all(name in SPEEDS for name in cast("list[object]", value)):
                return tuple(cast("list[str]", value))
            raise _wrong_type(file, key, f"a list of some of {', '.join(SPEEDS)}")
        case "tuple[int, ...]":
            if isinstance(value, list) and all(map(_is_count, cast("list[object]", value))):
                return tuple(cast("list[int]", value))
            raise _wrong_type(file, key, "a list of integers that are not negative")
        case _:
            if isinstance(value, dict) and all(map(_is_count, cast("dict[str, object]", value).values())):
                table = cast("dict[str, int]", value)
                return _named(file, key, table) if key in _KNOWN_NAMES else table
            raise _wrong_type(file, key, "a table of integers that are not negative")


def _named(file: SourceFile, key: str, table: dict[str, int]) -> dict[str, int]:
    known, what = _KNOWN_NAMES[key]
    for name, value in table.items():
        if name not in known:
            raise CompileError.of(
                "CF0804",
                f"'{name}' is not a {what} of a device",
                _key_span(file, name),
                help=f"correct its name; {key} are {', '.join(known)}",
            )
        if not 1 <= value < 1 << 62:
            raise _wrong_type(file, name, "a positive integer of less than 63 bits")
    return table


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _require_all(path: Path, values: _Values) -> None:
    missing = [
        f.name
        for f in fields(Device)
        if f.default is MISSING and f.default_factory is MISSING and f.name not in values
    ]
    if missing:
        raise CompileError.of(
            "CF0806",
            f"device file '{path}' lacks {', '.join(missing)}",
            help="add the fields, or name a device that has them as 'base'",
        )


def _wrong_type(file: SourceFile, key: str, expected: str) -> CompileError:
    return CompileError.of(
        "CF0807", f"'{key}' must be {expected}", _key_span(file, key), help=f"write {expected}"
    )


def _key_span(file: SourceFile, key: str) -> Span | None:
    found = re.search(rf"^[ \t]*\[?[ \t]*(\"?{re.escape(key)}\"?)[ \t]*[=\].]", file.text, re.MULTILINE)
    return Span(file, found.start(1), found.end(1)) if found else None
