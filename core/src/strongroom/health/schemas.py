"""Response schemas of the health routes."""

from marshmallow import Schema, fields


class AliveSchema(Schema):
    """The process is alive."""

    status = fields.Constant("alive", required=True, metadata={"type": "string"})


class ReadySchema(Schema):
    """All parts are available."""

    status = fields.Constant("ready", required=True, metadata={"type": "string"})
    parts = fields.List(fields.String(), required=True)
    notes = fields.Dict(fields.String(), fields.String())
