"""Each actor and key at each endpoint of tenants' files, on files and folders, granted and below.

An endpoint is a row of ``ENDPOINTS``: its route and operation, its required permission, and its call.
All else follows. The permissions are those of the table of operations, written a second time by hand.
"""

from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from http import HTTPStatus

import pytest
from _pytest.mark import ParameterSet
from tests.support.actors import (
    LEVELS,
    MANAGE,
    NONE,
    OUTSIDERS,
    READ,
    UNKNOWN_ACTORS,
    WRITE,
    Actor,
    Target,
    World,
    make_world,
)
from tests.support.api import PASSWORD, Answer, Api, Json, Person, creation_headers
from tests.support.config import lifted, write_api_config
from tests.support.databases import PostgresqlDatabases, SqliteDatabases
from tests.support.features import is_left_out, needs

from strongroom.clock import iso_format
from strongroom.content.nodes import operations
from strongroom.content.nodes.models import Permission
from strongroom.content.nodes.operations import NodeRule
from strongroom.extensions.business_files.feature import BusinessFilesFeature
from strongroom.extensions.uploads.direct_feature import DirectUploadsFeature
from strongroom.web.http.routing import Operation

PICTURE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
UNAUTHENTICATED, FORBIDDEN, WRONG_KIND = 401, 403, 409
MOST_TARGETS = 40
KINDS = ("file", "folder", "nested file", "nested folder")


Call = Callable[[Target, Person], Answer]
Databases = SqliteDatabases | PostgresqlDatabases


@dataclass(frozen=True)
class Endpoint:
    """An endpoint that is called for one node.

    Args:
        name: what it does, in a few words.
        route: its method, and its path below the tenant.
        rule: the row of its operation.
        needs: the required permission on the node.
        call: calls it.
        kind: the one kind of node it serves; on another it answers 409, after it has let the caller in.
        changes: whether it changes anything.
    """

    name: str
    route: str
    rule: NodeRule
    needs: Permission
    call: Call
    kind: str | None = None
    changes: bool = True


def send(method: str, suffix: str, body: Json | None = None) -> Call:
    """Return the call of a path below the node's own, with a JSON body."""

    def call(target: Target, caller: Person) -> Answer:
        return target.api.request(method, target.file + suffix, by=caller, json=body)

    return call


def with_bystander(method: str, suffix: str, body: Json | None = None) -> Call:
    """Return such a call about another user, ``{user}``."""

    def call(target: Target, caller: Person) -> Answer:
        path = target.file + suffix.replace("{user}", target.bystander.id)
        sent = body and {"ownerId": target.bystander.id, **body}
        return target.api.request(method, path, by=caller, json=sent)

    return call


def with_group(method: str, suffix: str, body: Json | None = None) -> Call:
    """Return such a call about a group, ``{group}``."""

    def call(target: Target, caller: Person) -> Answer:
        path = target.file + suffix.replace("{group}", target.bystanders)
        sent = body and {"groupId": target.bystanders, **body}
        return target.api.request(method, path, by=caller, json=sent)

    return call


def upload_into(target: Target, caller: Person) -> Answer:
    return target.api.send(target.path, caller, "new", b"x", target.node)


def replace_content(target: Target, caller: Person) -> Answer:
    return target.api.request("PUT", f"{target.file}/content", by=caller, data=b"new")


def with_own_lock(method: str, body: Json | None = None) -> Call:
    """Return the call of a lock that the caller takes before, if that is permitted."""

    def call(target: Target, caller: Person) -> Answer:
        locks = f"{target.file}/locks"
        lock = target.api.post(locks, {"shared": True}, by=caller)
        lock_id = lock.json["id"] if lock.status_code == HTTPStatus.CREATED else target.bystander.id
        return target.api.request(method, f"{locks}/{lock_id}", by=caller, json=body)

    return call


def move_to_inbox(target: Target, caller: Person) -> Answer:
    return target.api.put(f"{target.file}/directory", {"parentId": target.inbox}, by=caller)


