"""The interfaces of WeChat: JSON with status 200, errors included.

Secrets and codes are in the query of URLs, so no URL appears in a log or a message.
"""

import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from strongroom_login_oauth.app_token import Token
from strongroom_login_oauth.client import Json, JsonClient, reason
from strongroom_login_oauth.errors import ProviderUnavailable
from strongroom_login_wechat.errors import BUSY, error_for
from strongroom_login_wechat.options import WeChatOptions

FIRST_PAUSE: Final = 0.2
"""Seconds before the first retry of a busy platform; doubled for each further retry."""


class WeChatApi:
    """Calls the interfaces, and repeats requests that the platform is too busy for. Thread-safe."""

    def __init__(self, options: WeChatOptions, *, sleep: Callable[[float], object] = time.sleep) -> None:
        self._client = JsonClient.of(options.api_url, options)
        self._attempts = options.attempts
        self._sleep = sleep

    def get(self, path: str, **query: str) -> Json:
        """Send a GET request.

        Raises:
            ProviderError: the class for the errcode; ``ProviderUnavailable`` if the platform stays busy,
                does not answer in time, or sends an answer that is too large or malformed.
        """
        return self._repeated(lambda: self._client.get(path, query), query)

    def post(self, path: str, body: Mapping[str, Any], **query: str) -> Json:
        """Send a POST request with a JSON body; raises the same errors as :meth:`get`."""
        return self._repeated(lambda: self._client.post(path, body, query=query), {**query, **body})

    def fetch_token(self, appid: str, secret: str, *, force: bool = False) -> Token:
        """Return the token of an app.

        Args:
            force: whether the former token ends, which the platform allows 20 times a day.
        """
        body = {
            "grant_type": "client_credential",
            "appid": appid,
            "secret": secret,
            "force_refresh": force,
        }
        answer = self.post("/cgi-bin/stable_token", body)
        return Token(answer.text("access_token"), answer.integer("expires_in"))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _repeated(self, send: Callable[[], Json], request: Mapping[str, Any]) -> Json:
        answer = send()
        for retry in range(self._attempts - 1):
            if _errcode(answer) != BUSY:
                break
            self._sleep(FIRST_PAUSE * 2**retry)
            answer = send()
        return _checked(answer, request)


def _checked(answer: Json, request: Mapping[str, Any]) -> Json:
    """Return an answer without an error; the errcode counts, and not the status."""
    if errcode := _errcode(answer):
        said = reason(answer, "errmsg", request)
        raise error_for(errcode, f"{answer.source} returned errcode {errcode}: {said}")
    if answer.status != HTTPStatus.OK:
        raise ProviderUnavailable(f"{answer.source} returned status {answer.status}")
    return answer


def _errcode(answer: Json) -> int:
    return answer.optional_integer("errcode")
