"""What clients get."""

from marshmallow import Schema, fields


class AliveSchema(Schema):
    """The process answers."""

    status = fields.Constant("alive", required=True, metadata={"type": "string"})


class ReadySchema(Schema):
    """Every part answers."""

    status = fields.Constant("ready", required=True, metadata={"type": "string"})
    parts = fields.List(fields.String(), required=True)
    notes = fields.Dict(fields.String(), fields.String())
