"""Each actor at each endpoint of tenants' files, on a file, a folder, and both below a granted folder.

An endpoint is a row of ``ENDPOINTS``: what it needs, and how it is called. All else follows.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.conftest import CONFIG
from tests.support.api import Answer, Api, Json, Person

from strongroom.app import container_of, create_app
from strongroom.clock import iso_format
from strongroom.config import load
from strongroom.files.models import Permission, grants, nodes
from strongroom.storage.models import BlobState, blobs
from strongroom.tenants.models import tenant_members, tenants
from strongroom.testing.clock import HOUR, ManualClock

NONE, READ, WRITE, MANAGE = Permission
PICTURE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
UNAUTHENTICATED, FORBIDDEN, WRONG_KIND = 401, 403, 409


class Actor(StrEnum):
    """Who calls."""

    NOBODY = "nobody"
    EXPIRED = "who holds an expired token"
    REVOKED = "who has logged out"
    SUSPENDED = "who is suspended"
    STRANGER = "stranger"
    MEMBER = "member without a grant"
    PAST = "past grantee"
    READER = "reader"
    WRITER = "writer"
    MANAGER = "manager"
    CREATOR = "creator"
    TENANT_ADMIN = "administrator of the tenant"
    OTHER_ADMIN = "administrator of another tenant"
    ADMIN = "administrator of the server"


OUTSIDERS = {Actor.STRANGER, Actor.OTHER_ADMIN, Actor.ADMIN}
UNKNOWN_ACTORS = {Actor.NOBODY, Actor.EXPIRED, Actor.REVOKED, Actor.SUSPENDED}
LEVELS = {
    Actor.MEMBER: NONE,
    Actor.PAST: NONE,
    Actor.READER: READ,
    Actor.WRITER: WRITE,
    Actor.MANAGER: MANAGE,
    Actor.CREATOR: MANAGE,
    Actor.TENANT_ADMIN: MANAGE,
}


@dataclass
class Scene:
    """What a call is made on: a node, and a folder that every member may write to."""

    api: Api
    path: str
    node: str
    inbox: str
    bystander: Person
    creator: Person

    @property
    def file(self) -> str:
        return f"{self.path}/files/{self.node}"


Call = Callable[[Scene, Person], Answer]


@dataclass(frozen=True)
class Endpoint:
    """An endpoint that is asked about one node.

    Args:
        name: its method and path.
        needs: what the caller must hold on the node.
        call: calls it.
        kind: the one kind of node it serves; on another it answers 409, after it has let the caller in.
        changes: whether it changes anything.
    """

    name: str
    needs: Permission
    call: Call
    kind: str | None = None
    changes: bool = True


def send(method: str, suffix: str, body: Json | None = None) -> Call:
    """Return the call of a path below the node's own, with a JSON body."""

    def call(scene: Scene, caller: Person) -> Answer:
        return scene.api.request(method, scene.file + suffix, by=caller, json=body)

    return call


def with_bystander(method: str, suffix: str, body: Json | None = None) -> Call:
    """Return such a call about another user, ``{user}``."""

    def call(scene: Scene, caller: Person) -> Answer:
        path = scene.file + suffix.replace("{user}", scene.bystander.id)
        sent = body and {"ownerId": scene.bystander.id, **body}
        return scene.api.request(method, path, by=caller, json=sent)

    return call


def upload_into(scene: Scene, caller: Person) -> Answer:
    return scene.api.send(scene.path, caller, "new", b"x", scene.node)


def replace_content(scene: Scene, caller: Person) -> Answer:
    return scene.api.request("PUT", f"{scene.file}/content", by=caller, data=b"new")


def move_to_inbox(scene: Scene, caller: Person) -> Answer:
    return scene.api.put(f"{scene.file}/directory", {"parentId": scene.inbox}, by=caller)


def list_own(scene: Scene, caller: Person) -> Answer:
    return scene.api.get(f"{scene.path}/owners/me/files/{scene.node}/files", by=caller)


def download_bundle(scene: Scene, caller: Person) -> Answer:
    return scene.api.post(f"{scene.path}/multi-files-download", {"fileIds": [scene.node]}, by=caller)


