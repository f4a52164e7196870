"""The request body of the setup route."""

from marshmallow import Schema

from strongroom.accounts.schemas import MAX_NAME, MAX_TEXT
from strongroom.web.schema import text


class SetupSchema(Schema):
    """The account of the first administrator, and the token of the setup link."""

    token = text(MAX_TEXT, required=True)
    email = text(MAX_TEXT, required=True)
    name = text(MAX_NAME, minimum=0, load_default="")
    password = text(MAX_TEXT * 4, required=True)
