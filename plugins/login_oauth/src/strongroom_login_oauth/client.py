"""HTTP client for platforms whose interfaces are JSON but not OAuth 2.0."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import requests

from strongroom_login_oauth.answer import Json
from strongroom_login_oauth.errors import ProviderUnavailable
from strongroom_login_oauth.options import PlatformOptions, require_private
from strongroom_login_oauth.redaction import redact_request_log, without_secrets
from strongroom_login_oauth.transport import MAX_ANSWER, BoundedAdapter, BoundedSession

__all__ = ["MAX_ANSWER", "Json", "JsonClient"]


class JsonClient:
    """Client of the interfaces below a base URL. Thread-safe.

    It follows no redirect, repeats no request, and logs no secret.

    Args:
        base_url: the beginning of all URLs; it must begin with ``https://``, or lead to this machine.
        connect_timeout: seconds.
        read_timeout: seconds for a whole answer.
        max_bytes: the limit of an answer.

    Raises:
        ValueError: the base URL is not encrypted.
    """

    def __init__(
        self,
        base_url: str,
        *,
        connect_timeout: float = 3.0,
        read_timeout: float = 8.0,
        max_bytes: int = MAX_ANSWER,
    ) -> None:
        require_private("base_url", base_url)
        self._base_url = base_url.rstrip("/")
        self._session = BoundedSession(
            BoundedAdapter(connect_timeout, read_timeout, max_bytes=max_bytes)
        )
        redact_request_log()

    @classmethod
    def of(cls, base_url: str, options: PlatformOptions) -> "JsonClient":
        """Return a client with the time limits of a login method."""
        return cls(base_url, connect_timeout=options.connect_timeout, read_timeout=options.read_timeout)

    def get(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """Send a GET request, and return the answer of any status.

        Raises:
            ProviderUnavailable: no answer in time, too large, or no JSON object.
        """
        return self._json("GET", path, query, headers)

    def post(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """Send a POST request with a JSON body or a form; as :meth:`get`."""
        return self._json("POST", path, query, headers, json=body, data=form)

    def post_raw(self, path: str, form: Mapping[str, str]) -> bytes:
        """Send a POST request with a form, and return the bytes of the answer, such as signed ones.

        Raises:
            ProviderUnavailable: no answer in time, too large, or of another status than 200.
        """
        response = self._send("POST", path, data=form)
        if response.status_code != requests.codes.ok:
            raise ProviderUnavailable(f"{path} returned status {response.status_code}")
        return response.content

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _json(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
        **bodies: Any,
    ) -> Json:
        response = self._send(method, path, params=query, headers=headers, **bodies)
        return Json.decode(path, response.content, response.status_code)

    def _send(self, method: str, path: str, **parts: Any) -> requests.Response:
        # Never repeated: a request whose answer was lost may have redeemed a code.
        try:
            return self._session.request(method, self._base_url + path, allow_redirects=False, **parts)
        except (requests.RequestException, ValueError) as error:
            failure = type(error).__name__
        # Raised outside the handler, because the exception contains the URL with the secret.
        host = urlsplit(self._base_url).hostname
        raise ProviderUnavailable(f"{host}{path} did not answer: {failure}")


def reason(answer: Json, key: str, request: Mapping[str, Any], *secrets: str) -> str:
    """Return a text of an answer for a message: one line of at most 200 characters, without secrets.

    Args:
        key: the member with the text, such as ``errmsg``.
        request: the parameters of the request, whose secrets the text may repeat.
        secrets: further secrets of the request.
    """
    text = answer.members.get(key)
    words = " ".join(text.split()) if isinstance(text, str) else ""
    printable = "".join(letter for letter in words if letter.isprintable())
    return without_secrets(printable, request, secrets)[:200]
