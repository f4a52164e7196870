"""What clients get."""

from marshmallow import Schema, fields

from strongroom.web.schema import Timestamp


class UploadSchema(Schema):
    """A resumable upload."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    parentId = fields.String(required=True, allow_none=True, attribute="parent_id")
    size = fields.Integer(required=True, metadata={"description": "In bytes"})
    offset = fields.Integer(
        required=True, attribute="received", metadata={"description": "Bytes that have arrived"}
    )
    fileId = fields.String(
        required=True,
        allow_none=True,
        attribute="file_id",
        metadata={"description": "The file it has become"},
    )
    expiresAt = Timestamp(required=True, attribute="expires_at")
