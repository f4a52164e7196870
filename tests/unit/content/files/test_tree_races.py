"""What several callers change in one tree at the same moment."""

from collections.abc import Callable
from functools import partial

import pytest
from sqlalchemy import select
from tests.support.api import Api, Person
from tests.support.http import at_once
from tests.support.upload_fixtures import IncomingBytes

from strongroom.content.files.grants import GrantRequest, GrantService
from strongroom.content.files.moving import Move, MovingService
from strongroom.content.files.service import FileService
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import Permission, grants, nodes
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.extensions.batches.service import BatchItem, BatchService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.errors import (
    Forbidden,
    MoveIntoItself,
    NameConflict,
    NotFound,
    StrongroomError,
)

pytestmark = pytest.mark.both_databases

ROUNDS = 8


class Site:
    """A tenant whose services are called directly, from many threads."""

    def __init__(self, api: Api) -> None:
        self.services, self.database = api.container, api.container.database
        self.admin, self.member = (self.identity(api.person()) for _ in range(2))
        self.tenant = self.services.get(TenantService).create(self.admin, "Acme", Origin()).id
        self.join()

    @staticmethod
    def identity(person: Person) -> Identity:
        return Identity(person.id, "USER", "login")

    def join(self) -> None:
        self.services.get(TenantService).put_member(
            self.admin, self.tenant, self.member.user_id, Role.MEMBER, Origin()
        )

    def leave(self) -> None:
        self.services.get(TenantService).remove_member(
            self.admin, self.tenant, self.member.user_id, Origin()
        )

    def folder(self, name: str, parent: str | None = None) -> str:
        view = self.services.get(FileService).create_folder(
            self.admin, self.tenant, parent, name, OnConflict.RENAME
        )
        return view.node.id

    def upload(self, name: str, parent: str | None = None, by: Identity | None = None) -> None:
        caller = by or self.admin
        self.services.get(FileService).upload(
            caller, self.tenant, parent, IncomingBytes(name), OnConflict.FAIL
        )

    def move(self, node: str, parent: str | None, name: str | None = None) -> None:
        move = Move(parent, name)
        self.services.get(MovingService).move(self.admin, self.tenant, node, move, None)

    def batch(self, *moves: tuple[str, str | None] | tuple[str, str | None, str]) -> None:
        """Move nodes by an atomic batch: each to a folder, optionally with a new name."""
        items = [BatchItem(node, Move(parent, *name or (None,))) for node, parent, *name in moves]
        self.services.get(BatchService).apply_all(self.admin, self.tenant, items, Origin())

    def delete(self, node: str) -> None:
        self.services.get(FileService).delete(self.admin, self.tenant, node)

    def grant(self, node: str) -> None:
        wish = GrantRequest(self.member.user_id, Permission.WRITE, None)
        self.services.get(GrantService).put(self.admin, self.tenant, node, wish, Origin())

    def parents(self) -> dict[str, str | None]:
        with self.database.read() as connection:
            live = select(nodes.c.id, nodes.c.parent_id).where(nodes.c.trash_id.is_(None))
            rows = connection.execute(live)
            return {row.id: row.parent_id for row in rows}


@pytest.fixture
def site(api: Api) -> Site:
    return Site(api)


def outcomes(*actions: Callable[[], None]) -> list[type[StrongroomError] | None]:
    """Run all actions concurrently, and return their errors in a fixed order."""

    def attempt(action: Callable[[], None]) -> type[StrongroomError] | None:
        try:
            action()
        except StrongroomError as error:
            return type(error)
        return None

    found = at_once([partial(attempt, action) for action in actions])
    return sorted(found, key=lambda kind: kind.__name__ if kind else "")


def test_two_folders_moved_into_each_other_make_no_circle(site: Site) -> None:
    for _ in range(ROUNDS):
        first, second = site.folder("first"), site.folder("second")
        inner = site.folder("inner", second)
        found = outcomes(partial(site.move, first, inner), partial(site.move, second, first))
        assert found == [None, MoveIntoItself]


