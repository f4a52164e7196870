"""Request and response schemas of the trash."""

from marshmallow import Schema, fields, validate

from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import NodeType
from strongroom.plugin_api.schemas import ReferenceSchema, Timestamp
from strongroom.web.http.parsing import identifier


class RestorationSchema(Schema):
    """Where to restore a file or folder."""

    parentId = identifier(
        allow_none=True,
        metadata={
            "description": "The folder; null is the top level. By default, the folder that it was in"
        },
    )
    onConflict = fields.String(
        load_default=OnConflict.FAIL.value,
        validate=validate.OneOf([choice.value for choice in OnConflict]),
        metadata={
            "description": "What happens if the name is taken: `fail` responds 409, `rename` appends"
            " a number, `replace` puts the file that has the name into the trash"
        },
    )


class TrashedFileSchema(Schema):
    """A file or folder in the trash."""

    id = fields.String(
        required=True, metadata={"description": "Identifies it in the trash, and after its restoration"}
    )
    type = fields.String(
        required=True,
        validate=validate.OneOf([item.value for item in NodeType]),
        metadata={"description": "`file` or `folder`"},
    )
    name = fields.String(required=True, metadata={"description": "The name that it had"})
    parentId = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The folder that it was in, which may be gone; null: the top level"},
    )
    tenantId = fields.String(
        required=True, metadata={"description": "The tenant whose quota it still counts in"}
    )
    size = fields.Integer(
        required=True, metadata={"description": "In bytes, with everything in a folder"}
    )
    contentType = fields.String(
        required=True, allow_none=True, metadata={"description": "Media type; null for folders"}
    )
    owner = fields.Nested(
        ReferenceSchema,
        required=True,
        metadata={"description": "The user who owns it; the name is in `included`"},
    )
    trashedBy = fields.Nested(
        ReferenceSchema,
        required=True,
        metadata={"description": "The user who deleted it; the name is in `included`"},
    )
    trashedAt = Timestamp(required=True, metadata={"description": "When it was deleted"})
    purgeAt = Timestamp(
        required=True, metadata={"description": "When it is due to be removed permanently"}
    )
