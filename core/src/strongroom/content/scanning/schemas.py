"""Request and response schemas of the quarantine."""

from marshmallow import Schema, fields, validate

from strongroom.content.scanning.states import QUARANTINED
from strongroom.plugin_api.schemas import ReferenceSchema, Timestamp


class ReleaseSchema(Schema):
    """The reason of a release; it is recorded in the audit log."""

    reason = fields.String(
        required=True,
        validate=validate.Length(min=1, max=1000),
        metadata={"description": "Why the content may be read, for the audit log"},
    )


class QuarantinedFileSchema(Schema):
    """A file in quarantine."""

    id = fields.String(required=True, metadata={"description": "Identifies the file in quarantine"})
    kind = fields.String(
        required=True, metadata={"description": "`file` for tenants' files, or `business-file`"}
    )
    fileId = fields.String(
        required=True, metadata={"description": "The id of the file, or the name of a business file"}
    )
    tenantId = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The tenant of the file; null for a business file"},
    )
    name = fields.String(
        required=True, metadata={"description": "Name of the file, generated for a business file"}
    )
    owner = fields.Nested(
        ReferenceSchema, required=True, metadata={"description": "The user who owns it"}
    )
    size = fields.Integer(required=True, metadata={"description": "In bytes"})
    contentType = fields.String(
        required=True, metadata={"description": "Media type, detected from the content"}
    )
    scan = fields.String(
        required=True,
        validate=validate.OneOf([state.value for state in QUARANTINED]),
        metadata={
            "description": "`infected`: a signature matched; `rejected`: the scanner or the "
            "configuration refuses the content"
        },
    )
    reason = fields.String(required=True, metadata={"description": "The signature, or the reason"})
    scanner = fields.String(required=True, metadata={"description": "Name of the scanner"})
    engine = fields.String(required=True, metadata={"description": "Version of the scanner's engine"})
    databaseVersion = fields.String(required=True, metadata={"description": "Version of its signatures"})
    scannedAt = Timestamp(required=True, metadata={"description": "When the last scan ended"})
