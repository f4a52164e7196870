"""The token by which an app, rather than a person, talks to the platform."""

import threading
from collections.abc import Callable
from typing import TypeVar

from strongroom_login_wechat.client import PlatformClient
from strongroom_login_wechat.errors import TokenRefused
from strongroom_login_wechat.timing import Clock

RENEWAL_MARGIN = 60
"""Seconds before its expiry from which a token is no longer handed out without asking anew."""

ResultT = TypeVar("ResultT")


class AppToken:
    """An app's token, kept in memory and renewed before it expires.

    The platform gives the same token to all who ask, so that the processes of a deployment need not
    share one by themselves. One instance serves all threads of a process at once.
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
        """Return what ``request`` does with the token, giving it another one if the first is refused."""
        token = self.get()
        try:
            return request(token)
        except TokenRefused:
            return request(self.replace(token))

    def get(self) -> str:
        """Return a valid token, asking the platform for it only when none is at hand."""
        with self._lock:
            if self._clock() >= self._renew_at:
                self._fetch(force=False)
            return self._token

    def replace(self, refused: str) -> str:
        """Return another token than one that the platform has refused.

        The platform forces a new one for an app only 20 times a day: it is asked politely first.
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