def test_three_folders_moved_in_a_ring_make_no_circle(site: Site) -> None:
    for _ in range(ROUNDS):
        ring = [site.folder(name) for name in "abc"]
        pairs = zip(ring, [*ring[1:], ring[0]], strict=True)
        found = outcomes(*(partial(site.move, node, parent) for node, parent in pairs))
        assert found == [None, None, MoveIntoItself]


def test_two_batches_make_no_circle(site: Site) -> None:
    for _ in range(ROUNDS):
        first, second = site.folder("first"), site.folder("second")
        inner, other = site.folder("inner", second), site.folder("other")
        found = outcomes(
            partial(site.batch, (other, None, "moved"), (first, inner)),
            partial(site.batch, (second, first), (other, None, "moved too")),
        )
        assert found == [None, MoveIntoItself]
        # The batch that failed has moved nothing.
        parents = site.parents()
        assert {parents[first], parents[second]} in ({inner, site.tenant}, {first, site.tenant})
        with site.database.read() as connection:
            name = connection.execute(select(nodes.c.name).where(nodes.c.id == other)).scalar_one()
        assert name == ("moved" if parents[first] == inner else "moved too")
        site.delete(other)


def test_a_batch_and_single_moves_make_no_circle(site: Site) -> None:
    for _ in range(ROUNDS):
        ring = [site.folder(name) for name in "abc"]
        found = outcomes(
            partial(site.batch, (ring[0], ring[1]), (ring[1], ring[2])),
            partial(site.move, ring[2], ring[0]),
        )
        assert found == [None, MoveIntoItself]


def test_a_name_is_taken_once_by_batches(site: Site) -> None:
    for _ in range(ROUNDS):
        folder = site.folder("folder")
        moved = [site.folder("moved") for _ in range(4)]
        batches = [partial(site.batch, (node, folder, "name")) for node in moved[:3]]
        found = outcomes(*batches, partial(site.move, moved[3], folder, "name"))
        assert found == [None, NameConflict, NameConflict, NameConflict]


def test_a_name_is_taken_once(site: Site) -> None:
    for _ in range(ROUNDS):
        folder = site.folder("folder")
        moved = [site.folder("moved") for _ in range(3)]
        found = outcomes(
            *(partial(site.move, node, folder, "name") for node in moved),
            partial(site.upload, "name", folder),
        )
        assert found == [None, NameConflict, NameConflict, NameConflict]


def test_a_node_added_to_a_folder_during_its_deletion_is_deleted_or_refused(site: Site) -> None:
    for _ in range(ROUNDS):
        folder = site.folder("folder")
        moved, inner = site.folder("moved"), site.folder("inner", folder)
        found = outcomes(
            partial(site.delete, folder),
            partial(site.upload, "file", inner),
            partial(site.move, moved, inner),
        )
        assert set(found) <= {None, NotFound}
        parents = site.parents()
        assert folder not in parents
        assert parents.keys() >= {parent for parent in parents.values() if parent}


def test_a_concurrent_grant_and_upload_agree_on_the_top_level(site: Site) -> None:
    for _ in range(ROUNDS):
        outer = site.folder("outer")
        inner = site.folder("inner", outer)
        site.grant(inner)
        found = outcomes(partial(site.grant, outer), partial(site.upload, "file", inner, site.member))
        assert found == [None, None]
        with site.database.read() as connection:
            theirs = grants.c.user_id == site.member.user_id
            below = nodes.c.parent_id.in_([outer, inner])
            query = select(grants.c.parent_visible_until).join(nodes).where(theirs, below)
            assert connection.execute(query).scalars().all() == [None, None]


def test_who_leaves_at_the_moment_of_a_grant_and_of_an_upload_keeps_nothing(site: Site) -> None:
    for number in range(ROUNDS):
        folder = site.folder("folder")
        site.grant(folder)
        found = outcomes(
            site.leave,
            partial(site.upload, f"mine {number}", folder, site.member),
            partial(site.upload, f"top {number}", None, site.member),
        )
        assert set(found) <= {None, Forbidden}
        with site.database.read() as connection:
            theirs = grants.c.user_id == site.member.user_id
            assert connection.execute(select(grants).where(theirs)).all() == []
        site.join()
