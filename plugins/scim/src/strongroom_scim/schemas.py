"""The JSON of the routes for administrators."""

from marshmallow import Schema, fields, validate

from strongroom.plugin_api.schemas import Timestamp

_ID = validate.Length(1, 36)


class DirectoryRequestSchema(Schema):
    """A directory, as an administrator registers it."""

    name = fields.String(
        required=True, validate=validate.Length(1, 255), metadata={"description": "Its name"}
    )
    accountId = fields.String(
        required=True,
        validate=_ID,
        metadata={"description": "The service account, with whose access key it sends requests"},
    )
    mayWrite = fields.Boolean(
        load_default=True, metadata={"description": "Whether it may change anything"}
    )
    successorId = fields.String(
        load_default=None,
        allow_none=True,
        validate=_ID,
        metadata={
            "description": "The member who takes over the files of leavers; `null`: they stay with the "
            "tenant"
        },
    )


class DirectoryCountsSchema(Schema):
    """What a directory has created, and what was refused."""

    users = fields.Integer(required=True, metadata={"description": "Users that it has created"})
    groups = fields.Integer(required=True, metadata={"description": "Groups that it has created"})
    errors = fields.Integer(
        required=True,
        metadata={"description": "Users and groups whose last request was refused"},
    )


class DirectorySchema(Schema):
    """A company's list of people, which creates users and groups."""

    id = fields.String(required=True, metadata={"description": "Names the directory in URLs"})
    name = fields.String(required=True, metadata={"description": "Its name"})
    accountId = fields.String(
        required=True,
        allow_none=True,
        attribute="account_id",
        metadata={"description": "Its service account; `null`: the account was deleted"},
    )
    mayWrite = fields.Boolean(
        required=True,
        attribute="may_write",
        metadata={"description": "Whether it may change anything"},
    )
    successorId = fields.String(
        required=True,
        allow_none=True,
        attribute="successor_id",
        metadata={"description": "The member who takes over the files of leavers"},
    )
    createdAt = Timestamp(required=True, attribute="created_at")
    lastUsedAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="last_used_at",
        metadata={"description": "Its last request, to within a minute"},
    )
    lastChangedAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="last_changed_at",
        metadata={"description": "Its last change of a user or group, to within a minute"},
    )
    counts = fields.Nested(
        DirectoryCountsSchema,
        required=True,
        metadata={"description": "What it has created, and what was refused"},
    )


class DirectoryErrorSchema(Schema):
    """The last refused request about a user or group."""

    id = fields.String(required=True, metadata={"description": "Names the error"})
    kind = fields.String(
        required=True,
        validate=validate.OneOf(["user", "group"]),
        metadata={"description": "Whether the request was about a user or a group"},
    )
    name = fields.String(
        required=True,
        metadata={"description": "The `userName` of the user, or the `displayName` of the group"},
    )
    resourceId = fields.String(
        required=True,
        allow_none=True,
        attribute="resource_id",
        metadata={"description": "The user or group; `null`: the directory has created none"},
    )
    status = fields.Integer(required=True, metadata={"description": "The status of the response"})
    scimType = fields.String(
        required=True,
        allow_none=True,
        attribute="code",
        metadata={"description": "The kind of error (RFC 7644, section 3.12)"},
    )
    message = fields.String(required=True, metadata={"description": "What was wrong"})
    count = fields.Integer(
        required=True, metadata={"description": "How often it was refused since it last succeeded"}
    )
    firstAt = Timestamp(
        required=True,
        attribute="first_at",
        metadata={"description": "The first refusal since the last success"},
    )
    lastAt = Timestamp(required=True, attribute="last_at", metadata={"description": "The last refusal"})
