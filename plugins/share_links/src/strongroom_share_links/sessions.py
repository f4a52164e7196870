"""The users of requests: by a token, or by the session of the browser that shows the pages."""

from dataclasses import dataclass
from typing import Final

from flask import request

from strongroom.plugin_api.browser import BrowserSession
from strongroom.plugin_api.host import HostAPI
from strongroom_share_links.paths import path_of

_SAFE_METHODS: Final = ("GET", "HEAD")


@dataclass(slots=True, eq=False, repr=False)
class Sessions:
    """Finds the user of the current request."""

    _host: HostAPI

    def user_id(self) -> str | None:
        """Return the user of the token, or the one who is logged in to the pages of the browser.

        Raises:
            ApiError: ``error.form-refused``: a page of another site has sent the form.
        """
        if (caller := self._host.caller) is not None:
            return caller.user_id
        if (session := self._session()) is None:
            return None
        if request.method not in _SAFE_METHODS:
            self._host.browser.require_csrf()
        return session.user_id

    def csrf(self) -> str:
        """Return the secret for the forms of the page; empty without a session."""
        return self._host.browser.csrf if self._session() else ""

    def _session(self) -> BrowserSession | None:
        """Return the session of a page, or of what a page of this server requests of the REST API.

        Programs have tokens for the REST API. Other sites may link to pages, but reach no route of
        the API with the session: the browser states who sends a request, and no script can change it.
        """
        is_page = request.path.startswith(path_of(self._host, "/s/"))
        is_own = request.headers.get("Sec-Fetch-Site") == "same-origin"
        return self._host.browser.session() if is_page or is_own else None
