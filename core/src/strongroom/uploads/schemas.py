"""Response schema of resumable uploads."""

from marshmallow import Schema, fields

from strongroom.http.schema import Timestamp


class UploadSchema(Schema):
    """A resumable upload."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    parentId = fields.String(required=True, allow_none=True, attribute="parent_id")
    size = fields.Integer(required=True, metadata={"description": "In bytes"})
    offset = fields.Integer(
        required=True, attribute="received", metadata={"description": "Number of stored bytes"}
    )
    fileId = fields.String(
        required=True,
        allow_none=True,
        attribute="file_id",
        metadata={"description": "The created file; null until the upload is complete"},
    )
    expiresAt = Timestamp(required=True, attribute="expires_at")
