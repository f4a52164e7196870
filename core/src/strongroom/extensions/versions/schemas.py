"""Request and response schemas of versions."""

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from strongroom.content.scanning.states import STATES
from strongroom.plugin_api.schemas import ReferenceSchema, Timestamp
from strongroom.web.http.parsing import name_text


class VersionSchema(Schema):
    """An earlier content of a file, which another one has replaced."""

    number = fields.Integer(required=True, metadata={"description": "Of the file, never used again"})
    size = fields.Integer(required=True, metadata={"description": "In bytes"})
    contentType = fields.String(
        required=True, attribute="content_type", metadata={"description": "Media type of this content"}
    )
    checksum = fields.String(required=True, metadata={"description": "`sha256:` and hexadecimal digits"})
    scan = fields.String(
        required=True,
        validate=validate.OneOf(STATES),
        metadata={"description": "Scan state of the content"},
    )
    label = fields.String(
        required=True, allow_none=True, metadata={"description": "A text to find it by; null: none"}
    )
    keep = fields.Boolean(
        required=True,
        attribute="is_kept",
        metadata={"description": "Whether it is kept whatever its age"},
    )
    modifiedAt = Timestamp(
        required=True,
        attribute="modified_at",
        metadata={"description": "`updatedAt` of the file with this content"},
    )
    archivedAt = Timestamp(
        required=True,
        attribute="archived_at",
        metadata={"description": "When the file got other content"},
    )
    archivedBy = fields.Nested(
        ReferenceSchema,
        required=True,
        metadata={"description": "The user who replaced it; the name is in `included`"},
    )


class VersionChangesSchema(Schema):
    """At least one of `label` and `keep`; absent members stay as they are."""

    label = name_text(
        255, allow_none=True, metadata={"description": "A text to find it by; null removes it"}
    )
    keep = fields.Boolean(
        attribute="is_kept",
        metadata={"description": "Whether it is kept whatever its age and the number of versions"},
    )

    @validates_schema
    def changes_something(self, data: dict[str, Any], **_: Any) -> None:
        """Reject a request without any change."""
        if not data:
            raise ValidationError("Must contain label or keep.")
