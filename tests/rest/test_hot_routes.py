"""The routes that serve most requests: details, lists and downloads of files.

Each aspect that might be skipped for speed is checked: who may read, how a token is presented, headers,
names, and changes between two requests.
"""

import unicodedata

import flask
import pytest
from tests.rest.nasty_names import in_order, may_be_a_name, nasty_names
from tests.support.actors import (
    LEVELS,
    NONE,
    READ,
    UNKNOWN_ACTORS,
    Actor,
    World,
)
from tests.support.api import Api, Json, Person, error_code
from tests.support.files import MISSING, File, sent_name
from werkzeug.test import EnvironBuilder, run_wsgi_app

from strongroom.content.nodes.models import Permission
from strongroom.foundation.caller import Caller
from strongroom.foundation.logs import ACCESS_LOGGER
from strongroom.foundation.text_direction import without_direction
from strongroom.identity.sessions.store import SEEN_INTERVAL
from strongroom.plugin_api.schemas import DoneSchema
from strongroom.testing.clock import HOUR
from strongroom.web.http.access import Access
from strongroom.web.http.parsing import DONE
from strongroom.web.http.routing import Blueprint


def refusal(actor: Actor, needs: Permission) -> int | None:
    """Return the status that an actor is refused with, or ``None``."""
    if actor in UNKNOWN_ACTORS:
        return 401
    return 403 if LEVELS.get(actor, -1) < needs else None


@pytest.fixture
def file(api: Api) -> File:
    return File(api)


class TestActors:
    """Each kind of user on each kind of node."""

    @pytest.mark.parametrize("kind", ["file", "folder", "nested file", "nested folder"])
    def test_details(self, world: World, kind: str) -> None:
        target = world.target(kind)
        root = world.path.rpartition("/")[2]
        for actor in Actor:
            person = world.people[actor]
            answer = world.api.get(target.file, by=person)
            assert answer.status_code == (refusal(actor, READ) or 200), actor
            if answer.status_code == 200:
                level = LEVELS[actor].name.lower()
                assert (answer.json["id"], answer.json["permission"]) == (target.node, level)
                assert answer.headers["ETag"].startswith(f'"{answer.json["revision"]}-')
                assert answer.headers["Cache-Control"] == "no-store"
            for node in (MISSING, root):
                other = world.api.get(f"{world.path}/files/{node}", by=person)
                # Users outside the tenant cannot find out which nodes exist.
                assert other.status_code == (refusal(actor, NONE) or 404), actor

    @pytest.mark.parametrize("kind", ["file", "nested file", "folder"])
    def test_downloads(self, world: World, kind: str) -> None:
        target = world.target(kind)
        for actor in Actor:
            answer = world.api.get(f"{target.file}/download", by=world.people[actor])
            expected = refusal(actor, READ) or (409 if kind == "folder" else 200)
            assert answer.status_code == expected, actor
            assert (answer.data == b"content") == (expected == 200)

    @pytest.mark.parametrize("kind", ["folder", "nested folder"])
    def test_lists(self, world: World, kind: str) -> None:
        target, people = world.target(kind), world.people
        names = {world.api.get(target.file, by=people[Actor.CREATOR]).json["name"]}
        if kind.startswith("nested"):
            names = {f"around {name}" for name in names}
        writers = (Actor.CREATOR, Actor.WRITER, Actor.MANAGER, Actor.TENANT_ADMIN)
        for number, actor in enumerate(writers):
            world.api.upload(world.path, people[actor], f"{number}", b"content", target.node)
            world.api.upload(world.path, people[actor], f"{number} in the inbox", b"", world.inbox)
        top = f"{world.path}/owners/me/files"
        for actor in Actor:
            person = people[actor]
            listed = world.api.get(top, by=person)
            assert listed.status_code == (refusal(actor, NONE) or 200), actor
            if listed.status_code == 200:
                visible = {"inbox"} | (names if LEVELS[actor] >= READ else set())
                assert {item["name"] for item in listed.json["data"]} == visible, actor
            inside = world.api.get(f"{top}/{target.node}/files", by=person)
            assert inside.status_code == (refusal(actor, READ) or 200), actor
            if inside.status_code == 200:
                assert [item["name"] for item in inside.json["data"]] == ["0", "1", "2", "3"]
                owners = {people[writer].id for writer in writers}
                assert set(inside.json["included"]) == owners

    def test_lists_of_files_or_of_others(self, world: World) -> None:
        people, target = world.people, world.target("file")
        root = world.path.rpartition("/")[2]
        for actor in Actor:
            top = f"{world.path}/owners/me/files"
            for node, status in ((MISSING, 404), (root, 404), (target.node, 409)):
                answer = world.api.get(f"{top}/{node}/files", by=people[actor])
                needed = READ if node == target.node else NONE
                assert answer.status_code == (refusal(actor, needed) or status), (actor, node)
            for owner in (people[Actor.READER].id, "nobody"):
                answer = world.api.get(f"{world.path}/owners/{owner}/files", by=people[actor])
                may = actor is Actor.TENANT_ADMIN or people[actor].id == owner
                expected = refusal(actor, NONE) or (200 if may else 403)
                assert answer.status_code == expected, (actor, owner)


