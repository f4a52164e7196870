"""The one way to the platform: a request, its retries, and its answer or the fitting error.

Why it is not Authlib's: docs/adr/0014-wechat-without-authlib.md.
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
"""Seconds before a busy platform is asked again; each further pause is twice as long."""

_Body = Mapping[str, Any] | None


class PlatformClient:
    """Talks to the platform's interfaces. One instance serves all threads of a process at once."""

    def __init__(self, options: WeChatOptions, *, sleep: Sleep = time.sleep) -> None:
        self._base_url = options.api_url.rstrip("/")
        self._timeout = (options.connect_timeout, options.read_timeout)
        self._attempts = options.attempts
        self._sleep = sleep
        self._session = requests.Session()
        # A cookie of one person's answer has no business in another's request.
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        redact_request_log()

    def get(self, path: str, **query: str) -> Answer:
        """Send a GET request.

        Raises:
            WeChatError: the leaf that fits the errcode; ``PlatformUnavailable`` when the platform
                stays busy or does not answer sensibly in time.
        """
        return self._ask("GET", path, query, None)

    def post(self, path: str, body: Mapping[str, Any], **query: str) -> Answer:
        """Send a POST request with a JSON body; it raises what :meth:`get` does."""
        return self._ask("POST", path, query, body)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _ask(self, method: str, path: str, query: Mapping[str, str], body: _Body) -> Answer:
        answer = self._send(method, path, query, body)
        for retry in range(self._attempts - 1):
            if answer.errcode != BUSY:
                break
            self._sleep(FIRST_PAUSE * 2**retry)
            answer = self._send(method, path, query, body)
        if answer.errcode:
            said = " ".join((answer.optional_text("errmsg") or "").split())
            message = f"{path} answered errcode {answer.errcode}: {said}"
            raise error_for(answer.errcode, without_secrets(message, {**query, **(body or {})}))
        return answer

    def _send(self, method: str, path: str, query: Mapping[str, str], body: _Body) -> Answer:
        response = self._response(method, path, query, body)
        answer = Answer.decode(path, response.content)
        if response.status_code != HTTPStatus.OK and not answer.errcode:
            raise PlatformUnavailable(f"{path} answered with status {response.status_code}")
        return answer

    def _response(
        self, method: str, path: str, query: Mapping[str, str], body: _Body
    ) -> requests.Response:
        # Sent once only: a request whose answer was lost may have used up a single-use code.
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
        # Not within the handler: what it handles carries the URL, and with it the secret.
        raise PlatformUnavailable(f"{path} gave no answer: {failure}")
