"""Converts the core's files to the plugin API's records."""

import json
from datetime import datetime
from typing import Final

from strongroom.content.nodes.access import NodeView
from strongroom.content.nodes.destinations import OnConflict
from strongroom.foundation.errors import NotFound, ValidationFailed
from strongroom.plugin_api import files as api

_VERSIONS: Final = 1 << 31
"""Numbers of versions are below, because their column holds no others."""


def conflict_rule(text: str) -> OnConflict:
    """Return what happens if a name is taken.

    Raises:
        ValidationFailed: there is no such rule.
    """
    try:
        return OnConflict(text)
    except ValueError as error:
        message = f"Must be one of: {', '.join(OnConflict)}."
        raise ValidationFailed.of_field("on_conflict", "invalid", message) from error


def version_number(number: int) -> int:
    """Return a number of a version that the database can have.

    Raises:
        NotFound: it cannot.
    """
    if not 0 < number < _VERSIONS:
        raise NotFound
    return number


def file_info(view: NodeView) -> api.FileInfo:
    """Return a file or folder."""
    node = view.node
    return api.FileInfo(
        id=node.id,
        tenant_id=node.tenant_id,
        parent_id=None if node.parent_id == node.tenant_id else node.parent_id,
        is_folder=node.blob_key is None,
        name=node.name,
        size=node.size,
        content_type=node.content_type,
        checksum=node.checksum,
        owner_id=node.owner_id,
        permission=view.permission.name.lower(),
        revision=node.revision,
        created_at=node.created_at,
        updated_at=node.updated_at,
    )


def file_of_json(text: str) -> api.FileInfo:
    """Return the file of a record of a list, in the form of REST, in which it is cached."""
    record = json.loads(text)
    return api.FileInfo(
        id=record["id"],
        tenant_id=record["tenantId"],
        parent_id=record["parentId"],
        is_folder=record["type"] == "folder",
        name=record["name"],
        size=record["size"],
        content_type=record["contentType"],
        checksum=record["checksum"] and record["checksum"].removeprefix("sha256:"),
        owner_id=record["owner"]["$ref"],
        permission=record["permission"],
        revision=record["revision"],
        created_at=_milliseconds(record["createdAt"]),
        updated_at=_milliseconds(record["updatedAt"]),
    )


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
