"""Request and response schemas of tenants."""

from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from strongroom.content.tenants.models import Role
from strongroom.foundation.assurance import ACR_VALUES
from strongroom.web.http.pages import PagingQuery, ReferenceSchema
from strongroom.web.http.parsing import Timestamp, identifier, name_text, text

MAX_BYTES: Final = 2**62
MAX_AGE: Final = 30 * 24 * 3600


class NewTenantSchema(Schema):
    """A tenant to be created."""

    name = name_text(255, required=True)


class AssuranceSchema(Schema):
    """What a tenant demands of the logins that read or change anything in it."""

    acr = fields.String(
        load_default=None,
        allow_none=True,
        validate=validate.OneOf(ACR_VALUES[1:]),
        metadata={"description": "The least acr; null: any. Each value includes those before it"},
    )
    maxAgeSeconds = fields.Integer(
        attribute="max_age",
        load_default=None,
        allow_none=True,
        strict=True,
        validate=validate.Range(60, MAX_AGE),
        metadata={"description": "The longest time since the last proof of the login; null: any"},
    )


class TenantSchema(Schema):
    """A tenant. Sizes are in bytes."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    usedBytes = fields.Integer(required=True, attribute="used_bytes")
    quotaBytes = fields.Integer(required=True, allow_none=True, attribute="quota_bytes")
    assurance = fields.Nested(
        AssuranceSchema,
        required=True,
        allow_none=True,
        attribute="demand",
        metadata={"description": "null: any login"},
    )
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True, attribute="created_at")
    updatedAt = Timestamp(required=True, attribute="updated_at")


class TenantChangesSchema(Schema):
    """Changes of a tenant."""

    name = name_text(255)
    quotaBytes = fields.Integer(
        attribute="quota_bytes",
        strict=True,
        allow_none=True,
        validate=validate.Range(0, MAX_BYTES),
        metadata={"description": "Only for server administrators; null: the configured default"},
    )
    assurance = fields.Nested(
        AssuranceSchema,
        allow_none=True,
        metadata={"description": "null: any login; the caller's own login must meet it"},
    )
    revision = fields.Integer(strict=True, load_default=None)

    @validates_schema
    def changes_something(self, data: dict[str, Any], **_: Any) -> None:
        """Reject a request without any change."""
        if not data.keys() & {"name", "quota_bytes", "assurance"}:
            raise ValidationError("Must contain name, quotaBytes or assurance.")


class UsageSchema(Schema):
    """Usage and quota of a tenant, in bytes."""

    usedBytes = fields.Integer(
        required=True,
        attribute="used_bytes",
        metadata={"description": "The sum of liveBytes, trashBytes and versionBytes"},
    )
    liveBytes = fields.Integer(
        required=True, attribute="live_bytes", metadata={"description": "Files that are not deleted"}
    )
    trashBytes = fields.Integer(
        required=True, attribute="trash_bytes", metadata={"description": "Files in the trash"}
    )
    versionBytes = fields.Integer(
        required=True,
        attribute="version_bytes",
        metadata={"description": "Earlier contents of files, those of files in the trash included"},
    )
    heldBytes = fields.Integer(
        required=True,
        attribute="held_bytes",
        metadata={"description": "Files under a hold and their earlier contents, part of the above"},
    )
    reservedBytes = fields.Integer(
        required=True,
        attribute="reserved_bytes",
        metadata={"description": "Reserved for open resumable and direct uploads"},
    )
    quotaBytes = fields.Integer(
        required=True,
        allow_none=True,
        attribute="quota_bytes",
        metadata={"description": "null: unlimited"},
    )
    freeBytes = fields.Integer(
        required=True,
        allow_none=True,
        attribute="free_bytes",
        metadata={"description": "null: unlimited"},
    )


class OverrideQuery(Schema):
    """Parameters of a removal."""

    overrideReason = text(
        255,
        load_default=None,
        attribute="override_reason",
        metadata={
            "description": "Why an administrator of the tenant removes retained content, in governance "
            "mode; recorded in the audit log"
        },
    )


class RoleSchema(Schema):
    """Role of a member."""

    role = fields.String(required=True, validate=validate.OneOf([role.value for role in Role]))


class MemberSchema(Schema):
    """A member of a tenant."""

    user = fields.Nested(ReferenceSchema, required=True)
    role = fields.String(required=True)
    createdAt = Timestamp(required=True, attribute="created_at")


class SuccessorSchema(Schema):
    """The member who takes over."""

    toUserId = identifier(required=True)


class TransferredSchema(Schema):
    """How much was transferred."""

    nodes = fields.Integer(required=True)
    grants = fields.Integer(required=True)


class TenantsQuery(PagingQuery):
    """Which tenants to list."""

    all = fields.Boolean(
        load_default=False,
        metadata={"description": "All tenants of the server, for its administrators only"},
    )


class NewGroupSchema(Schema):
    """A new group."""

    name = name_text(255, required=True)


class GroupSchema(Schema):
    """A group of members of a tenant."""

    id = fields.String(required=True)
    tenantId = fields.String(required=True, attribute="tenant_id")
    name = fields.String(required=True)
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True, attribute="created_at")
    updatedAt = Timestamp(required=True, attribute="updated_at")


class GroupNameSchema(Schema):
    """A new name of a group. A revision rejects the change if the group has changed since."""

    name = name_text(255, required=True)
    revision = fields.Integer(strict=True, load_default=None)


class GroupsQuery(PagingQuery):
    """Filter of a list of groups."""

    userId = identifier(
        load_default=None,
        metadata={"description": "Only the groups of this user, or `me`; others' for administrators"},
    )


class GroupMemberSchema(Schema):
    """A member of a group."""

    user = fields.Nested(ReferenceSchema, required=True)
    addedBy = fields.Nested(ReferenceSchema, required=True, allow_none=True)
    createdAt = Timestamp(required=True)


class NewInvitationSchema(Schema):
    """An invitation to one e-mail address or one mobile number."""

    requires_any = ("email", "mobile")

    email = text(1024, load_default=None)
    mobile = text(1024, load_default=None)
    role = fields.String(
        load_default=Role.MEMBER.value, validate=validate.OneOf([role.value for role in Role])
    )
    groups = fields.List(
        text(64),
        load_default=list,
        validate=validate.Length(max=100),
        metadata={"description": "Ids of groups of the tenant that the user joins"},
    )

    @validates_schema
    def has_one_contact(self, data: dict[str, Any], **_: Any) -> None:
        """Reject a request with both contacts or with none."""
        if (data["email"] is None) == (data["mobile"] is None):
            raise ValidationError("Must contain either email or mobile.", "email")


class InvitationSchema(Schema):
    """An open invitation. Whether the recipient is registered is not revealed."""

    id = fields.String(required=True)
    tenantId = fields.String(required=True)
    email = fields.String(required=True, allow_none=True)
    mobile = fields.String(required=True, allow_none=True)
    role = fields.String(required=True)
    groups = fields.List(fields.String(), required=True)
    invitedBy = fields.Nested(ReferenceSchema, required=True)
    createdAt = Timestamp(required=True)
    expiresAt = Timestamp(required=True)


class ReceivedInvitationSchema(InvitationSchema):
    """An open invitation to a contact of the caller."""

    tenantName = fields.String(required=True)


class InvitationPreviewSchema(Schema):
    """An open invitation, for the holder of its secret."""

    id = fields.String(required=True)
    tenantId = fields.String(required=True)
    tenantName = fields.String(required=True)
    inviterName = fields.String(required=True)
    email = fields.String(required=True, allow_none=True)
    mobile = fields.String(required=True, allow_none=True)
    role = fields.String(required=True)
    expiresAt = Timestamp(required=True)


class InvitationSecretSchema(Schema):
    """The secret of an invitation, from its message."""

    secret = text(128, required=True)


class AcceptedInvitationSchema(Schema):
    """The membership that an invitation became."""

    tenantId = fields.String(required=True)
    role = fields.String(required=True)
