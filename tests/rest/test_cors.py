"""Cross-origin requests: the requests that a browser may send, and the responses it may read."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import PASSWORD, Api
from tests.support.config import write_toml
from werkzeug.datastructures import Headers

from strongroom.foundation.config import ConfigurationError, load
from strongroom.web.http.middleware import ALLOWED_HEADERS, EXPOSED_HEADERS

APP = "https://app.example.com"
OTHER = "https://other.example.com"
READ = (
    r"(?:request\.headers(?:\.get\(|\[)|\bheader\(|_HEADER = |announced\(|_get_header\(environ, )"
    r'"([A-Za-z-]+)"'
)
READ_BY_WSGI = r'\benviron\.get\("HTTP_([A-Z_]+)"'
SOURCES = [
    path
    for folder in ("core", "plugins")
    for path in Path(folder).rglob("src/**/*.py")
    # Its methods are for programs, and browsers send none of them to another origin.
    if "strongroom_webdav" not in path.parts
]


pytestmark = pytest.mark.config({"server": {"cors_origins": [APP]}})


def preflight(api: Api, path: str, origin: str, method: str = "POST") -> Headers:
    headers = {"Origin": origin, "Access-Control-Request-Method": method}
    return api.request("OPTIONS", path, headers=headers).headers


@pytest.mark.parametrize("path", ["/authorizations", "/api/v1/files", "/users/me", "/nowhere"])
def test_a_preflight_of_an_allowed_origin_is_answered(api: Api, path: str) -> None:
    headers = preflight(api, path, APP, "PATCH")
    assert headers["Access-Control-Allow-Origin"] == APP
    assert headers["Vary"] == "Origin"
    assert "PATCH" in headers["Access-Control-Allow-Methods"]
    assert "Authorization" in headers["Access-Control-Allow-Headers"]
    assert int(headers["Access-Control-Max-Age"]) > 0


@pytest.mark.parametrize("origin", [OTHER, "null", f"{APP}.evil.example", f"{APP}:8443", APP.upper()])
def test_another_origin_is_allowed_nothing(api: Api, origin: str) -> None:
    answers = [
        preflight(api, "/authorizations", origin),
        api.get("/livez", headers={"Origin": origin}).headers,
    ]
    for headers in answers:
        assert "Access-Control-Allow-Origin" not in headers
        assert headers["Vary"] == "Origin"


def test_scripts_of_an_allowed_origin_read_the_token_of_a_login(api: Api) -> None:
    person = api.person()
    body = {"username": person.email, "password": PASSWORD}
    headers = api.post("/authorizations", body, headers={"Origin": APP}).headers
    assert headers["Access-Control-Allow-Origin"] == APP
    assert "X-Access-Token" in headers["Access-Control-Expose-Headers"]
    assert len(headers.getlist("Access-Control-Expose-Headers")) == 1


def test_credentials_mode_is_never_allowed(api: Api) -> None:
    assert "Access-Control-Allow-Credentials" not in preflight(api, "/authorizations", APP)


@pytest.mark.parametrize("path", ["/users/me", "/nowhere", "/users//me"])
def test_errors_are_shared_with_the_origin_too(api: Api, path: str) -> None:
    response = api.get(path, headers={"Origin": APP})
    assert response.status_code in (401, 404)
    assert response.headers["Access-Control-Allow-Origin"] == APP


def test_the_response_to_a_hot_request_says_that_it_varies_by_origin(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    node = api.upload(tenant, alice, "note.txt", b"words")
    plain = api.get(f"{tenant}/files/{node['id']}", by=alice).headers
    shared = api.get(f"{tenant}/files/{node['id']}", by=alice, headers={"Origin": APP}).headers
    assert "Origin" in plain.getlist("Vary")
    assert "Access-Control-Allow-Origin" not in plain
    assert shared["Access-Control-Allow-Origin"] == APP


def test_options_of_tus_is_no_preflight(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    response = api.request("OPTIONS", f"{tenant}/uploads", by=alice, headers={"Origin": APP})
    assert response.headers["Tus-Version"] == "1.0.0"
    assert response.headers["Access-Control-Allow-Origin"] == APP


def test_every_header_that_a_route_reads_may_be_sent() -> None:
    allowed = ALLOWED_HEADERS
    read = {name for path in SOURCES for name in headers_read(path.read_text())}
    # A browser sets these itself, or a proxy does, or every script may. X-CSRF is of scripts of the
    # server's own pages, which have its origin. Traceparent is of proxies and servers.
    assert read - allowed <= {
        "Accept",
        "Sec-Fetch-Mode",
        "Sec-Fetch-Site",
        "User-Agent",
        "X-Forwarded-For",
        "Transfer-Encoding",
        "Content-Range",
        "Host",
        "Cookie",
        "Origin",
        "Traceparent",
        "X-CSRF",
    }
    assert "X-Device-Id" in read


def test_every_header_of_the_openapi_document_may_be_sent(api: Api) -> None:
    named = {
        parameter["name"]
        for item in api.get("/openapi.json").json["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "header"
    }
    allowed = preflight(api, "/users/me", APP, "DELETE")["Access-Control-Allow-Headers"].split(", ")
    assert named <= set(allowed)
    assert "X-Current-Password" in named


@pytest.mark.parametrize("header", ["ETag", "Location", "Retry-After", "Upload-Offset", "X-Request-Id"])
def test_headers_that_clients_need_are_exposed(header: str) -> None:
    assert header in EXPOSED_HEADERS


@pytest.mark.config(
    {"server": {"cors_origins": [APP]}, "plugins": {"enabled": ["storage_local", "share_links"]}}
)
class TestHeadersOfPlugins:
    def test_scripts_send_and_read_the_headers_that_a_route_declares(self, api: Api) -> None:
        headers = preflight(api, "/api/v1/shares/secret", APP, "GET")
        assert "X-Share-Proof" in headers["Access-Control-Allow-Headers"].split(", ")
        assert "X-Share-Proof" in headers["Access-Control-Expose-Headers"].split(", ")

    def test_they_are_documented(self, api: Api) -> None:
        item = api.get("/openapi.json").json["paths"]["/api/v1/shares/{secret}/proofs"]["post"]
        assert item["responses"]["200"]["headers"]["X-Share-Proof"]["description"]


@pytest.mark.config({})
class TestWithoutOrigins:
    def test_no_header_of_the_protocol_is_sent(self, api: Api) -> None:
        headers = api.get("/livez", headers={"Origin": APP}).headers
        assert "Access-Control-Allow-Origin" not in headers
        assert "Vary" not in headers


@pytest.mark.config({"server": {"cors_origins": ["*"]}})
class TestWithAnyOrigin:
    def test_each_origin_is_allowed_by_its_name(self, api: Api) -> None:
        assert preflight(api, "/authorizations", OTHER)["Access-Control-Allow-Origin"] == OTHER


@pytest.mark.parametrize(
    "origin",
    [
        f"{APP}/",
        "app.example.com",
        "https://App.example.com",
        f"{APP}:443",
        "http://a.example:80",
        "null",
    ],
)
def test_an_origin_that_no_browser_sends_is_refused_at_start(tmp_path: Path, origin: str) -> None:
    path = write_toml(tmp_path / "strongroom.toml", {"server": {"cors_origins": [origin]}})
    with pytest.raises(ConfigurationError, match="cors_origins"):
        load(path, {})


def headers_read(source: str) -> Iterator[str]:
    """Return the headers that code reads from a request, or from its WSGI environment."""
    yield from re.findall(READ, source)
    for name in re.findall(READ_BY_WSGI, source):
        yield name.replace("_", "-").title()
