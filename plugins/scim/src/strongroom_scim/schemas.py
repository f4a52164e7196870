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


class DirectorySchema(Schema):
    """A directory."""

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