def rename_by_directory(target: Target, caller: Person) -> Answer:
    parent = target.api.get(target.file, by=target.creator).json.get("parentId")
    path = f"{target.file}/directory?onConflict=rename"
    return target.api.put(path, {"parentId": parent, "name": "renamed"}, by=caller)


def rename_in_batch(target: Target, caller: Person) -> Answer:
    parent = target.api.get(target.file, by=target.creator).json.get("parentId")
    item = {"operation": "move", "fileId": target.node, "parentId": parent, "name": "renamed"}
    body = {"items": [{**item, "onConflict": "rename"}]}
    return target.api.post(f"{target.path}/files-batches", body, by=caller)


def search_inside(target: Target, caller: Person) -> Answer:
    path = f"{target.path}/search?query=name&parentId={target.node}"
    return target.api.get(path, by=caller)


def list_own(target: Target, caller: Person) -> Answer:
    return target.api.get(f"{target.path}/owners/me/files/{target.node}/files", by=caller)


def copy_to_inbox(target: Target, caller: Person) -> Answer:
    path = f"{target.file}/copies?onConflict=rename"
    return target.api.post(path, {"parentId": target.inbox}, by=caller)


def batch(operation: str, **members: str) -> Call:
    """Return the call of an atomic batch with one item; ``{x}`` is the attribute x of the target."""

    def call(target: Target, caller: Person) -> Answer:
        known = {"inbox": target.inbox, "user": target.bystander.id, "group": target.bystanders}
        filled = {name: value.format(**known) for name, value in members.items()}
        item = {"operation": operation, "fileId": target.node, **filled}
        return target.api.post(f"{target.path}/files-batches", {"items": [item]}, by=caller)

    return call


def download_bundle(target: Target, caller: Person) -> Answer:
    return target.api.post(f"{target.path}/multi-files-download", {"fileIds": [target.node]}, by=caller)


def download_bundle_again(target: Target, caller: Person) -> Answer:
    """Request the archive that the node's creator requested first."""
    body = {"fileIds": [target.node]}
    made = target.api.post(f"{target.path}/multi-files-download", body, by=target.creator)
    return target.api.get(made.headers["Content-Location"], by=caller)


def begin_upload_into(target: Target, caller: Person) -> Answer:
    return begin_upload(target.api, target.path, caller, filename="new", parentId=target.node)


def begin_upload(api: Api, path: str, caller: Person, **metadata: str) -> Answer:
    """Begin a resumable upload, which takes up room and shows nothing until its last byte."""
    headers = creation_headers(3, **metadata)
    return api.request("POST", f"{path}/uploads", by=caller, headers=headers)


DELETE_VERSION, DELETE_PERMANENTLY = "DELETE version", "DELETE file permanently"
COPY, BATCH_COPY = "POST copies", "batch copy"
NOT_BY_KEYS = (DELETE_VERSION, DELETE_PERMANENTLY, COPY, BATCH_COPY)
"""Keys cannot prove what the first two demand. A copy needs ``read``, but the scope ``files:write``."""

FILE = "/files/<file_id>"

