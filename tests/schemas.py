"""The schemas of `specs/schema`: a document in, what is wrong with it out."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from comprehensive.data import spec_directory

SCHEMAS = sorted(path.stem for path in (spec_directory() / "schema").glob("*.json"))


def schema_faults(name: str, document: Any) -> list[str]:
    """Return the rules of `specs/schema/NAME.json` that a document violates."""
    found = sorted(validator(name).iter_errors(document), key=lambda error: error.json_path)
    return [f"{error.json_path}: {error.message}" for error in found]


@cache
def validator(name: str) -> Draft202012Validator:
    """Return the validator of a schema; schemas refer to each other by the names of their files."""
    paths = (spec_directory() / "schema").glob("*.json")
    registry: Registry[Any] = Registry().with_resources(
        (path.name, Resource.from_contents(_read(path))) for path in paths
    )
    return Draft202012Validator(_read(spec_directory() / "schema" / f"{name}.json"), registry=registry)


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
