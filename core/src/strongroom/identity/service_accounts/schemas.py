"""The JSON of service accounts, of the server and of tenants."""

from marshmallow import Schema, fields

from strongroom.plugin_api.schemas import ReferenceSchema, Timestamp
from strongroom.web.http.parsing import name_text


class NewServiceAccountSchema(Schema):
    """A new service account, or a new name."""

    name = name_text(
        255,
        required=True,
        metadata={"description": "What administrators see in lists, such as the name of the machine"},
    )


class ServiceAccountSchema(Schema):
    """A service account: a user of the type SERVICE."""

    id = fields.String(
        required=True, metadata={"description": "Id of the account, which is its id as a user, too"}
    )
    name = fields.String(required=True, metadata={"description": "What administrators see in lists"})
    createdBy = fields.Nested(
        ReferenceSchema,
        required=True,
        attribute="created_by",
        metadata={"description": "The administrator who created the account"},
    )
    createdAt = Timestamp(required=True, attribute="created_at")