ENDPOINTS = [
    Endpoint("GET file", f"GET {FILE}", operations.GET, READ, send("GET", ""), changes=False),
    Endpoint(
        "GET download",
        f"GET {FILE}/download",
        operations.DOWNLOAD,
        READ,
        send("GET", "/download"),
        kind="file",
        changes=False,
    ),
    Endpoint(
        "HEAD download",
        f"GET {FILE}/download",
        operations.DOWNLOAD,
        READ,
        send("HEAD", "/download"),
        kind="file",
        changes=False,
    ),
    Endpoint(
        "GET files in folder",
        "GET /owners/<owner_id>/files/<parent_id>/files",
        operations.LIST,
        READ,
        list_own,
        kind="folder",
        changes=False,
    ),
    Endpoint(
        "GET search in folder",
        "GET /search",
        operations.LIST,
        READ,
        search_inside,
        kind="folder",
        changes=False,
    ),
    Endpoint(
        "POST multi-files-download",
        "POST /multi-files-download",
        operations.DOWNLOAD_BUNDLE,
        READ,
        download_bundle,
        changes=False,
    ),
    Endpoint(
        "POST uploads into folder",
        "POST /uploads",
        operations.CREATE,
        WRITE,
        begin_upload_into,
        kind="folder",
    ),
    Endpoint(
        "PATCH file",
        f"PATCH {FILE}",
        operations.RENAME,
        WRITE,
        send("PATCH", "?onConflict=rename", {"name": "renamed"}),
    ),
    Endpoint(
        "PUT content", f"PUT {FILE}/content", operations.REPLACE, WRITE, replace_content, kind="file"
    ),
    Endpoint(
        "POST files in folder",
        "POST /files/<parent_id>/files",
        operations.CREATE,
        WRITE,
        upload_into,
        kind="folder",
    ),
    Endpoint(
        "POST folders in folder",
        "POST /files/<parent_id>/folders",
        operations.CREATE,
        WRITE,
        send("POST", "/folders", {"name": "new"}),
        kind="folder",
    ),
    Endpoint("PUT directory", f"PUT {FILE}/directory", operations.MOVE, MANAGE, move_to_inbox),
    Endpoint(
        "PUT directory to rename", f"PUT {FILE}/directory", operations.RENAME, WRITE, rename_by_directory
    ),
    Endpoint("DELETE file", f"DELETE {FILE}", operations.DELETE, MANAGE, send("DELETE", "")),
    Endpoint(
        DELETE_PERMANENTLY,
        f"DELETE {FILE}",
        operations.DELETE_PERMANENTLY,
        MANAGE,
        send("DELETE", "?permanently=true"),
    ),
    Endpoint(COPY, f"POST {FILE}/copies", operations.COPY, READ, copy_to_inbox),
    Endpoint(
        "batch move", "POST /files-batches", operations.MOVE, MANAGE, batch("move", parentId="{inbox}")
    ),
    Endpoint("batch move to rename", "POST /files-batches", operations.RENAME, WRITE, rename_in_batch),
    Endpoint(
        BATCH_COPY,
        "POST /files-batches",
        operations.COPY,
        READ,
        batch("copy", parentId="{inbox}", onConflict="rename"),
    ),
    Endpoint("batch trash", "POST /files-batches", operations.DELETE, MANAGE, batch("trash")),
    Endpoint(
        "batch grant",
        "POST /files-batches",
        operations.GRANT,
        MANAGE,
        batch("grant", ownerId="{user}", permission="read"),
    ),
    Endpoint(
        "batch revoke",
        "POST /files-batches",
        operations.REVOKE,
        MANAGE,
        batch("revoke", ownerId="{user}"),
    ),
    Endpoint(
        "batch grant to group",
        "POST /files-batches",
        operations.GRANT,
        MANAGE,
        batch("grant", groupId="{group}", permission="read"),
    ),
    Endpoint(
        "batch revoke of group",
        "POST /files-batches",
        operations.REVOKE,
        MANAGE,
        batch("revoke", groupId="{group}"),
    ),
    Endpoint(
        "GET versions",
        f"GET {FILE}/versions",
        operations.LIST_VERSIONS,
        READ,
        send("GET", "/versions"),
        kind="file",
        changes=False,
    ),
    Endpoint(
        "GET version",
        f"GET {FILE}/versions/<number>/download",
        operations.DOWNLOAD_VERSION,
        READ,
        send("GET", "/versions/1/download"),
        kind="file",
        changes=False,
    ),
    Endpoint(
        "POST restore version",
        f"POST {FILE}/versions/<number>/restore",
        operations.RESTORE_VERSION,
        WRITE,
        send("POST", "/versions/1/restore"),
        kind="file",
    ),
    Endpoint(
        "PATCH version",
        f"PATCH {FILE}/versions/<number>",
        operations.CHANGE_VERSION,
        WRITE,
        send("PATCH", "/versions/1", {"keep": True}),
        kind="file",
    ),
    Endpoint(
        DELETE_VERSION,
        f"DELETE {FILE}/versions/<number>",
        operations.DELETE_VERSION,
        MANAGE,
        send("DELETE", "/versions/1"),
        kind="file",
    ),
    Endpoint(
        "GET locks",
        f"GET {FILE}/locks",
        operations.LIST_LOCKS,
        READ,
        send("GET", "/locks"),
        changes=False,
    ),
    Endpoint(
        "POST lock",
        f"POST {FILE}/locks",
        operations.LOCK,
        WRITE,
        send("POST", "/locks", {"shared": True}),
    ),
    Endpoint(
        "PATCH lock",
        f"PATCH {FILE}/locks/<lock_id>",
        operations.LOCK,
        WRITE,
        with_own_lock("PATCH", {"seconds": 9}),
    ),
    Endpoint(
        "DELETE lock",
        f"DELETE {FILE}/locks/<lock_id>",
        operations.UNLOCK,
        WRITE,
        with_own_lock("DELETE"),
    ),
    Endpoint(
        "GET owners",
        f"GET {FILE}/owners",
        operations.LIST_GRANTS,
        MANAGE,
        send("GET", "/owners"),
        changes=False,
    ),
    Endpoint(
        "POST owners",
        f"POST {FILE}/owners",
        operations.GRANT,
        MANAGE,
        with_bystander("POST", "/owners", {"permission": "read"}),
    ),
    Endpoint(
        "DELETE owner",
        f"DELETE {FILE}/owners/<owner_id>",
        operations.REVOKE,
        MANAGE,
        with_bystander("DELETE", "/owners/{user}"),
    ),
    Endpoint(
        "GET group-grants",
        f"GET {FILE}/group-grants",
        operations.LIST_GRANTS,
        MANAGE,
        send("GET", "/group-grants"),
        changes=False,
    ),
    Endpoint(
        "POST group-grants",
        f"POST {FILE}/group-grants",
        operations.GRANT,
        MANAGE,
        with_group("POST", "/group-grants", {"permission": "read"}),
    ),
    Endpoint(
        "DELETE group-grant",
        f"DELETE {FILE}/group-grants/<group_id>",
        operations.REVOKE,
        MANAGE,
        with_group("DELETE", "/group-grants/{group}"),
    ),
    Endpoint(
        "GET access",
        f"GET {FILE}/access",
        operations.EXPLAIN_ACCESS,
        MANAGE,
        with_bystander("GET", "/access?userId={user}"),
        changes=False,
    ),
]

