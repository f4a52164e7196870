"""Users with every kind of access to a tenant, and the nodes that they access."""

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from sqlalchemy import text

from strongroom.clock import iso_format
from strongroom.content.nodes.models import (
    Permission,
    grants,
    group_grants,
    node_versions,
    nodes,
    trash,
)
from strongroom.content.storage.models import BlobState, blobs
from strongroom.content.tenants.models import group_members, groups, tenant_members, tenants
from strongroom.testing.clock import HOUR
from tests.support.api import Api, Json, Person

NONE, READ, WRITE, MANAGE = Permission


class Actor(StrEnum):
    """Who calls."""

    ANONYMOUS = "anonymous"
    EXPIRED = "who holds an expired token"
    REVOKED = "who has logged out"
    SUSPENDED = "who is suspended"
    STRANGER = "stranger"
    MEMBER = "member without a grant"
    PAST = "past grantee"
    READER = "reader"
    WRITER = "writer"
    MANAGER = "manager"
    GROUP_READER = "reader through a group"
    GROUP_WRITER = "writer through a group"
    GROUP_MANAGER = "manager through a group"
    PAST_GROUP = "member of a group whose grant has expired"
    REMOVED = "former member of a group"
    CREATOR = "creator"
    TENANT_ADMIN = "administrator of the tenant"
    OTHER_ADMIN = "administrator of another tenant"
    ADMIN = "administrator of the server"


OUTSIDERS = {Actor.STRANGER, Actor.OTHER_ADMIN, Actor.ADMIN}
UNKNOWN_ACTORS = {Actor.ANONYMOUS, Actor.EXPIRED, Actor.REVOKED, Actor.SUSPENDED}
LEVELS = {
    Actor.MEMBER: NONE,
    Actor.PAST: NONE,
    Actor.READER: READ,
    Actor.WRITER: WRITE,
    Actor.MANAGER: MANAGE,
    Actor.GROUP_READER: READ,
    Actor.GROUP_WRITER: WRITE,
    Actor.GROUP_MANAGER: MANAGE,
    Actor.PAST_GROUP: NONE,
    Actor.REMOVED: NONE,
    Actor.CREATOR: MANAGE,
    Actor.TENANT_ADMIN: MANAGE,
}
GROUPED = {
    Actor.GROUP_READER: READ,
    Actor.GROUP_WRITER: WRITE,
    Actor.GROUP_MANAGER: MANAGE,
    Actor.PAST_GROUP: READ,
    Actor.REMOVED: MANAGE,
}
"""Actors in a group of their own, and the permission that it is granted."""


@dataclass
class Target:
    """The target of a call: a node, and a folder that every member may write to.

    ``bystanders`` is the id of a group without a grant.
    """

    api: Api
    path: str
    node: str
    inbox: str
    bystander: Person
    creator: Person
    bystanders: str

    @property
    def file(self) -> str:
        return f"{self.path}/files/{self.node}"


_TABLES = (
    tenants,
    tenant_members,
    groups,
    group_members,
    nodes,
    grants,
    group_grants,
    trash,
    node_versions,
)
# As text, because tests run them thousands of times, and SQLAlchemy would prepare them for each time.
_KEPT = [
    *(
        text(f"SELECT * FROM {table} ORDER BY {', '.join(table.primary_key.columns.keys())}")
        for table in _TABLES
    ),
    text(f"SELECT key FROM {blobs} WHERE state = '{BlobState.STORED.value}' ORDER BY key"),
]


@dataclass
class World:
    """A tenant with all actors."""

    api: Api
    path: str
    people: dict[Actor, Person]
    bystander: Person
    inbox: str
    groups: dict[Actor, str]
    bystanders: str
    made: int = 0

    def target(self, kind: str) -> Target:
        """Make a node on which each actor has the permission that its name says."""
        self.made += 1
        creator, name = self.people[Actor.CREATOR], f"target {self.made}"
        around = None
        if kind.startswith("nested"):
            around = self.api.folder(self.path, creator, f"around {name}")["id"]
        if kind.endswith("folder"):
            node = self.api.folder(self.path, creator, name, around)["id"]
        else:
            node = self.api.upload(self.path, creator, name, b"former", around)["id"]
            content = f"{self.path}/files/{node}/content"
            self.api.request("PUT", content, by=creator, data=b"content")
        self.grant_each(around or node)
        return Target(self.api, self.path, node, self.inbox, self.bystander, creator, self.bystanders)

    def grant_each(self, node: str) -> None:
        """Grant each actor, or an actor's group, its permission; the grants of those in the past expire.

        In one batch, because a test makes a target whenever a call has changed the one before.
        """
        users = (Actor.PAST, Actor.READER, Actor.WRITER, Actor.MANAGER)
        levels = {actor: max(LEVELS[actor], READ) for actor in users} | GROUPED
        items: list[Json] = []
        for actor, level in levels.items():
            item = {"operation": "grant", "fileId": node, "permission": level.name.lower()}
            if actor in GROUPED:
                item["groupId"] = self.groups[actor]
            else:
                item["ownerId"] = self.people[actor].id
            if actor in (Actor.PAST, Actor.PAST_GROUP):
                item["expiresAt"] = iso_format(self.api.clock.now() + 1)
            items.append(item)
        path, admin = f"{self.path}/files-batches", self.people[Actor.TENANT_ADMIN]
        answer = self.api.post(path, {"items": items}, by=admin)
        assert answer.status_code == 200, answer.text
        self.api.clock.advance(1)

    def digest(self) -> str:
        """Return a hash over all that the tenant keeps."""
        hashed = sha256()
        with self.api.container.database.read() as connection:
            for statement in _KEPT:
                hashed.update(repr(connection.execute(statement).all()).encode())
        return hashed.hexdigest()


def make_world(api: Api) -> World:
    """Make the actors. Who is out by now was a member who managed everything."""
    expired = api.person()
    api.clock.advance(HOUR)
    people = {actor: api.person(admin=actor is Actor.ADMIN) for actor in Actor}
    people[Actor.ANONYMOUS].token = None
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
    for actor in LEVELS.keys() - {Actor.TENANT_ADMIN}:
        body = {"ownerId": people[actor].id, "permission": "write"}
        assert api.post(f"{path}/files/{inbox}/owners", body, by=admin).status_code == 201
    assert api.delete("/authorizations/current", by=people[Actor.REVOKED]).status_code == 200
    suspension = f"/users/{people[Actor.SUSPENDED].id}/suspension"
    assert api.post(suspension, by=people[Actor.ADMIN]).status_code == 200
    named = {actor: make_group(api, path, admin, people[actor]) for actor in GROUPED}
    removed = f"{path}/groups/{named[Actor.REMOVED]}/members/{people[Actor.REMOVED].id}"
    assert api.delete(removed, by=admin).status_code == 200
    bystanders = make_group(api, path, admin, bystander)
    return World(api, path, people, bystander, inbox, named, bystanders)


def make_group(api: Api, path: str, admin: Person, member: Person) -> str:
    """Make a group of a tenant with one member, and return its id."""
    created = api.post(f"{path}/groups", {"name": member.id}, by=admin)
    assert created.status_code == 201, created.text
    group: str = created.json["id"]
    added = api.request("PUT", f"{path}/groups/{group}/members/{member.id}", by=admin)
    assert added.status_code == 200, added.text
    return group
