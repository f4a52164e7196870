"""The cookie that binds the states of redirects to a browser."""

import re
import secrets
from functools import partial
from typing import Final

from flask import Response, after_this_request

from strongroom.identity.sessions.oauth_states import LIFETIME
from strongroom.web.http.cookies import HostCookie
from strongroom.web.http.request import current_environ

_FORM: Final = re.compile(r"[A-Za-z0-9_-]{43}")


class StateCookie:
    """The secret of the browser of the current request.

    The cookie is ``SameSite=Lax``: a provider that answers by a POST from its own site gets a redirect
    to the same path by GET, which browsers send the cookie with.

    Args:
        is_secure: whether browsers reach the server by HTTPS.
    """

    def __init__(self, *, is_secure: bool) -> None:
        self._cookie = HostCookie("strongroom-browser", is_secure)

    def issue(self) -> str:
        """Return the secret that a new state is bound to; the response sets its cookie."""
        secret = self.known() or secrets.token_urlsafe(32)
        after_this_request(partial(self._remember, secret))
        return secret

    def known(self) -> str:
        """Return the secret that the browser has sent; empty if there is none."""
        value = self._cookie.read(current_environ()) or ""
        return value if _FORM.fullmatch(value) else ""

    def _remember(self, secret: str, response: Response) -> Response:
        self._cookie.write(response, secret, max_age=LIFETIME // 1000)
        return response
