"""Adds rules of schemas to the OpenAPI document that apispec does not know."""

from collections.abc import Mapping
from typing import Any, Final

Json = dict[str, Any]

_PYTHON_END: Final = r"\Z"

REQUIRES_ANY: Final = "requires_any"
"""The attribute of a schema class with the names of members of which a request has at least one."""


def state_rules(document: Json, classes: Mapping[str, Any]) -> None:
    """Add to the component schemas what marshmallow does not tell apispec.

    Args:
        classes: the schema classes by the names of their components.
    """
    for name, schema in document["components"]["schemas"].items():
        if members := getattr(classes.get(name), REQUIRES_ANY, ()):
            # Negated twice, because generators of clients take an alternative of a schema with
            # properties for a union of types, and lose the model.
            schema["not"] = {"not": {"anyOf": [{"required": [member]} for member in members]}}
    _make_portable(document)


def _make_portable(value: Any) -> None:
    """Replace the patterns of Python, which matches them at the start, by patterns of ECMA-262."""
    if isinstance(value, list):
        for item in value:
            _make_portable(item)
    elif isinstance(value, dict):
        pattern = value.get("pattern")
        if isinstance(pattern, str) and pattern.endswith(_PYTHON_END):
            value["pattern"] = f"^{pattern.removesuffix(_PYTHON_END)}$"
        for item in value.values():
            _make_portable(item)