class TestTokens:
    """How a token is presented, and when it ends."""

    def test_each_way_to_present_a_token(self, file: File) -> None:
        token = file.owner.token or ""
        for scheme in ("Bearer ", "bearer ", "BEARER ", "Bearer  "):
            assert self.status(file, {"Authorization": f"{scheme}{token}"}) == 200, scheme
        assert self.status(file, {"Authorization": f"Bearer {token} "}) == 200
        assert self.status(file, {"X-Access-Token": token}) == 200
        both = {"Authorization": f"Bearer {token}", "X-Access-Token": token}
        assert self.status(file, both) == 200

    @pytest.mark.parametrize("value", ["Basic YTpi", "", "Bearer", "Bearer ", "Token x"])
    def test_no_bearer_token(self, file: File, value: str) -> None:
        answer = file.api.get(file.path, headers={"Authorization": value})
        assert (answer.status_code, error_code(answer)) == (401, "error.token-required")
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="strongroom"'
        both = {"Authorization": value, "X-Access-Token": file.owner.token or ""}
        assert self.status(file, both) == 200

    def test_malformed_tokens(self, file: File) -> None:
        token = file.owner.token or ""
        for value in (" ", token + "x", token[:-1], "é", f"{token}, {token}", "x" * 5000, "a.b.c"):
            answer = file.api.get(file.path, headers={"X-Access-Token": value})
            assert (answer.status_code, error_code(answer)) == (401, "error.token-invalid"), value
            assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
        assert self.status(file, {"X-Access-Token": ""}) == 401
        different = {"Authorization": f"Bearer {token}", "X-Access-Token": "other"}
        answer = file.api.get(file.path, headers=different)
        assert (answer.status_code, error_code(answer)) == (400, "error.ambiguous-token")
        # Not a parameter of the URL, which ends up in logs.
        assert file.api.get(f"{file.path}?access_token={token}").status_code == 401

    def status(self, file: File, headers: dict[str, str]) -> int:
        return file.api.get(file.path, headers=headers).status_code

    def test_a_login_in_use_is_recorded(self, file: File) -> None:
        api, alice = file.api, file.owner
        api.clock.advance(SEEN_INTERVAL - 1)
        assert file.get().status_code == 200
        api.clock.advance(1)
        assert file.get().status_code == 200
        (login,) = api.get("/users/me/authorizations", by=alice).json["data"]
        assert login["lastSeenAt"] > login["createdAt"]

    def test_a_token_that_expires_or_is_revoked_between_two_requests_is_refused(
        self, file: File
    ) -> None:
        api, alice, bob = file.api, file.owner, file.api.person()
        api.join(file.tenant, alice, bob, "admin")
        assert self.statuses(file, bob) == {200}
        assert api.delete("/authorizations/current", by=bob).status_code == 200
        assert self.statuses(file, bob) == {401}
        # Before any other error.
        for path in (f"{file.top}?pageSize=0", f"{file.tenant}/files/{MISSING}"):
            assert api.get(path, by=bob).status_code == 401
        assert self.statuses(file, alice) == {200}
        api.clock.advance(HOUR)
        assert self.statuses(file, alice) == {401}

    def test_a_view_that_does_not_verify_the_login_sends_no_response(self, api: Api) -> None:
        blueprint = Blueprint("careless")

        @blueprint.operation(
            "GET", "/careless", access=Access.USER, returns=DoneSchema, verifies_login=True
        )
        def view(caller: Caller) -> dict[str, bool]:
            assert caller.identity is None
            return DONE

        blueprint.register(api.app)
        answer = api.get("/careless", by=api.person())
        assert (answer.status_code, error_code(answer)) == (500, "error.internal")

    def statuses(self, file: File, person: Person) -> set[int]:
        paths = (file.path, file.download, file.top)
        return {file.api.get(path, by=person).status_code for path in paths}


