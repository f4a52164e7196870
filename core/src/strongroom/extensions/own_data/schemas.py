"""The JSON of scheduled deletions."""

from marshmallow import Schema

from strongroom.plugin_api.schemas import Timestamp


class ScheduledDeletionSchema(Schema):
    """The deletion of the caller."""

    dueAt = Timestamp(
        required=True,
        attribute="due_at",
        metadata={"description": "When the account is deleted, unless its user cancels it before"},
    )
