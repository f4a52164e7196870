"""JSON of changes."""

from marshmallow import Schema, fields, validate

from strongroom.web.http.pages import MAX_PAGE_SIZE, ReferenceSchema, SummarySchema

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

    sequence = fields.Integer(required=True)
    type = fields.String(required=True)
    fileId = fields.String(required=True)
    parentId = fields.String(allow_none=True)
    previousParentId = fields.String(
        allow_none=True, metadata={"description": "Of a move, if the caller can see the folder"}
    )
    name = fields.String()
    revision = fields.Integer()
    actor = fields.Nested(ReferenceSchema)
    onBehalfOf = fields.Nested(
        ReferenceSchema,
        metadata={"description": "The impersonated user; the actor is then an administrator"},
    )
    occurredAt = fields.String(metadata={"format": "date-time"})


class ChangeMetaSchema(Schema):
    """The position of a page of changes."""

    pageSize = fields.Integer(required=True)
    cursor = fields.Integer(required=True, metadata={"description": "The cursor of the next page"})
    hasMore = fields.Boolean(required=True)


class ChangeCollectionSchema(Schema):
    """A page of changes, the oldest first."""

    success = fields.Boolean(required=True)
    meta = fields.Nested(ChangeMetaSchema, required=True)
    data = fields.List(fields.Nested(ChangeSchema), required=True)
    included = fields.Dict(keys=fields.String(), values=fields.Nested(SummarySchema), required=True)