def download_bundle_again(scene: Scene, caller: Person) -> Answer:
    """Ask again for the archive that the node's creator asked for first."""
    asked = {"fileIds": [scene.node]}
    made = scene.api.post(f"{scene.path}/multi-files-download", asked, by=scene.creator)
    return scene.api.get(made.headers["Content-Location"], by=caller)


def begin_upload_into(scene: Scene, caller: Person) -> Answer:
    return begin_upload(scene.api, scene.path, caller, filename="new", parentId=scene.node)


def begin_upload(api: Api, path: str, caller: Person, **metadata: str) -> Answer:
    """Begin a resumable upload, which takes up room and shows nothing until its last byte."""
    pairs = (f"{key} {b64encode(value.encode()).decode()}" for key, value in metadata.items())
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "3", "Upload-Metadata": ",".join(pairs)}
    return api.request("POST", f"{path}/uploads", by=caller, headers=headers)


ENDPOINTS = [
    Endpoint("GET file", READ, send("GET", ""), changes=False),
    Endpoint("GET download", READ, send("GET", "/download"), kind="file", changes=False),
    Endpoint("HEAD download", READ, send("HEAD", "/download"), kind="file", changes=False),
    Endpoint("GET files in folder", READ, list_own, kind="folder", changes=False),
    Endpoint("POST multi-files-download", READ, download_bundle, changes=False),
    Endpoint("POST uploads into folder", WRITE, begin_upload_into, kind="folder"),
    Endpoint("PATCH file", WRITE, send("PATCH", "?onConflict=rename", {"name": "renamed"})),
    Endpoint("PUT content", WRITE, replace_content, kind="file"),
    Endpoint("POST files in folder", WRITE, upload_into, kind="folder"),
    Endpoint("POST folders in folder", WRITE, send("POST", "/folders", {"name": "new"}), kind="folder"),
    Endpoint("PUT directory", MANAGE, move_to_inbox),
    Endpoint("DELETE file", MANAGE, send("DELETE", "")),
    Endpoint("GET owners", MANAGE, send("GET", "/owners"), changes=False),
    Endpoint("POST owners", MANAGE, with_bystander("POST", "/owners", {"permission": "read"})),
    Endpoint("DELETE owner", MANAGE, with_bystander("DELETE", "/owners/{user}")),
    Endpoint("GET access", MANAGE, with_bystander("GET", "/access?userId={user}"), changes=False),
]


@dataclass
class World:
    """A tenant with all actors."""

    api: Api
    path: str
    people: dict[Actor, Person]
    bystander: Person
    inbox: str
    made: int = 0

    def scene(self, target: str) -> Scene:
        """Make a node that each actor holds on what the actor's name says."""
        self.made += 1
        creator, name = self.people[Actor.CREATOR], f"target {self.made}"
        around = None
        if target.startswith("nested"):
            around = self.api.folder(self.path, creator, f"around {name}")["id"]
        if target.endswith("folder"):
            node = self.api.folder(self.path, creator, name, around)["id"]
        else:
            node = self.api.upload(self.path, creator, name, b"content", around)["id"]
        granted = around or node
        for actor in (Actor.PAST, Actor.READER, Actor.WRITER, Actor.MANAGER):
            self.grant(granted, actor)
        return Scene(self.api, self.path, node, self.inbox, self.bystander, creator)

    def grant(self, node: str, actor: Actor) -> None:
        """Grant what an actor holds; what is past ends in the past."""
        level = max(LEVELS[actor], READ).name.lower()
        body: Json = {"ownerId": self.people[actor].id, "permission": level}
        if actor is Actor.PAST:
            body["expiresAt"] = iso_format(self.api.clock.now() + 1)
        path = f"{self.path}/files/{node}/owners"
        assert self.api.post(path, body, by=self.people[Actor.TENANT_ADMIN]).status_code == 201
        if actor is Actor.PAST:
            self.api.clock.advance(1)

    def digest(self) -> str:
        """Return a hash over all that the tenant keeps."""
        hashed = sha256()
        with self.api.container.database.read() as connection:
            for table in (tenants, tenant_members, nodes, grants):
                rows = connection.execute(select(table).order_by(*table.primary_key.columns))
                hashed.update(repr(rows.all()).encode())
            stored = blobs.c.state == BlobState.STORED.value
            keys = connection.execute(select(blobs.c.key).where(stored).order_by(blobs.c.key))
            hashed.update(repr(keys.all()).encode())
        return hashed.hexdigest()


