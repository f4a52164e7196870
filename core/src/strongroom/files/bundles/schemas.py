"""Request schema of bundles."""

from typing import Final

from marshmallow import Schema, fields, validate

from strongroom.files.names import MAX_LENGTH
from strongroom.http.parsing import text

MAX_IDS: Final = 1000


class BundleSchema(Schema):
    """Files and folders to download as one archive."""

    fileIds = fields.List(
        text(36),
        required=True,
        validate=validate.Length(1, MAX_IDS),
        metadata={"description": "Files, and folders with their content"},
    )
    name = text(
        MAX_LENGTH,
        load_default=None,
        metadata={"description": "File name of the archive; `.zip` is appended if missing"},
    )
