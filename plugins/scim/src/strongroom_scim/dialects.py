"""What clients send that differs from the standard in ways that the library does not know."""

import re
from typing import Any, Final

_MANAGER: Final = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
_VALUE_OF_TYPE: Final = re.compile(r'\b([A-Za-z]+)\[([^\]"]*(?:"[^"]*"[^\]"]*)*)\]\.value eq ')
"""Entra's look-up by an address: ``emails[type eq "work"].value eq "..."``."""


def read_filter(text: str) -> str:
    """Return a filter in the grammar of RFC 7644, which has no attribute after a bracket."""
    match = _VALUE_OF_TYPE.search(text)
    if match is None:
        return text
    value, rest = _split_literal(text[match.end() :])
    inner = f"{match[1]}[{match[2]} and value eq {value}]"
    return f"{text[: match.start()]}{inner}{rest}"


def read_body(payload: Any) -> Any:
    """Return a payload in which a manager is an object, also in the operations of a PATCH.

    Entra sends the id of the manager as a text.
    """
    if not isinstance(payload, dict):
        return payload
    made = {key: _read_member(key, value) for key, value in payload.items()}
    operations = _get(made, "operations")
    if isinstance(operations, list):
        key = next(name for name in made if name.lower() == "operations")
        made[key] = [_read_operation(item) for item in operations]
    return made


def _read_member(key: str, value: Any) -> Any:
    if key.lower() == _MANAGER.lower() and isinstance(value, dict):
        return {
            name: _make_manager(item) if name.lower() == "manager" else item
            for name, item in value.items()
        }
    if key.lower() == f"{_MANAGER}:manager".lower():
        return _make_manager(value)
    return value


def _read_operation(operation: Any) -> Any:
    if not isinstance(operation, dict):
        return operation
    if isinstance(data := _get(operation, "data"), dict):
        # An operation of a bulk request.
        return {**operation, "data": read_body(data)}
    path, value = _get(operation, "path"), _get(operation, "value")
    if isinstance(path, str) and path.lower() in (f"{_MANAGER}:manager".lower(), "manager"):
        return {**operation, "value": _make_manager(value)}
    if isinstance(value, dict):
        members = {key: _read_member(key, item) for key, item in value.items()}
        for key, item in members.items():
            if isinstance(item, list):
                members[key] = _read_values(key, item)
        return {**operation, "value": members}
    if isinstance(value, list):
        return {**operation, "value": _read_values(str(path), value)}
    return operation


def _read_values(path: str, values: list[Any]) -> list[Any]:
    """Return values without what the server decides.

    Entra names the members to remove with ``"$ref": null``, which no member has. Okta adds the name of a
    member, which is read-only.
    """
    dropped = {"display"} if path.lower() == "members" else set()
    return [
        {key: item for key, item in value.items() if item is not None and key.lower() not in dropped}
        if isinstance(value, dict)
        else value
        for value in values
    ]


def _make_manager(value: Any) -> Any:
    if isinstance(value, str) and value:
        return {"value": value, "$ref": f"Users/{value}"}
    if isinstance(value, dict) and isinstance(value.get("value"), str) and "$ref" not in value:
        return {**value, "$ref": f"Users/{value['value']}"}
    return value


def _get(payload: dict[str, Any], name: str) -> Any:
    return next((value for key, value in payload.items() if key.lower() == name), None)


def _split_literal(text: str) -> tuple[str, str]:
    """Return the text of JSON at the beginning of a text, and the rest."""
    match = re.match(r'"(?:[^"\\]|\\.)*"|\S+', text)
    return (match[0], text[match.end() :]) if match else (text, "")