def expected_status(actor: Actor, needs: Permission) -> int | None:
    """Return how an actor is refused, or ``None``."""
    if actor in UNKNOWN_ACTORS:
        return UNAUTHENTICATED
    return FORBIDDEN if actor in OUTSIDERS or LEVELS[actor] < needs else None


@contextmanager
def served(folder: Path, database_url: str) -> Iterator[Api]:
    """Yield the API, for a whole module."""
    path = folder / "strongroom.toml"
    path.write_text(CONFIG.format(folder=folder, database_url=database_url))
    clock = ManualClock()
    app = create_app(load(path, {}), clock)
    container = container_of(app)
    yield Api(app, container, clock)
    container.close()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    databases = request.getfixturevalue(f"{request.param}_databases")
    with (
        databases.create() as url,
        served(tmp_path_factory.mktemp("matrix"), url) as api,
    ):
        yield make_world(api)


def make_world(api: Api) -> World:
    """Make the actors. Who is out by now was a member who managed everything."""
    expired = api.person()
    api.clock.advance(HOUR)
    people = {actor: api.person(admin=actor is Actor.ADMIN) for actor in Actor}
    people[Actor.NOBODY].token = None
    people[Actor.EXPIRED] = expired
    admin = people[Actor.TENANT_ADMIN]
    path = api.tenant(admin)
    api.tenant(people[Actor.OTHER_ADMIN])
    bystander = api.person()
    for actor in LEVELS.keys() - {Actor.TENANT_ADMIN}:
        api.join(path, admin, people[actor])
    for actor in (Actor.EXPIRED, Actor.REVOKED, Actor.SUSPENDED):
        api.join(path, admin, people[actor], "admin")
    api.join(path, admin, bystander)
    inbox = api.folder(path, admin, "inbox")["id"]
    for actor in (Actor.MEMBER, Actor.PAST, Actor.READER, Actor.WRITER, Actor.MANAGER, Actor.CREATOR):
        body = {"ownerId": people[actor].id, "permission": "write"}
        assert api.post(f"{path}/files/{inbox}/owners", body, by=admin).status_code == 201
    assert api.delete("/authorizations/current", by=people[Actor.REVOKED]).status_code == 200
    suspension = f"/users/{people[Actor.SUSPENDED].id}/suspension"
    assert api.post(suspension, by=people[Actor.ADMIN]).status_code == 200
    return World(api, path, people, bystander, inbox)


@pytest.mark.parametrize("target", ["file", "folder", "nested file", "nested folder"])
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_each_actor_may_do_what_the_table_says_and_a_refusal_changes_nothing(
    world: World, endpoint: Endpoint, target: str
) -> None:
    scene, wrong = world.scene(target), {}
    fits = endpoint.kind is None or target.endswith(endpoint.kind)
    before = world.digest()
    for actor in sorted(Actor, key=lambda actor: LEVELS.get(actor, NONE)):
        refused = expected_status(actor, endpoint.needs) or (None if fits else WRONG_KIND)
        answer = endpoint.call(scene, world.people[actor])
        if answer.status_code != refused if refused else answer.status_code >= 300:
            wrong[actor] = (answer.status_code, answer.text)
        if refused or not endpoint.changes:
            assert world.digest() == before, actor
        else:
            scene = world.scene(target)
            before = world.digest()
    assert wrong == {}


TENANT_CALLS: dict[str, Callable[[World, Person], Answer]] = {
    "POST folders": lambda world, caller: world.api.post(
        f"{world.path}/folders?onConflict=rename", {"name": "new"}, by=caller
    ),
    "POST files": lambda world, caller: world.api.send(
        world.path, caller, "new", b"x", query="?onConflict=rename"
    ),
    "POST uploads": lambda world, caller: begin_upload(
        world.api, world.path, caller, filename="new", onConflict="rename"
    ),
    "GET tenant": lambda world, caller: world.api.get(world.path, by=caller),
    "GET own files": lambda world, caller: world.api.get(f"{world.path}/owners/me/files", by=caller),
}