WITHOUT_NODE = {
    ("POST /folders", operations.CREATE.name),
    ("POST /files", operations.CREATE.name),
    ("GET /owners/<owner_id>/files", operations.LIST.name),
    ("GET /changes", operations.LIST_CHANGES.name),
    ("GET /multi-files-download/<bundle_id>", operations.DOWNLOAD_BUNDLE.name),
    # Needs a storage that clients can send to; see test_direct_to_store.
    ("POST /direct-uploads", operations.CREATE.name),
    # Needs a lock of another user; see test_locks.
    (f"DELETE {FILE}/locks/<lock_id>", operations.BREAK_LOCK.name),
}
"""Routes that name no node, with their operations: other tests call them, most of them below."""

TENANT = "/api/v1/tenants/<tenant_id>"

if is_left_out(DirectUploadsFeature):
    WITHOUT_NODE.discard(("POST /direct-uploads", operations.CREATE.name))


def test_the_matrix_has_each_route_to_a_node_with_the_permission_of_its_operation(
    world: World,
) -> None:
    declared = {
        (f"{method} {rule.rule.removeprefix(TENANT)}", row.name): row.permission
        for rule in world.api.app.url_map.iter_rules()
        if isinstance(view := world.api.app.view_functions[rule.endpoint], Operation)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        for row in (view.rule, *view.also)
        if isinstance(row, NodeRule)
    }
    called = {(endpoint.route, endpoint.rule.name): endpoint.needs for endpoint in ENDPOINTS}
    assert {route: level for route, level in declared.items() if route not in WITHOUT_NODE} == called
    assert declared.keys() >= WITHOUT_NODE


