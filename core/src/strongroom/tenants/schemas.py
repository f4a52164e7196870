"""What clients send and get."""

from marshmallow import Schema, fields, validate

from strongroom.tenants.models import Role
from strongroom.web.envelope import ReferenceSchema
from strongroom.web.schema import Moment, text


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
    createdAt = Moment(required=True, attribute="created_at")
    updatedAt = Moment(required=True, attribute="updated_at")


class RoleSchema(Schema):
    """What a member may do."""

    role = fields.String(required=True, validate=validate.OneOf([role.value for role in Role]))


class MemberSchema(Schema):
    """A user who belongs to a tenant."""

    user = fields.Nested(ReferenceSchema, required=True)
    role = fields.String(required=True)
    createdAt = Moment(required=True, attribute="created_at")
