"""Random calls of all operations by keys of one folder: none reads or changes a node outside of it.

The calls are generated from the OpenAPI document, with ids of nodes inside and outside, of other
tenants, and of uploads and bundles that the same user has begun with a login.
``STRONGROOM_TEST_KEY_CALLS`` is the number of calls for each database.
"""

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from random import Random
from typing import Any

import pytest
from sqlalchemy import select
from tests.support.api import PASSWORD, Answer, Api, Json, Person, creation_headers
from tests.support.campaign import campaign_size
from tests.support.config import lifted

from strongroom.content.nodes.models import grants, nodes
from strongroom.content.tenants.models import tenant_members, tenants

logger = logging.getLogger(__name__)

CALLS = campaign_size("KEY_CALLS", 600)
SCOPES = ["files:read", "files:write", "files:share"]
MARK = "zqx7"
"""All names and contents outside of the folder contain it, and no call does."""

ESSENTIAL = {
    "GET /tenants/{tenantId}/files/{fileId}",
    "GET /tenants/{tenantId}/files/{fileId}/download",
    "GET /tenants/{tenantId}/owners/{ownerId}/files",
    "GET /tenants/{tenantId}/owners/{ownerId}/files/{parentId}/files",
    "POST /tenants/{tenantId}/files/{parentId}/files",
    "POST /tenants/{tenantId}/multi-files-download",
    "POST /tenants/{tenantId}/uploads",
    "PATCH /tenants/{tenantId}/files/{fileId}",
}
"""Operations that succeed inside, or else the campaign proves nothing."""


pytestmark = pytest.mark.config(lifted())


@dataclass
class Maze:
    """A tenant with nodes inside and outside of a folder, and the keys that reach it."""

    api: Api
    tenant: str
    folder: str
    around: str
    keys: Sequence[Person]
    outside: frozenset[str]
    pools: Mapping[str, Sequence[str]]

    def digest(self) -> str:
        """Return a hash over all that is outside of the folder."""
        hashed, tenant_id = sha256(), self.tenant.rpartition("/")[2]
        beyond = {*self.outside, tenant_id}
        of_tenants = select(tenants.c.id, tenants.c.name, tenants.c.quota_bytes, tenants.c.deleted_at)
        queries = [
            select(nodes).where(nodes.c.id.in_(self.outside)).order_by(nodes.c.id),
            select(nodes.c.id)
            .where(nodes.c.parent_id.in_(beyond), nodes.c.id != self.folder)
            .order_by(nodes.c.id),
            select(grants.c.node_id, grants.c.user_id, grants.c.permission)
            .where(grants.c.node_id.in_(self.outside))
            .order_by(grants.c.node_id, grants.c.user_id),
            of_tenants.order_by(tenants.c.id),
            select(tenant_members).order_by(tenant_members.c.tenant_id, tenant_members.c.user_id),
        ]
        with self.api.container.database.read() as connection:
            for query in queries:
                hashed.update(repr(connection.execute(query).all()).encode())
        return hashed.hexdigest()

    def is_whole(self) -> bool:
        """Return whether the folder still exists: a key with all scopes may delete it."""
        with self.api.container.database.read() as connection:
            return connection.scalar(select(nodes.c.id).where(nodes.c.id == self.folder)) is not None


