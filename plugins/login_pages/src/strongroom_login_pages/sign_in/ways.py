"""Which ways to log in the login page shows, and which of them the browser took last."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api.forms import FactorView
from strongroom.plugin_api.login import LoginOptions
from strongroom_login_pages.visit import LoginVisit

COOKIE: Final = "strongroom-last-login"
"""The cookie with the name of the last way, and with nothing else."""

PASSWORD: Final = "password"  # noqa: S105  the name of a method

_MAX_AGE_SECONDS: Final = 180 * 24 * 60 * 60
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True, slots=True)
class CodeTexts:
    """The keys of the texts of the button for a code.

    Args:
        field: the label of the field for the recipient.
        button: the text of the button.
        is_number: whether the recipient is a mobile number.
    """

    field: str
    button: str
    is_number: bool = False


CODE_TEXTS: Final[Mapping[frozenset[str], CodeTexts]] = {
    frozenset({"email"}): CodeTexts("code-to-email", "send-code-email"),
    frozenset({"mobile"}): CodeTexts("code-to-mobile", "send-code-mobile", is_number=True),
    frozenset({"email", "mobile"}): CodeTexts("code-to-contact", "send-code-contact"),
}


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways that the configuration offers.

    Args:
        codes: the texts of the button for a code; ``None``: the server sends no codes for logins.
        register: whether people can register without an invitation.
        reset: whether a forgotten password can be replaced by a code.
    """

    password: bool
    codes: CodeTexts | None
    register: bool
    reset: bool


def ways_of(options: LoginOptions) -> Ways:
    """Return the ways that a configuration offers."""
    has_passwords = PASSWORD in options.methods
    return Ways(
        password=has_passwords,
        codes=CODE_TEXTS.get(options.login_codes),
        register=has_passwords and options.registration == "open" and bool(options.register_codes),
        reset=has_passwords and bool(options.reset_codes),
    )


def registers_invited(options: LoginOptions, kind: str) -> bool:
    """Return whether the holder of an invitation can register with a kind of contact."""
    is_closed = options.registration == "closed"
    return PASSWORD in options.methods and not is_closed and kind in options.register_codes


def way_of(view: FactorView) -> str:
    """Return the way that a login by a factor is."""
    return view.kind.replace("-", "_")


def last_way(visit: LoginVisit) -> str | None:
    """Return the way that the browser took last, if it is known."""
    name = visit.request.cookies.get(COOKIE, "")
    return name if _NAME.fullmatch(name) else None


def remember_way(visit: LoginVisit, response: Any, way: str | None) -> Any:
    """Return a response that makes the browser remember a way."""
    if way is not None and _NAME.fullmatch(way):
        response.set_cookie(
            COOKIE,
            way,
            max_age=_MAX_AGE_SECONDS,
            path=visit.root,
            secure=visit.is_secure,
            httponly=True,
            samesite="Lax",
        )
    return response