def test_a_grant_that_expires_or_is_revoked_between_two_requests_is_refused(api: Api) -> None:
    alice, bob = api.person(), api.person()
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    folder = api.folder(tenant, alice, "folder")["id"]
    path = f"{tenant}/files/{api.upload(tenant, alice, 'a.txt', b'content', folder)['id']}"
    owners = f"{tenant}/files/{folder}/owners"
    grant = {"ownerId": bob.id, "permission": "read"}

    def statuses() -> list[int]:
        paths = (path, f"{path}/download", f"{tenant}/owners/me/files/{folder}/files")
        return [api.get(path, by=bob).status_code for path in paths]

    assert api.post(owners, grant, by=alice).status_code == 201
    assert statuses() == [200] * 3
    assert api.delete(f"{owners}/{bob.id}", by=alice).status_code == 200
    assert statuses() == [403] * 3
    ends = {"expiresAt": "2999-01-01T00:00:00Z"}
    assert api.post(owners, {**grant, **ends}, by=alice).status_code == 201
    assert statuses() == [200] * 3
    assert api.delete(f"{tenant}/members/{bob.id}", by=alice).status_code == 200
    assert statuses() == [403] * 3


class TestRequests:
    """Headers, methods, paths and ids of requests."""

    @pytest.mark.parametrize(
        "header",
        [
            ("Accept", "text/html"),
            ("Accept-Encoding", "gzip"),
            ("Content-Type", "application/json"),
            ("Cookie", "a=b"),
            ("Expect", "100-continue"),
            ("Host", "elsewhere.example.com"),
            ("Origin", "https://elsewhere.example.com"),
            ("Range", "bytes=0-0"),
            ("Transfer-Encoding", "chunked"),
            ("X-Forwarded-For", "192.0.2.1"),
        ],
    )
    def test_a_header_that_does_not_concern_details(self, file: File, header: tuple[str, str]) -> None:
        plain, answer = file.get(), file.get(headers=dict([header]))
        assert (answer.status_code, answer.data) == (200, plain.data)
        # The Range of a JSON text is ignored (RFC 9110, section 14.2).
        assert "Content-Range" not in answer.headers

    def test_methods(self, file: File) -> None:
        api, alice = file.api, file.owner
        for path in (file.path, file.download, file.top):
            got, head = file.get(path), api.request("HEAD", path, by=alice)
            assert (head.status_code, head.data) == (200, b"")
            for name in ("Content-Type", "Content-Length", "ETag", "Content-Disposition"):
                assert head.headers.get(name) == got.headers.get(name), (path, name)
        for method in ("POST", "PUT", "TRACE", "NONSENSE"):
            answer = api.request(method, file.path, by=alice)
            assert (answer.status_code, error_code(answer)) == (405, "error.method-not-allowed")
            allowed = {"GET", "HEAD", "PATCH", "DELETE", "OPTIONS"}
            assert set(answer.headers["Allow"].split(", ")) == allowed
        options = api.request("OPTIONS", file.path)
        assert (options.status_code, options.data) == (200, b"")
        assert {"GET", "HEAD", "OPTIONS"} <= set(options.headers["Allow"].split(", "))

    def test_paths(self, file: File) -> None:
        for suffix, status in {
            "?a=b": 400,
            "?": 200,
            "?access_token=x": 400,
            "/": 404,
            "//": 404,
            "%00": 404,
            "%0A": 404,
            "%20": 404,
            ";a=b": 404,
            "%FF": 404,
        }.items():
            assert file.get(file.path + suffix).status_code == status, suffix
        id_ = file.node["id"]
        for path in (f"/{file.path}", file.path.replace("/files/", "//files/"), f"{file.path}\0"):
            answer = file.get(environ_overrides={"PATH_INFO": path})
            assert (answer.status_code, error_code(answer)) == (404, "error.not-found"), path
        escaped = file.path.replace(id_, f"%{ord(id_[0]):02X}{id_[1:]}")
        assert file.get(escaped).status_code == 200

    @pytest.mark.parametrize("host", ["", "a b", "a@b", "[::1", "a:b", "\xff", "other.example.com"])
    def test_the_host_header_is_not_used(self, file: File, host: str) -> None:
        for path in (file.path, f"{file.top}?pageSize=1", f"{file.path}/nothing"):
            plain, answer = file.get(path), file.get(path, environ_overrides={"HTTP_HOST": host})
            assert answer.status_code == plain.status_code, path
            if plain.status_code == 200:
                assert answer.data == plain.data

    @pytest.mark.parametrize("environ", [{"SCRIPT_NAME": "/prefix"}, {"CONTENT_LENGTH": "2"}])
    def test_an_unusual_environment(self, file: File, environ: dict[str, str]) -> None:
        assert file.get(environ_overrides=environ).json == file.get().json

    def test_a_request_has_the_id_that_it_offers_if_that_is_valid(self, file: File) -> None:
        for path, status in ((file.path, 200), (file.download, 200), (f"{file.path}x", 404)):
            answer = file.get(path, headers={"X-Request-Id": "mine"})
            assert (answer.status_code, answer.headers["X-Request-Id"]) == (status, "mine")
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
        first, second = (file.get().headers["X-Request-Id"] for _ in range(2))
        assert first != second
        odd = file.get(headers={"X-Request-Id": "a b"}).headers["X-Request-Id"]
        assert len(odd) == 32


