"""WSGI applications of plugins: requests, contexts, limits, hooks, errors and collisions."""

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import Answer, Api, error_code
from tests.support.config import Table, write_api_config
from tests.support.databases import on_sqlite
from tests.support.distributions import install

from strongroom.assembly.app import create_app
from strongroom.foundation.config import ConfigurationError, load
from strongroom.foundation.logs import ACCESS_LOGGER
from strongroom.plugin_api.web import BODY_BYTES
from strongroom.web.http.bounded_body import FORM_FIELDS

PLUGIN = """
import json
from flask import Response
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.web import ApiError, Blueprint, LargeBody, MountedApplication

API_VERSION = "2.0"
CLOSED = []

class Body:
    def __init__(self, pieces):
        self.pieces = iter(pieces)
    def __iter__(self):
        return self.pieces
    def close(self):
        CLOSED.append(True)

def application(host):
    def serve(environ, start_response):
        path = environ["PATH_INFO"]
        if path == "/me":
            host.authenticate()
            body = host.users.me().id
        elif path == "/stream":
            host.authenticate()
            start_response("200 OK", [("Content-Type", "text/plain")])
            return Body(host.users.me().id.encode() for _ in range(3))
        elif path == "/raise":
            raise RuntimeError("it broke")
        elif path == "/later":
            start_response("200 OK", [])
            return (1 / 0 for _ in range(1))
        elif path == "/caught":
            try:
                host.files.stat("t", "f")
            except ApiError as error:
                return host.error_response(error)(environ, start_response)
        elif path == "/swallow":
            # As a framework does that knows no error of the server.
            try:
                body = str(len(environ["wsgi.input"].read()))
            except Exception:
                start_response("500 Internal Server Error", [])
                return []
        elif path == "/body" or path.startswith("/files/"):
            body = str(len(environ["wsgi.input"].read()))
        elif path == "/lines":
            body = str([line.decode() for line in environ["wsgi.input"]])
        elif path == "/file":
            host.authenticate()
            _, tenant, file = environ["QUERY_STRING"].split("/")
            return host.files.send(tenant, file)(environ, start_response)
        elif path == "/stat":
            host.authenticate()
            body = host.files.stat("a\\0b", "c").id
        elif path == "/stored":
            start_response("200 OK", [("cache-control", "public, max-age=60")])
            return []
        elif path == "/none":
            start_response("204 No Content", [])
            return []
        else:
            parts = ("REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO")
            body = json.dumps([environ[part] for part in parts])
        start_response("207 Multi-Status", [("Content-Type", "text/plain"), ("X-Mount", "yes")])
        return [body.encode()]
    return serve

@hookimpl
def register_wsgi_applications(host):
    bodies = [
        LargeBody("PUT", "/files/<file>/content"),
        LargeBody("POST", "/files/<file>/notes", 70_000, is_form=True),
    ]
    return [
        ("/mount", application(host)),
        ("/mount-of/two", application(host)),
        MountedApplication("/large", application(host), bodies),
    ]

@hookimpl
def register_blueprints(host):
    routes = Blueprint("hooks", description="Hooks.")
    @routes.before_app_request
    def close():
        from flask import request
        if request.headers.get("X-Closed"):
            return Response("closed", 503)
    @routes.after_app_request
    def mark(response):
        response.headers["X-Hook"] = "yes"
        return response
    return [routes]
"""
OTHER = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.web import LargeBody, MountedApplication
API_VERSION = "2.0"

@hookimpl
def register_wsgi_applications(host):
    return [%s]
