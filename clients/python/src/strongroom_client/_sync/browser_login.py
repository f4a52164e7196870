"""Logins by the login page of the server, in the browser of the user."""

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final

import httpx

from ..api import login_pages
from ..concurrency import in_thread, waited
from ..errors import ApiError, BrowserLoginFailed
from ..loopback import LoopbackRedirect
from ..models import IssuedTokens, LoginCode
from ..operations import Operation
from .session import Session

_UNKNOWN: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)


class BrowserLogin:
    """Opens the login page, and waits until the browser returns (RFC 8252).

    Args:
        session: sends the requests.
        redirect: where the browser returns to.
    """

    def __init__(self, session: Session, redirect: LoopbackRedirect) -> None:
        self._session = session
        self._redirect = redirect

    def run(self, open_url: Callable[[str], object], timeout: float) -> IssuedTokens:
        """Return the tokens of the login.

        Raises:
            BrowserLoginFailed: the server has no login page for programs, there is no browser, or the
                user did not log in within the time.
        """
        operation = Operation("GET", "/account/login", bytes, query=self._redirect.query)
        self._require_page(operation)
        url = self._session.http.build_request(**operation.arguments()).url
        if in_thread(open_url, str(url)) is False:
            raise BrowserLoginFailed("there is no browser to open")
        if not waited(self._redirect.answered, timeout):
            raise BrowserLoginFailed(f"no login in the browser within {timeout:.0f} s")
        return self._redeem()

    def _require_page(self, operation: Operation[bytes]) -> None:
        """Check that the server has the page, because an error would stay in the browser."""
        try:
            response = self._session.request(operation, is_anonymous=True)
        except ApiError as error:
            if error.status not in _UNKNOWN:
                raise
            raise BrowserLoginFailed("the server offers no login by browser to this program") from error
        _forget_cookies(self._session.http, response)

    def _redeem(self) -> IssuedTokens:
        body = LoginCode(code=self._redirect.code, code_verifier=self._redirect.verifier)
        # The members are those of a login by password.
        operation: Operation[Any] = login_pages.redeem_login_code(body=body)
        issued: Operation[IssuedTokens] = replace(operation, returns=IssuedTokens)
        return self._session.send(issued, is_anonymous=True)


def _forget_cookies(http: httpx.Client, response: httpx.Response) -> None:
    """Remove the session of the page, which no request of this client needs."""
    for name in list(response.cookies):
        http.cookies.delete(name)
