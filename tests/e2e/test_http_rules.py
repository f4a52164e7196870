"""HTTP that the server refuses or ignores, on raw sockets."""

import json
import socket

import pytest

from tests.support.client import PASSWORD, TIMEOUT, Client
from tests.support.server import Server

REAL, FORGED = "203.0.113.9", "198.51.100.7"
HTTP_2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


# A proxy on this machine appends the address of its client.
pytestmark = pytest.mark.config({"server": {"trusted_proxies": ["127.0.0.1/32"]}})


def answer(server: Server, *lines: str, body: bytes = b"") -> tuple[int, bytes]:
    """Send a request as it is, and return the status and the body of its response."""
    content = exchange(server, "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body)
    head, _, rest = content.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest


def exchange(server: Server, content: bytes) -> bytes:
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
        connection.sendall(content)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_options_of_the_server_names_the_methods(shared_server: Server) -> None:
    lines = ("OPTIONS * HTTP/1.1", "Host: a", "Connection: close", "", "")
    head = exchange(shared_server, "\r\n".join(lines).encode()).decode().partition("\r\n\r\n")[0]
    assert head.split()[1] == "200"
    allowed = next(line for line in head.lower().splitlines() if line.startswith("allow:"))
    assert {*allowed.removeprefix("allow:").replace(",", " ").split()} == {
        "get", "head", "post", "put", "patch", "delete", "options"
    }  # fmt: skip
    assert answer(shared_server, "GET * HTTP/1.1", "Host: a")[0] == 404
    assert answer(shared_server, "OPTIONS /* HTTP/1.1", "Host: a")[0] == 404


@pytest.mark.parametrize("hosts", [(), ("Host: a", "Host: b"), ("Host: a", "Host: a"), ("Host:",)])
def test_http_1_1_without_exactly_one_host_is_refused(
    shared_server: Server, hosts: tuple[str, ...]
) -> None:
    status, body = answer(shared_server, "GET /livez HTTP/1.1", *hosts)
    assert status == 400
    assert json.loads(body)["error"]["code"] == "error.malformed-request"


@pytest.mark.parametrize(
    ("lines", "status", "code"),
    [
        ([f"GET /livez?a={'b' * 60_000} HTTP/1.1"], 414, "error.uri-too-long"),
        (["GET /livez HTTP/1.1", f"X-A: {'b' * 120_000}"], 431, "error.header-fields-too-large"),
    ],
)
def test_a_head_that_is_too_large_gets_an_error_body(
    shared_server: Server, lines: list[str], status: int, code: str
) -> None:
    request = "\r\n".join([*lines, "Host: a", "Connection: close", "", ""]).encode()
    head, _, body = exchange(shared_server, request).decode().partition("\r\n\r\n")
    member = json.loads(body)["error"]
    assert (int(head.split()[1]), member["code"]) == (status, code)
    assert f"x-request-id: {member['requestId']}" in head


# Refused by the HTTP library before the server is called: docs/guides/rest.md lists them.
@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ([f"GET /livez?a={'b' * 66_000} HTTP/1.1", "Host: a"], 414),
        (["GET /livez HTTP/1.1", "Host: a", f"X-A: {'b' * 300_000}"], 431),
        (["GET /livez HTTP/1.1", "Host: a", *(f"X-{number}: 1" for number in range(99))], 431),
        (["GET /livez", "Host: a"], 400),
        (["GET /livez HTTP/1.1", "Host: a", "A b: c"], 400),
        (["POST /livez HTTP/1.1", "Host: a", "Content-Length: c"], 400),
    ],
)
def test_http_that_cannot_be_parsed_is_refused_without_a_body(
    shared_server: Server, lines: list[str], status: int
) -> None:
    assert answer(shared_server, *lines) == (status, b"")


def test_http_1_0_needs_no_host(shared_server: Server) -> None:
    assert answer(shared_server, "GET /livez HTTP/1.0")[0] == 200


def test_http_2_is_not_served_unless_configured(shared_server: Server) -> None:
    assert exchange(shared_server, HTTP_2_PREFACE) == b""


def test_a_token_in_a_header_with_underscores_is_none(shared_server: Server) -> None:
    token = Client.logged_in(shared_server.url, "alice@example.com").token
    statuses = [
        answer(shared_server, "GET /users/me HTTP/1.1", "Host: a", f"{name}: {token}")[0]
        for name in ("X-Access-Token", "X_Access_Token")
    ]
    assert statuses == [200, 401]


@pytest.mark.parametrize("forged_first", [True, False])
def test_an_address_forged_with_underscores_is_not_recorded(
    shared_server: Server, forged_first: bool
) -> None:
    claims = [f"X_Forwarded_For: {FORGED}", f"X-Forwarded-For: {REAL}"]
    body = json.dumps({"username": "alice@example.com", "password": PASSWORD}).encode()
    status, content = answer(
        shared_server,
        "POST /authorizations HTTP/1.1",
        "Host: a",
        *(claims if forged_first else claims[::-1]),
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        body=body,
    )
    assert status == 200
    alice = Client(shared_server.url, json.loads(content)["accessToken"])
    logins = alice.request("GET", "/users/me/authorizations").content.decode()
    assert REAL in logins
    assert FORGED not in logins


@pytest.mark.parametrize("method", ["get", "Get", "delete", "gET"])
@pytest.mark.parametrize("path", ["/livez", "/users/me", "/account/login", "/nowhere"])
def test_methods_are_case_sensitive(shared_server: Server, method: str, path: str) -> None:
    status, body = answer(shared_server, f"{method} {path} HTTP/1.1", "Host: a")
    assert (status, json.loads(body)["error"]["code"]) == (501, "error.not-implemented")


@pytest.mark.parametrize(
    ("coding", "status"),
    [
        ("chunked, chunked", 400),
        ("gzip, chunked", 501),
        ("identity, chunked", 501),
        ("chunked", 400),
        ("Chunked", 400),
    ],
)
def test_a_body_is_chunked_once_and_coded_otherwise_never(
    shared_server: Server, coding: str, status: int
) -> None:
    """Without its password, the login is 400 only after its body was read."""
    lines = ("Host: a", "Content-Type: application/json", f"Transfer-Encoding: {coding}")
    received, body = answer(
        shared_server, "POST /authorizations HTTP/1.1", *lines, body=b"2\r\n{}\r\n0\r\n\r\n"
    )
    codes = {
        "chunked": "error.validation-failed",
        "Chunked": "error.validation-failed",
        "chunked, chunked": "error.malformed-request",
    }
    code = codes.get(coding, "error.not-implemented")
    assert (received, json.loads(body)["error"]["code"]) == (status, code)


@pytest.mark.parametrize("slash", ["%2F", "%2f"])
def test_an_encoded_slash_separates_no_segments(shared_server: Server, slash: str) -> None:
    """A proxy that guards ``/users/me`` would not recognize this path."""
    statuses = [
        answer(shared_server, f"GET {path} HTTP/1.1", "Host: a")[0]
        for path in ("/users/me", f"/users{slash}me", f"/users/me{slash}credentials")
    ]
    assert statuses[0] == 401
    assert statuses[1] == 404
    assert statuses[2] == 401
