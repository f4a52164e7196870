"""Contract tests for WSGI applications of plugins, on a live server."""

import base64

import pytest

from strongroom.testing.server import LiveServer, LiveUser

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND")

ODD_PATHS = (
    "",
    "/",
    "//",
    "/.",
    "/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/%00",
    "/%FF%FE",
    "/%ED%A0%80",
    "/a%0Ab",
    "/%25",
    "/%22%3Cscript%3E",
    "/" + "a" * 2000,
    "/" + "%E6%96%87/" * 50,
    "/?page=0",
    "/?page=-1",
    "/?page=99999999999999999999",
    "/?" + "x=1&" * 100,
)
"""What follows the prefix in hostile requests."""

_SERVER_ERRORS = 500
_UNAUTHORIZED = 401
_FORBIDDEN = 403


class WsgiApplicationContract:
    """The contract of WSGI applications. Provide the fixture ``prefix``.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` that has the plugin enabled. Hostile requests are sent
    anonymously, and by a user without tenants.
    """

    private = True
    """Whether every request below the prefix requires a caller."""

    @pytest.fixture
    def prefix(self) -> str:
        """The prefix of the application, such as ``/browse``."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture(scope="class")
    @classmethod
    def user(cls, server: LiveServer) -> LiveUser:
        return server.user()

    @pytest.mark.parametrize("method", METHODS)
    def test_no_request_is_an_error_of_the_server(
        self, server: LiveServer, prefix: str, user: LiveUser, method: str
    ) -> None:
        failed = [
            (path, reply.status, reply.text)
            for path in ODD_PATHS
            for by in (None, user)
            if (reply := server.request(method, prefix + path, by=by)).status >= _SERVER_ERRORS
        ]
        assert failed == []

    def test_each_response_has_the_id_of_its_request(self, server: LiveServer, prefix: str) -> None:
        reply = server.request("GET", f"{prefix}/", headers={"X-Request-Id": "contract-1"})
        assert reply.headers["x-request-id"] == "contract-1"
        assert reply.headers["x-content-type-options"] == "nosniff"

    def test_an_anonymous_request_is_refused(self, server: LiveServer, prefix: str) -> None:
        if not self.private:
            pytest.skip("the application is public")
        reply = server.request("GET", f"{prefix}/")
        assert reply.status == _UNAUTHORIZED
        assert "www-authenticate" in reply.headers

    @pytest.mark.parametrize("scheme", ["Bearer", "Basic", "Digest", "", "Basic Basic"])
    def test_wrong_credentials_are_refused(self, server: LiveServer, prefix: str, scheme: str) -> None:
        if not self.private:
            pytest.skip("the application is public")
        for value in ("", "=", "srk_", base64.b64encode(b"user:password").decode(), "\u00ff", "x" * 500):
            headers = {"Authorization": f"{scheme} {value}".strip()}
            reply = server.request("GET", f"{prefix}/", headers=headers)
            assert reply.status in (_UNAUTHORIZED, _FORBIDDEN), (value, reply.text)

    def test_head_has_no_body(self, server: LiveServer, prefix: str, user: LiveUser) -> None:
        assert server.request("HEAD", f"{prefix}/", by=user).body == b""
