"""Sends requests: authentication, refresh of tokens, repeated attempts, errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urljoin

import httpx
import msgspec

from ..api import authorizations
from ..concurrency import Lock, completed, in_thread, sleep
from ..device_codes import refresh_operation, revocation_operation
from ..errors import (
    ApiError,
    ConnectionFailed,
    NotLoggedIn,
    UnexpectedResponse,
)
from ..models import IssuedTokens, Refresh, RenewedToken
from ..operations import Operation, Result_co
from ..retries import Retries
from ..tokens import DeviceStore, Grant, MemoryTokens, Tokens, TokenStore

_EXPIRED: Final = "error.token-invalid"
_GRANT_ENDED: Final = "invalid_grant"
_EARLY_SECONDS: Final = 30
"""A token that ends so soon is refreshed before it is used."""

_DEVICE: Final = "X-Device-Id"
_DEVICE_PATHS: Final = frozenset(
    {
        "/authorizations",
        "/authorizations/challenges",
        "/captchas",
        "/passkey-challenges",
        "/verification-codes",
    }
)
"""Where the server counts by device, records the device of a login or challenge, or issues an id."""

_ERRORS: Final = 400
_REDIRECT: Final = 307


class Session:
    """A connection to a server with the login of one user.

    Args:
        http: the connections.
        key: an access key, instead of a login.
        tokens: where the tokens of the login are stored.
        retries: when a request is sent again.
    """

    def __init__(
        self, http: httpx.Client, *, key: str | None, tokens: TokenStore, retries: Retries
    ) -> None:
        self.http = http
        self._key = key
        self._tokens = tokens
        self._devices: DeviceStore = tokens if isinstance(tokens, DeviceStore) else MemoryTokens()
        self.retries = retries
        # Before the lock of the store, so that at most one thread of this process waits for the latter.
        self._refreshing = Lock()

    @property
    def url(self) -> str:
        """The URL of the server."""
        return str(self.http.base_url)

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    def send(self, operation: Operation[Result_co], *, is_anonymous: bool = False) -> Result_co:
        """Send an operation and return its result.

        Raises:
            ApiError: the server refused it.
            ConnectionFailed: there was no response.
            UnexpectedResponse: the response has another form.
        """
        response = self.request(operation, is_anonymous=is_anonymous)
        try:
            return operation.decode(response.content)
        except msgspec.DecodeError as error:
            raise UnexpectedResponse(f"No Strongroom server answered: {error}.") from error

    def request(
        self, operation: Operation[Any], *, is_anonymous: bool = False, is_streamed: bool = False
    ) -> httpx.Response:
        """Send an operation and return the response, whose content is not read if it is streamed.

        Raises:
            ApiError: the server refused it.
            ConnectionFailed: there was no response.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                response = self._authenticated(operation, is_anonymous, is_streamed)
                if response.status_code < _ERRORS:
                    return response
                fault: Exception = _to_error(response)
            except httpx.TransportError as error:
                fault = error
            wait = self.retries.wait_after(operation, attempt, fault)
            if wait is None:
                raise _visible(fault) from fault.__cause__
            sleep(wait)

    @contextmanager
    def stream(self, operation: Operation[bytes]) -> Iterator[httpx.Response]:
        """Send an operation, and stream the content of its response."""
        response = self.request(operation, is_streamed=True)
        try:
            yield response
        finally:
            response.close()

    def log_in(self, tokens: IssuedTokens) -> None:
        """Store the tokens of a new login."""
        self.store_login(
            Tokens(
                tokens.access_token, tokens.expires_at, tokens.refresh_token, tokens.refresh_expires_at
            )
        )

    def store_login(self, tokens: Tokens) -> None:
        """Store the tokens of a new login."""
        self._exchange_alone(None, tokens)

    @property
    def login(self) -> Tokens | None:
        """The tokens of the login; ``None`` without one, or with an access key."""
        return None if self._key is not None else self._tokens.load()

    def renew(self, renewed: RenewedToken) -> None:
        """Store a new access token of the same login; its refresh token stays."""
        with self._refreshing:
            completed(self._renew_locked, renewed)

    def _renew_locked(self, renewed: RenewedToken) -> None:
        in_thread(self._tokens.acquire)
        try:
            if tokens := self._tokens.load():
                self._tokens.save(tokens.with_access(renewed.access_token, renewed.expires_at))
        finally:
            self._tokens.release()

    def forget_login(self) -> None:
        """Remove the stored tokens."""
        self._tokens.save(None)

    def refresh(self, stale: str) -> str:
        """Exchange the tokens, unless another task, thread or process has already exchanged them.

        Args:
            stale: the access token to replace.

        Returns:
            a newer access token.

        Raises:
            NotLoggedIn: there is no login.
            ApiError: the login has ended, or needs a second factor.
            ConnectionFailed: there was no response.
        """
        return self._exchange_alone(stale, None)

    def _exchange_alone(self, stale: str | None, issued: Tokens | None) -> str:
        with self._refreshing:
            # Cancelled between the response and the store, the only valid tokens would be lost.
            return completed(self._exchange_locked, stale, issued)

    def _exchange_locked(self, stale: str | None, issued: Tokens | None) -> str:
        in_thread(self._tokens.acquire)
        try:
            return self._exchange(stale, issued)
        finally:
            self._tokens.release()

    def _exchange(self, stale: str | None, issued: Tokens | None) -> str:
        if issued is None:
            tokens = self._tokens.load()
            if tokens is None:
                raise NotLoggedIn("there is no login, or it has ended: log in")
            if tokens.access_token != stale:
                return tokens.access_token
            issued = self._renewed(tokens)
        self._tokens.save(issued)
        return issued.access_token

    def _renewed(self, tokens: Tokens) -> Tokens:
        try:
            if tokens.grant is not None:
                return self._renewed_grant(tokens.grant, tokens.refresh_token)
            return self._renewed_login(tokens.refresh_token)
        except ApiError as error:
            # After a step-up, the refresh token is valid again; otherwise it never is.
            if error.code not in (_EXPIRED, _GRANT_ENDED):
                raise
            self._tokens.save(None)
            if error.code == _EXPIRED:
                raise
            raise NotLoggedIn("the login has ended: log in") from error

    def _renewed_login(self, refresh_token: str) -> Tokens:
        operation = authorizations.refresh_authorization(body=Refresh(refresh_token=refresh_token))
        issued = self.send(operation, is_anonymous=True)
        return Tokens(
            issued.access_token, issued.expires_at, issued.refresh_token, issued.refresh_expires_at
        )

    def _renewed_grant(self, grant: Grant, refresh_token: str) -> Tokens:
        """Exchange the refresh token of a grant, which only the token endpoint accepts."""
        issued = self.send(refresh_operation(grant, refresh_token), is_anonymous=True)
        return issued.of_grant(grant)

    def revoke(self, tokens: Tokens, grant: Grant) -> None:
        """End a grant on the server, by its refresh token."""
        self.send(revocation_operation(grant, tokens.refresh_token), is_anonymous=True)

    def _authenticated(
        self, operation: Operation[Any], is_anonymous: bool, is_streamed: bool
    ) -> httpx.Response:
        token = None if is_anonymous else self._access_token()
        response = self._transmit(operation, token, is_streamed)
        if token is None or self._key is not None or not operation.is_repeatable:
            return response
        if not _is_expired(response):
            return response
        return self._transmit(operation, self.refresh(token), is_streamed)

    def _access_token(self) -> str | None:
        if self._key is not None:
            return self._key
        tokens = self._tokens.load()
        if tokens is None:
            return None
        if tokens.expires_within(_EARLY_SECONDS):
            return self.refresh(tokens.access_token)
        return tokens.access_token

    def _transmit(
        self, operation: Operation[Any], token: str | None, is_streamed: bool
    ) -> httpx.Response:
        request = self.http.build_request(**operation.arguments())
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"
        if operation.path in _DEVICE_PATHS and (device_id := self._devices.load_device()):
            request.headers.setdefault(_DEVICE, device_id)
        response = self.http.send(request, stream=is_streamed)
        if issued := response.headers.get(_DEVICE):
            self._devices.save_device(issued)
        if response.status_code == _REDIRECT and operation.method == "GET":
            return self._follow(response, is_streamed)
        return response

    def _follow(self, response: httpx.Response, is_streamed: bool) -> httpx.Response:
        """Get content from the object store that the server redirects to.

        Neither the token nor the validators are meant for the store: it has an ETag of its own.
        """
        response.close()
        sent = response.request.headers
        headers = {"Range": sent["Range"]} if "Range" in sent else {}
        url = urljoin(str(response.request.url), response.headers["Location"])
        request = self.http.build_request("GET", url, headers=headers)
        return self.http.send(request, stream=is_streamed)


def _to_error(response: httpx.Response) -> ApiError:
    content = response.read()
    response.close()
    return ApiError.from_response(response.status_code, response.headers, content)


def _is_expired(response: httpx.Response) -> bool:
    if response.status_code != httpx.codes.UNAUTHORIZED:
        return False
    return (_to_error(response)).code == _EXPIRED


def _visible(fault: Exception) -> Exception:
    """Return the error that the caller sees."""
    if not isinstance(fault, httpx.TransportError):
        return fault
    visible = ConnectionFailed(f"{type(fault).__name__}: {fault}")
    visible.__cause__ = fault
    return visible
