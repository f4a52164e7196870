"""Request and response bodies."""

from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from strongroom_login_oauth.schemas import BIND, LOGIN, MAX_NAME, MAX_PASSWORD, HeldCodeSchema

MAX_CODE: Final = 512
MAX_DATA: Final = 16_384


def _text(maximum: int, **options: Any) -> fields.String:
    return fields.String(validate=validate.Length(min=1, max=maximum), **options)


_APP: Final = "The configured name of the app; required if there are several of its kind"


class NewQrCodeSchema(Schema):
    """The beginning of a login or a binding by a QR code."""

    app = _text(MAX_NAME, metadata={"description": _APP})
    purpose = fields.String(
        load_default=LOGIN,
        validate=validate.OneOf([LOGIN, BIND]),
        metadata={"description": "`login`, or `bind` to connect the account to the caller"},
    )
    language = fields.String(
        validate=validate.OneOf(["cn", "en"]), metadata={"description": "Language of the page of WeChat"}
    )


class QrCodeSchema(Schema):
    """The URL of the page with a QR code, and its state."""

    url = fields.Url(
        required=True,
        require_tld=False,
        metadata={"description": "Open it in the browser of the person, or embed it"},
    )
    state = fields.String(
        required=True, metadata={"description": "Belongs to the redirect of WeChat; used once"}
    )
    app = fields.String(required=True, metadata={"description": "Name of the app in the configuration"})
    expiresAt = fields.String(
        required=True,
        metadata={"format": "date-time", "description": "Until when the redirect is accepted, in UTC"},
    )


class WebsiteLoginSchema(Schema):
    """Code and state of WeChat's redirect."""

    code = _text(MAX_CODE, required=True, metadata={"description": "As in the redirect of WeChat"})
    state = _text(MAX_CODE, required=True, metadata={"description": "As in the redirect of WeChat"})


class MiniProgramLoginSchema(Schema):
    """The code and optional data of a mini program."""

    app = _text(MAX_NAME, metadata={"description": _APP})
    code = _text(MAX_CODE, required=True, metadata={"description": "The code of wx.login"})
    phoneCode = _text(MAX_CODE, metadata={"description": "The code of the button getPhoneNumber"})
    encryptedData = _text(MAX_DATA, metadata={"description": "As from `wx.getUserInfo`; with `iv`"})
    iv = _text(MAX_CODE, metadata={"description": "As from `wx.getUserInfo`; with `encryptedData`"})
    rawData = _text(MAX_DATA, metadata={"description": "As from `wx.getUserInfo`; with `signature`"})
    signature = _text(MAX_CODE, metadata={"description": "As from `wx.getUserInfo`; with `rawData`"})

    @validates_schema
    def _complete(self, data: dict[str, str], **_: Any) -> None:
        for field, other in (("encryptedData", "iv"), ("rawData", "signature")):
            if (field in data) != (other in data):
                raise ValidationError(f"{field} and {other} require each other.", field)


class NewWeChatIdSchema(Schema):
    """Code and state of WeChat's redirect, or, without a state, the code of a mini program."""

    code = _text(
        MAX_CODE,
        required=True,
        metadata={"description": "As in the redirect of WeChat, or from `wx.login`"},
    )
    state = _text(
        MAX_CODE, metadata={"description": "As in the redirect of WeChat; absent for a mini program"}
    )
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
    def _require_one(self, data: dict[str, str], **_: Any) -> None:
        if "state" in data and "app" in data:
            raise ValidationError("Must be absent if there is a state.", "app")


class ScanPageQuery(Schema):
    """Query of the scan page."""

    app = _text(MAX_NAME, metadata={"description": _APP})


class BeginQuery(ScanPageQuery):
    """Query of the path that leads a browser to WeChat."""

    purpose = fields.String(
        load_default=LOGIN,
        validate=validate.OneOf([LOGIN, BIND]),
        metadata={"description": "`login`, or `bind` to connect the account to the user of the browser"},
    )


class CallbackQuery(Schema):
    """Query of WeChat's redirect; without a code if the person denied."""

    code = _text(
        MAX_CODE, metadata={"description": "WeChat's code for the login; absent if the person denied"}
    )
    state = _text(MAX_CODE, metadata={"description": "As in the URL of the page of WeChat"})
