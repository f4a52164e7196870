"""Examples of the OpenAPI document, made from the schemas, so that all operations of plugins have them.

A value is chosen by the rules of its schema and by the name of its member. All ids are the same, so that
a reference in an example has its summary in ``included``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

ID: Final = "01a1fd54-4eef-7228-9b8e-aef8f5276267"
_MOMENT: Final = "2026-11-22T09:00:00.000Z"
_URL: Final = "https://files.example.com/"
_DIGITS: Final = "271828"
_PASSWORD: Final = "Correct1Horse"  # noqa: S105  of the examples
_REVISION: Final = 1_795_251_522_755

_FORMATS: Final[Mapping[str, str]] = {
    "date-time": _MOMENT,
    "email": "alice@example.com",
    "uri": _URL,
    "url": _URL,
    "uuid": ID,
}
_NAMES: Final[Mapping[str, Any]] = {
    "$ref": ID,
    "address": "192.0.2.1",
    "allowedType": "image/*",
    "bytes": 24,
    "checksum": "sha256:f220b46a871b7ed665051e5befa63953051ad6fbff97ea93bdf6a9d39bd18fb8",
    "code": _DIGITS,
    "contentType": "text/plain; charset=utf-8",
    "currentPassword": _PASSWORD,
    "email": "alice@example.com",
    "fileName": "note.txt",
    "id": ID,
    "locale": "en",
    "method": "PUT",
    "mobile": "+8613800138000",
    "name": "Alice",
    "newPassword": "Another1Horse",
    "oldPassword": _PASSWORD,
    "password": _PASSWORD,
    "query": "note",
    "reason": "Case 7",
    "recipient": "alice@example.com",
    "relativePath": "photos/2026/a.jpg",
    "revision": _REVISION,
    "size": 24,
    "userAgent": "curl/8.5.0",
    "username": "alice",
}
_METHODS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch"})
_JSON_TYPES: Final = ("application/json", "application/x-www-form-urlencoded")
_TEXT: Final = "note"
_DEEPEST: Final = 8


def add_examples(document: Json) -> None:
    """Add an example to each JSON request body and to each JSON response of success."""
    examples = _Examples(document["components"]["schemas"])
    for content, is_request in _contents(document):
        for media_type in _JSON_TYPES & content.keys():
            if schema := content[media_type].get("schema"):
                content[media_type].setdefault("example", examples.make(schema, is_request=is_request))


def _contents(document: Json) -> Iterator[tuple[Json, bool]]:
    """Yield the content of each request body and each success, and whether it is a request body."""
    for item in document["paths"].values():
        for method in _METHODS & item.keys():
            operation = item[method]
            yield operation.get("requestBody", {}).get("content", {}), True
            for status, response in operation["responses"].items():
                if status.startswith("2"):
                    yield response.get("content", {}), False


@dataclass(slots=True, eq=False, repr=False)
class _Examples:
    """Makes examples of the schemas of a document."""

    _schemas: Mapping[str, Json]

    def make(self, schema: Json, name: str = "", depth: int = 0, *, is_request: bool = False) -> Any:
        """Return an example; of a request body, with the required members only."""
        schema = self._resolved(schema)
        if "example" in schema or "const" in schema or "enum" in schema:
            return _stated(schema)
        kind = _kind(schema)
        if kind == "object":
            return self._object(schema, depth, is_request=is_request)
        if kind == "array":
            return self._array(schema, name, depth, is_request=is_request)
        return _scalar(kind, schema, name)

    def _resolved(self, schema: Json) -> Json:
        """Return the schema that a reference, or the first of some alternatives, stands for."""
        while True:
            if "$ref" in schema:
                schema = self._schemas[schema["$ref"].rpartition("/")[2]]
            elif parts := next((schema[key] for key in ("allOf", "oneOf") if key in schema), None):
                schema = parts[0]
            elif "anyOf" in schema:
                schema = schema["anyOf"][0]
            else:
                return schema

    def _object(self, schema: Json, depth: int, *, is_request: bool) -> Json:
        properties = schema.get("properties", {})
        names = set(schema.get("required", ()))
        # For "at least one of" rules, use the first member.
        any_of = schema.get("not", {}).get("not", {}).get("anyOf", [{}])
        names |= set(any_of[0].get("required", ()))
        if not is_request and depth < _DEEPEST:
            names |= properties.keys()
        made = {
            name: self.make(member, name, depth + 1, is_request=is_request)
            for name, member in properties.items()
            if name in names
        }
        additional = schema.get("additionalProperties")
        if not properties and isinstance(additional, dict) and additional:
            made[ID] = self.make(additional, "", depth + 1, is_request=is_request)
        return made

    def _array(self, schema: Json, name: str, depth: int, *, is_request: bool) -> list[Any]:
        if depth >= _DEEPEST:
            return []
        item = self.make(
            schema.get("items", {}), name.removesuffix("s"), depth + 1, is_request=is_request
        )
        return [item] * max(1, schema.get("minItems", 1))


def _stated(schema: Json) -> Any:
    values = [schema[key] for key in ("example", "const") if key in schema]
    return values[0] if values else next(value for value in schema["enum"] if value is not None)


def _kind(schema: Json) -> str:
    """Return the first type of a schema that is not null."""
    kinds: str | list[str] = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kinds, str):
        return kinds
    return next(kind for kind in kinds if kind != "null")


def _scalar(kind: str, schema: Json, name: str) -> Any:
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        named = _NAMES.get(name)
        value: int = named if isinstance(named, int) else schema.get("minimum", 1)
        least: int = schema.get("minimum", value)
        most: int = schema.get("maximum", value)
        return min(max(value, least), most)
    return _string(schema, name)


def _string(schema: Json, name: str) -> str:
    if value := _FORMATS.get(schema.get("format", "")):
        return value
    named = _NAMES.get(name, ID if name.endswith("Id") else _TEXT)
    text = named if isinstance(named, str) else _TEXT
    return text.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength")]
