"""Replaces the keys by which a file refers to other resources by their ids."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from strongroom.plugin_api.resources import Collection, ResourceKind

Resolve = Callable[[str, str], str]
"""Returns the id of the resource of a kind with a key, or with an id."""


def with_ids(kind: ResourceKind, body: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
    """Return the members of a resource, with ids where the file has keys."""
    references = kind.references if isinstance(kind, Collection) else {}
    replaced = dict(body)
    for path, place in references.items():
        replaced = _replace(replaced, path.split("."), lambda key, place=place: resolve(place, key))  # type: ignore[misc]
    return replaced


def _replace(value: Any, path: Sequence[str], resolve: Callable[[str], str]) -> Any:
    """Return a value with the texts replaced that a path leads to, in all items of lists."""
    if isinstance(value, list):
        return [_replace(item, path, resolve) for item in value]
    if not path:
        return resolve(value) if isinstance(value, str) else value
    if isinstance(value, Mapping) and path[0] in value:
        return {**value, path[0]: _replace(value[path[0]], path[1:], resolve)}
    return value
