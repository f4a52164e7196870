"""Request and response schemas of the quarantine."""

from marshmallow import Schema, fields, validate

from strongroom.content.scanning.states import QUARANTINED
from strongroom.web.http.pages import ReferenceSchema
from strongroom.web.http.parsing import Timestamp


class ReleaseSchema(Schema):
    """The reason of a release; it is recorded in the audit log."""

    reason = fields.String(required=True, validate=validate.Length(min=1, max=1000))


class QuarantinedFileSchema(Schema):
    """A file in quarantine."""

    id = fields.String(required=True, metadata={"description": "Identifies the file in quarantine"})
    kind = fields.String(
        required=True, metadata={"description": "`file` for tenants' files, or `business-file`"}
    )
    fileId = fields.String(
        required=True, metadata={"description": "The id of the file, or the name of a business file"}
    )
    tenantId = fields.String(required=True, allow_none=True)
    name = fields.String(required=True)
    owner = fields.Nested(ReferenceSchema, required=True)
    size = fields.Integer(required=True, metadata={"description": "In bytes"})
    contentType = fields.String(required=True)
    scan = fields.String(required=True, validate=validate.OneOf([state.value for state in QUARANTINED]))
    reason = fields.String(required=True, metadata={"description": "The signature, or the reason"})
    scanner = fields.String(required=True)
    engine = fields.String(required=True)
    databaseVersion = fields.String(required=True)
    scannedAt = Timestamp(required=True)
