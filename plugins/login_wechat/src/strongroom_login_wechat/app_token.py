"""The access token of an app, as opposed to a person's."""

import threading
from collections.abc import Callable
from typing import TypeVar

from strongroom_login_wechat.client import PlatformClient
from strongroom_login_wechat.errors import TokenRefused
from strongroom_login_wechat.timing import Clock

RENEWAL_MARGIN = 60
"""Seconds before its expiry at which a token is renewed."""

ResultT = TypeVar("ResultT")


class AppToken:
    """An app's token, cached in memory and renewed before it expires. Thread-safe.

    The platform returns the same token to every caller until it expires, so the processes of a
    deployment need not share it.
    """

    def __init__(self, client: PlatformClient, appid: str, secret: str, *, clock: Clock) -> None:
        self._client = client
        self._appid = appid
        self._secret = secret
        self._clock = clock
        self._lock = threading.Lock()
        self._token = ""
        self._renew_at = 0.0

    def use(self, request: Callable[[str], ResultT]) -> ResultT:
        """Call ``request`` with the token and return its result; retry once with a new token."""
        token = self.get()
        try:
            return request(token)
        except TokenRefused:
            return request(self.replace(token))

    def get(self) -> str:
        """Return a valid token; fetch one if none is cached."""
        with self._lock:
            if self._clock() >= self._renew_at:
                self._fetch(force=False)
            return self._token

    def replace(self, refused: str) -> str:
        """Return a token other than ``refused``.

        The platform allows 20 forced refreshes per app and day, so an unforced fetch is tried first:
        another process may already have renewed the token.
        """
        with self._lock:
            if self._token == refused:
                self._fetch(force=False)
            if self._token == refused:
                self._fetch(force=True)
            return self._token

    def _fetch(self, *, force: bool) -> None:
        body = {
            "grant_type": "client_credential",
            "appid": self._appid,
            "secret": self._secret,
            "force_refresh": force,
        }
        answer = self._client.post("/cgi-bin/stable_token", body)
        self._token = answer.text("access_token")
        self._renew_at = self._clock() + answer.integer("expires_in") - RENEWAL_MARGIN
