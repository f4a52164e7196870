"""The routes that serve most requests: details, lists and downloads of files.

Each aspect that might be skipped for speed is checked: who may read, how a token is presented, headers,
pages, ranges, and changes between two requests.
"""

import unicodedata
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import flask
import pytest
from tests.rest.nasty_names import may_be_a_name, nasty_names
from tests.support.actors import (
    LEVELS,
    NONE,
    READ,
    UNKNOWN_ACTORS,
    Actor,
    World,
)
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.config import Table
from tests.support.stores import stored_files
from werkzeug.test import EnvironBuilder, run_wsgi_app

from strongroom.files import child_counts
from strongroom.files.models import Permission
from strongroom.http.access import Access
from strongroom.http.parsing import DONE, DoneSchema
from strongroom.http.routing import Blueprint
from strongroom.identity import Caller
from strongroom.logs import ACCESS_LOGGER
from strongroom.sessions.store import SEEN_INTERVAL
from strongroom.testing.clock import HOUR
from strongroom.text_direction import without_direction

MISSING = "01890000-0000-7000-8000-000000000000"
PUBLIC_URL = "https://files.example.com"


def refusal(actor: Actor, needs: Permission) -> int | None:
    """Return the status that an actor is refused with, or ``None``."""
    if actor in UNKNOWN_ACTORS:
        return 401
    return 403 if LEVELS.get(actor, -1) < needs else None


class File:
    """A file, its owner, and the paths of the routes that read it."""

    def __init__(self, api: Api, name: str = "a.txt", content: bytes = b"content") -> None:
        self.api = api
        self.owner = api.person()
        self.tenant = api.tenant(self.owner)
        self.node = api.upload(self.tenant, self.owner, name, content)
        self.path = f"{self.tenant}/files/{self.node['id']}"
        self.download = f"{self.path}/download"
        self.top = f"{self.tenant}/owners/me/files"

    def get(self, path: str = "", **options: Any) -> Answer:
        """Read a path, the details by default, as the owner."""
        return self.api.get(path or self.path, by=self.owner, **options)


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
                assert answer.headers["ETag"] == f'"{answer.json["revision"]}"'
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
        blueprint = Blueprint("careless", __name__)

        @blueprint.operation(
            "GET", "/careless", access=Access.USER, returns=DoneSchema, verifies_login=True
        )
        def view(caller: Caller) -> dict[str, bool]:
            assert caller.identity is None
            return DONE

        api.app.register_blueprint(blueprint)
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
            "?a=b": 200,
            "?": 200,
            "?access_token=x": 200,
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
    assert [item["name"] for item in listed] == sorted(names.values())


def page(api: Api, tenant: str, person: Person, number: int) -> list[Json]:
    path = f"{tenant}/owners/me/files?pageSize=200&pageNumber={number}"
    found: list[Json] = api.get(path, by=person).json["data"]
    return found


def sent_name(disposition: str) -> str:
    """Decode the file name of a Content-Disposition header (RFC 6266, RFC 8187)."""
    _, _, plain = disposition.partition('filename="')
    plain, _, extended = plain.partition('"')
    _, marked, encoded = extended.partition("filename*=UTF-8''")
    return unquote(encoded, errors="strict") if marked else plain


PAGES = [
    (20, 1, ""),
    (1, 1, "?pageSize=1"),
    (3, 1, "?pageSize=3"),
    (3, 2, "?pageSize=3&pageNumber=2"),
    (3, 2, "?pageNumber=2&pageSize=3"),
    (20, 1, "?pageNumber=1"),
    (7, 1, "?pageSize=7&pageNumber=1"),
    (8, 1, "?pageSize=8"),
    (200, 1, "?pageSize=200"),
    (20, 2, "?pageNumber=2"),
    (3, 5, "?pageNumber=5&pageSize=3"),
    (3, 2**31 - 1, "?pageNumber=2147483647&pageSize=3"),
    (3, 1, "?pageSize=03"),
    (3, 1, "?pageSize=%33"),
    (3, 1, "?pageSize=3&pageSize=4"),
    (3, 1, "?pageSize=\u0663"),
    (3, 1, "?pageSize=3&"),
    (20, 1, "?&"),
]
ODD_PAGES = {
    "?pageSize=0": "pageSize",
    "?pageSize=201": "pageSize",
    "?pageSize=-1": "pageSize",
    "?pageSize=1.5": "pageSize",
    "?pageSize=": "pageSize",
    "?pageNumber=0": "pageNumber",
    "?pageNumber=2147483648": "pageNumber",
    "?pageNumber=99999999999999999999": "pageNumber",
    "?pageSize=3&other=1": "other",
    "?pagesize=3": "pagesize",
}


