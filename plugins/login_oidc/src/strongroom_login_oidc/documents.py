"""Requests for documents of a provider: discovery, keys and userinfo."""

from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from strongroom_login_oauth.errors import AnswerInvalid, Misconfigured, ProviderUnavailable
from strongroom_login_oauth.strict_json import parse_list, parse_object
from strongroom_login_oauth.transport import (
    BUSY_STATUSES,
    AnswerTooLarge,
    BoundedAdapter,
    BoundedSession,
)

DocumentT = TypeVar("DocumentT")

MAX_DOCUMENT: Final = 256 * 1024
"""Bytes of a discovery document or a key set."""

_JSON_TYPES: Final = ("application/json", "application/jwk-set+json", "application/jwt")


class Documents:
    """Sends GET requests for JSON documents. Thread-safe.

    Args:
        connect_timeout: seconds.
        read_timeout: seconds for a whole answer.
        adapter: sends the requests instead, within limits of its own.
    """

    def __init__(
        self, connect_timeout: float, read_timeout: float, *, adapter: HTTPAdapter | None = None
    ) -> None:
        bounded = BoundedAdapter(connect_timeout, read_timeout, max_bytes=MAX_DOCUMENT)
        self._session = BoundedSession(adapter or bounded)

    def get(self, name: str, url: str, *, access_token: str | None = None) -> requests.Response:
        """Return a document with status 200.

        Args:
            name: what it is, for messages.
            access_token: sent as a bearer token (RFC 6750, section 2.1).

        Raises:
            ProviderUnavailable: the provider is down, too slow or overloaded.
            AnswerInvalid: it redirects, sends too much, or refuses.
        """
        headers = {"Accept": "application/json"}
        if access_token is not None:
            headers["Authorization"] = f"Bearer {access_token}"
        try:
            response = self._session.get(url, headers=headers, allow_redirects=False)
        except (requests.RequestException, ValueError) as error:
            failure = error
        else:
            check_status(name, response)
            return response
        # Raised outside the handler, because the exception contains the URL.
        raise make_failure(name, url, failure)

    def get_object(self, name: str, url: str, access_token: str) -> Mapping[str, Any]:
        """Return a JSON object about the person of a token; raises the errors of :meth:`get`."""
        return parse_document(name, self.get(name, url, access_token=access_token))

    def get_list(self, name: str, url: str, access_token: str) -> list[Any]:
        """Return a JSON array about the person of a token; raises the errors of :meth:`get`."""
        return _parse_document(name, self.get(name, url, access_token=access_token), parse_list)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()


def make_failure(name: str, url: str, error: Exception) -> Exception:
    """Return the error for a request that got no response: an answer that is too large is invalid."""
    if isinstance(error, AnswerTooLarge | requests.TooManyRedirects):
        return AnswerInvalid(f"the {name} is too large, or redirects")
    host = urlsplit(url).hostname
    return ProviderUnavailable(f"{host} did not answer for its {name}: {type(error).__name__}")


def check_status(name: str, response: requests.Response) -> None:
    """Require status 200."""
    status = response.status_code
    if status in BUSY_STATUSES or _is_limited(response):
        raise ProviderUnavailable(f"the {name} has status {status}")
    if status == requests.codes.not_found:
        raise Misconfigured(f"the provider has no {name}; its URL is perhaps wrong")
    if status != requests.codes.ok:
        raise AnswerInvalid(f"the {name} has status {status}")


def _is_limited(response: requests.Response) -> bool:
    # GitHub limits with 403 and this header.
    remaining = response.headers.get("X-RateLimit-Remaining")
    return response.status_code == requests.codes.forbidden and remaining == "0"


def parse_document(name: str, response: requests.Response) -> Mapping[str, Any]:
    """Return a JSON object.

    Raises:
        AnswerInvalid: it is none, or another type than JSON.
    """
    return _parse_document(name, response, parse_object)


def _parse_document(
    name: str, response: requests.Response, parse: Callable[[bytes], DocumentT]
) -> DocumentT:
    if media_type(response) not in _JSON_TYPES:
        raise AnswerInvalid(f"the {name} is no application/json")
    try:
        return parse(response.content)
    except ValueError as error:
        raise AnswerInvalid(f"the {name} is invalid: {error}") from None


def media_type(response: requests.Response) -> str:
    """Return the type of a response without parameters, in lowercase."""
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def clock_skew(response: requests.Response, now: float) -> float:
    """Return the seconds between a time and the ``Date`` of a response; 0 without one."""
    try:
        sent = parsedate_to_datetime(response.headers["Date"]).timestamp()
    except (KeyError, ValueError):
        return 0.0
    return abs(now - sent)
