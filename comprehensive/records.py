"""Changes and fields of the tool's records, whichever of two kinds they are of.

In: a record, which is a ``msgspec.Struct`` (a class of them is made forty times as fast as a dataclass, and an object
six times as fast), or a dataclass where a field has no part in comparisons, and in packages that run where nothing but
Python is installed (``tests/test_layers.py`` names them).  Out: another record, or the names of its fields::

    replace(point, x=3)  -->  Point(x=3, y=2)          names_of(Point)  -->  ("x", "y")
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from inspect import get_annotations
from typing import Any, TypeVar

from msgspec import Struct, structs

Record = TypeVar("Record")


def replace(record: Record, /, **changes: Any) -> Record:
    """Return a record with other values of some fields; TypeError where it has no such field."""
    if isinstance(record, Struct):
        return structs.replace(record, **changes)
    made: Any = record
    return dataclasses.replace(made, **changes)


def names_of(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the fields of records of a class, in their order."""
    return (
        kind.__struct_fields__
        if issubclass(kind, Struct)
        else tuple(f.name for f in dataclasses.fields(kind))
    )


def compared_names_of(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the fields that decide whether two records of a class are equal."""
    if issubclass(kind, Struct):
        return kind.__struct_fields__
    return tuple(f.name for f in dataclasses.fields(kind) if f.compare)


def types_of(kind: type[Any]) -> Mapping[str, str]:
    """Return the type of each field of records of a class, as the source has it."""
    written = {n: t for each in reversed(kind.__mro__) for n, t in get_annotations(each).items()}
    return {name: written[name] for name in names_of(kind)}