def expected_status(actor: Actor, needs: Permission) -> int | None:
    """Return how an actor is refused, or ``None``."""
    if actor in UNKNOWN_ACTORS:
        return UNAUTHENTICATED
    return FORBIDDEN if actor in OUTSIDERS or LEVELS[actor] < needs else None


class Worlds:
    """The world of the next test: a new one when it has many rows, because each test reads them all."""

    def __init__(self, databases: Databases, folders: pytest.TempPathFactory) -> None:
        self._databases, self._folders = databases, folders
        self._resources = ExitStack()
        self._world: World | None = None

    def current(self) -> World:
        if self._world is None or self._world.made > MOST_TARGETS:
            self.close()
            url = self._resources.enter_context(self._databases.create())
            config = write_api_config(self._folders.mktemp("matrix"), url, lifted())
            self._world = make_world(self._resources.enter_context(Api.running(config)))
        return self._world

    def close(self) -> None:
        self._resources.close()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def worlds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    worlds = Worlds(request.getfixturevalue(f"{request.param}_databases"), tmp_path_factory)
    yield worlds
    worlds.close()


@pytest.fixture
def world(worlds: Worlds) -> World:
    return worlds.current()


def cases() -> Iterator[ParameterSet]:
    """Yield each endpoint with each kind of node; the default run has each kind and each depth once."""
    for endpoint in ENDPOINTS:
        for kind in KINDS:
            is_default = kind in ("file", "nested folder", f"nested {endpoint.kind}")
            marks = () if is_default else pytest.mark.extended
            yield pytest.param(endpoint, kind, id=f"{endpoint.name}-{kind}", marks=marks)


@pytest.mark.parametrize(("endpoint", "kind"), [*cases()])
def test_each_actor_has_the_permissions_of_the_table_and_a_refusal_changes_nothing(
    world: World, endpoint: Endpoint, kind: str
) -> None:
    target, wrong = world.target(kind), {}
    fits = endpoint.kind is None or kind.endswith(endpoint.kind)
    before = world.digest()
    for actor in sorted(Actor, key=lambda actor: LEVELS.get(actor, NONE)):
        refused = expected_status(actor, endpoint.needs) or (None if fits else WRONG_KIND)
        answer = endpoint.call(target, world.people[actor])
        if answer.status_code != refused if refused else answer.status_code >= 300:
            wrong[actor] = (answer.status_code, answer.text)
        if refused or not endpoint.changes:
            assert world.digest() == before, actor
        else:
            target = world.target(kind)
            before = world.digest()
    assert wrong == {}


@pytest.mark.parametrize("kind", ["file", "nested folder"])
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_nobody_reaches_a_node_in_the_trash(world: World, endpoint: Endpoint, kind: str) -> None:
    target = world.target(kind)
    assert world.api.delete(target.file, by=target.creator).status_code == 200
    before, wrong = world.digest(), {}
    for actor in Actor:
        refused = expected_status(actor, NONE) or 404
        answer = endpoint.call(target, world.people[actor])
        if answer.status_code != refused:
            wrong[actor] = (answer.status_code, answer.text)
    assert wrong == {}
    assert world.digest() == before


TRASH_CALLS: dict[str, Call] = {
    "POST restore": lambda target, caller: target.api.post(
        f"{target.path}/trash/{target.node}/restore", {}, by=caller
    ),
    "batch restore": batch("restore"),
    "POST restore elsewhere": lambda target, caller: target.api.post(
        f"{target.path}/trash/{target.node}/restore", {"parentId": target.inbox}, by=caller
    ),
    "DELETE in trash": lambda target, caller: target.api.delete(
        f"{target.path}/trash/{target.node}", by=caller
    ),
}