def make_maze(api: Api) -> Maze:
    owner, member, admin = api.person(), api.person(), api.person(admin=True)
    tenant, other = api.tenant(owner, MARK), api.tenant(owner, f"{MARK} other")
    tenant_id = tenant.rpartition("/")[2]
    for person, role in ((member, "member"), (admin, "admin")):
        api.join(tenant, owner, person, role)
    around = api.folder(tenant, owner, f"{MARK} around")["id"]
    beside = api.folder(tenant, owner, f"{MARK} beside")["id"]
    # The keys' folder is the only node whose name does not contain the mark.
    folder = api.folder(tenant, owner, "folder", around)["id"]
    for node in (folder, beside):
        grant: Json = {"ownerId": member.id, "permission": "manage"}
        assert api.post(f"{tenant}/files/{node}/owners", grant, by=owner).status_code == 201
    strangers = [
        around,
        beside,
        *(api.upload(tenant, owner, f"{MARK}{n}", MARK.encode() * 9, beside)["id"] for n in range(4)),
        api.upload(tenant, owner, f"{MARK} above", MARK.encode(), around)["id"],
        api.upload(tenant, owner, f"{MARK} top", MARK.encode())["id"],
        api.upload(tenant, member, f"{MARK} member", MARK.encode())["id"],
        api.upload(other, owner, f"{MARK} elsewhere", MARK.encode())["id"],
    ]
    inner = api.folder(tenant, owner, "inner", folder)["id"]
    inside = [folder, inner]
    inside += [api.upload(tenant, owner, f"file{n}", b"content", inner)["id"] for n in range(3)]
    keys = [key_of_folder(api, person, tenant_id, folder) for person in (owner, member, admin)]
    pools = {
        "tenantId": [tenant_id] * 9 + [other.rpartition("/")[2], "me"],
        "file": [*inside * 3, *strangers, tenant_id, "missing"],
        "folder": [folder, inner, folder, inner, beside, around, tenant_id],
        "user": [owner.id, member.id, admin.id, "me", "me"],
        "upload": [
            begun(api, tenant, owner, f"{MARK} upload", beside),
            begun(api, tenant, owner, f"{MARK} upload"),
            begun(api, tenant, owner, "upload", folder),
        ],
        "bundle": [bundled(api, tenant, owner, wanted) for wanted in ([beside], [inner])],
        "name": ["new", "file0", "inner", "folder", *(f"name{n}" for n in range(9)), ""],
    }
    return Maze(api, tenant, folder, around, keys, frozenset(strangers), pools)


def key_of_folder(api: Api, user: Person, tenant_id: str, folder: str) -> Person:
    limits: Json = {"scopes": SCOPES, "tenantId": tenant_id, "fileId": folder}
    body = {"name": "robot", "currentPassword": PASSWORD, **limits}
    answer = api.post("/users/me/access-keys", body, by=user)
    assert answer.status_code == 201, answer.text
    return replace(user, token=answer.json["key"])


def begun(api: Api, tenant: str, user: Person, name: str, parent: str | None = None) -> str:
    metadata = {"filename": name} | ({"parentId": parent} if parent else {})
    headers = creation_headers(6, **metadata)
    upload: str = api.request("POST", f"{tenant}/uploads", by=user, headers=headers).json["id"]
    return upload


def bundled(api: Api, tenant: str, user: Person, wanted: list[str]) -> str:
    answer = api.post(f"{tenant}/multi-files-download", {"fileIds": wanted}, by=user)
    return answer.headers["Content-Location"].rpartition("/")[2]


