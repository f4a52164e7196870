"""JSON of changes."""

from marshmallow import Schema, fields, validate

from strongroom.plugin_api.schemas import MAX_PAGE_SIZE, ReferenceSchema, SummarySchema

MAX_WAIT = 30
MAX_CURSOR = 2**53 - 1


class ChangeQuery(Schema):
    """Query of changes."""

    cursor = fields.Integer(
        validate=validate.Range(0, MAX_CURSOR),
        metadata={
            "description": "`meta.cursor` of the page before; 0 for the first change. Without it, the "
            "page is empty and has the cursor of the newest change."
        },
    )
    pageSize = fields.Integer(
        load_default=100,
        validate=validate.Range(1, MAX_PAGE_SIZE),
        metadata={"description": "Records per page"},
    )
    wait = fields.Integer(
        load_default=0,
        validate=validate.Range(0, MAX_WAIT),
        metadata={"description": "Seconds to wait for a change if there is none"},
    )


class ChangeSchema(Schema):
    """A change of a file or folder. `node.unavailable` has only `sequence`, `type` and `fileId`."""

    sequence = fields.Integer(
        required=True,
        metadata={"description": "Number of the change in the tenant, without gaps; usable as `cursor`"},
    )
    type = fields.String(
        required=True,
        metadata={
            "description": "What happened, as in the list of events, such as `file.moved`; "
            "`node.unavailable` if the caller cannot see the node now"
        },
    )
    fileId = fields.String(required=True, metadata={"description": "The file or folder"})
    parentId = fields.String(
        allow_none=True,
        metadata={"description": "The folder that it is in after the change; null: the top level"},
    )
    previousParentId = fields.String(
        allow_none=True, metadata={"description": "Of a move, if the caller can see the folder"}
    )
    name = fields.String(metadata={"description": "Its name after the change"})
    revision = fields.Integer(metadata={"description": "Its revision after the change"})
    actor = fields.Nested(
        ReferenceSchema,
        metadata={"description": "The user who made the change; the name is in `included`"},
    )
    onBehalfOf = fields.Nested(
        ReferenceSchema,
        metadata={"description": "The impersonated user; the actor is then an administrator"},
    )
    occurredAt = fields.String(
        metadata={"format": "date-time", "description": "When it happened, in UTC"}
    )


class ChangeMetaSchema(Schema):
    """The position of a page of changes."""

    pageSize = fields.Integer(required=True, metadata={"description": "The requested number of records"})
    cursor = fields.Integer(required=True, metadata={"description": "The cursor of the next page"})
    hasMore = fields.Boolean(
        required=True, metadata={"description": "Whether further changes exist already"}
    )


class ChangeCollectionSchema(Schema):
    """A page of changes, the oldest first."""

    success = fields.Boolean(
        required=True, metadata={"description": "Always `true`: an error has a body of its own"}
    )
    meta = fields.Nested(
        ChangeMetaSchema, required=True, metadata={"description": "Where the page ends"}
    )
    data = fields.List(
        fields.Nested(ChangeSchema), required=True, metadata={"description": "The changes"}
    )
    included = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(SummarySchema),
        required=True,
        metadata={"description": "By id: the names of the users that records refer to"},
    )
