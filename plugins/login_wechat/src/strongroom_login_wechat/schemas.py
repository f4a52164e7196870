"""Request and response bodies."""

from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

LOGIN: Final = "login"
BIND: Final = "bind"
BROWSER: Final = "browser"
"""The purpose of states of logins that begin on the login page."""
CONNECT: Final = "connect"
"""The purpose of states of bindings that begin on the pages of the account."""

MAX_NAME: Final = 64
MAX_CODE: Final = 512
MAX_DATA: Final = 16_384
MAX_PASSWORD: Final = 4096


def _text(maximum: int, **options: Any) -> fields.String:
    return fields.String(validate=validate.Length(min=1, max=maximum), **options)


_APP: Final = "The configured name of the app; required if there are several of its kind"


class NewQrCodeSchema(Schema):
    """A request for a QR code."""

    app = _text(MAX_NAME, metadata={"description": _APP})
    purpose = fields.String(load_default=LOGIN, validate=validate.OneOf([LOGIN, BIND]))
    language = fields.String(validate=validate.OneOf(["cn", "en"]))


class QrCodeSchema(Schema):
    """The URL of the QR code page, and its state."""

    url = fields.Url(required=True, require_tld=False)
    state = fields.String(required=True)
    app = fields.String(required=True)
    expiresAt = fields.String(required=True, metadata={"format": "date-time"})


class WebsiteLoginSchema(Schema):
    """Code and state of WeChat's redirect."""

    code = _text(MAX_CODE, required=True)
    state = _text(MAX_CODE, required=True)


class MiniProgramLoginSchema(Schema):
    """The code and optional data of a mini program."""

    app = _text(MAX_NAME, metadata={"description": _APP})
    code = _text(MAX_CODE, required=True, metadata={"description": "The code of wx.login"})
    phoneCode = _text(MAX_CODE, metadata={"description": "The code of the button getPhoneNumber"})
    encryptedData = _text(MAX_DATA)
    iv = _text(MAX_CODE)
    rawData = _text(MAX_DATA)
    signature = _text(MAX_CODE)

    @validates_schema
    def _complete(self, data: dict[str, str], **_: Any) -> None:
        for field, other in (("encryptedData", "iv"), ("rawData", "signature")):
            if (field in data) != (other in data):
                raise ValidationError(f"{field} and {other} require each other.", field)


class HeldCodeSchema(Schema):
    """A verification code that was sent to a contact of the user."""

    id = _text(MAX_NAME, required=True)
    code = _text(MAX_NAME, required=True)


class NewWeChatIdSchema(Schema):
    """Code and state of WeChat's redirect, or, without a state, the code of a mini program."""

    code = _text(MAX_CODE, required=True)
    state = _text(MAX_CODE)
    heldCode = fields.Nested(
        HeldCodeSchema,
        metadata={"description": "A code of the purpose `bind`; required if a contact is bound"},
    )
    currentPassword = _text(
        MAX_PASSWORD,
        metadata={"description": "Required if no contact is bound and there is a password"},
    )
    app = _text(MAX_NAME, metadata={"description": f"Only without a state. {_APP}"})

    @validates_schema
    def _one_of(self, data: dict[str, str], **_: Any) -> None:
        if "state" in data and "app" in data:
            raise ValidationError("Must be absent if there is a state.", "app")


class ScanPageQuery(Schema):
    """Query of the scan page."""

    app = _text(MAX_NAME, metadata={"description": _APP})


class BeginQuery(ScanPageQuery):
    """Query of the path that leads a browser to WeChat."""

    purpose = fields.String(load_default=LOGIN, validate=validate.OneOf([LOGIN, BIND]))


class CallbackQuery(Schema):
    """Query of WeChat's redirect; without a code if the person denied."""

    code = _text(MAX_CODE)
    state = _text(MAX_CODE)
