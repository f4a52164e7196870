"""The fast path answers as the ordinary routes do, to the byte, and answers what it is there for."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from tests.conftest import CONFIG
from tests.rest.nasty_names import may_be_a_name, nasty_names
from tests.rest.test_authorization_matrix import (
    LEVELS,
    READ,
    UNKNOWN_ACTORS,
    Actor,
    World,
)
from tests.support.api import Answer, Api
from tests.support.both_ways import BothWays, both_ways
from tests.support.stores import stored_files

from strongroom import app as application
from strongroom.assembly.container import Container
from strongroom.config import load
from strongroom.files import child_counts
from strongroom.files.models import Permission
from strongroom.plugin_api.storage import StorageUnavailable
from strongroom.sessions.store import SEEN_INTERVAL
from strongroom.telemetry.logs import ACCESS_LOGGER
from strongroom.testing.clock import HOUR, ManualClock
from strongroom.web.fast_path import FastPath

MISSING = "01890000-0000-7000-8000-000000000000"


def may_read(actor: Actor) -> bool:
    return actor not in UNKNOWN_ACTORS and LEVELS.get(actor, Permission.NONE) >= READ


@pytest.mark.parametrize("target", ["file", "folder", "nested file", "nested folder"])
def test_each_actor_is_answered_alike_and_fast_where_the_actor_may_look(
    both: BothWays, world: World, target: str
) -> None:
    scene = world.scene(target)
    for actor in Actor:
        person = world.people[actor]
        for node in (scene.node, MISSING, world.path.rpartition("/")[2]):
            status, fast = both.ask(f"{world.path}/files/{node}", person)
            assert fast == (status == 200) == (may_read(actor) and node == scene.node), actor


def test_every_name_is_answered_alike(both: BothWays) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    for name in nasty_names():
        if may_be_a_name(name):
            made = both.api.send(tenant, alice, name, b"content", query="?onConflict=rename").json
            assert both.ask(f"{tenant}/files/{made['id']}", alice) == (200, True), name


UNUSUAL = [
    {"If-None-Match": "*"},
    {"If-Match": '"1"'},
    {"If-Modified-Since": "Sat, 01 Jan 2000 00:00:00 GMT"},
    {"If-Unmodified-Since": "Sat, 01 Jan 2000 00:00:00 GMT"},
    {"Expect": "100-continue"},
    {"Transfer-Encoding": "chunked"},
    {"X-Access-Token": "other"},
]
HARMLESS = [
    {"Accept": "text/html"},
    {"Accept-Encoding": "gzip"},
    {"Origin": "https://elsewhere.example.com"},
    {"Cookie": "a=b"},
    {"Host": "elsewhere.example.com"},
    {"X-Forwarded-For": "192.0.2.1"},
    {"Content-Type": "application/json"},
]


def test_what_is_asked_for_in_an_unusual_way_is_answered_alike(both: BothWays) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    path = f"{tenant}/files/{both.api.upload(tenant, alice, 'a.txt', b'content')['id']}"
    for headers in UNUSUAL:
        assert not both.ask(path, alice, headers=headers)[1], headers
    for headers in HARMLESS:
        assert both.ask(path, alice, headers=headers) == (200, True), headers
    for method in ("HEAD", "OPTIONS", "POST", "PUT", "TRACE", "NONSENSE"):
        assert not both.ask(path, alice, method=method)[1], method
    for suffix in ("?a=b", "?", "/", "%00", "%0A", "//", "?access_token=x"):
        both.ask(path + suffix, alice)
    for environ in ({"SCRIPT_NAME": "/elsewhere"}, {"CONTENT_LENGTH": "2"}):
        assert not both.ask(path, alice, environ=environ)[1], environ
    for host in ("", "a b", "a@b", "[::1", "a:b", "\xff"):
        both.ask(path, alice, environ={"HTTP_HOST": host})


def test_each_way_to_present_a_token_is_answered_alike(both: BothWays) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    path = f"{tenant}/files/{both.api.upload(tenant, alice, 'a.txt', b'content')['id']}"
    token = alice.token or ""
    good = [{"Authorization": f"Bearer {token}"}, {"X-Access-Token": token}]
    for headers in good:
        assert both.ask(path, headers=headers) == (200, True)
    for value in (
        f"bearer {token}",
        f"Bearer  {token}",
        f"Bearer {token} ",
        "Basic YTpi",
        "",
        "Bearer ",
    ):
        both.ask(path, headers={"Authorization": value})
        both.ask(path, headers={"Authorization": value, "X-Access-Token": token})
    for value in ("", " ", f" {token}", token + "x", token[:-1], "é", f"{token}, {token}", "x" * 5000):
        assert not both.ask(path, headers={"X-Access-Token": value})[1], value


def test_a_request_has_the_id_that_it_offers_if_that_may_be_one(both: BothWays) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    path = f"{tenant}/files/{both.api.upload(tenant, alice, 'a.txt', b'content')['id']}"
    answer = both.api.get(path, by=alice, headers={"X-Request-Id": "mine"})
    assert answer.headers["X-Request-Id"] == "mine"
    given = {both.api.get(path, by=alice).headers["X-Request-Id"] for _ in range(2)}
    assert len(given) == 2
    odd = both.api.get(path, by=alice, headers={"X-Request-Id": "a b"}).headers["X-Request-Id"]
    assert len(odd) == 32


def test_a_login_that_is_in_use_is_seen_in_time(both: BothWays) -> None:
    api, alice = both.api, both.api.person()
    tenant = api.tenant(alice)
    path = f"{tenant}/files/{api.upload(tenant, alice, 'a.txt', b'content')['id']}"
    api.clock.advance(SEEN_INTERVAL - 1)
    assert both.ask(path, alice) == (200, True)
    api.clock.advance(1)
    assert api.get(path, by=alice).status_code == 200
    (login,) = api.get("/users/me/authorizations", by=alice).json["data"]
    assert login["lastSeenAt"] > login["createdAt"]
    assert both.ask(path, alice) == (200, True)


def test_a_token_that_expires_or_is_revoked_between_two_requests_is_refused(both: BothWays) -> None:
    api = both.api
    alice, bob = api.person(), api.person()
    tenant = api.tenant(alice)
    path = f"{tenant}/files/{api.upload(tenant, alice, 'a.txt', b'content')['id']}"
    api.join(tenant, alice, bob, "admin")
    for person in (alice, bob):
        assert both.ask(path, person) == (200, True)
    assert api.delete("/authorizations/current", by=bob).status_code == 200
    assert both.ask(path, bob) == (401, False)
    assert both.ask(path, alice) == (200, True)
    api.clock.advance(HOUR)
    assert both.ask(path, alice) == (401, False)


def test_a_grant_that_expires_or_is_taken_back_between_two_requests_shows_nothing_more(
    both: BothWays,
) -> None:
    api = both.api
    alice, bob = api.person(), api.person()
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    folder = api.folder(tenant, alice, "folder")["id"]
    path = f"{tenant}/files/{api.upload(tenant, alice, 'a.txt', b'content', folder)['id']}"
    owners = f"{tenant}/files/{folder}/owners"
    grant = {"ownerId": bob.id, "permission": "read"}
    assert api.post(owners, grant, by=alice).status_code == 201
    assert both.ask(path, bob) == (200, True)
    assert api.delete(f"{owners}/{bob.id}", by=alice).status_code == 200
    assert both.ask(path, bob) == (403, False)
    ends = {"expiresAt": "2999-01-01T00:00:00Z"}
    assert api.post(owners, {**grant, **ends}, by=alice).status_code == 201
    assert both.ask(path, bob) == (200, True)
    assert api.delete(f"{tenant}/members/{bob.id}", by=alice).status_code == 200
    assert both.ask(path, bob) == (403, False)


@pytest.mark.parametrize("target", ["folder", "nested folder"])
def test_each_actor_gets_the_same_lists_and_fast_where_there_is_one(
    both: BothWays, world: World, target: str
) -> None:
    scene = world.scene(target)
    people = world.people
    for number, actor in enumerate((Actor.CREATOR, Actor.WRITER, Actor.MANAGER, Actor.TENANT_ADMIN)):
        both.api.upload(world.path, people[actor], f"{number}", b"content", scene.node)
        both.api.upload(world.path, people[actor], f"{number} in the inbox", b"", world.inbox)
    own = {"ownerId": people[Actor.READER].id, "permission": "manage"}
    listed = both.api.get(f"{world.path}/owners/me/files/{scene.node}/files", by=people[Actor.CREATOR])
    path = f"{world.path}/files/{listed.json['data'][0]['id']}/owners"
    assert both.api.post(path, own, by=people[Actor.CREATOR]).status_code == 201
    for actor in Actor:
        top = f"{world.path}/owners/me/files"
        status, fast = both.ask(top, people[actor])
        assert fast == (status == 200) == (actor in LEVELS), actor
        status, fast = both.ask(f"{top}/{scene.node}/files", people[actor])
        assert fast == (status == 200) == may_read(actor), actor
        for other in (MISSING, listed.json["data"][0]["id"], world.path.rpartition("/")[2]):
            assert not both.ask(f"{top}/{other}/files", people[actor])[1], actor
        for owner in (people[Actor.READER].id, "nobody"):
            assert not both.ask(f"{world.path}/owners/{owner}/files", people[actor])[1], actor


PAGES = [
    "",
    "?pageSize=1",
    "?pageSize=3",
    "?pageSize=3&pageNumber=2",
    "?pageNumber=2&pageSize=3",
    "?pageNumber=1",
    "?pageSize=7&pageNumber=1",
    "?pageSize=8",
    "?pageSize=200",
    "?pageNumber=2",
    "?pageNumber=5&pageSize=3",
]
ODD_PAGES = [
    "?pageSize=0",
    "?pageSize=201",
    "?pageSize=-1",
    "?pageSize=1.5",
    "?pageSize=",
    "?pageSize=03",
    "?pageSize=%33",
    "?pageSize=3&pageSize=4",
    "?pageSize=\u0663",
    "?pageNumber=0",
    "?pageNumber=2147483647",
    "?pageNumber=2147483648",
    "?pageNumber=99999999999999999999",
    "?pageSize=3&other=1",
    "?pageSize=3&",
    "?&",
    "?pagesize=3",
]


@pytest.mark.parametrize("names", [0, 7])
def test_every_page_is_answered_alike(
    both: BothWays, names: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_counts, "SPLIT_ABOVE", 2)
    api = both.api
    alice, bob = api.person(), api.person(name='Bob "the \u2028 Builder" \U0001f600')
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    folder = api.folder(tenant, alice, "folder")["id"]
    grant = {"ownerId": bob.id, "permission": "write"}
    assert api.post(f"{tenant}/files/{folder}/owners", grant, by=alice).status_code == 201
    for number in range(names):
        api.upload(tenant, (alice, bob)[number % 2], f"{number}", b"content", folder)
        api.upload(tenant, bob, f"{number}", b"content")
    for who in (alice, bob):
        for top in (f"{tenant}/owners/me/files", f"{tenant}/owners/me/files/{folder}/files"):
            for query in PAGES:
                status, fast = both.ask(top + query, who)
                # How many there are at the top, a page beyond the end does not tell.
                assert (status, fast or "pageNumber" in query) == (200, True), query
            for query in ODD_PAGES:
                assert not both.ask(top + query, who)[1], query


def test_a_page_that_is_remembered_shows_at_once_what_has_changed(both: BothWays) -> None:
    api = both.api
    alice, bob = api.person(), api.person()
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    folder = api.folder(tenant, alice, "folder")["id"]
    first, second = (api.upload(tenant, alice, name, b"content", folder)["id"] for name in "ab")
    owners = f"{tenant}/files/{folder}/owners"
    grant = {"ownerId": bob.id, "permission": "read"}
    changes: list[Callable[[], Answer]] = [
        lambda: api.post(owners, grant, by=alice),
        lambda: api.patch(f"{tenant}/files/{first}", {"name": "c"}, by=alice),
        lambda: api.request("PUT", f"{tenant}/files/{second}/content", by=alice, data=b"other"),
        lambda: api.patch("/users/me", {"name": "Alice"}, by=alice),
        lambda: api.post(owners, {**grant, "permission": "write"}, by=alice),
        lambda: api.post(f"{tenant}/files/{first}/owners", {**grant, "permission": "manage"}, by=alice),
        lambda: api.put(f"{tenant}/files/{first}/directory", {"parentId": None}, by=alice),
        lambda: api.delete(f"{tenant}/files/{second}", by=alice),
    ]
    top = f"{tenant}/owners/me/files"
    for change in changes:
        assert change().status_code < 300
        for who in (alice, bob):
            for path in (top, f"{top}/{folder}/files"):
                assert [both.ask(path, who) for _ in range(2)] == [(200, True)] * 2


def test_names_are_listed_alike(both: BothWays) -> None:
    alice, bob = both.api.person(), both.api.person()
    tenant = both.api.tenant(alice)
    both.api.join(tenant, alice, bob)
    for name in nasty_names():
        if may_be_a_name(name):
            both.api.send(tenant, bob, name, b"", query="?onConflict=rename")
    for who in (alice, bob):
        for number in (1, 2, 3):
            path = f"{tenant}/owners/me/files?pageSize=150&pageNumber={number}"
            assert both.ask(path, who) == (200, True)


def test_each_actor_downloads_alike_and_fast_where_the_actor_may_read(
    both: BothWays, world: World
) -> None:
    for target in ("file", "nested file", "folder"):
        scene = world.scene(target)
        for actor in Actor:
            status, fast = both.ask(f"{scene.file}/download", world.people[actor])
            assert fast == (status == 200) == (may_read(actor) and target != "folder"), actor


SIZES = [0, 1, 64 * 1024, 64 * 1024 + 1, 300_000]
RANGES = [
    "bytes=0-0",
    "bytes=0-",
    "bytes=-1",
    "bytes=0-65535",
    "bytes=-65537",
    "bytes=1-299998",
    "bytes=0-999999999",
    "bytes= 0-1",
    "BYTES=0-1",
    "bytes=0-1,",
]
ODD_RANGES = [
    "bytes=0-0,2-2",
    "bytes=0-1,1-2",
    "bytes=999999-",
    "bytes=-0",
    "bytes=2-1",
    "bytes=a-b",
    "bytes=",
    "bytes",
    "",
    "lines=0-1",
    "bytes=0-1-2",
    "bytes=00000000000000000000-1",
]


@pytest.mark.parametrize("size", SIZES)
def test_every_range_is_answered_alike(both: BothWays, size: int) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    content = bytes(number % 251 for number in range(size))
    path = f"{tenant}/files/{both.api.upload(tenant, alice, 'a.bin', content)['id']}/download"
    assert both.ask(path, alice) == (200, True)
    assert both.api.get(path, by=alice).data == content
    for wanted in RANGES:
        status, fast = both.ask(path, alice, headers={"Range": wanted})
        assert (status, fast) in ((206, True), (416, False)), wanted
    for wanted in ODD_RANGES:
        if "," in wanted or wanted.startswith("bytes=9") or wanted == "bytes=-0":
            # The boundary of parts is drawn by lot.
            answered = both.api.get(path, by=alice, headers={"Range": wanted})
            assert answered.status_code in (200, 206, 416), wanted
        else:
            assert both.ask(path, alice, headers={"Range": wanted})[0] == 200, wanted


def test_conditions_of_downloads_are_left_to_the_ordinary_route(both: BothWays) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    path = f"{tenant}/files/{both.api.upload(tenant, alice, 'a.bin', b'content')['id']}/download"
    tag = both.api.get(path, by=alice).headers["ETag"]
    for headers in (
        {"If-None-Match": tag},
        {"If-Match": '"other"'},
        {"Range": "bytes=0-1", "If-Range": tag},
        {"Want-Content-Digest": "sha-256=1"},
    ):
        assert not both.ask(path, alice, headers=headers)[1], headers
    assert not both.ask(path, alice, method="HEAD")[1]
    assert not both.ask(path + "?a=b", alice)[1]


def test_every_name_and_type_is_downloaded_alike(both: BothWays) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    for name in (*nasty_names(), "a.png", "a.html", "a.svg", "a.txt"):
        if may_be_a_name(name):
            made = both.api.send(tenant, alice, name, b"<svg/>", query="?onConflict=rename").json
            assert both.ask(f"{tenant}/files/{made['id']}/download", alice) == (200, True), name


def test_bytes_that_are_gone_are_left_to_the_ordinary_route(both: BothWays, tmp_path: Path) -> None:
    alice = both.api.person()
    tenant = both.api.tenant(alice)
    path = f"{tenant}/files/{both.api.upload(tenant, alice, 'a.bin', b'content')['id']}/download"
    (stored,) = stored_files(tmp_path / "files")
    stored.write_bytes(b"cut")
    with pytest.raises(StorageUnavailable):
        both.api.get(path, by=alice)
    stored.unlink()
    assert both.ask(path, alice) == (500, False)


@pytest.fixture
def pointing(tmp_path: Path, database_url: str, clock: ManualClock) -> Iterator[BothWays]:
    """Both, with nginx in front that sends the files."""
    config = tmp_path / "strongroom.toml"
    text = CONFIG.format(folder=tmp_path, database_url=database_url)
    config.write_text(text.replace("[files]", 'downloads = "x_accel"\n[files]'))
    with both_ways(config, clock) as both:
        yield both


def test_nginx_is_pointed_to_files_alike(pointing: BothWays) -> None:
    alice = pointing.api.person()
    tenant = pointing.api.tenant(alice)
    for name in ("a.bin", "é 100%.txt"):
        node = pointing.api.upload(tenant, alice, name, b"content")["id"]
        path = f"{tenant}/files/{node}/download"
        assert pointing.ask(path, alice) == (200, True)
        assert pointing.api.get(path, by=alice).headers["X-Accel-Redirect"].startswith("/_strongroom/")
        assert pointing.ask(path, alice, headers={"Range": "bytes=1-2"}) == (200, True)
        assert pointing.ask(path, alice, headers={"Range": "bytes=9-"}) == (416, False)


def test_a_plugin_that_does_something_with_every_request_does_it_with_all(
    tmp_path: Path, database_url: str, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def register(app: Flask, container: Container) -> None:
        register_routes(app, container)
        app.after_request(lambda response: response)

    register_routes = application._register_routes
    monkeypatch.setattr(application, "_register_routes", register)
    config = tmp_path / "strongroom.toml"
    config.write_text(CONFIG.format(folder=tmp_path, database_url=database_url))
    app = application.create_app(load(config, {}), clock)
    assert not isinstance(app.wsgi_app, FastPath)
    application.container_of(app).close()


def test_the_log_tells_of_fast_answers_what_it_tells_of_others(
    tmp_path: Path, database_url: str, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    config = tmp_path / "strongroom.toml"
    text = CONFIG.format(folder=tmp_path, database_url=database_url)
    config.write_text(f"{text}\n[logging]\nrequests = true\n")
    caplog.set_level("INFO", ACCESS_LOGGER)
    lines = []
    with both_ways(config, clock) as both:
        alice = both.api.person()
        tenant = both.api.tenant(alice)
        node = both.api.upload(tenant, alice, "a.txt", b"content" * 20_000)["id"]
        for app in (both.api.app, both.ordinary):
            caplog.clear()
            api = Api(app, both.api.container, clock)
            for suffix in (f"files/{node}", f"files/{node}/download", "owners/me/files"):
                api.get(f"{tenant}/{suffix}", by=alice, headers={"X-Request-Id": "mine"})
            lines.append([(vars(line)["request_id"], vars(line)["members"]) for line in caplog.records])
    for _, members in (*lines[0], *lines[1]):
        members.pop("milliseconds")
    assert lines[0] == lines[1]
    assert [members["sent"] for _, members in lines[0]][1] == 140_000
