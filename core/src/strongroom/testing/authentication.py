"""Contract tests for authenticators."""

import base64
import re
from collections.abc import Iterator, Mapping

import pytest

from strongroom.plugin_api.authentication import (
    ACCESS_KEY_PREFIX,
    Authenticator,
    PresentedCredential,
    RequestHead,
)

KEY = f"{ACCESS_KEY_PREFIX}a1B2c3D4_" + "x" * 43 + "000000"
"""A text with the form of an access key."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CHALLENGE = re.compile(r'[A-Za-z][A-Za-z0-9-]*( [a-z]+="[^"\\]*"(, [a-z]+="[^"\\]*")*)?')
_GARBAGE = (
    "",
    " ",
    "\0",
    "Basic",
    "Basic ",
    "Basic =",
    "Basic \xff\xfe",
    "Basic " + base64.b64encode(b"\xff\xfe:\xff").decode(),
    "Basic " + base64.b64encode(b"no colon").decode(),
    "Bearer",
    "Digest username=x",
    "AWS4-HMAC-SHA256 Credential=x",
    ":" * 8192,
    "验证码",
)


class Headers(Mapping[str, str]):
    """Headers whose names are compared without regard to case, as a server compares them."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = {name.lower(): value for name, value in headers.items()}

    def __getitem__(self, name: str) -> str:
        return self._headers[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._headers)

    def __len__(self) -> int:
        return len(self._headers)


def request(
    headers: Mapping[str, str] | None = None,
    *,
    method: str = "GET",
    path: str = "/api/v1/tenants",
    query: str = "",
) -> RequestHead:
    """Return a request without a body."""
    return RequestHead(method, path, query, Headers(headers or {}), "192.0.2.1")


class AuthenticatorContract:
    """The contract of authenticators. Provide the fixtures ``authenticator`` and ``presenting``."""

    @pytest.fixture
    def authenticator(self) -> Authenticator:
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def presenting(self) -> RequestHead:
        """A request that presents :data:`KEY` in the way of the authenticator."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    def test_it_finds_the_key(self, authenticator: Authenticator, presenting: RequestHead) -> None:
        assert authenticator.credential(presenting) == PresentedCredential(KEY)

    def test_it_finds_the_same_key_again(
        self, authenticator: Authenticator, presenting: RequestHead
    ) -> None:
        credentials = {authenticator.credential(presenting) for _ in range(3)}
        assert credentials == {PresentedCredential(KEY)}

    def test_a_request_without_a_credential_has_none(self, authenticator: Authenticator) -> None:
        assert authenticator.credential(request()) is None

    def test_a_bearer_token_is_left_to_the_core(self, authenticator: Authenticator) -> None:
        assert authenticator.credential(request({"Authorization": f"Bearer {KEY}"})) is None

    @pytest.mark.parametrize("garbage", _GARBAGE)
    @pytest.mark.parametrize("header", ["Authorization", "Cookie", "X-Api-Key"])
    def test_garbage_raises_nothing_and_is_no_key(
        self, authenticator: Authenticator, header: str, garbage: str
    ) -> None:
        credential = authenticator.credential(request({header: garbage}, query=garbage))
        assert credential is None or credential.value != KEY

    def test_a_credential_does_not_show_the_key(
        self, authenticator: Authenticator, presenting: RequestHead
    ) -> None:
        assert KEY not in repr(authenticator.credential(presenting))

    def test_its_name_and_its_challenge_are_valid(self, authenticator: Authenticator) -> None:
        assert _NAME.fullmatch(authenticator.name)
        # RFC 9110, section 11.6.1, with quoted parameters only, which all clients parse.
        assert _CHALLENGE.fullmatch(authenticator.challenge)
