"""Request and response schemas of direct uploads."""

from marshmallow import Schema, fields, validate

from strongroom.files.schemas import node_name
from strongroom.http.schema import Timestamp, text


class NewDirectUploadSchema(Schema):
    """A file to be uploaded directly to the store."""

    name = node_name(required=True)
    size = fields.Integer(required=True, strict=True, validate=validate.Range(min=0))
    checksum = fields.String(
        required=True,
        validate=validate.Regexp(r"sha256:[0-9a-f]{64}\Z"),
        metadata={"description": "sha256: and 64 hexadecimal digits"},
    )
    parentId = text(64, load_default=None, allow_none=True)


class DirectUploadSchema(Schema):
    """The presigned request to the store, to be sent with exactly these headers and then completed."""

    uploadId = fields.String(required=True)
    method = fields.String(required=True)
    url = fields.String(required=True)
    headers = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
    expiresAt = Timestamp(required=True)
