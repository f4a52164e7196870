"""What clients send and get."""

from typing import Any

from marshmallow import Schema, fields, validate

from strongroom.files.filing import OnConflict
from strongroom.files.models import NodeType, Permission
from strongroom.tenants.models import Role
from strongroom.web.envelope import ReferenceSchema
from strongroom.web.schema import Timestamp, text

_LEVELS = [item.name.lower() for item in Permission]
_PERMISSIONS = _LEVELS[1:]


def node_name(**options: Any) -> fields.String:
    """Return the field of a name; what else it may be is told where it is normalised."""
    return fields.String(validate=validate.Length(max=1024), **options)


class NewFolderSchema(Schema):
    """A folder to be made."""

    name = node_name(required=True)


class RenameSchema(Schema):
    """Another name; with a revision, here or in If-Match, nothing that came since is lost."""

    name = node_name(required=True)
    revision = fields.Integer(strict=True, load_default=None)


class DirectorySchema(Schema):
    """Another place, and another name if one is given."""

    parentId = text(
        64, required=True, allow_none=True, metadata={"description": "The folder; null is the top"}
    )
    name = node_name(load_default=None)
    revision = fields.Integer(strict=True, load_default=None)


class NewGrantSchema(Schema):
    """What is to be granted to a member of the tenant."""

    ownerId = text(64, required=True)
    permission = fields.String(required=True, validate=validate.OneOf(_PERMISSIONS))
    expiresAt = Timestamp(
        load_default=None,
        allow_none=True,
        metadata={"description": "As `2026-06-21T00:00:00Z`; null is for ever"},
    )


class GrantSchema(Schema):
    """A permission that a user holds on a file or folder."""

    fileId = fields.String(required=True)
    ownerId = fields.String(required=True)
    owner = fields.Nested(ReferenceSchema, required=True)
    permission = fields.String(required=True, validate=validate.OneOf(_PERMISSIONS))
    expiresAt = Timestamp(required=True, allow_none=True)
    grantedBy = fields.Nested(ReferenceSchema, required=True, allow_none=True)
    createdAt = Timestamp(required=True)


class AccessQuery(Schema):
    """About whom one asks."""

    userId = text(64, load_default=None, metadata={"description": "Oneself, if it is left out"})


class AccessReasonSchema(Schema):
    """A grant on the file or folder, or on a folder around it."""

    fileId = fields.String(required=True)
    fileName = fields.String(
        required=True, allow_none=True, metadata={"description": "Null where the caller may not look"}
    )
    permission = fields.String(required=True, validate=validate.OneOf(_PERMISSIONS))
    expiresAt = Timestamp(required=True, allow_none=True)
    inForce = fields.Boolean(required=True)


class AccessSchema(Schema):
    """What a user may do with a file or folder, and why: administrators manage all, others by grants."""

    userId = fields.String(required=True)
    role = fields.String(
        required=True,
        allow_none=True,
        validate=validate.OneOf([role.value for role in Role]),
        metadata={"description": "In the tenant; null for who is no member"},
    )
    permission = fields.String(required=True, validate=validate.OneOf(_LEVELS))
    grants = fields.List(
        fields.Nested(AccessReasonSchema), required=True, metadata={"description": "The nearest first"}
    )


class FolderConflictQuery(Schema):
    """What to do when the name is taken."""

    onConflict = fields.String(
        load_default=OnConflict.FAIL.value,
        validate=validate.OneOf([OnConflict.FAIL.value, OnConflict.RENAME.value]),
    )


class FileConflictQuery(Schema):
    """What to do when the name is taken."""

    onConflict = fields.String(
        load_default=OnConflict.FAIL.value,
        validate=validate.OneOf([choice.value for choice in OnConflict]),
    )


class NodeSchema(Schema):
    """A file or a folder, with what the caller may do with it."""

    id = fields.String(required=True)
    type = fields.String(required=True, validate=validate.OneOf([item.value for item in NodeType]))
    name = fields.String(required=True)
    parentId = fields.String(required=True, allow_none=True)
    tenantId = fields.String(required=True)
    size = fields.Integer(required=True, metadata={"description": "In bytes; 0 for folders"})
    contentType = fields.String(required=True, allow_none=True)
    checksum = fields.String(
        required=True, allow_none=True, metadata={"description": "`sha256:` and hexadecimal digits"}
    )
    owner = fields.Nested(ReferenceSchema, required=True)
    permission = fields.String(required=True, validate=validate.OneOf(_LEVELS))
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True)
    updatedAt = Timestamp(required=True)
