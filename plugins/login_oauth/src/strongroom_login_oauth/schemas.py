"""Request and response bodies, whose names and members depend on the login method."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from marshmallow import Schema, ValidationError, fields, pre_load, validate

from strongroom.plugin_api.browser import is_local_path, loopback_redirect
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.options import OAuthOptions

LOGIN: Final = "login"
BIND: Final = "bind"

MAX_NAME: Final = 64
MAX_CODE: Final = 2048
MAX_STATE: Final = 128
MAX_PARAMETER: Final = 2048
MAX_URL: Final = 1024
MAX_PASSWORD: Final = 4096

_VISIBLE = re.compile(rf"[!-\[\]-~]{{1,{MAX_URL}}}")


def _text(maximum: int, *, also: Callable[[str], None] | None = None, **options: Any) -> fields.String:
    rules: list[Callable[[str], object]] = [validate.Length(min=1, max=maximum)]
    rules += [also] if also else []
    return fields.String(validate=rules, **options)


def _described(text: str) -> dict[str, str]:
    return {"description": text}


_OF_REDIRECT: Final = _described("As in the redirect of the platform, unchanged")
_OF_PLATFORM: Final = _described("The platform's code for the login; absent if there is an error")


class AuthorizationUrlSchema(Schema):
    """The URL of the page of the platform, and its state. The classes for methods derive from it."""

    url = fields.String(
        required=True,
        metadata={"format": "uri", "description": "Open it in the browser of the person who logs in"},
    )
    state = fields.String(
        required=True, metadata={"description": "Belongs to the answer of the platform; used once"}
    )
    expiresAt = fields.String(
        required=True,
        metadata={"format": "date-time", "description": "Until when the answer is accepted, in UTC"},
    )


class HeldCodeSchema(Schema):
    """A verification code that was sent to a contact of the user."""

    id = _text(
        MAX_NAME,
        required=True,
        metadata={"description": "Id of the code, from the response that sent it"},
    )
    code = _text(MAX_NAME, required=True, metadata={"description": "The code in the message"})


class RedirectSchema(Schema):
    """The parameters of a redirect. One without a value counts as absent (RFC 6749, section 3.1)."""

    @pre_load
    def _omit_empty(self, data: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        return {name: value for name, value in data.items() if value != ""}


class Schemas:
    """The schemas of a login method."""

    def __init__(self, login: OAuthLogin[Any]) -> None:
        name = "".join(word.capitalize() for word in login.name.split("_"))
        selector = login.selector
        which = _described(f"The configured name of the {selector}; required if there are several")
        selecting = {selector: _text(MAX_NAME, metadata=which)}
        parameters = {
            parameter: _text(MAX_PARAMETER, metadata=_OF_REDIRECT) for parameter in login.parameters
        }
        answer = {
            "code": _text(MAX_CODE, required=True, metadata=_OF_REDIRECT),
            "state": _text(MAX_STATE, required=True, metadata=_OF_REDIRECT),
            **parameters,
        }
        purpose = {
            "purpose": fields.String(
                load_default=LOGIN,
                validate=validate.OneOf([LOGIN, BIND]),
                metadata=_described("`login`, or `bind` to connect the account to the caller"),
            )
        }
        options = login.options
        self.request = _schema(
            f"New{name}AuthorizationRequestSchema",
            {**selecting, **purpose, **_returns(options), "language": _language()},
        )
        self.url = _schema(
            f"{name}AuthorizationUrlSchema",
            {selector: fields.String(required=True, metadata=_described(f"Name of the {selector}"))},
            AuthorizationUrlSchema,
        )
        self.login = _schema(f"{name}LoginSchema", answer)
        self.bind = _schema(f"New{name}IdSchema", {**answer, **_own_proof(name)})
        self.unbind = _schema(f"{name}UnbindQuery", selecting)
        self.begin = _schema(f"{name}BeginQuery", {**selecting, **purpose})
        self.callback = _callback_query(f"{name}CallbackQuery", login.code_parameters, parameters)


def _callback_query(
    name: str, code_parameters: Iterable[str], parameters: Mapping[str, fields.String]
) -> type[Schema]:
    """Return the schema of the redirect of a platform."""
    members = {
        **{parameter: _text(MAX_CODE, metadata=_OF_PLATFORM) for parameter in code_parameters},
        **parameters,
        "state": _text(MAX_STATE, metadata=_described("As in the URL of the platform")),
        "error": _text(MAX_PARAMETER, metadata=_described("Why there is no code")),
        "error_description": _text(MAX_PARAMETER, metadata=_described("For the log only")),
    }
    return _schema(name, members, RedirectSchema)


def is_return(text: str, options: OAuthOptions) -> bool:
    """Return whether a text is a path of this server, or a URL of one of the ``return_origins``."""
    if is_local_path(text):
        return True
    if not _VISIBLE.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    # The whole authority, so that no user name passes for a host.
    return f"{parts.scheme}://{parts.netloc}" in options.return_origins and not parts.fragment


def is_app_redirect(text: str, options: OAuthOptions) -> bool:
    """Return whether a text is one of the ``app_redirects``; loopback with any port (RFC 8252, 7.3)."""
    is_known = text in options.app_redirects or loopback_redirect(text) in options.app_redirects
    return is_known and _VISIBLE.fullmatch(text) is not None


def _returns(options: OAuthOptions) -> dict[str, fields.String]:
    return {
        "returnTo": _text(
            MAX_URL,
            also=_require(is_return, options, "Must be a path of this server or of a known origin."),
            metadata=_described("Where the browser returns with `code` and `state`"),
        ),
        "appRedirect": _text(
            MAX_URL,
            also=_require(is_app_redirect, options, "Must be a configured redirect URI."),
            metadata=_described("The redirect URI of a native app, in place of `returnTo`"),
        ),
    }


def _require(
    is_valid: Callable[[str, OAuthOptions], bool], options: OAuthOptions, message: str
) -> Callable[[str], None]:
    def check(text: str) -> None:
        if not is_valid(text, options):
            raise ValidationError(message)

    return check


def _language() -> fields.String:
    return fields.String(
        validate=validate.OneOf(["en", "zh"]),
        metadata=_described("Language of the page of the platform, if it can choose"),
    )


def _own_proof(name: str) -> dict[str, fields.Field[Any]]:
    code = _described("A code of the purpose `bind`; required if a contact is bound")
    password = _described("Required if no contact is bound and there is a password")
    held = _schema(f"{name}HeldCodeSchema", {}, HeldCodeSchema)
    return {
        "heldCode": fields.Nested(held, metadata=code),
        "currentPassword": _text(MAX_PASSWORD, metadata=password),
    }


def _schema(name: str, members: dict[str, Any], base: type[Schema] = Schema) -> type[Schema]:
    return type(name, (base,), {"__doc__": base.__doc__, **members})
