"""What clients send and get."""

from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from strongroom.tenants.models import Role
from strongroom.web.envelope import ReferenceSchema
from strongroom.web.schema import Timestamp, text

MAX_BYTES: Final = 2**62


class NewTenantSchema(Schema):
    """A tenant to be made."""

    name = text(255, required=True)


class TenantSchema(Schema):
    """A tenant. Sizes are in bytes."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    usedBytes = fields.Integer(required=True, attribute="used_bytes")
    quotaBytes = fields.Integer(required=True, allow_none=True, attribute="quota_bytes")
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True, attribute="created_at")
    updatedAt = Timestamp(required=True, attribute="updated_at")


class TenantChangesSchema(Schema):
    """What is to change of a tenant."""

    name = text(255)
    quotaBytes = fields.Integer(
        attribute="quota_bytes",
        strict=True,
        allow_none=True,
        validate=validate.Range(0, MAX_BYTES),
        metadata={"description": "For administrators of the server; null: the configured default"},
    )
    revision = fields.Integer(strict=True, load_default=None)

    @validates_schema
    def changes_something(self, data: dict[str, Any], **_: Any) -> None:
        """Refuse what names nothing to change."""
        if not data.keys() & {"name", "quota_bytes"}:
            raise ValidationError("Name what is to change: name or quotaBytes.")


class UsageSchema(Schema):
    """How much of its space a tenant uses, in bytes."""

    usedBytes = fields.Integer(required=True)
    reservedBytes = fields.Integer(
        required=True, metadata={"description": "Announced by resumable uploads that are under way"}
    )
    quotaBytes = fields.Integer(required=True, allow_none=True, metadata={"description": "null: none"})
    freeBytes = fields.Integer(
        required=True, allow_none=True, metadata={"description": "null: no quota"}
    )


class RoleSchema(Schema):
    """What a member may do."""

    role = fields.String(required=True, validate=validate.OneOf([role.value for role in Role]))


class MemberSchema(Schema):
    """A user who belongs to a tenant."""

    user = fields.Nested(ReferenceSchema, required=True)
    role = fields.String(required=True)
    createdAt = Timestamp(required=True, attribute="created_at")