@dataclass
class Caller:
    """Makes random calls of an operation of the document."""

    maze: Maze
    random: Random
    components: Json
    statuses: Counter[int] = field(default_factory=Counter)
    succeeded: set[str] = field(default_factory=set)

    def call(self, method: str, path: str, operation: Json) -> tuple[str, Answer]:
        """Send a call; return what it contained, and the answer."""
        names = [item["name"] for item in operation.get("parameters", []) if item["in"] == "path"]
        values = {name: self.value(name, {}) for name in names}
        query = {
            item["name"]: self.value(item["name"], item["schema"])
            for item in operation.get("parameters", [])
            if item["in"] == "query" and self.random.random() < 0.3
        }
        options = self.body(method, operation)
        url = path.format(**values)
        key = self.random.choice(self.maze.keys)
        answer = self.maze.api.request(
            method.upper(), url, by=key, query_string={k: str(v) for k, v in query.items()}, **options
        )
        return repr((url, query, options)), answer

    def body(self, method: str, operation: Json) -> Json:
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            return {"json": self.value("", content["application/json"]["schema"])}
        if not content:
            return {}
        metadata = {"filename": self.pick("name"), "parentId": self.pick("folder")}
        headers = {
            **creation_headers(3, **(metadata if self.random.random() < 0.9 else {"filename": "x"})),
            "Upload-Offset": "0",
            "X-HTTP-Method-Override": self.random.choice(["PATCH", "DELETE"]),
            "Content-Disposition": f'attachment; filename="{self.pick("name")}"',
            "Content-Type": self.random.choice(sorted({*content, "application/octet-stream"})),
        }
        return {
            "headers": headers,
            "data": b"new" if method != "post" or self.random.random() < 0.7 else b"",
        }

    def value(self, name: str, schema: Json) -> Any:
        if "$ref" in schema:
            schema = self.components[schema["$ref"].rpartition("/")[2]]
        if pool := POOLS.get(name):
            return self.pick(pool)
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        if name == "cursor" and schema.get("type") == "string":
            # The first page; an invented cursor is refused.
            return ""
        kind = schema.get("type", "string")
        kind = next(item for item in kind if item != "null") if isinstance(kind, list) else kind
        if kind == "object":
            return self.members(schema)
        if kind == "array":
            item = "fileId" if name == "fileIds" else ""
            return [self.value(item, schema["items"]) for _ in range(self.random.randint(1, 2))]
        simple = {"integer": 1, "number": 1, "boolean": True}
        return simple.get(kind) or self.pick("name")

    def members(self, schema: Json) -> Json:
        required = schema.get("required", [])
        return {
            name: self.value(name, member)
            for name, member in schema.get("properties", {}).items()
            if name in required or self.random.random() < 0.4
            if name not in {"revision", "expiresAt"}
        }

    def pick(self, pool: str) -> str:
        return self.random.choice(self.maze.pools[pool])


POOLS = {
    "tenantId": "tenantId",
    "fileId": "file",
    "parentId": "folder",
    "ownerId": "user",
    "userId": "user",
    "actorId": "user",
    "nodeId": "file",
    "uploadId": "upload",
    "bundleId": "bundle",
    "name": "name",
}


def operations(document: Json) -> list[tuple[str, str, Json]]:
    """Return the method, the path and the description of all operations; files' more often."""
    found = []
    for path, item in document["paths"].items():
        common = item.get("parameters", [])
        for method, operation in item.items():
            if method in {"get", "put", "post", "delete", "patch", "head"}:
                whole = {**operation, "parameters": [*common, *operation.get("parameters", [])]}
                label = f"{method.upper()} {path.removeprefix('/api/v1')}"
                weight = 16 if label in ESSENTIAL else 4 if "{tenantId}" in path else 1
                found += [(method, path, whole)] * weight
    return found


def leak(maze: Maze, sent: str, answer: Answer) -> str | None:
    """Return what a response reveals about the outside, except the ids that the call contained."""
    shown = answer.text + json.dumps(dict(answer.headers))
    # The folder's parentId is the id of a folder outside, as for users whose grant begins there.
    ids = {node for node in maze.outside if node not in sent} - {maze.around}
    return next((found for found in (MARK, *ids) if found in shown), None)


def test_no_call_reaches_a_node_outside_of_the_folder(api: Api) -> None:
    random, maze = Random(11), make_maze(api)
    document = api.get("/openapi.json").json
    choices = operations(document)
    caller = Caller(maze, random, document["components"]["schemas"])
    before = maze.digest()
    for number in range(CALLS):
        method, path, operation = random.choice(choices)
        sent, answer = caller.call(method, path, operation)
        where = f"call {number}: {method} {sent} -> {answer.status_code} {answer.text[:300]}"
        assert answer.status_code < 500 or answer.status_code == 501, where
        assert leak(maze, sent, answer) is None, where
        caller.statuses[answer.status_code] += 1
        assert MARK.encode() not in answer.data, where
        if answer.status_code < 300:
            caller.succeeded.add(f"{method.upper()} {path.removeprefix('/api/v1')}")
            assert maze.digest() == before, where
        # The calls soon move and delete what there is inside.
        if number % 200 == 199 or not maze.is_whole():
            assert maze.digest() == before, where
            maze = caller.maze = make_maze(api)
            before = maze.digest()
    assert maze.digest() == before
    if CALLS >= 600:
        assert ESSENTIAL - caller.succeeded == set()
    logger.info("%s %s", dict(caller.statuses), sorted(caller.succeeded))
