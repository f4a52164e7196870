"""``host.rest`` sends requests to the REST API for the client of the current request."""

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile

import flask
import pytest
from tests.support.api import PASSWORD, Api
from tests.support.databases import on_sqlite

from strongroom.plugin_api.host import HostAPI
from strongroom.web.http import internal_requests

pytestmark = [on_sqlite, pytest.mark.config({"limits": {"captchas_per_address": ["2/hour"]}})]


@pytest.fixture
def host(api: Api) -> HostAPI:
    return api.container.hosts.get("storage_local")


@contextmanager
def browser(api: Api, **headers: str) -> Iterator[None]:
    """Play a plugin's view, which serves the request of a browser."""
    base = {"REMOTE_ADDR": "192.0.2.7"}
    with api.app.test_request_context("/page?a=b", environ_base=base, headers=headers):
        yield


def test_a_user_logs_in_and_calls_a_route(api: Api, host: HostAPI) -> None:
    alice = api.person(name="Alice")
    with browser(api):
        body = {"username": alice.email, "password": PASSWORD}
        login = host.rest("POST", "/authorizations", body)
        assert (login.status, login.error) == (200, None)
        me = host.rest("GET", "/users/me", token=login.json["accessToken"])
        assert me.json["name"] == "Alice"
        assert host.rest("GET", "/users/me/authorizations?pageSize=1", token=alice.token).json["data"]


def test_an_error_has_its_code_and_challenge(api: Api, host: HostAPI) -> None:
    with browser(api):
        refused = host.rest("POST", "/authorizations", {"username": "nobody", "password": "x"})
        assert (refused.status, refused.error) == (401, "error.invalid-credentials")
        assert host.rest("GET", "/nowhere").error == "error.not-found"
        assert host.rest("GET", "/users/me", token="forged").error == "error.token-invalid"


def test_input_that_no_client_could_send_is_refused(api: Api, host: HostAPI) -> None:
    lone = "\ud800"
    with browser(api):
        for body in ({lone: 1}, {"challenge": {"id": "x", "passkey": {lone: 1}}}, {"username": lone}):
            assert host.rest("POST", "/authorizations", body).status == 400
        assert host.rest("GET", f"/users/{lone}", token=lone).status == 401
        assert host.rest("GET", f"/livez?{lone}=1").status == 400
        headers = {"X-Captcha": f"{lone}.{lone}", "Accept-Language": lone}
        assert host.rest("GET", f"/credentials/{lone}/available", headers=headers).status < 500


def test_the_records_are_those_of_the_browser(api: Api, host: HostAPI) -> None:
    alice, admin = api.person(), api.person(admin=True)
    headers = {"User-Agent": "Firefox", "X-Request-Id": "request-1"}
    with browser(api, **headers):
        host.rest("POST", "/authorizations", {"username": alice.email, "password": "wrong"})
    (record,) = [
        record
        for record in api.get("/audit-events?action=login", by=admin).json["data"]
        if record["outcome"] == "failure"
    ]
    assert (record["address"], record["userAgent"]) == ("192.0.2.7", "Firefox")
    assert record["requestId"] == "request-1"


def test_the_tokens_and_cookies_of_the_browser_are_not_sent(api: Api, host: HostAPI) -> None:
    alice = api.person()
    with browser(api, Authorization=f"Bearer {alice.token}", Cookie="a=b", X_Access_Token="x"):
        assert host.rest("GET", "/users/me").error == "error.token-required"


def test_the_texts_are_in_the_language_that_is_asked_for(api: Api, host: HostAPI) -> None:
    with browser(api, Accept_Language="en"):
        captcha = api.captcha()
        body = {"recipient": "anna@example.com", "purpose": "register", "captcha": captcha}
        sent = host.rest("POST", "/verification-codes", body, headers={"Accept-Language": "zh"})
        assert sent.status == 201
    assert "验证码" in str(api.outbox()[-1])


