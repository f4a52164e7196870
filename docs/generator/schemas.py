"""Describes the schemas of the OpenAPI document: types in words, and tables of members."""

import json
from collections.abc import Iterator
from typing import Any, Final

from generator.prose import cell

Json = dict[str, Any]

_LIMITS: Final = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
)
_DEPTH: Final = 3
"""Levels of members; deeper ones are in the example."""
_ENVELOPE: Final = {"success", "meta", "included"}
"""Members of all lists, which the guide of the API describes."""


class Schemas:
    """The schemas of a document."""

    def __init__(self, document: Json) -> None:
        self._schemas: Json = document["components"]["schemas"]

    def members(self, schema: Json, *, only_described: bool = False) -> str:
        """Return the table of the members of an object, or nothing if there are none."""
        rows = "".join(
            f"| `{path}` | {type_name(member)}{', required' if is_required else ''} "
            f"| {cell(member.get('description', ''))} |\n"
            for path, member, is_required in self._walk(schema, "", _DEPTH)
            if "description" in member or not only_described
        )
        return f"| member | type | meaning |\n|---|---|---|\n{rows}" if rows else ""

    def _walk(self, schema: Json, path: str, depth: int) -> Iterator[tuple[str, Json, bool]]:
        """Yield the path of each member, its schema, and whether it is required."""
        schema = self._resolve(schema)
        if "items" in schema:
            yield from self._walk(schema["items"], f"{path}[]", depth)
        for name, member in _own_members(schema).items():
            member_path = f"{path}.{name}" if path else name
            yield member_path, member, name in schema.get("required", ())
            if depth > 1:
                yield from self._walk(member, member_path, depth - 1)

    def _resolve(self, schema: Json) -> Json:
        """Return the schema that a reference or a nullable schema is about."""
        if "$ref" in schema:
            return self._resolve(self._schemas[schema["$ref"].rpartition("/")[2]])
        choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
        return self._resolve(choices[0]) if len(choices) == 1 else schema


def _own_members(schema: Json) -> Json:
    members: Json = schema.get("properties", {})
    if members.keys() >= _ENVELOPE:
        return {name: member for name, member in members.items() if name not in _ENVELOPE}
    return members


def type_name(schema: Json) -> str:
    """Return the type of a value in words, such as "integer, 1 to 200" or "string or null"."""
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value).strip(chr(34))}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_name(choice) for choice in schema["anyOf"]))
    if "items" in schema:
        return f"list of {type_name(schema['items'])}"
    types = schema.get("type", "object" if "$ref" in schema else "any")
    name = " or ".join(types) if isinstance(types, list) else types
    return ", ".join([name, *_bounds(schema)])


def _bounds(schema: Json) -> Iterator[str]:
    if "format" in schema:
        yield schema["format"]
    for low, high, unit in _LIMITS:
        if high in schema:
            yield f"{schema.get(low, 0)} to {schema[high]}{unit}"
        elif schema.get(low):
            yield f"at least {schema[low]}{unit}"
    if schema.get("default") is not None:
        yield f"default `{json.dumps(schema['default'])}`"
