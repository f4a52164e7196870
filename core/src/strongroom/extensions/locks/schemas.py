"""Request and response schemas of locks."""

from typing import Final

from marshmallow import Schema, fields, validate

from strongroom.content.nodes.lock_models import MAX_NOTE
from strongroom.plugin_api.schemas import ReferenceSchema, Timestamp
from strongroom.web.http.parsing import text

MAX_SECONDS: Final = 7 * 24 * 3600
_HOUR: Final = 3600


class LockDurationSchema(Schema):
    """How long a lock lasts from now."""

    seconds = fields.Integer(
        strict=True,
        load_default=_HOUR,
        validate=validate.Range(1, MAX_SECONDS),
        metadata={"description": "How long the lock lasts unless it is renewed"},
    )


class NewLockSchema(LockDurationSchema):
    """A lock to be taken."""

    shared = fields.Boolean(
        load_default=False,
        metadata={"description": "Whether other users may take shared locks of the same, too"},
    )
    deep = fields.Boolean(
        load_default=True,
        metadata={"description": "Whether a folder is locked with everything in it, at any depth"},
    )
    note = text(
        MAX_NOTE,
        minimum=0,
        load_default="",
        metadata={"description": "A text for others, such as the program that has the file open"},
    )


class LockSchema(Schema):
    """A lock of a file or folder for changes by others."""

    id = fields.String(
        required=True,
        metadata={"description": "What changes present in `Lock-Token`; only the holder's requests may"},
    )
    fileId = fields.String(
        required=True,
        attribute="node_id",
        metadata={"description": "The file or folder that is locked; a folder around it may be"},
    )
    shared = fields.Boolean(
        required=True,
        attribute="is_shared",
        metadata={"description": "Whether there may be other shared locks of the same"},
    )
    deep = fields.Boolean(
        required=True,
        attribute="is_deep",
        metadata={"description": "Whether a folder is locked with everything in it"},
    )
    note = fields.String(required=True, metadata={"description": "As it was given with the lock"})
    lockedBy = fields.Nested(
        ReferenceSchema,
        required=True,
        metadata={"description": "The user who holds it; the name is in `included`"},
    )
    lockedAt = Timestamp(
        required=True, attribute="locked_at", metadata={"description": "When it was taken"}
    )
    expiresAt = Timestamp(
        required=True,
        attribute="expires_at",
        metadata={"description": "When it ends unless it is renewed"},
    )