def test_every_name_is_returned_as_it_is(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    names: dict[str, str] = {}
    for name in filter(may_be_a_name, nasty_names()):
        made = api.send(tenant, alice, name, b"content", query="?onConflict=rename")
        assert made.status_code == 201, name
        names[made.json["id"]] = made.json["name"]
        normal = unicodedata.normalize("NFC", name)
        assert made.json["name"] == normal or normal in names.values() or "(" in made.json["name"]
    for node, name in names.items():
        assert api.get(f"{tenant}/files/{node}", by=alice).json["name"] == name
        downloaded = api.get(f"{tenant}/files/{node}/download", by=alice)
        assert downloaded.data == b"content"
        disposition = downloaded.headers["Content-Disposition"]
        assert sent_name(disposition) == without_direction(name)
        assert disposition.isascii()
    listed = [item for number in (1, 2, 3) for item in page(api, tenant, alice, number)]
    assert {item["id"]: item["name"] for item in listed} == names
    assert [item["name"] for item in listed] == in_order(names.values())


def page(api: Api, tenant: str, person: Person, number: int) -> list[Json]:
    path = f"{tenant}/owners/me/files?pageSize=200&pageNumber={number}"
    found: list[Json] = api.get(path, by=person).json["data"]
    return found


class TestHooks:
    """Request hooks of plugins, which apply to every route."""

    @pytest.mark.parametrize("has_teardown", [False, True])
    def test_hooks_run_for_each_request_and_may_change_its_response(
        self, api: Api, has_teardown: bool
    ) -> None:
        seen: list[str] = []
        api.app.before_request(lambda: seen.append(f"before {flask.request.endpoint}"))
        if has_teardown:
            api.app.teardown_request(lambda _: seen.append("teardown"))

        @api.app.after_request
        def change(response: flask.Response) -> flask.Response:
            response.headers["X-Hook"] = str(response.status_code)
            return response

        file = File(api)
        for path, endpoint, status in (
            (file.path, "files.get_file", 200),
            (file.download, "files.download_file", 200),
            (file.top, "files.list_files", 200),
            (f"{file.tenant}/files/{MISSING}", "files.get_file", 404),
            ("/api/v1/nothing", None, 404),
        ):
            seen.clear()
            answer = file.get(path)
            assert seen == [f"before {endpoint}"] + ["teardown"] * has_teardown
            assert answer.headers["X-Hook"] == str(answer.status_code) == str(status)
            assert answer.headers["X-Request-Id"]

    def test_a_hook_may_refuse_requests(self, api: Api) -> None:
        refused: list[str] = []

        @api.app.before_request
        def refuse() -> flask.Response | None:
            return flask.Response("closed", 418) if flask.request.path in refused else None

        file = File(api)
        refused += [file.path, file.download]
        assert [file.get(path).status_code for path in (file.path, file.download)] == [418, 418]
        assert file.get(file.top).status_code == 200


@pytest.mark.config({"logging": {"requests": True}})
class TestAccessLog:
    """The lines of the access log."""

    def test_each_request_has_a_line(self, api: Api, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level("INFO", ACCESS_LOGGER)
        file = File(api, content=b"content" * 20_000)
        for suffix in ("", "/download"):
            caplog.clear()
            answer = file.get(file.path + suffix, headers={"X-Request-Id": "mine"})
            (line,) = (line for line in caplog.records if line.name == ACCESS_LOGGER)
            members: Json = vars(line)["members"]
            assert members.pop("milliseconds") >= 0
            assert vars(line)["request_id"] == "mine"
            assert members == {
                "method": "GET",
                "route": f"/api/v1/tenants/<tenant_id>/files/<file_id>{suffix}",
                "status": 200,
                "received": 0,
                "sent": len(answer.data),
            }

    def test_a_refused_request_has_a_line(self, api: Api, caplog: pytest.LogCaptureFixture) -> None:
        file = File(api)
        caplog.set_level("INFO", ACCESS_LOGGER)
        for path, status, route in (
            (file.path, 401, "/api/v1/tenants/<tenant_id>/files/<file_id>"),
            ("/api/v1/nothing", 404, "-"),
        ):
            caplog.clear()
            environ = EnvironBuilder(path).get_environ()
            chunks, _, _ = run_wsgi_app(api.app.wsgi_app, environ)
            sent = len(b"".join(chunks))
            (line,) = (line for line in caplog.records if line.name == ACCESS_LOGGER)
            members = vars(line)["members"]
            assert (members["status"], members["route"], members["sent"]) == (status, route, sent)
