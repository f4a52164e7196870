"""Request and response schemas of batches."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from strongroom.content.files.schemas import NodeSchema, node_name
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import Permission
from strongroom.extensions.batches.service import MAX_ITEMS
from strongroom.plugin_api.schemas import Timestamp
from strongroom.web.http.errors import DetailSchema
from strongroom.web.http.parsing import identifier


class BatchOperation(StrEnum):
    """The operation of an item."""

    MOVE = "move"
    COPY = "copy"
    TRASH = "trash"
    RESTORE = "restore"
    GRANT = "grant"
    REVOKE = "revoke"


_ALWAYS: Final = {"operation", "fileId"}
_REQUIRED: Final[Mapping[str, set[str]]] = {
    BatchOperation.MOVE: {"parentId"},
    BatchOperation.COPY: {"parentId"},
    BatchOperation.GRANT: {"permission"},
}
_OPTIONAL: Final[Mapping[str, set[str]]] = {
    BatchOperation.MOVE: {"name", "onConflict", "revision"},
    BatchOperation.COPY: {"name", "onConflict"},
    BatchOperation.TRASH: {"revision"},
    BatchOperation.RESTORE: {"parentId", "onConflict"},
    BatchOperation.GRANT: {"expiresAt", "ownerId", "groupId"},
    BatchOperation.REVOKE: {"ownerId", "groupId"},
}


def _errors(item: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the errors of the members of an item that depend on its operation."""
    operation, given = item["operation"], item.keys() - _ALWAYS
    required = _REQUIRED.get(operation, set())
    errors = {name: ["Unknown field."] for name in given - required - _OPTIONAL[operation]}
    errors |= {name: ["Missing data for required field."] for name in required - given}
    has_grantee = operation in (BatchOperation.GRANT, BatchOperation.REVOKE)
    if has_grantee and len(given & {"ownerId", "groupId"}) != 1:
        errors["ownerId"] = ["Either ownerId or groupId is required."]
    return errors


class BatchItemSchema(Schema):
    """A change of a file or folder, with the members of the request that makes this change alone."""

    operation = fields.String(
        required=True,
        validate=validate.OneOf([item.value for item in BatchOperation]),
        metadata={"description": "What is done; it decides which other members are required or allowed"},
    )
    fileId = identifier(required=True, metadata={"description": "The file or folder to change"})
    parentId = identifier(
        allow_none=True,
        metadata={"description": "Of move, copy and restore: the folder; null is the top level"},
    )
    name = node_name(allow_none=True, metadata={"description": "Of move and copy: the new name"})
    onConflict = fields.String(
        validate=validate.OneOf([choice.value for choice in OnConflict]),
        metadata={"description": "Of move, copy and restore: the rule for a taken name; `fail`"},
    )
    revision = fields.Integer(
        strict=True,
        allow_none=True,
        metadata={"description": "Of move and trash: the expected revision"},
    )
    ownerId = identifier(metadata={"description": "Of grant and revoke: the user"})
    groupId = identifier(metadata={"description": "Of grant and revoke: the group, instead of a user"})
    permission = fields.String(
        validate=validate.OneOf([item.name.lower() for item in Permission if item]),
        metadata={"description": "Of grant: `read`, `write` or `manage`"},
    )
    expiresAt = Timestamp(
        allow_none=True, metadata={"description": "Of grant; null for a permanent grant"}
    )

    @validates_schema
    def _check_members(self, data: Mapping[str, Any], **_: Any) -> None:
        errors = _errors(data)
        if errors:
            raise ValidationError(dict(sorted(errors.items())))


class FilesBatchSchema(Schema):
    """Changes of files and folders, applied in order."""

    atomic = fields.Boolean(
        load_default=True,
        metadata={"description": "Whether an item that fails undoes all others, too"},
    )
    items = fields.List(
        fields.Nested(BatchItemSchema),
        required=True,
        validate=validate.Length(1, MAX_ITEMS),
        metadata={"description": "The changes, at most 1,000"},
    )


class BatchErrorSchema(Schema):
    """The error of an item."""

    code = fields.String(required=True, metadata={"description": "Stable and machine-readable"})
    message = fields.String(required=True, metadata={"description": "For developers; may change"})
    details = fields.List(
        fields.Nested(DetailSchema),
        required=True,
        metadata={"description": "The faults of single members, if there are any"},
    )


class BatchResultSchema(Schema):
    """The result of an item."""

    fileId = fields.String(required=True, metadata={"description": "As in the item"})
    status = fields.Integer(
        required=True, metadata={"description": "The HTTP status of the same change alone"}
    )
    file = fields.Nested(
        NodeSchema,
        required=True,
        allow_none=True,
        metadata={"description": "The moved, new or restored file or folder"},
    )
    error = fields.Nested(
        BatchErrorSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Why the item failed; null if it succeeded"},
    )


class BatchResultsSchema(Schema):
    """The results of the items, in their order."""

    results = fields.List(
        fields.Nested(BatchResultSchema),
        required=True,
        metadata={"description": "One for each item, in the order of the request"},
    )
