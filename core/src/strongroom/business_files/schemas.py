"""What clients send and get."""

from marshmallow import Schema, fields, validate


class WidthQuery(Schema):
    """In which width a picture is wanted."""

    width = fields.Integer(
        load_default=None,
        validate=validate.Range(min=1),
        metadata={
            "description": "One of the widths of the picture's profile; none is made larger than it is"
        },
    )


class BusinessFileSchema(Schema):
    """A file that was uploaded."""

    fileName = fields.String(required=True, metadata={"description": "Made by the server"})
    url = fields.Url(required=True, require_tld=False)
    size = fields.Integer(required=True, metadata={"description": "In bytes, as it is stored"})
    contentType = fields.String(required=True, metadata={"description": "Told by the content"})
    width = fields.Integer(metadata={"description": "Of pictures, in pixels"})
    height = fields.Integer(metadata={"description": "Of pictures, in pixels"})