@pytest.mark.parametrize("count", [0, 7])
def test_every_page_is_a_part_of_the_whole_list(
    api: Api, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_counts, "SPLIT_ABOVE", 2)
    alice, bob = api.person(), api.person(name='Bob "the \u2028 Builder" \U0001f600')
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    folder = api.folder(tenant, alice, "folder")["id"]
    grant = {"ownerId": bob.id, "permission": "write"}
    assert api.post(f"{tenant}/files/{folder}/owners", grant, by=alice).status_code == 201
    for number in range(count):
        api.upload(tenant, (alice, bob)[number % 2], f"{number}", b"content", folder)
        api.upload(tenant, bob, f"{number}", b"content")
    names = [str(number) for number in range(count)]
    for person in (alice, bob):
        for path, expected in (
            (f"{tenant}/owners/me/files", [*names, "folder"]),
            (f"{tenant}/owners/me/files/{folder}/files", names),
        ):
            whole = api.get(f"{path}?pageSize=200", by=person).json
            assert [item["name"] for item in whole["data"]] == expected
            for size, number, query in PAGES:
                answer = api.get(path + query, by=person)
                assert answer.status_code == 200, query
                data = whole["data"][(number - 1) * size : number * size]
                owners = {item["owner"]["$ref"] for item in data}
                assert answer.json == {
                    "success": True,
                    "meta": meta(path, len(expected), size, number),
                    "data": data,
                    "included": {id_: whole["included"][id_] for id_ in owners},
                }, query


def meta(path: str, total: int, size: int, number: int) -> Json:
    """Return the expected paging information."""
    count = (total + size - 1) // size
    previous = number - 1 if number <= count else max(count, 1)
    link = f"{PUBLIC_URL}{path}?pageSize={size}&pageNumber="
    return {
        "totalCount": total,
        "pageSize": size,
        "pageNumber": number,
        "pageCount": count,
        "isFirstPage": number == 1,
        "isLastPage": number >= count,
        "hasPreviousPage": number > 1,
        "previousPageLink": f"{link}{previous}" if number > 1 else None,
        "hasNextPage": number < count,
        "nextPageLink": f"{link}{number + 1}" if number < count else None,
    }


def test_odd_pages_are_refused(file: File) -> None:
    for path in (file.top, f"{file.top}/{MISSING}/files"):
        for query, field in ODD_PAGES.items():
            answer = file.get(path + query)
            assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed"), query
            (detail,) = answer.json["error"]["details"]
            assert detail["field"] == field
            unknown = field not in ("pageSize", "pageNumber")
            assert detail["code"] == ("unknown-field" if unknown else "invalid"), query


