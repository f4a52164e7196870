"""What clients send and get."""

from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

LOGIN: Final = "login"
BIND: Final = "bind"

MAX_NAME: Final = 64
MAX_CODE: Final = 512
MAX_DATA: Final = 16_384
MAX_PASSWORD: Final = 4096


def _text(maximum: int, **options: Any) -> fields.String:
    return fields.String(validate=validate.Length(min=1, max=maximum), **options)


_APP: Final = "The name of the app in the configuration; needed where there are several of its kind"


class NewQrCodeSchema(Schema):
    """What a QR code is wanted for."""

    app = _text(MAX_NAME, metadata={"description": _APP})
    purpose = fields.String(load_default=LOGIN, validate=validate.OneOf([LOGIN, BIND]))
    language = fields.String(validate=validate.OneOf(["cn", "en"]))


class QrCodeSchema(Schema):
    """Where a browser finds the QR code, and the state it comes back with."""

    url = fields.Url(required=True, require_tld=False)
    state = fields.String(required=True)
    app = fields.String(required=True)
    expiresAt = fields.String(required=True, metadata={"format": "date-time"})


class WebsiteLoginSchema(Schema):
    """What WeChat has sent a browser back with."""

    code = _text(MAX_CODE, required=True)
    state = _text(MAX_CODE, required=True)


class MiniProgramLoginSchema(Schema):
    """What WeChat has given a mini program."""

    app = _text(MAX_NAME, metadata={"description": _APP})
    code = _text(MAX_CODE, required=True, metadata={"description": "Of wx.login"})
    phoneCode = _text(MAX_CODE, metadata={"description": "Of the button getPhoneNumber"})
    encryptedData = _text(MAX_DATA)
    iv = _text(MAX_CODE)
    rawData = _text(MAX_DATA)
    signature = _text(MAX_CODE)

    @validates_schema
    def _complete(self, data: dict[str, str], **_: Any) -> None:
        for field, other in (("encryptedData", "iv"), ("rawData", "signature")):
            if (field in data) != (other in data):
                raise ValidationError(f"{field} and {other} go together.", field)


class HeldCodeSchema(Schema):
    """A verification code that was sent to a contact of the user."""

    id = _text(MAX_NAME, required=True)
    code = _text(MAX_NAME, required=True)


class NewWeChatIdSchema(Schema):
    """What WeChat has sent a browser back with, or, without a state, has given a mini program."""

    code = _text(MAX_CODE, required=True)
    state = _text(MAX_CODE)
    heldCode = fields.Nested(
        HeldCodeSchema,
        metadata={"description": "Of the purpose `bind`; required if the user holds a contact"},
    )
    currentPassword = _text(
        MAX_PASSWORD,
        metadata={"description": "Required if no contact is held and there is a password"},
    )
    app = _text(MAX_NAME, metadata={"description": f"Without a state only. {_APP}"})

    @validates_schema
    def _one_of(self, data: dict[str, str], **_: Any) -> None:
        if "state" in data and "app" in data:
            raise ValidationError("A state knows its app.", "app")


class ScanPageQuery(Schema):
    """Which app the page is for."""

    app = _text(MAX_NAME, metadata={"description": _APP})


class CallbackQuery(Schema):
    """What WeChat sends a browser back with; whoever denies has no code."""

    code = _text(MAX_CODE)
    state = _text(MAX_CODE)