@pytest.mark.parametrize("kind", ["file", "folder", "nested file", "nested folder"])
@pytest.mark.parametrize("name", TRASH_CALLS)
def test_the_trash_is_for_who_deleted_the_node_and_administrators_of_the_tenant(
    world: World, name: str, kind: str
) -> None:
    def thrown_away() -> Target:
        target = world.target(kind)
        assert world.api.delete(target.file, by=world.people[Actor.MANAGER]).status_code == 200
        return target

    target, wrong = thrown_away(), {}
    for actor in Actor:
        before = world.digest()
        sees = actor in (Actor.TENANT_ADMIN, Actor.MANAGER)
        refused = expected_status(actor, NONE) or (None if sees else 404)
        answer = TRASH_CALLS[name](target, world.people[actor])
        if answer.status_code != (refused or 200):
            wrong[actor] = (answer.status_code, answer.text)
        if refused:
            assert world.digest() == before, actor
        else:
            target = thrown_away()
    assert wrong == {}


SCOPES = {READ: "files:read", WRITE: "files:write", MANAGE: "files:share"}
REVOKED, EXPIRED = "a revoked key", "an expired key"


Keys = dict[str, tuple[Person, Permission | None]]
"""Access keys by name, with the permission that each has on all nodes; ``None``: it is invalid."""


@pytest.fixture(scope="module")
def keys_of_worlds() -> list[tuple[World, Keys]]:
    """The world that has keys, with its keys."""
    return []


@pytest.fixture
def keys(world: World, keys_of_worlds: list[tuple[World, Keys]]) -> Keys:
    if not keys_of_worlds or keys_of_worlds[-1][0] is not world:
        keys_of_worlds.append((world, make_keys(world)))
    return keys_of_worlds[-1][1]


def make_keys(world: World) -> Keys:
    admin, reader = world.people[Actor.TENANT_ADMIN], world.people[Actor.READER]
    other = world.api.get("/api/v1/tenants", by=world.people[Actor.OTHER_ADMIN]).json["data"][0]["id"]
    world.api.join(f"/api/v1/tenants/{other}", world.people[Actor.OTHER_ADMIN], admin, "admin")
    tenant: Json = {"tenantId": world.path.rpartition("/")[2]}
    found: Keys = {
        f"{level.name} of {user.name}": (
            make_key(world, world.people[user], scope, **tenant),
            min(level, most),
        )
        for level, scope in SCOPES.items()
        for user, most in ((Actor.TENANT_ADMIN, MANAGE), (Actor.READER, READ))
    }
    share = SCOPES[MANAGE]
    expiring = iso_format(world.api.clock.now() + 1)
    found |= {
        "another folder": (make_key(world, admin, share, **tenant, fileId=world.inbox), NONE),
        "another tenant": (make_key(world, admin, share, tenantId=other), NONE),
        "no scope of files": (make_key(world, reader, "users:read"), NONE),
        REVOKED: (make_key(world, admin, share), None),
        EXPIRED: (make_key(world, admin, share, expiresAt=expiring), None),
    }
    revoked = str(found[REVOKED][0].token)[4:12]
    assert world.api.delete(f"/users/me/access-keys/{revoked}", by=admin).status_code == 200
    world.api.clock.advance(1)
    return found


def make_key(world: World, user: Person, scope: str, **limits: str) -> Person:
    body: Json = {"name": "robot", "scopes": [scope], "currentPassword": PASSWORD, **limits}
    answer = world.api.post("/users/me/access-keys", body, by=user)
    assert answer.status_code == 201, answer.text
    return replace(user, token=answer.json["key"])


@pytest.mark.parametrize("kind", ["folder", "nested file"])
@pytest.mark.parametrize(
    "endpoint",
    [endpoint for endpoint in ENDPOINTS if endpoint.name not in NOT_BY_KEYS],
    ids=lambda endpoint: endpoint.name,
)
def test_each_key_has_the_permissions_of_its_user_within_its_limits(
    world: World, keys: Keys, endpoint: Endpoint, kind: str
) -> None:
    target, wrong = world.target(kind), {}
    fits = endpoint.kind is None or kind.endswith(endpoint.kind)
    before = world.digest()
    for name, (key, level) in sorted(keys.items(), key=lambda item: item[1][1] or NONE):
        refused = UNAUTHENTICATED if level is None else FORBIDDEN if level < endpoint.needs else None
        refused = refused or (None if fits else WRONG_KIND)
        answer = endpoint.call(target, key)
        if answer.status_code != refused if refused else answer.status_code >= 300:
            wrong[name] = (answer.status_code, answer.text)
        if refused or not endpoint.changes:
            assert world.digest() == before, name
        else:
            target = world.target(kind)
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
def test_only_members_may_list_and_create_at_the_top_level(world: World, name: str) -> None:
    for actor in Actor:
        before = world.digest()
        refused = expected_status(actor, NONE)
        answer = TENANT_CALLS[name](world, world.people[actor])
        assert answer.status_code == (refused or (200 if name.startswith("GET") else 201)), actor
        if refused:
            assert world.digest() == before, actor