@pytest.mark.parametrize("name", TENANT_CALLS)
def test_at_the_top_every_member_may_look_and_put_something_and_nobody_else(
    world: World, name: str
) -> None:
    for actor in Actor:
        before = world.digest()
        refused = expected_status(actor, NONE)
        answer = TENANT_CALLS[name](world, world.people[actor])
        assert answer.status_code == (refused or (200 if name.startswith("GET") else 201)), actor
        if refused:
            assert world.digest() == before, actor


@pytest.mark.parametrize("suffix", ["", "/{inbox}/files"])
def test_the_lists_of_others_are_for_administrators_of_the_tenant(world: World, suffix: str) -> None:
    path = f"{world.path}/owners/{world.people[Actor.READER].id}/files"
    path += suffix.format(inbox=world.inbox)
    before = world.digest()
    for actor in Actor:
        level = MANAGE if actor in (Actor.TENANT_ADMIN, Actor.READER) else NONE
        refused = expected_status(actor, NONE) or (None if level is MANAGE else FORBIDDEN)
        assert world.api.get(path, by=world.people[actor]).status_code == (refused or 200), actor
    assert world.digest() == before


def test_the_usage_of_a_tenant_is_for_its_members_and_administrators_of_the_server(
    world: World,
) -> None:
    for actor in Actor:
        refused = None if actor is Actor.ADMIN else expected_status(actor, NONE)
        answer = world.api.get(f"{world.path}/usage", by=world.people[actor])
        assert answer.status_code == (refused or 200), actor


def test_an_archive_is_given_again_to_whom_it_was_made_for_and_nobody_else(world: World) -> None:
    scene = world.scene("nested folder")
    for actor in Actor:
        refused = expected_status(actor, NONE) or (None if actor is Actor.CREATOR else 404)
        answer = download_bundle_again(scene, world.people[actor])
        assert answer.status_code == (refused or 200), actor


def test_an_upload_goes_on_for_who_began_it_and_nobody_else(world: World) -> None:
    begun = begin_upload(world.api, world.path, world.people[Actor.CREATOR], filename="resumed")
    path = "/api" + begun.headers["Location"].partition("/api")[2]
    resumable = {"Tus-Resumable": "1.0.0"}
    going_on = {
        **resumable,
        "Upload-Offset": "0",
        "Content-Type": "application/offset+octet-stream",
    }
    before = world.digest()
    for actor in Actor:
        refused = expected_status(actor, NONE) or (None if actor is Actor.CREATOR else FORBIDDEN)
        person = world.people[actor]
        answers = {
            "HEAD": world.api.request("HEAD", path, by=person, headers=resumable),
            "PATCH": refused
            and world.api.request("PATCH", path, by=person, headers=going_on, data=b"new"),
            "DELETE": refused and world.api.request("DELETE", path, by=person, headers=resumable),
        }
        wanted = dict.fromkeys(answers, refused) if refused else {"HEAD": 200}
        seen = {name: answer.status_code for name, answer in answers.items() if answer}
        assert seen == wanted, actor
    assert world.digest() == before


BUSINESS_UPLOADS = ["", "/photos", "/figures", "/covers", "/avatars"]


@pytest.mark.parametrize("suffix", BUSINESS_UPLOADS)
def test_business_files_are_uploaded_by_every_user_and_removed_by_their_owner_or_an_administrator(
    world: World, suffix: str
) -> None:
    api, owner = world.api, world.people[Actor.MEMBER]
    for actor in Actor:
        person = world.people[actor]
        added = send_business_file(api, suffix, person)
        assert added.status_code == (401 if actor in UNKNOWN_ACTORS else 201), actor
        kept = f"/api/v1/files/{send_business_file(api, suffix, owner).json['fileName']}"
        refused = 401 if actor in UNKNOWN_ACTORS else 403
        may = actor in {Actor.MEMBER, Actor.ADMIN}
        assert api.delete(kept, by=person).status_code == (200 if may else refused), actor
        assert api.get(kept, by=owner).status_code == (404 if may else 200), actor


def send_business_file(api: Api, suffix: str, person: Person) -> Answer:
    headers = {
        "Content-Disposition": 'attachment; filename="a.png"',
        "Content-Type": "application/octet-stream",
    }
    return api.request("POST", f"/api/v1/files{suffix}", by=person, headers=headers, data=PICTURE)