"""
TINY = 100_000


pytestmark = pytest.mark.config(
    {
        "plugins": {"enabled": ["storage_local", "mounts"]},
        "files": {"max_file_bytes": TINY},
        "logging": {"requests": True},
    }
)


@pytest.fixture
def config(
    tmp_path: Path, database_url: str, config_changes: Table, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "mounts", PLUGIN)
    yield write_api_config(tmp_path, database_url, config_changes)
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("method", "path", "seen"),
    [
        ("GET", "/mount", ["/mount", ""]),
        ("GET", "/mount/", ["/mount", "/"]),
        ("PROPFIND", "/mount/a//b/%E6%96%87", ["/mount", "/a//b/\u00e6\u0096\u0087"]),
        ("OPTIONS", "/mount-of/two/x", ["/mount-of/two", "/x"]),
    ],
)
@on_sqlite
def test_it_gets_every_request_below_its_prefix(
    api: Api, method: str, path: str, seen: list[str]
) -> None:
    answer = api.request(method, path)
    assert (answer.status_code, json.loads(answer.text)) == (207, [method, *seen])
    assert answer.headers["X-Mount"] == "yes"


@pytest.mark.parametrize("path", ["/mounted", "/mount-of", "/mount-of/twofold", "/Mount", "/mount%00"])
@on_sqlite
def test_other_paths_are_not_its_own(api: Api, path: str) -> None:
    assert (api.get(path).status_code, api.get("/livez").status_code) == (404, 200)


@on_sqlite
class TestRequest:
    def test_its_caller_is_the_one_of_the_token(self, api: Api) -> None:
        alice = api.person()
        assert api.get("/mount/me", by=alice).text == alice.id
        assert error_code(api.get("/mount/me")) == "error.token-required"
        answer = api.get("/mount/me", headers={"Authorization": "Bearer wrong"})
        assert (answer.status_code, error_code(answer)) == (401, "error.token-invalid")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")

    def test_a_body_is_generated_in_the_context_and_closed(self, api: Api) -> None:
        alice = api.person()
        assert api.get("/mount/stream", by=alice).text == 3 * alice.id
        assert sys.modules["acme_mounts"].CLOSED == [True]
        assert api.request("HEAD", "/mount/stream", by=alice).data == b""
        assert sys.modules["acme_mounts"].CLOSED == [True, True]

    def test_it_has_the_headers_of_every_response(self, api: Api) -> None:
        answer = api.get("/mount/x", headers={"X-Request-Id": "mine", "Authorization": "Basic eA=="})
        assert (answer.headers["X-Request-Id"], answer.headers["X-Content-Type-Options"]) == (
            "mine",
            "nosniff",
        )
        assert (answer.headers["Cache-Control"], answer.headers["X-Hook"]) == ("no-store", "yes")
        empty = api.get("/mount/none")
        assert empty.headers["Cache-Control"] == "no-store"
        assert (empty.status_code, empty.data, empty.headers.get("Content-Type")) == (204, b"", None)

    def test_its_policy_of_caches_stays_in_any_case(self, api: Api) -> None:
        answer = api.get("/mount/stored", headers={"Authorization": "Basic eA=="})
        assert answer.headers.getlist("Cache-Control") == ["public, max-age=60"]

    def test_hooks_of_requests_may_answer_for_it(self, api: Api) -> None:
        answer = api.get("/mount/x", headers={"X-Closed": "1"})
        assert (answer.status_code, answer.text, answer.headers["X-Hook"]) == (503, "closed", "yes")

    def test_a_download_has_the_ranges_of_rest(self, api: Api) -> None:
        alice = api.person()
        path = api.tenant(alice)
        node = api.upload(path, alice, "a.html", b"0123456789")
        tenant = path.rpartition("/")[2]
        answer = api.get(f"/mount/file?/{tenant}/{node['id']}", by=alice, headers={"Range": "bytes=2-4"})
        assert (answer.status_code, answer.data) == (206, b"234")
        assert answer.headers["Content-Disposition"].startswith("attachment")
        stranger = api.get(f"/mount/file?/{tenant}/{node['id']}", by=api.person())
        assert error_code(stranger) == "error.forbidden"

    def test_the_access_log_has_its_prefix_alone(
        self, api: Api, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, ACCESS_LOGGER):
            api.get("/mount/secret-path")
        (record,) = [record for record in caplog.records if record.name == ACCESS_LOGGER]
        assert re.match(r"GET /mount/\* 207 in", record.getMessage())


@on_sqlite
class TestErrors:
    def test_an_exception_is_500_with_the_id_of_the_request(
        self, api: Api, caplog: pytest.LogCaptureFixture
    ) -> None:
        answer = api.get("/mount/raise", headers={"X-Request-Id": "broken-1"})
        assert (answer.status_code, error_code(answer)) == (500, "error.internal")
        assert answer.json["error"]["requestId"] == "broken-1"
        assert "it broke" not in answer.text
        assert "broken-1" in caplog.text

    def test_an_error_of_the_api_may_be_caught_or_not(self, api: Api) -> None:
        answer = api.get("/mount/caught")
        assert (answer.status_code, error_code(answer)) == (401, "error.token-required")

    def test_ids_that_no_database_stores_are_unknown(self, api: Api) -> None:
        answer = api.get("/mount/stat", by=api.person())
        assert (answer.status_code, error_code(answer)) == (404, "error.not-found")


class Unreadable(io.BytesIO):
    """A body that must not be read."""

    def read(self, _size: int | None = -1, /) -> bytes:
        raise AssertionError("the body was read")


@on_sqlite
class TestBodies:
    """The application of the tutorial declares nothing, and another one a route for uploads."""

    def post(
        self,
        api: Api,
        path: str,
        data: bytes,
        media_type: str = "text/plain",
        *,
        method: str = "POST",
        chunked: bool = False,
    ) -> Answer:
        headers = {"Content-Type": media_type}
        if not chunked:
            return api.request(method, path, data=data, headers=headers)
        environ = {"wsgi.input": io.BytesIO(data), "wsgi.input_terminated": True}
        return api.request(method, path, headers=headers, environ_overrides=environ)

    @pytest.mark.parametrize("chunked", [False, True])
    @pytest.mark.parametrize("path", ["/mount/body", "/mount/lines", "/mount/swallow"])
    @pytest.mark.parametrize(
        "media_type",
        ["application/json", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain"],
    )
    def test_a_body_has_at_most_64_kib(
        self, api: Api, media_type: str, path: str, chunked: bool
    ) -> None:
        fits, too_large = b"x\n" * (BODY_BYTES // 2), b"x\n" * (BODY_BYTES // 2 + 1)
        assert self.post(api, path, fits, media_type, chunked=chunked).status_code == 207
        answer = self.post(api, path, too_large, media_type, chunked=chunked)
        assert (answer.status_code, error_code(answer)) == (413, "error.payload-too-large")

    def test_an_announced_length_is_refused_unread(self, api: Api) -> None:
        environ = {"wsgi.input": Unreadable(), "CONTENT_LENGTH": str(BODY_BYTES + 1)}
        answer = api.request("POST", "/mount/body", environ_overrides=environ)
        assert (answer.status_code, error_code(answer)) == (413, "error.payload-too-large")

    @pytest.mark.parametrize("chunked", [False, True])
    def test_a_declared_route_takes_as_much_as_an_upload(self, api: Api, chunked: bool) -> None:
        for path, method, most in (
            ("/files/x/content", "PUT", TINY),
            ("/files/x/notes", "POST", 70_000),
        ):
            whole = self.post(api, f"/large{path}", b"x" * most, method=method, chunked=chunked)
            assert whole.text == str(most)
            body = b"x" * (most + 1)
            answer = self.post(api, f"/large{path}", body, method=method, chunked=chunked)
            assert (answer.status_code, error_code(answer)) == (413, "error.payload-too-large")

    @pytest.mark.parametrize(
        ("method", "path", "media_type"),
        [
            ("POST", "/files/x/content", "text/plain"),
            ("PUT", "/files/x/y/content", "text/plain"),
            ("PUT", "/files/content", "text/plain"),
            ("PUT", "/files/x/content", "application/x-www-form-urlencoded; charset=utf-8"),
            ("PUT", "/files/x/content", "Multipart/Form-Data; boundary=x"),
        ],
    )
    def test_other_routes_and_forms_stay_bounded(
        self, api: Api, method: str, path: str, media_type: str
    ) -> None:
        body = b"x" * (BODY_BYTES + 1)
        for chunked in (False, True):
            answer = self.post(api, f"/large{path}", body, media_type, method=method, chunked=chunked)
            assert answer.status_code == 413

    def test_a_form_may_be_declared_too(self, api: Api) -> None:
        body = b"a=" + b"x" * 69_998
        answer = self.post(api, "/large/files/x/notes", body, "application/x-www-form-urlencoded")
        assert answer.text == "70000"

    @pytest.mark.parametrize("chunked", [False, True])
    @pytest.mark.parametrize("path", ["/mount/body", "/mount/lines", "/large/files/x/notes"])
    def test_a_form_has_a_bounded_number_of_fields(self, api: Api, path: str, chunked: bool) -> None:
        def post(fields: int) -> Answer:
            body = b"&".join([b"a=1\n"] * fields)
            form = "application/x-www-form-urlencoded"
            return self.post(api, path, body, form, chunked=chunked)

        assert post(FORM_FIELDS).status_code == 207
        answer = post(FORM_FIELDS + 1)
        assert (answer.status_code, error_code(answer)) == (400, "error.malformed-request")


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        ('("/users", print)', 'plugin "other": the prefix "/users" collides with the route /users'),
        ('("/api/v1/tree", print)', 'plugin "other": the prefix "/api/v1/tree" collides with the route'),
        ('("/livez/x", print)', 'plugin "other": the prefix "/livez/x" collides with the route /livez'),
        (
            '("/mount", print)',
            'plugin "other": the prefix "/mount" collides with "/mount" of plugin "mounts"',
        ),
        (
            '("/mount/x", print)',
            'plugin "other": the prefix "/mount/x" collides with "/mount" of plugin "mo',
        ),
        (
            '("/mount-of", print)',
            'the prefix "/mount-of" collides with "/mount-of/two" of plugin "mounts"',
        ),
        ('("browse", print)', "plugin \"other\": the prefix 'browse' must be like"),
        ('("/browse/", print)', "plugin \"other\": the prefix '/browse/' must be like"),
        ('("/", print)', "plugin \"other\": the prefix '/' must be like"),
        ('("/Browse", print)', "plugin \"other\": the prefix '/Browse' must be like"),
        ("print", 'plugin "other": expected pairs of a prefix and a WSGI application'),
        ('("/x", 5)', 'plugin "other": expected pairs of a prefix and a WSGI application'),
        (
            'MountedApplication("/x", print, [LargeBody("PUT", "y")])',
            'plugin "other": the large bodies of "/x" cannot be used: URL rule',
        ),
        (
            'MountedApplication("/x", print, ["/y"])',
            'plugin "other": the large bodies of "/x" cannot be used: ',
        ),
    ],
)
@on_sqlite
def test_a_collision_or_an_invalid_prefix_stops_the_start(
    config: Path, tmp_path: Path, database_url: str, item: str, fault: str
) -> None:
    install(tmp_path, "other", OTHER % item)
    changes = {"plugins": {"enabled": ["storage_local", "mounts", "other"]}}
    write_api_config(tmp_path, database_url, changes)
    with pytest.raises(ConfigurationError) as raised:
        create_app(load(config, {}))
    assert fault in str(raised.value)


@on_sqlite
def test_a_base_path_applies_to_it(config: Path, tmp_path: Path, database_url: str) -> None:
    changes = {
        "server": {"base_path": "/below"},
        "plugins": {"enabled": ["storage_local", "mounts"]},
    }
    write_api_config(tmp_path, database_url, changes)
    with Api.running(config) as api:
        assert api.get("/below/mount/x").status_code == 207
        assert api.get("/mount/x").status_code == 404
