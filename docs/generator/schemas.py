"""JSON schemas as pages: the fields of each document in tables, and the schema itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast


def schema_pages(folder: Path) -> dict[str, str]:
    schemas = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))}
    titles = {name: json.loads(text)["title"] for name, text in schemas.items()}
    rows = "".join(f"| [{name}]({name}.md) | {_cell(title)} |\n" for name, title in titles.items())
    index = (
        "# JSON documents\n\nDocuments of commands are as these schemas say (JSON Schema 2020-12). A document with the "
        "same number `schema` keeps its fields.\n\n"
        f"| schema | document |\n|---|---|\n{rows}\n"
        "```{toctree}\n:hidden:\n\n" + "\n".join(schemas) + "\n```\n"
    )
    pages = {f"reference/schemas/{name}.md": _page(name, text) for name, text in schemas.items()}
    return {"reference/schemas/index.md": index, **pages}


def _page(name: str, text: str) -> str:
    schema = json.loads(text)
    parts = [f"# {name}\n\n{schema['title']}.\n", *_fields("The document", schema)]
    for inner, defined in schema.get("$defs", {}).items():
        parts += _fields(inner, defined)
    return "\n".join([*parts, f"## The schema\n\n```json\n{text.rstrip()}\n```\n"])


def _fields(title: str, schema: Mapping[str, Any]) -> Iterator[str]:
    rows = "".join(_rows("", schema))
    if rows:
        yield f"## {title}\n\n| field | kind | always there | what it is |\n|---|---|---|---|\n{rows}"


def _rows(outer: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """A row for each field, those of the objects inside of it behind it: `regions`, then `regions[].name`."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    for name, each in properties.items():
        yield (
            f"| `{outer}{name}` | {_cell(_kind(each))} | {_yes(name in required)} "
            f"| {_cell(each.get('description', ''))} |\n"
        )
        yield from _rows(f"{outer}{name}.", each)
        if isinstance(items := each.get("items"), dict):
            yield from _rows(f"{outer}{name}[].", cast(Mapping[str, Any], items))


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _kind(schema: Mapping[str, Any]) -> str:
    """The kind of a value, in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix("#/$defs/")
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " or ".join(json.dumps(value) for value in schema["enum"])
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return " or ".join(_kind(kind) for kind in schema[several])
    kinds = schema.get("type", "any")
    if kinds == "array" and "items" in schema:
        return f"list of {_kind(schema['items'])}"
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