def test_lists_show_changes_at_once(api: Api) -> None:
    alice, bob = api.person(name="Alice"), api.person(name="Bob")
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    folder = api.folder(tenant, alice, "folder")["id"]
    first, second = (api.upload(tenant, alice, name, b"content", folder)["id"] for name in "ab")
    owners = f"{tenant}/files/{folder}/owners"
    grant = {"ownerId": bob.id, "permission": "read"}
    top = f"{tenant}/owners/me/files"

    def seen(person: Person) -> list[Any]:
        """Return what both lists contain, twice each: once read, once perhaps from a cache."""
        answers = [api.get(path, by=person) for path in (top, f"{top}/{folder}/files") for _ in "12"]
        lists = [answer.json.get("data") for answer in answers]
        assert lists[0::2] == lists[1::2]
        return [
            found and [(item["name"], item["size"], item["permission"]) for item in found]
            for found in lists[::2]
        ]

    def check(change: Answer, for_alice: list[Any], for_bob: list[Any]) -> None:
        assert change.status_code < 300
        assert seen(alice) == for_alice
        assert seen(bob) == for_bob

    def both(*rows: tuple[str, int], as_bob: str) -> tuple[list[Any], list[Any]]:
        inside = [[(name, size, level) for name, size in rows] for level in ("manage", as_bob)]
        outside = [[("folder", 0, level)] for level in ("manage", as_bob)]
        return [outside[0], inside[0]], [outside[1], inside[1]]

    assert seen(bob) == [[], None]
    check(api.post(owners, grant, by=alice), *both(("a", 7), ("b", 7), as_bob="read"))
    renamed = api.patch(f"{tenant}/files/{first}", {"name": "c"}, by=alice)
    check(renamed, *both(("b", 7), ("c", 7), as_bob="read"))
    replaced = api.request("PUT", f"{tenant}/files/{second}/content", by=alice, data=b"other")
    check(replaced, *both(("b", 5), ("c", 7), as_bob="read"))
    raised = api.post(owners, {**grant, "permission": "write"}, by=alice)
    check(raised, *both(("b", 5), ("c", 7), as_bob="write"))
    own = api.post(f"{tenant}/files/{first}/owners", {**grant, "permission": "manage"}, by=alice)
    for_alice, for_bob = both(("b", 5), ("c", 7), as_bob="write")
    for_bob[1][1] = ("c", 7, "manage")
    check(own, for_alice, for_bob)
    moved = api.put(f"{tenant}/files/{first}/directory", {"parentId": None}, by=alice)
    top_of = [[("c", 7, "manage"), ("folder", 0, level)] for level in ("manage", "write")]
    check(moved, [top_of[0], [("b", 5, "manage")]], [top_of[1], [("b", 5, "write")]])
    deleted = api.delete(f"{tenant}/files/{second}", by=alice)
    check(deleted, [top_of[0], []], [top_of[1], []])
    assert api.patch("/users/me", {"name": "Alicia"}, by=alice).status_code == 200
    for person in (alice, bob):
        (summary,) = api.get(top, by=person).json["included"].values()
        assert summary["name"] == "Alicia"


RANGES: dict[str, tuple[int | None, int | None]] = {
    "bytes=0-0": (0, 0),
    "bytes=0-": (0, None),
    "bytes=-1": (None, 1),
    "bytes=0-65535": (0, 65535),
    "bytes=-65537": (None, 65537),
    "bytes=1-299998": (1, 299_998),
    "bytes=0-999999999": (0, 999_999_999),
    "bytes=999999-": (999_999, None),
    "bytes=-0": (None, 0),
    "bytes= 0-1": (0, 1),
    "BYTES=0-1": (0, 1),
    "bytes=0-1,": (0, 1),
    "bytes=,0-1": (0, 1),
}
NO_RANGES = [
    "bytes=0-1,1-2",
    "bytes=2-1",
    "bytes=a-b",
    "bytes=",
    "bytes",
    "",
    "lines=0-1",
    "bytes=0-1-2",
    "bytes=00000000000000000000-1",
    "bytes=+0-1",
    "bytes=0-\u0661",
]


