"""The manifest, as far as a caller of the generated functions needs it.

In: the path of a manifest.  Out: a :class:`Described`, whose header and kernels are those that were written with it::

    described(Path("out/matmul.json")).functions["matmul"].interface.arguments
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from comprehensive.bindings.errors import LoadError
from comprehensive.bindings.extents import Extents
from comprehensive.bindings.needs import Needs
from comprehensive.codegen.header_view import INTERFACE_VERSION
from comprehensive.codegen.manifest import SCHEMA
from comprehensive.metafork.ast import ScalarType
from comprehensive.plan.interface import Argument, Interface

AGAIN = "generate everything again: comprehensive gen"


class DescribedFunction(Struct, frozen=True):
    """A function as a manifest describes it.

    ``extents`` and ``needs`` are by the names of all data.
    """

    interface: Interface
    extents: Mapping[str, Extents]
    needs: Mapping[str, Needs]


class Described(Struct, frozen=True):
    """A manifest, checked against the files beside it.

    ``texts`` are header and kernels by file name; ``kernels`` names the latter, ``embedded`` the source with compiled
    ones, where there is one.
    """

    texts: tuple[tuple[str, str], ...]
    kernels: str
    embedded: str | None
    functions: Mapping[str, DescribedFunction]


def described(path: Path) -> Described:
    """Read a manifest.

    LoadError where the file is no manifest of this version, or files beside it are not those that it names.
    """
    document = _document(path)
    try:
        return Described(
            tuple(_text(path, name, digest) for name, digest in sorted(document["sha256"].items())),
            document["kernels"],
            document["embedded"]["file"] if document.get("embedded") else None,
            {f["name"]: _function(f) for f in document["functions"]},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LoadError(f"'{path}' is a damaged manifest ({error!r}); {AGAIN}") from error


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LoadError(
            f"cannot read '{path}': {error.strerror}; give the .json file that `comprehensive gen` has written"
        ) from error
    except ValueError as error:
        raise LoadError(
            f"'{path}' is no manifest: {error}; give <name>.json of `comprehensive gen`"
        ) from error
    if not isinstance(document, dict) or "kernels" not in document or "functions" not in document:
        raise LoadError(f"'{path}' is no manifest; give <name>.json of `comprehensive gen`, not the tree")
    document = cast(dict[str, Any], document)
    versions = (document.get("schema"), document.get("interface"))
    if versions != (SCHEMA, INTERFACE_VERSION):
        raise LoadError(
            f"'{path}' is of another version ({document.get('tool', 'unknown')}); {AGAIN} with this one"
        )
    return document


def _text(path: Path, name: str, digest: str) -> tuple[str, str]:
    place = path.parent / name
    try:
        content = place.read_bytes()
    except OSError as error:
        raise LoadError(
            f"cannot read '{place}', which belongs to '{path}': {error.strerror}; {AGAIN}"
        ) from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise LoadError(f"'{place}' is not the file that was written with '{path}'; {AGAIN}")
    return name, content.decode()


def _function(document: Mapping[str, Any]) -> DescribedFunction:
    arguments = document["arguments"]
    everything = tuple(
        Argument(a["name"], ScalarType(a["type"]), a["pointer"], a["const"], a["may_be_null"])
        for a in arguments
    )
    program = frozenset(a["name"] for a in arguments if a["program"])
    types = {a.name: a.type for a in everything if not a.pointer}
    extents = {a["name"]: Extents(tuple(a["dims"]), types) for a in arguments if a["pointer"]}
    needs = {a["name"]: Needs.read(a["needs"]) for a in arguments if a["pointer"]}
    version, adapt = document.get("version"), document.get("adapt")
    return DescribedFunction(
        Interface(document["name"], everything, program, document["tile"], version, adapt),
        extents,
        needs,
    )
