"""HTTP client of the platform: requests, retries, and errors by errcode.

docs/adr/0014-wechat-without-authlib.md explains why it does not use Authlib.
"""

import time
from collections.abc import Mapping
from http import HTTPStatus
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests

from strongroom_login_wechat.answer import Answer
from strongroom_login_wechat.errors import BUSY, PlatformUnavailable, error_for
from strongroom_login_wechat.options import WeChatOptions
from strongroom_login_wechat.redaction import redact_request_log, without_secrets
from strongroom_login_wechat.timing import Sleep

FIRST_PAUSE = 0.2
"""Seconds before the first retry of a busy platform; doubled for each further retry."""

_Body = Mapping[str, Any] | None


class PlatformClient:
    """Client of the platform's interfaces. Thread-safe."""

    def __init__(self, options: WeChatOptions, *, sleep: Sleep = time.sleep) -> None:
        self._base_url = options.api_url.rstrip("/")
        self._timeout = (options.connect_timeout, options.read_timeout)
        self._attempts = options.attempts
        self._sleep = sleep
        self._session = requests.Session()
        # The session is shared, so a cookie from one person's response must not be sent with another's.
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        redact_request_log()

    def get(self, path: str, **query: str) -> Answer:
        """Send a GET request.

        Raises:
            WeChatError: the subclass for the errcode; ``PlatformUnavailable`` if the platform stays
                busy, does not respond in time, or returns an invalid response.
        """
        return self._call("GET", path, query, None)

    def post(self, path: str, body: Mapping[str, Any], **query: str) -> Answer:
        """Send a POST request with a JSON body; raises the same errors as :meth:`get`."""
        return self._call("POST", path, query, body)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _call(self, method: str, path: str, query: Mapping[str, str], body: _Body) -> Answer:
        answer = self._send(method, path, query, body)
        for retry in range(self._attempts - 1):
            if answer.errcode != BUSY:
                break
            self._sleep(FIRST_PAUSE * 2**retry)
            answer = self._send(method, path, query, body)
        if answer.errcode:
            said = " ".join((answer.optional_text("errmsg") or "").split())
            message = f"{path} returned errcode {answer.errcode}: {said}"
            raise error_for(answer.errcode, without_secrets(message, {**query, **(body or {})}))
        return answer

    def _send(self, method: str, path: str, query: Mapping[str, str], body: _Body) -> Answer:
        response = self._response(method, path, query, body)
        answer = Answer.decode(path, response.content)
        if response.status_code != HTTPStatus.OK and not answer.errcode:
            raise PlatformUnavailable(f"{path} returned status {response.status_code}")
        return answer

    def _response(
        self, method: str, path: str, query: Mapping[str, str], body: _Body
    ) -> requests.Response:
        # Never retried: a request whose response was lost may have redeemed a one-time code.
        try:
            return self._session.request(
                method,
                self._base_url + path,
                params=query,
                json=body,
                timeout=self._timeout,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            failure = type(error).__name__
        # Raised outside the handler, because the exception contains the URL with the secret.
        raise PlatformUnavailable(f"{path} did not respond: {failure}")