def test_limits_count_the_address_of_the_browser(api: Api, host: HostAPI) -> None:
    with browser(api):
        replies = [host.rest("POST", "/captchas", {}) for _ in range(3)]
        assert [reply.status for reply in replies] == [201, 201, 429]
        assert replies[-1].retry_after
    with api.app.test_request_context(environ_base={"REMOTE_ADDR": "192.0.2.8"}):
        assert host.rest("POST", "/captchas", {}).status == 201


def test_an_answer_has_headers_and_bytes(api: Api, host: HostAPI) -> None:
    alice = api.person()
    path = api.tenant(alice)
    node = api.upload(path, alice, "a.bin", b"\x00\xff")
    with browser(api):
        answer = host.rest("GET", f"{path}/files/{node['id']}/download", token=alice.token)
        assert (answer.json, answer.error, answer.content) == (None, None, b"\x00\xff")
        assert answer.headers["content-length"] == "2"
        named = "attachment; filename=b.txt"
        headers = {"Content-Type": "text/plain", "Content-Disposition": named}
        kept = host.rest("POST", f"{path}/files", b"raw", token=alice.token, headers=headers)
        assert (kept.status, kept.json["size"]) == (201, 3)
        assert kept.headers["location"].endswith(kept.json["id"])


def test_a_path_is_percent_encoded_as_in_a_url(api: Api, host: HostAPI) -> None:
    with browser(api):
        code = {"id": "x", "code": "1"}
        body = {"verificationCode": code, "newPassword": "Better2Horse"}
        for name in ("alice%40example.com", "alice@example.com", "a%2Fb", "%FF", "a%3Fb"):
            answer = host.rest("POST", f"/users/{name}/reset-password", body)
            assert answer.error in ("error.code-invalid", "error.not-found"), name


def test_a_large_answer_is_refused(api: Api, host: HostAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internal_requests, "MAX_CONTENT", 1000)
    alice = api.person()
    path = api.tenant(alice)
    node = api.upload(path, alice, "a.bin", bytes(1001))
    with browser(api), pytest.raises(ValueError, match="more than 1000 bytes"):
        host.rest("GET", f"{path}/files/{node['id']}/download", token=alice.token)
    with browser(api):
        download = f"{path}/files/{node['id']}/download"
        answer = host.rest("GET", download, token=alice.token, stream=True)
        assert (answer.content, b"".join(answer.pieces)) == (b"", bytes(1001))
        missing = host.rest("GET", f"{path}/files/nowhere/download", token=alice.token, stream=True)
        assert (missing.error, list(missing.pieces)) == ("error.not-found", [])


def test_a_body_may_be_a_file(api: Api, host: HostAPI) -> None:
    alice = api.person()
    path = api.tenant(alice)
    named = {"Content-Type": "text/plain", "Content-Disposition": "attachment; filename=b.txt"}
    with browser(api), SpooledTemporaryFile(max_size=1) as file:
        file.write(b"from a file")
        answer = host.rest("POST", f"{path}/files", file, token=alice.token, headers=named)
    assert (answer.status, answer.json["size"]) == (201, 11)


def test_the_request_of_the_browser_goes_on(api: Api, host: HostAPI) -> None:
    with browser(api):
        host.rest("GET", "/users/me")
        assert flask.request.full_path == "/page?a=b"


def test_a_path_is_decoded(api: Api, host: HostAPI) -> None:
    api.person(email="a?b@example.com")
    with browser(api):
        taken = host.rest("GET", "/credentials/a%3Fb%40example.com/available")
        assert (taken.status, taken.json) == (200, {"available": False})


def test_a_plugin_sees_which_operations_the_server_has(api: Api, host: HostAPI) -> None:
    with browser(api):
        assert host.pages.has_route("GET", "/api/v1/tenants/any/members")
        assert not host.pages.has_route("DELETE", "/api/v1/tenants/any/members")
        assert not host.pages.has_route("GET", "/nowhere")
        # It answers 501, because the plugin is not enabled.
        assert not host.pages.has_route("POST", "/api/v1/users/me/oidc-ids")