GROUP_CALLS: dict[str, tuple[set[Actor], Callable[[World, Person], Answer]]] = {
    "GET groups": (
        set(LEVELS),
        lambda world, caller: world.api.get(f"{world.path}/groups", by=caller),
    ),
    "GET group": (
        set(LEVELS),
        lambda world, caller: world.api.get(f"{world.path}/groups/{world.bystanders}", by=caller),
    ),
    "GET members of a group": (
        {Actor.TENANT_ADMIN, Actor.GROUP_READER},
        lambda world, caller: world.api.get(
            f"{world.path}/groups/{world.groups[Actor.GROUP_READER]}/members", by=caller
        ),
    ),
    "POST groups": (
        {Actor.TENANT_ADMIN},
        lambda world, caller: world.api.post(f"{world.path}/groups", {"name": "new"}, by=caller),
    ),
    "PATCH group": (
        {Actor.TENANT_ADMIN},
        lambda world, caller: world.api.patch(
            f"{world.path}/groups/{world.bystanders}", {"name": "renamed"}, by=caller
        ),
    ),
    "PUT member of a group": (
        {Actor.TENANT_ADMIN},
        lambda world, caller: world.api.request(
            "PUT",
            f"{world.path}/groups/{world.bystanders}/members/{world.people[Actor.MEMBER].id}",
            by=caller,
        ),
    ),
    "DELETE member of a group": (
        {Actor.TENANT_ADMIN},
        lambda world, caller: world.api.delete(
            f"{world.path}/groups/{world.bystanders}/members/{world.bystander.id}", by=caller
        ),
    ),
    "DELETE group": (
        {Actor.TENANT_ADMIN},
        lambda world, caller: world.api.delete(f"{world.path}/groups/{made_group(world)}", by=caller),
    ),
}


def made_group(world: World) -> str:
    """Return the id of the group ``doomed``, which is made if there is none."""
    listed = world.api.get(f"{world.path}/groups?pageSize=200", by=world.people[Actor.TENANT_ADMIN])
    found = [group["id"] for group in listed.json["data"] if group["name"] == "doomed"]
    if found:
        return str(found[0])
    made = world.api.post(
        f"{world.path}/groups", {"name": "doomed"}, by=world.people[Actor.TENANT_ADMIN]
    )
    return str(made.json["id"])


@pytest.mark.parametrize("name", GROUP_CALLS)
def test_groups_are_seen_by_members_and_changed_by_administrators(world: World, name: str) -> None:
    allowed, call = GROUP_CALLS[name]
    made_group(world)
    before, wrong = world.digest(), {}
    for actor in sorted(Actor, key=lambda actor: actor in allowed):
        answer = call(world, world.people[actor])
        refused = UNAUTHENTICATED if actor in UNKNOWN_ACTORS else FORBIDDEN
        if answer.status_code >= 300 if actor in allowed else answer.status_code != refused:
            wrong[actor] = (answer.status_code, answer.text)
        if actor not in allowed:
            assert world.digest() == before, actor
    assert wrong == {}


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


def test_only_its_creator_downloads_an_archive_again(world: World) -> None:
    target = world.target("nested folder")
    for actor in Actor:
        refused = expected_status(actor, NONE) or (None if actor is Actor.CREATOR else 404)
        answer = download_bundle_again(target, world.people[actor])
        assert answer.status_code == (refused or 200), actor


def test_only_its_creator_continues_an_upload(world: World) -> None:
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


@needs(BusinessFilesFeature)
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
