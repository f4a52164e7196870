"""Request and response schemas of tenants."""

from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from strongroom.content.tenants.models import Role
from strongroom.foundation.assurance import ACR_VALUES
from strongroom.plugin_api.schemas import PagingQuery, ReferenceSchema, Timestamp
from strongroom.web.http.parsing import identifier, name_text, text

MAX_BYTES: Final = 2**62
MAX_AGE: Final = 30 * 24 * 3600


class NewTenantSchema(Schema):
    """A tenant to be created."""

    name = name_text(
        255,
        required=True,
        metadata={"description": "Shown to members; several tenants may have the same name"},
    )


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
    """A tenant: a space for files with members and a quota. Sizes are in bytes."""

    id = fields.String(required=True, metadata={"description": "Identifies the tenant in paths"})
    name = fields.String(required=True, metadata={"description": "Not unique"})
    usedBytes = fields.Integer(
        required=True,
        attribute="used_bytes",
        metadata={"description": "Bytes of all files, with those in the trash and earlier contents"},
    )
    quotaBytes = fields.Integer(
        required=True,
        allow_none=True,
        attribute="quota_bytes",
        metadata={
            "description": "Most bytes that files may use, here the server's default if the tenant "
            "has no quota; null: unlimited"
        },
    )
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
    """At least one of `name`, `quotaBytes` and `assurance`; absent members stay as they are."""

    name = name_text(255, metadata={"description": "Replaces the present name"})
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
        metadata={"description": "Earlier contents of files, also of files in the trash"},
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

    role = fields.String(
        required=True,
        validate=validate.OneOf([role.value for role in Role]),
        metadata={
            "description": "`admin` manages the tenant and all its files, `member` has access by "
            "grants, `records` also places and releases holds"
        },
    )


class MemberSchema(Schema):
    """A user in a tenant, with the user's role."""

    user = fields.Nested(
        ReferenceSchema, required=True, metadata={"description": "Its name is in `included`"}
    )
    role = fields.String(required=True, metadata={"description": "`admin`, `member` or `records`"})
    createdAt = Timestamp(
        required=True,
        attribute="created_at",
        metadata={"description": "When the user joined the tenant"},
    )


class SuccessorSchema(Schema):
    """The member who takes over."""

    toUserId = identifier(
        required=True, metadata={"description": "A member of the tenant, other than the present holder"}
    )


class TransferredSchema(Schema):
    """How much was transferred."""

    nodes = fields.Integer(
        required=True, metadata={"description": "Number of files and folders with the new owner"}
    )
    grants = fields.Integer(
        required=True, metadata={"description": "Number of grants that were transferred"}
    )


class TenantsQuery(PagingQuery):
    """Which tenants to list."""

    all = fields.Boolean(
        load_default=False,
        metadata={"description": "All tenants of the server, for its administrators only"},
    )
    memberId = identifier(
        load_default=None,
        attribute="member_id",
        metadata={
            "description": "Only the tenants of this user, for administrators of the server only; "
            "`all` makes no difference"
        },
    )


class NewGroupSchema(Schema):
    """A group to be created, without members."""

    name = name_text(
        255, required=True, metadata={"description": "Unique among the groups of the tenant"}
    )


class GroupSchema(Schema):
    """A group of members of a tenant, to which grants on files can be made."""

    id = fields.String(
        required=True, metadata={"description": "Identifies the group in paths and grants"}
    )
    tenantId = fields.String(
        required=True,
        attribute="tenant_id",
        metadata={"description": "The tenant whose members may be in the group"},
    )
    name = fields.String(
        required=True, metadata={"description": "Unique among the groups of the tenant"}
    )
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True, attribute="created_at")
    updatedAt = Timestamp(required=True, attribute="updated_at")


class GroupNameSchema(Schema):
    """A new name of a group. A revision rejects the change if the group has changed since."""

    name = name_text(
        255, required=True, metadata={"description": "Unique among the groups of the tenant"}
    )
    revision = fields.Integer(strict=True, load_default=None)


class GroupsQuery(PagingQuery):
    """Filter of a list of groups."""

    userId = identifier(
        load_default=None,
        metadata={"description": "Only the groups of this user, or `me`; others' for administrators"},
    )


class GroupMemberSchema(Schema):
    """A user in a group, and who added the user."""

    user = fields.Nested(
        ReferenceSchema, required=True, metadata={"description": "Its name is in `included`"}
    )
    addedBy = fields.Nested(
        ReferenceSchema,
        required=True,
        allow_none=True,
        metadata={
            "description": "The user who added the member, or whose invitation did; null if unknown"
        },
    )
    createdAt = Timestamp(required=True, metadata={"description": "When the user joined the group"})


class NewInvitationSchema(Schema):
    """An invitation to one e-mail address or one mobile number."""

    requires_any = ("email", "mobile")

    email = text(
        1024,
        load_default=None,
        metadata={"description": "The address to invite; absent for a mobile number"},
    )
    mobile = text(
        1024,
        load_default=None,
        metadata={
            "description": "The number to invite, in international format; absent for an e-mail address"
        },
    )
    role = fields.String(
        load_default=Role.MEMBER.value,
        validate=validate.OneOf([role.value for role in Role]),
        metadata={
            "description": "The role that the user gets; `admin` and `records` require a recent "
            "proof of the second factor"
        },
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


class _OpenInvitationSchema(Schema):
    """What everyone who may see an invitation sees of it."""

    id = fields.String(
        required=True, metadata={"description": "Identifies the invitation in paths; not its secret"}
    )
    tenantId = fields.String(
        required=True, metadata={"description": "The tenant that the recipient joins"}
    )
    email = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The invited address; null for a mobile number"},
    )
    mobile = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The invited number; null for an e-mail address"},
    )
    role = fields.String(
        required=True,
        metadata={"description": "The role that the recipient gets: `admin`, `member` or `records`"},
    )
    expiresAt = Timestamp(required=True, metadata={"description": "Until when it can be accepted"})


class InvitationSchema(_OpenInvitationSchema):
    """An open invitation. Whether the recipient is registered is not revealed."""

    groups = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "Ids of the groups that the recipient joins"},
    )
    invitedBy = fields.Nested(
        ReferenceSchema, required=True, metadata={"description": "The administrator who sent it last"}
    )
    createdAt = Timestamp(required=True)


class ReceivedInvitationSchema(InvitationSchema):
    """An open invitation to a contact of the caller."""

    tenantName = fields.String(
        required=True, metadata={"description": "The tenant's present name, to show to the recipient"}
    )


class InvitationPreviewSchema(_OpenInvitationSchema):
    """An open invitation, for the holder of its secret."""

    tenantName = fields.String(
        required=True, metadata={"description": "The tenant's present name, to show to the recipient"}
    )
    inviterName = fields.String(
        required=True, metadata={"description": "Name of the administrator who sent it last"}
    )


class InvitationSecretSchema(Schema):
    """The secret of an invitation, from its message."""

    secret = text(
        128,
        required=True,
        metadata={"description": "From the message: its code, or the last part of its link"},
    )


class AcceptedInvitationSchema(Schema):
    """The membership that an invitation became."""

    tenantId = fields.String(
        required=True, metadata={"description": "The tenant that the caller has joined"}
    )
    role = fields.String(
        required=True,
        metadata={"description": "The caller's role in it, which may be higher than the invitation's"},
    )
