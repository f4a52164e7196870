"""A Flask application of a plugin, mounted in the server: the host works in its views as elsewhere."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import PASSWORD, Answer, Api, error_code
from tests.support.config import Table, write_api_config
from tests.support.databases import on_sqlite
from tests.support.distributions import install

PLUGIN = """
import dataclasses
import flask
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.web import ApiError

API_VERSION = "2.0"

def application(host):
    app = flask.Flask("nested")
    app.register_error_handler(ApiError, host.error_response)

    @app.get("/me")
    def me():
        host.authenticate(scope="files:read", authenticators=("basic",))
        network = host.limits.client_network
        return {"id": host.users.me().id, "network": network, "path": flask.request.path}

    @app.get("/caller")
    def caller():
        host.authenticate(scope="files:read")
        caller = dataclasses.asdict(host.caller)
        return {**caller, "scopes": caller["scopes"] and sorted(caller["scopes"])}

    @app.get("/cookie")
    def cookie():
        before = host.caller
        host.authenticate(token=flask.request.cookies.get("session", ""))
        return [before, host.caller.user_id]

    @app.get("/file/<tenant>/<file>")
    def file(tenant, file):
        host.authenticate()
        return host.files.send(tenant, file)

    @app.get("/stream")
    def stream():
        host.authenticate()
        return flask.stream_with_context(host.users.me().id for _ in range(3))

    @app.post("/log-in")
    def log_in():
        login = host.rest("POST", "/authorizations", flask.request.get_json())
        return {"status": login.status, "request": login.headers.get("x-request-id")}

    @app.get("/state")
    def state():
        return host.logins.issue_state("nested", {}).value

    @app.get("/state/<value>")
    def spend(value):
        return host.logins.consume_state(value, "nested")

    @app.get("/audit")
    def audit():
        host.authenticate()
        host.audit("view", "page", "1")
        return ""

    return app

@hookimpl
def register_wsgi_applications(host):
    return [("/nested", application(host))]
"""

pytestmark = [on_sqlite, pytest.mark.config({"plugins": {"enabled": ["storage_local", "nested"]}})]


@pytest.fixture
def config(
    tmp_path: Path, database_url: str, config_changes: Table, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "nested", PLUGIN)
    yield write_api_config(tmp_path, database_url, config_changes)
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


def get_with_cookie(api: Api, path: str, cookie: str) -> Answer:
    """Send a GET request with a header ``Cookie``, which Flask's client would otherwise replace."""
    client = api.app.test_client(use_cookies=False)
    return Answer(client.get(path, headers={"Cookie": cookie}))


def test_the_caller_and_the_client_are_those_of_the_request(api: Api) -> None:
    alice = api.person()
    answer = api.get("/nested/me", by=alice, environ_base={"REMOTE_ADDR": "192.0.2.7"})
    assert answer.json == {"id": alice.id, "network": "192.0.2.7", "path": "/me"}


def test_the_caller_has_the_limits_of_the_access_key(api: Api) -> None:
    alice = api.person()
    path = api.tenant(alice)
    tenant, folder = path.rpartition("/")[2], api.folder(path, alice, "F")["id"]
    limits = {"scopes": ["files:read"], "tenantId": tenant, "fileId": folder}
    body = {"name": "reader", **limits}
    key = api.post(f"/users/{alice.id}/access-keys", body, by=alice).json
    answer = api.get("/nested/caller", headers={"Authorization": f"Bearer {key['key']}"})
    assert answer.json == {
        "user_id": alice.id,
        "user_type": "USER",
        "scopes": ["files:read"],
        "tenant_id": tenant,
        "file_id": folder,
        "key_id": key["id"],
        "actor_id": None,
        "login_id": None,
        "client_id": None,
    }
    plain = api.get("/nested/caller", by=alice).json
    assert [plain[name] for name in ("scopes", "tenant_id", "file_id", "key_id")] == [None] * 4


def test_a_token_may_come_from_a_cookie_of_the_plugin(api: Api) -> None:
    alice = api.person()
    answer = get_with_cookie(api, "/nested/cookie", f"session={alice.token}")
    assert answer.json == [None, alice.id]
    for refused in (get_with_cookie(api, "/nested/cookie", "session=forged"), api.get("/nested/cookie")):
        assert (refused.status_code, error_code(refused)) == (401, "error.token-invalid")


def test_an_error_of_the_api_is_its_response(api: Api) -> None:
    answer = api.get("/nested/me")
    assert (answer.status_code, error_code(answer)) == (401, "error.token-required")
    assert answer.headers["X-Request-Id"] == answer.json["error"]["requestId"]


def test_a_download_has_the_ranges_of_rest(api: Api) -> None:
    alice = api.person()
    path = api.tenant(alice)
    node = api.upload(path, alice, "a.txt", b"0123456789")
    url = f"/nested/file/{path.rpartition('/')[2]}/{node['id']}"
    answer = api.get(url, by=alice, headers={"Range": "bytes=2-4"})
    assert (answer.status_code, answer.data) == (206, b"234")


def test_a_body_is_generated_in_the_context(api: Api) -> None:
    alice = api.person()
    assert api.get("/nested/stream", by=alice).text == 3 * alice.id


def test_requests_to_the_rest_api_continue_the_request(api: Api) -> None:
    alice = api.person()
    body = {"username": alice.email, "password": PASSWORD}
    answer = api.post("/nested/log-in", json=body, headers={"X-Request-Id": "outer"})
    assert answer.json == {"status": 200, "request": "outer"}


def test_a_state_is_bound_to_the_browser(api: Api) -> None:
    stolen, issued = api.get("/nested/state"), api.get("/nested/state")
    refused = get_with_cookie(api, f"/nested/state/{stolen.text}", "a=b")
    assert error_code(refused) == "error.state-invalid"
    cookie = issued.headers["Set-Cookie"].partition(";")[0]
    assert get_with_cookie(api, f"/nested/state/{issued.text}", cookie).status_code == 200


def test_an_audit_record_names_the_caller(api: Api) -> None:
    alice, admin = api.person(), api.person(admin=True)
    assert api.get("/nested/audit", by=alice).status_code == 200
    (record,) = api.get("/audit-events?action=nested.view", by=admin).json["data"]
    assert record["actor"]["$ref"] == alice.id
