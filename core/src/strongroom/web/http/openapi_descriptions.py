"""Descriptions of the OpenAPI document that many operations share, and those in docstrings."""

import inspect
import re
from collections.abc import Mapping
from typing import Any, Final

Json = dict[str, Any]

PATH_PARAMETERS: Final[Mapping[str, str]] = {
    "account_id": "Id of the service account, as in the list of service accounts",
    "bundle_id": "Id of the archive, from the `Content-Location` of the response that made it",
    "file_id": "Id of the file or folder",
    "group_id": "Id of the group, as in the list of the tenant's groups",
    "key_id": "Id of the access key, as in the list of keys; not the key itself",
    "parent_id": "Id of the folder that contains the files",
    "tenant_id": "Id of the tenant, as in `GET /api/v1/tenants`",
    "upload_id": "Id of the upload, from the response that created it",
    "user_id": "Id of the user; `me` is the caller, except where an administrator changes another user",
}
"""The path parameters of several features, by their names in routes.

A blueprint declares its other ones, and may replace one of these.
"""

MEMBERS: Final[Mapping[str, str]] = {
    "createdAt": "When the record was created, in UTC",
    "revision": "Number of the record's state, which grows with each change. A change that states "
    "another number than the current one fails with 409",
    "success": "Always `true`: an error has a body of its own",
    "updatedAt": "When the record last changed, in UTC",
}
"""The members that mean the same in all schemas; a field's own description comes first."""

_PARAMETER: Final = re.compile(r"<(?:[^:<>]+:)?([^<>]+)>")


def path_parameters(rule: str, own: Mapping[str, str]) -> list[Json]:
    """Return the described path parameters of a route, for OpenAPI.

    Args:
        rule: the path, with parameters as ``<name>``.
        own: the descriptions that the route's blueprint declares.
    """
    descriptions = {**PATH_PARAMETERS, **own}
    return [
        {"in": "path", "name": name, "description": descriptions[name]}
        for name in _PARAMETER.findall(rule)
        if name in descriptions
    ]


def describe_schemas(schemas: Mapping[str, Json], classes: Mapping[str, Any]) -> None:
    """Describe schemas by the docstrings of their classes, and the members of :data:`MEMBERS`.

    Args:
        schemas: the component schemas.
        classes: the schema classes by the names of their components.
    """
    for name, schema in schemas.items():
        # Not by `inspect.getdoc`, which returns the text of a base class.
        if text := getattr(classes.get(name), "__doc__", None):
            schema.setdefault("description", markdown(text))
        members = schema.get("properties", {})
        for member in members.keys() & MEMBERS.keys():
            members[member].setdefault("description", MEMBERS[member])


def markdown(docstring: str) -> str:
    """Return a docstring as Markdown."""
    return inspect.cleandoc(docstring).replace("``", "`")
