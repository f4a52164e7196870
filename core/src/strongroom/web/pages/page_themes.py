"""The theme of a page: light, dark, or the system's."""

from typing import Final

from flask import Response, request
from werkzeug.http import parse_cookie

from strongroom.web.http.request import current_environ, get_service
from strongroom.web.pages.browsers import Browsers
from strongroom.web.pages.page_parameters import THEME

SYSTEM: Final = "system"
THEMES: Final = (SYSTEM, "light", "dark")
THEME_COOKIE: Final = "theme"
"""The cookie with the theme that the user has chosen in this browser. It is no secret."""

_YEAR: Final = 365 * 24 * 60 * 60


def page_theme() -> str:
    """Return the theme of the page: one of :data:`THEMES`."""
    cookie = parse_cookie(current_environ().get("HTTP_COOKIE")).get(THEME_COOKIE)
    theme = request.args.get(THEME, cookie)
    return theme if theme in THEMES else SYSTEM


def remember_theme(response: Response) -> None:
    """Have the browser keep the theme that the request chooses, if it chooses one."""
    theme = request.args.get(THEME)
    if theme not in THEMES:
        return
    age = 0 if theme == SYSTEM else _YEAR
    secure = get_service(Browsers).is_secure
    response.set_cookie(THEME_COOKIE, theme, age, secure=secure, httponly=True, samesite="Lax")