@pytest.mark.parametrize("size", [0, 1, 64 * 1024, 64 * 1024 + 1, 300_000])
def test_ranges(api: Api, size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    file = File(api, "a.bin", content)
    whole = file.get(file.download)
    assert (whole.status_code, whole.data) == (200, content)
    assert whole.headers["Content-Length"] == str(size)
    for wanted, (first, last) in RANGES.items():
        answer = file.get(file.download, headers={"Range": wanted})
        found = positions(first, last, size)
        if not found:
            assert (answer.status_code, error_code(answer)) == (416, "error.range-not-satisfiable")
            assert answer.headers["Content-Range"] == f"bytes */{size}"
            continue
        assert answer.status_code == 206, wanted
        assert answer.data == content[found.start : found.stop], wanted
        expected = f"bytes {found.start}-{found.stop - 1}/{size}"
        assert answer.headers["Content-Range"] == expected
        assert answer.headers["Content-Length"] == str(len(found))
        assert answer.headers["ETag"] == whole.headers["ETag"]
    for wanted in NO_RANGES:
        if size < 3 and "," in wanted:
            continue
        answer = file.get(file.download, headers={"Range": wanted.encode().decode("latin1")})
        assert (answer.status_code, answer.data) == (200, content), wanted
        assert "Content-Range" not in answer.headers
    parts = file.get(file.download, headers={"Range": "bytes=0-0,2-2"})
    if size > 2:
        assert parts.status_code == 206
        assert parts.headers["Content-Type"].startswith("multipart/byteranges; boundary=")
        for position in (0, 2):
            part = f"Content-Range: bytes {position}-{position}/{size}\r\n\r\n".encode()
            assert part + content[position : position + 1] + b"\r\n--" in parts.data
    else:
        assert parts.status_code == (206 if size else 416)


def positions(first: int | None, last: int | None, size: int) -> range:
    """Return the positions of a range (RFC 9110, section 14.1.2); without ``first``, the last bytes."""
    if first is None:
        return range(size)[-last:] if last else range(0)
    return range(size)[first : None if last is None else last + 1]


def test_conditions_of_downloads(file: File) -> None:
    tag = file.get(file.download).headers["ETag"]
    for headers, status in (
        ({"If-None-Match": tag}, 304),
        ({"If-None-Match": '"other"'}, 200),
        ({"If-Match": tag}, 200),
        ({"If-Match": '"other"'}, 412),
        ({"Range": "bytes=0-1", "If-Range": tag}, 206),
        ({"Range": "bytes=0-1", "If-Range": '"other"'}, 200),
        ({"If-Modified-Since": "Fri, 31 Dec 9999 00:00:00 GMT"}, 304),
        ({"If-Unmodified-Since": "Sat, 01 Jan 2000 00:00:00 GMT"}, 412),
    ):
        answer = file.get(file.download, headers=headers)
        assert answer.status_code == status, headers
        if status in (200, 206, 304):
            assert answer.headers["ETag"] == tag
            assert answer.headers["Cache-Control"] == "private, no-cache"
        body = {200: b"content", 206: b"co", 304: b""}.get(status, answer.data)
        assert answer.data == body, headers
    digest = file.get(file.download, headers={"Want-Content-Digest": "sha-256=1"})
    assert digest.headers["Content-Digest"] == digest.headers["Repr-Digest"]
    assert "Content-Digest" not in file.get(file.download).headers
    assert file.get(f"{file.download}?a=b").status_code == 200


@pytest.mark.parametrize(
    ("name", "content", "content_type", "kind"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png", "inline"),
        ("a.png", b"<svg/>", None, None),
        ("a.html", b"<html><script>alert(1)</script>", None, None),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", None, None),
        ("a.txt", b"text", "text/plain; charset=utf-8", "inline"),
        ("a.bin", b"\x00\x01", "application/octet-stream", "attachment"),
    ],
)
def test_media_types(
    api: Api, name: str, content: bytes, content_type: str | None, kind: str | None
) -> None:
    file = File(api, name, content)
    answer = file.get(file.download)
    assert answer.data == content
    assert answer.headers["Content-Type"] == file.node["contentType"]
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    disposition = answer.headers["Content-Disposition"]
    if content_type is not None:
        assert answer.headers["Content-Type"] == content_type
        assert disposition == f'{kind}; filename="{name}"'
    # Browsers run scripts in these types.
    active = ("text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "application/xml")
    assert not disposition.startswith("inline") or not answer.headers["Content-Type"].startswith(active)


def test_stored_bytes_that_are_cut_or_gone(file: File, tmp_path: Path) -> None:
    (stored,) = stored_files(tmp_path / "files")
    stored.write_bytes(b"cut")
    cut = file.get(file.download)
    assert (cut.status_code, error_code(cut)) == (503, "error.unavailable")
    assert cut.headers["Retry-After"]
    stored.unlink()
    gone = file.get(file.download)
    assert (gone.status_code, error_code(gone)) == (500, "error.internal")
    assert file.get().status_code == 200


class TestAccelerated:
    """Downloads that nginx sends."""

    @pytest.fixture
    def config_changes(self) -> Table:
        return {"storages": {"main": {"downloads": "x_accel"}}}

    @pytest.mark.parametrize("name", ["a.bin", "é 100%.txt"])
    def test_nginx_gets_the_path_of_the_file(self, api: Api, name: str) -> None:
        file = File(api, name)
        for headers in ({}, {"Range": "bytes=1-2"}):
            answer = file.get(file.download, headers=headers)
            # nginx applies the range itself.
            assert (answer.status_code, answer.data) == (200, b"")
            assert answer.headers["X-Accel-Redirect"].startswith("/_strongroom/")
            assert sent_name(answer.headers["Content-Disposition"]) == name
            assert "Content-Range" not in answer.headers
        assert file.get(file.download, headers={"Range": "bytes=9-"}).status_code == 416
        tag = answer.headers["ETag"]
        unchanged = file.get(file.download, headers={"If-None-Match": tag})
        assert unchanged.status_code == 304
        assert "X-Accel-Redirect" not in unchanged.headers


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


class TestAccessLog:
    """The lines of the access log."""

    @pytest.fixture
    def config_changes(self) -> Table:
        return {"logging": {"requests": True}}

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
