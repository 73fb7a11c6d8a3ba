"""The schemas of `specs/schema`, as far as JSON Schema is used there: a document in, what is wrong with it out."""

from __future__ import annotations

import json
from typing import Any

from comprehensive.data import spec_directory


def schema_faults(name: str, document: Any) -> list[str]:
    """What of `specs/schema/NAME.json` a document violates."""
    schema = json.loads((spec_directory() / "schema" / f"{name}.json").read_text(encoding="utf-8"))
    return faults(document, schema, schema)


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str = "$") -> list[str]:
    """What of a schema the value violates."""
    if "$ref" in schema:
        target: Any = root
        for key in schema["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        return faults(value, target, root, path)
    if "oneOf" in schema:
        matching = [option for option in schema["oneOf"] if not faults(value, option, root, path)]
        return [] if len(matching) == 1 else [f"{path}: matches {len(matching)} of the alternatives"]
    if "const" in schema and value != schema["const"]:
        return [f"{path}: is not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: is none of {schema['enum']}"]
    allowed = schema.get("type")
    if allowed is not None and json_type(value) not in (allowed if isinstance(allowed, list) else [allowed]):
        return [f"{path}: is of type {json_type(value)}, not {allowed}"]
    found: list[str] = []
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += faults(item, schema["items"], root, f"{path}[{index}]")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{path}: lacks {name}" for name in schema.get("required", []) if name not in value]
        for name, item in value.items():
            rule = properties.get(name, schema.get("additionalProperties", {}))
            found += [f"{path}: has {name}"] if rule is False else faults(item, rule, root, f"{path}.{name}")
    return found


def json_type(value: Any) -> str:
    names = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
        dict: "object",
        type(None): "null",
    }
    return names[type(value)]
