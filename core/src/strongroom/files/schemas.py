"""What clients send and get."""

from marshmallow import Schema, fields, validate

from strongroom.files.models import NodeType, Permission
from strongroom.files.service import OnConflict
from strongroom.web.envelope import ReferenceSchema
from strongroom.web.schema import Moment

_PERMISSIONS = [item.name.lower() for item in Permission if item is not Permission.NONE]


class NewFolderSchema(Schema):
    """A folder to be made."""

    name = fields.String(required=True)


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
    permission = fields.String(required=True, validate=validate.OneOf(_PERMISSIONS))
    revision = fields.Integer(required=True)
    createdAt = Moment(required=True)
    updatedAt = Moment(required=True)
