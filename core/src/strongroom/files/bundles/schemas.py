"""What clients send."""

from typing import Final

from marshmallow import Schema, fields, validate

from strongroom.files.names import MAX_LENGTH
from strongroom.web.schema import text

MAX_IDS: Final = 1000


class BundleSchema(Schema):
    """Files and folders to be bundled."""

    fileIds = fields.List(
        text(36),
        required=True,
        validate=validate.Length(1, MAX_IDS),
        metadata={"description": "Files, and folders with all below them"},
    )
    name = text(
        MAX_LENGTH,
        load_default=None,
        metadata={"description": "What it is saved as; `.zip` is added where it lacks"},
    )
