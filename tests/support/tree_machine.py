"""Random steps on the tree and its grants, each compared with a model in plain Python."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from math import ceil
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from sqlalchemy import select

from strongroom.database.paging import Paging
from strongroom.errors import (
    Forbidden,
    MoveIntoItself,
    NameConflict,
    NotAFolder,
    NotAMember,
    NotFound,
    StrongroomError,
)
from strongroom.files import child_counts
from strongroom.files.access import NodeView
from strongroom.files.copying import Copy
from strongroom.files.file_writer import OnConflict
from strongroom.files.grants import GrantRequest, GroupGrantRequest
from strongroom.files.listing import FilePage
from strongroom.files.models import (
    FOREVER,
    Permission,
    folder_counts,
    grants,
    node_versions,
    nodes,
)
from strongroom.files.moving import Move
from strongroom.files.retention.models import DAY
from strongroom.files.search import NodeSearch
from strongroom.files.trash.service import RestoreRequest
from strongroom.identity import Identity, Origin
from strongroom.storage.models import BlobState, blobs
from strongroom.tenants.models import Role
from strongroom.testing.clock import HOUR
from tests.support.api import Api
from tests.support.incoming import IncomingBytes
from tests.support.tree_model import Errors, ModelNode, TreeModel, normalized

T = TypeVar("T")

STEPS_A_RUN = 100
ALL = Paging(1, 200)

USERS = st.sampled_from([0, 0, 0, 1, 1, 2, 2, 3, 4])
RECORDS = 5
"""The member with the role ``records``, who is never picked otherwise."""

NODES = st.integers(0, 1000)
STALE = st.sampled_from([None, 0, 1])
CHOICES = st.sampled_from(OnConflict)
NAMES = st.sampled_from(["a", "b", "c", "A", "é", "e\u0301"])
NEW_NAMES = st.none() | NAMES
PLACES = st.none() | NODES
LEVELS = st.sampled_from([Permission.READ, Permission.WRITE, Permission.MANAGE])
GROUPS = st.integers(0, 1)
HOURS = st.none() | st.integers(1, 5)


VERSIONS = 3
"""Number of versions of a file that are kept."""

KEPT = 24 * HOUR
"""Milliseconds for which the trash is kept."""


def content_size(nodes: dict[str, ModelNode]) -> int:
    return sum(len(node.content or b"") for node in nodes.values())


class TreeMachine(RuleBasedStateMachine):
    """A tenant with an administrator, three members and a stranger.

    Nodes are picked by a number, among those there are and the last one that was deleted.
    """

    api: Api
    people: list[str]
    steps = 0

    @initialize(few=st.booleans(), seed=st.integers(0, 2**32))
    def begin(self, few: bool, seed: int) -> None:
        self.services = self.api.container.keeping
        # With few, no subtree is small enough to be looked through.
        self.services.grants._visibility._descend_at_most = 0 if few else 1000
        guard = self.services.guard
        guard.defaults = guard.defaults._replace(trash_days=KEPT // DAY, keep_versions=VERSIONS)
        child_counts.SPLIT_ABOVE = 2 if few else 4096
        admin = self.identity(0)
        self.tenant = self.services.tenants.create(admin, "Acme", Origin()).id
        self.model = TreeModel({self.people[0]: True}, self.api.clock.now())
        self.deleted: list[str] = []
        for user in self.people[1:4]:
            self.join(user)
        records = self.people[RECORDS]
        self.services.tenants.put_member(admin, self.tenant, records, Role.RECORDS, Origin())
        self.group_names = 0
        for members in ([1, 2], [2]):
            group = self.make_group()
            for number in members:
                self.change_member(number, group, True)
        self.grow(Random(seed))

    def grow(self, random: Random) -> None:
        """Make a tree with some grants, for rules to find something to work on."""
        for _ in range(10):
            place = random.choice([None, *range(len(self.model.nodes))])
            self.make_folder(0, place, random.choice("abc"), numbered=True)
        for _ in range(6):
            place = random.randrange(len(self.model.nodes))
            self.upload(random.choice([0, 1, 2]), place, "f", OnConflict.RENAME, 3)
        for _ in range(20):
            number, level = random.randrange(len(self.model.nodes)), Permission(random.randint(1, 3))
            self.grant(0, number, random.randint(1, 3), level, random.choice([None, None, 1, 2, 4]))
        for _ in range(6):
            number, level = random.randrange(len(self.model.nodes)), Permission(random.randint(1, 3))
            self.grant_group(0, number, random.randint(0, 1), level, random.choice([None, 1, 3]))

    def kept_of(self, node_id: str) -> int | None:
        """Return how many versions of a file are kept: all of them under a hold."""
        return None if self.model.holds_around(node_id) else VERSIONS

    def identity(self, user: int) -> Identity:
        return Identity(self.people[user], "USER", "login")

    def join(self, user: str) -> None:
        self.services.tenants.put_member(self.identity(0), self.tenant, user, Role.MEMBER, Origin())
        self.model.members[user] = False

    def pick(self, number: int | None) -> str | None:
        known = [*self.model.nodes, *self.deleted[-1:]] or ["unknown"]
        return None if number is None else known[number % len(known)]

    def expect(self, errors: Errors, act: Callable[[], T]) -> T | None:
        """Act, and pass if that is refused for one of the reasons, or not at all if there are none."""
        type(self).steps += 1
        if not errors:
            return act()
        with pytest.raises(tuple(errors)):
            act()
        return None

    def check(self, view: NodeView | None, user: int) -> ModelNode | None:
        """Compare a node with the model, and take its new revision."""
        if view is None:
            return None
        node = self.model.nodes[view.node.id]
        parent = None if view.node.parent_id == self.tenant else view.node.parent_id
        assert (view.node.name, parent) == (node.name, node.parent)
        assert view.node.size == len(node.content or b"")
        assert view.permission == self.model.permission(self.people[user], node.id)
        node.revision = view.node.revision
        return node

    def added(self, view: NodeView | None, user: int, name: str, content: bytes | None) -> None:
        if view is not None:
            parent = None if view.node.parent_id == self.tenant else view.node.parent_id
            self.model.add(ModelNode(view.node.id, parent, name, content, 0), self.people[user])
            self.check(view, user)

    @rule(user=USERS, place=PLACES, name=NAMES, numbered=st.booleans())
    def make_folder(self, user: int, place: int | None, name: str, numbered: bool) -> None:
        parent, final = self.pick(place), normalized(name)
        errors = self.model.refusals_of_place(self.people[user], parent)
        if numbered:
            final = self.model.free_name(parent, final)
        elif self.model.taken(parent, final):
            errors.add(NameConflict)
        choice = OnConflict.RENAME if numbered else OnConflict.FAIL
        files = self.services.files
        view = self.expect(
            errors,
            lambda: files.create_folder(self.identity(user), self.tenant, parent, name, choice),
        )
        self.added(view, user, final, None)

    @rule(user=USERS, place=PLACES, name=NAMES, choice=CHOICES, size=st.integers(0, 9))
    def upload(self, user: int, place: int | None, name: str, choice: OnConflict, size: int) -> None:
        parent, final, content = self.pick(place), normalized(name), b"x" * size
        errors = self.model.refusals_of_place(self.people[user], parent)
        other = self.model.taken(parent, final)
        if choice is OnConflict.RENAME:
            final, other = self.model.free_name(parent, final), None
        elif other and (choice is OnConflict.FAIL or other.content is None):
            errors.add(NameConflict)
        elif other:
            errors |= self.model.refusals(self.people[user], other.id, Permission.WRITE)
        incoming = IncomingBytes(name, content)
        view = self.expect(
            errors,
            lambda: self.services.files.upload(
                self.identity(user), self.tenant, parent, incoming, choice
            ),
        )
        if view is not None and other is not None:
            other.replace(content, self.kept_of(other.id))
            self.check(view, user)
        else:
            self.added(view, user, final, content)

    @rule(user=USERS, number=NODES, size=st.integers(0, 9))
    def replace_content(self, user: int, number: int, size: int) -> None:
        node_id = self.pick(number) or ""
        incoming = IncomingBytes("ignored", b"y" * size)
        view = self.expect(
            self.model.refusals_of_content(self.people[user], node_id),
            lambda: self.services.replacing.replace_content(
                self.identity(user), self.tenant, node_id, incoming, None
            ),
        )
        if view is not None:
            self.model.nodes[node_id].replace(b"y" * size, self.kept_of(node_id))
            self.check(view, user)

    def pick_version(self, number: int, which: int) -> tuple[str, int]:
        """Return a file, if possible one with versions, and the number of a version or another one."""
        files = [node_id for node_id, node in self.model.nodes.items() if node.versions]
        node_id = files[number % len(files)] if files and which else self.pick(number) or ""
        node = self.model.nodes.get(node_id)
        known = [*(node.versions if node else ()), 99]
        return node_id, known[which % len(known)]

    @rule(user=USERS, number=NODES, which=NODES)
    def read_version(self, user: int, number: int, which: int) -> None:
        node_id, wanted = self.pick_version(number, which)
        found = self.expect(
            self.model.refusals_of_version(self.people[user], node_id, wanted, Permission.READ),
            lambda: self.services.versions.locate(self.identity(user), self.tenant, node_id, wanted),
        )
        if found is not None:
            node = self.model.nodes[node_id]
            assert found[0].checksum == sha256(node.versions[wanted]).hexdigest()
            page, _ = self.services.versions.page(self.identity(user), self.tenant, node_id, ALL)
            listed = [(version.number, version.size, version.is_kept) for version in page.items]
            assert listed == [
                (number, len(node.versions[number]), number in node.marked)
                for number in sorted(node.versions, reverse=True)
            ]

    @rule(user=USERS, number=NODES, which=NODES)
    def restore_version(self, user: int, number: int, which: int) -> None:
        node_id, wanted = self.pick_version(number, which)
        view = self.expect(
            self.model.refusals_of_version(self.people[user], node_id, wanted, Permission.WRITE),
            lambda: self.services.versions.restore(
                self.identity(user), self.tenant, node_id, wanted, None
            ),
        )
        if view is not None:
            node = self.model.nodes[node_id]
            node.replace(node.versions[wanted], self.kept_of(node_id))
            self.check(view, user)

    @rule(user=USERS, number=NODES, which=NODES, kept=st.booleans())
    def mark_version(self, user: int, number: int, which: int, kept: bool) -> None:
        node_id, wanted = self.pick_version(number, which)
        marked = self.expect(
            self.model.refusals_of_version(self.people[user], node_id, wanted, Permission.WRITE),
            lambda: self.services.versions.mark(
                self.identity(user), self.tenant, node_id, wanted, {"is_kept": kept}
            ),
        )
        if marked is not None:
            change = set.add if kept else set.discard
            change(self.model.nodes[node_id].marked, wanted)

    @rule(user=USERS, number=NODES, which=NODES)
    def delete_version(self, user: int, number: int, which: int) -> None:
        node_id, wanted = self.pick_version(number, which)
        errors = self.model.refusals_of_version(self.people[user], node_id, wanted, Permission.MANAGE)
        errors |= self.model.refusals_of_hold(node_id, within=False)
        self.expect(
            errors,
            lambda: self.services.versions.delete(self.identity(user), self.tenant, node_id, wanted),
        )
        if not errors:
            del self.model.nodes[node_id].versions[wanted]
            self.model.nodes[node_id].marked.discard(wanted)

    @rule(user=USERS, number=NODES, name=NAMES, stale=STALE)
    def rename(self, user: int, number: int, name: str, stale: int | None) -> None:
        node_id, final = self.pick(number) or "", normalized(name)
        node = self.model.nodes.get(node_id)
        revision = None if stale is None or node is None else node.revision - stale
        errors = self.model.refusals_of_change(self.people[user], node_id, Permission.WRITE, revision)
        other = node and self.model.taken(node.parent, final)
        if other and other is not node:
            errors.add(NameConflict)
        view = self.expect(
            errors,
            lambda: self.services.moving.rename(
                self.identity(user), self.tenant, node_id, name, revision
            ),
        )
        if view is not None and node is not None:
            node.name = final
            self.check(view, user)

    @rule(
        user=USERS, number=NODES, place=PLACES, name=st.none() | NAMES, stale=STALE, taking=st.booleans()
    )
    def move(
        self,
        user: int,
        number: int,
        place: int | None,
        name: str | None,
        stale: int | None,
        taking: bool,
    ) -> None:
        node_id, parent = self.pick(number) or "", self.pick(place)
        node, final = self.model.nodes.get(node_id), name and normalized(name)
        revision = None if stale is None or node is None else node.revision - stale
        errors = self.model.refusals_of_move(self.people[user], node_id, parent, final, revision)
        other = node and self.model.taken(parent, final or node.name)
        if taking and node and other and other is not node and None not in (node.content, other.content):
            errors -= {NameConflict}
            errors |= self.model.refusals(self.people[user], other.id, Permission.MANAGE)
            errors |= self.model.refusals_of_hold(other.id)
        wanted = Move(parent, name, OnConflict.REPLACE if taking else OnConflict.FAIL)
        view = self.expect(
            errors,
            lambda: self.services.moving.move(
                self.identity(user), self.tenant, node_id, wanted, revision
            ),
        )
        if view is not None and node is not None:
            if other and other is not node:
                self.model.throw_away(self.people[user], other.id)
            node.parent, node.name = parent, final or node.name
            self.check(view, user)

    @rule(user=USERS, number=NODES, place=PLACES, name=st.none() | NAMES, numbered=st.booleans())
    def copy(self, user: int, number: int, place: int | None, name: str | None, numbered: bool) -> None:
        node_id, parent, who = self.pick(number) or "", self.pick(place), self.people[user]
        node = self.model.nodes.get(node_id)
        final = normalized(name) if name else node.name if node else ""
        errors = self.model.refusals(who, node_id, Permission.READ)
        errors |= self.model.refusals_of_place(who, parent)
        is_known = parent is None or parent in self.model.nodes
        if is_known and any(around.id == node_id for around in self.model.path(parent)):
            errors.add(MoveIntoItself)
        if numbered:
            final = self.model.free_name(parent, final)
        elif self.model.taken(parent, final):
            errors.add(NameConflict)
        wanted = Copy(parent, name, OnConflict.RENAME if numbered else OnConflict.FAIL)
        if self.model.size(node_id) > 3:
            # Trees would grow without end.
            return self.details(user, number)
        view = self.expect(
            errors,
            lambda: self.services.copying.copy(self.identity(user), self.tenant, node_id, wanted),
        )
        if view is not None and node is not None:
            self.copied(view.node.id, node, parent, final, who)
            self.check(view, user)
        return None

    def copied(self, new_id: str, node: ModelNode, parent: str | None, name: str, owner: str) -> None:
        """Add a copy of a node and of all below it to the model."""
        inside = self.model.children(node.id)
        self.model.add(ModelNode(new_id, parent, name, node.content, 0), owner)
        if node.content is not None:
            return
        page = self.services.listing.inside(self.identity(0), self.tenant, self.people[0], new_id, ALL)
        records = [json.loads(record) for record in page.records]
        assert [record["name"] for record in records] == [child.name for child in inside]
        for child, record in zip(inside, records, strict=True):
            self.copied(record["id"], child, new_id, child.name, owner)
            self.model.nodes[record["id"]].revision = record["revision"]

    @rule(user=USERS, number=NODES, permanently=st.sampled_from([False, False, True]))
    def delete(self, user: int, number: int, permanently: bool) -> None:
        node_id = self.pick(number) or ""
        if self.model.size(node_id) > 3 and permanently:
            # Trees would stay small.
            return self.details(user, number)
        errors = self.model.refusals(self.people[user], node_id, Permission.MANAGE)
        errors |= self.model.refusals_of_hold(node_id)
        self.expect(
            errors,
            lambda: self.services.files.delete(
                self.identity(user), self.tenant, node_id, permanently=permanently
            ),
        )
        if not errors:
            if permanently:
                self.model.remove(node_id)
            else:
                self.model.throw_away(self.people[user], node_id)
            self.deleted.append(node_id)
        return None

    @rule(user=st.sampled_from([RECORDS, RECORDS, 0, 1, 4]), number=NODES)
    def hold(self, user: int, number: int) -> None:
        node_id = self.pick(number) or ""
        if any(node_id in entry.nodes for entry in self.model.trash.values()):
            # Holds in the trash have tests of their own.
            return
        errors: Errors = set() if user == RECORDS else {Forbidden}
        errors |= set() if node_id in self.model.nodes else {NotFound}
        holds, origin = self.services.holds, Origin()
        placed = self.expect(
            errors,
            lambda: holds.place(self.identity(user), self.tenant, node_id, "case", None, origin),
        )
        if placed is not None:
            self.model.nodes[node_id].is_held = True

    @rule(number=NODES)
    def release(self, number: int) -> None:
        held = [node.id for node in self.model.nodes.values() if node.is_held]
        node_id = held[number % len(held)] if held else self.pick(number) or ""
        errors: Errors = set() if held else {NotFound}
        holds, who = self.services.holds, self.identity(RECORDS)
        self.expect(errors, lambda: holds.release(who, self.tenant, node_id, None, Origin()))
        if held:
            self.model.nodes[node_id].is_held = False

    def pick_trashed(self, number: int) -> str:
        known = [*self.model.trash, *self.deleted[-1:]] or ["unknown"]
        return known[number % len(known)]

    @rule(user=USERS, number=NODES, former=st.booleans(), place=PLACES, choice=CHOICES)
    def restore(
        self, user: int, number: int, former: bool, place: int | None, choice: OnConflict
    ) -> None:
        node_id, caller = self.pick_trashed(number), self.people[user]
        entry = self.model.trash.get(node_id)
        parent = entry.parent if entry and former else self.pick(place)
        errors = self.model.refusals_of_restoration(caller, node_id, parent, former=former)
        node = entry and entry.nodes[node_id]
        name = node.name if node else ""
        other = None if errors else self.model.taken(parent, name)
        if other and choice is OnConflict.RENAME:
            name, other = self.model.free_name(parent, name), None
        replaces = node and other and None not in (node.content, other.content)
        if other and choice is OnConflict.REPLACE and replaces:
            errors |= self.model.refusals(caller, other.id, Permission.MANAGE)
            errors |= self.model.refusals_of_hold(other.id)
        elif other:
            errors.add(NameConflict)
        wanted = RestoreRequest(choice, to_former_parent=former, parent_id=None if former else parent)
        view = self.expect(
            errors,
            lambda: self.services.trash.restore(self.identity(user), self.tenant, node_id, wanted),
        )
        if view is not None:
            if other:
                self.model.throw_away(caller, other.id)
            self.model.restore(node_id, parent, name)
            self.check(view, user)

    @rule(user=USERS, number=NODES)
    def remove_from_trash(self, user: int, number: int) -> None:
        node_id = self.pick_trashed(number)
        errors = self.model.refusals_of_trash(self.people[user], node_id)
        self.expect(
            errors, lambda: self.services.trash.delete(self.identity(user), self.tenant, node_id)
        )
        if not errors:
            del self.model.trash[node_id]

    @rule(user=USERS)
    def list_trash(self, user: int) -> None:
        errors: Errors = set() if self.people[user] in self.model.members else {Forbidden}
        found = self.expect(
            errors, lambda: self.services.trash.page(self.identity(user), self.tenant, ALL)
        )
        if found is not None:
            page, *_ = found
            listed = {item.node.id: (item.node.name, item.entry.size) for item in page.items}
            assert (page.total, listed) == (
                len(listed),
                {
                    node_id: (entry.nodes[node_id].name, content_size(entry.nodes))
                    for node_id, entry in self.model.trash.items()
                    if node_id in self.model.seen_trash(self.people[user])
                },
            )

    @rule()
    def purge(self) -> None:
        """Remove what is due, of this tenant and of those of earlier runs."""
        type(self).steps += 1
        self.services.trash.purge()
        self.model.trash = {
            node_id: entry
            for node_id, entry in self.model.trash.items()
            if entry.at > self.model.now - KEPT
        }

    @rule(user=st.integers(0, 3))
    def usage(self, user: int) -> None:
        type(self).steps += 1
        usage = self.services.tenants.usage(self.identity(user), self.tenant)
        trashed = sum(content_size(entry.nodes) for entry in self.model.trash.values())
        kept = sum(len(content) for node in self.model.all_nodes() for content in node.versions.values())
        assert (usage.live_bytes, usage.trash_bytes, usage.version_bytes) == (
            content_size(self.model.nodes),
            trashed,
            kept,
        )

    @rule(user=USERS, number=NODES, grantee=USERS, level=LEVELS, hours=HOURS)
    def grant(self, user: int, number: int, grantee: int, level: Permission, hours: int | None) -> None:
        node_id, other = self.pick(number) or "", self.people[grantee]
        end = FOREVER if hours is None else self.model.now + hours * HOUR
        wish = GrantRequest(other, level, None if hours is None else end)
        errors = self.model.refusals_of_grant(self.people[user], node_id, other, end)
        if not errors and self.model.reduces_owner(self.people[user], node_id, other, level, end):
            errors.add(Forbidden)
        granted = self.expect(
            errors,
            lambda: self.services.grants.put(self.identity(user), self.tenant, node_id, wish, Origin()),
        )
        if granted is not None:
            before = self.model.nodes[node_id].grants.get(other)
            assert granted[1] is (before is None or before[1] <= self.model.now)
            self.model.nodes[node_id].grants[other] = (level, end)

    @rule(user=USERS, number=NODES, grantee=USERS)
    def revoke(self, user: int, number: int, grantee: int) -> None:
        node_id = self.pick(number) or ""
        known = self.model.nodes[node_id].grants if node_id in self.model.nodes else {}
        holders = [holder for holder in known if holder not in self.model.groups]
        other = (holders or self.people)[grantee % len(holders or self.people)]
        errors = self.model.refusals(self.people[user], node_id, Permission.MANAGE)
        nothing = Permission.NONE, 0
        if not errors and self.model.reduces_owner(self.people[user], node_id, other, *nothing):
            errors.add(Forbidden)
        self.expect(
            errors,
            lambda: self.services.grants.remove(
                self.identity(user), self.tenant, node_id, other, Origin()
            ),
        )
        if not errors:
            self.model.nodes[node_id].grants.pop(other, None)

    def group(self, number: int) -> str:
        """Return the id of a group."""
        known = [*self.model.groups] or ["unknown"]
        return known[number % len(known)]

    def make_group(self) -> int:
        """Make an empty group, and return its number."""
        type(self).steps += 1
        self.group_names += 1
        name = f"group {self.group_names}"
        created = self.services.groups.create(self.identity(0), self.tenant, name, Origin())
        self.model.groups[created.id] = set()
        return len(self.model.groups) - 1

    @rule(number=GROUPS)
    def replace_group(self, number: int) -> None:
        """Delete a group and make another: few members need few groups."""
        group = self.group(number)
        self.services.groups.delete(self.identity(0), self.tenant, group, Origin())
        self.model.remove_group(group)
        self.check_top(1 + number % 3, 1 + number % 3)
        self.make_group()

    @rule(user=USERS, number=GROUPS, joins=st.booleans())
    def change_member(self, user: int, number: int, joins: bool) -> None:
        member, group = self.people[user], self.group(number)
        groups = self.services.groups
        if joins:
            errors: Errors = set() if member in self.model.members else {NotAMember}
            self.expect(
                errors,
                lambda: groups.add_member(self.identity(0), self.tenant, group, member, Origin()),
            )
            self.model.groups[group] |= set() if errors else {member}
        else:
            type(self).steps += 1
            groups.remove_member(self.identity(0), self.tenant, group, member, Origin())
            self.model.groups[group].discard(member)
        self.check_top(user, user)

    @rule(user=USERS, number=NODES, grantee=GROUPS, level=LEVELS, hours=HOURS)
    def grant_group(
        self, user: int, number: int, grantee: int, level: Permission, hours: int | None
    ) -> None:
        node_id, group = self.pick(number) or "", self.group(grantee)
        end = FOREVER if hours is None else self.model.now + hours * HOUR
        wish = GroupGrantRequest(group, level, None if hours is None else end)
        # Each of the model's errors but the one about the grantee.
        errors = self.model.refusals_of_grant(self.people[user], node_id, self.people[0], end)
        granted = self.expect(
            errors,
            lambda: self.services.group_grants.put(
                self.identity(user), self.tenant, node_id, wish, Origin()
            ),
        )
        if granted is not None:
            before = self.model.nodes[node_id].grants.get(group)
            assert granted[1] is (before is None or before[1] <= self.model.now)
            self.model.nodes[node_id].grants[group] = (level, end)

    @rule(user=USERS, number=NODES, grantee=GROUPS)
    def revoke_group(self, user: int, number: int, grantee: int) -> None:
        node_id, group = self.pick(number) or "", self.group(grantee)
        errors = self.model.refusals(self.people[user], node_id, Permission.MANAGE)
        self.expect(
            errors,
            lambda: self.services.group_grants.remove(
                self.identity(user), self.tenant, node_id, group, Origin()
            ),
        )
        if not errors:
            self.model.nodes[node_id].grants.pop(group, None)

    @rule(hours=st.integers(1, 3) | st.just(KEPT // HOUR))
    def let_time_pass(self, hours: int) -> None:
        type(self).steps += 1
        self.api.clock.advance(hours * HOUR)
        self.model.now = self.api.clock.now()

    @rule(user=st.integers(1, 3))
    def leave_and_join_again(self, user: int) -> None:
        type(self).steps += 1
        member = self.people[user]
        self.services.tenants.remove_member(self.identity(0), self.tenant, member, Origin())
        self.model.leave(member)
        self.check_top(user, user)
        self.join(member)

    @rule(user=USERS, number=NODES)
    def details(self, user: int, number: int) -> None:
        node_id = self.pick(number) or ""
        view = self.expect(
            self.model.refusals(self.people[user], node_id, Permission.READ),
            lambda: self.services.files.get(self.identity(user), self.tenant, node_id),
        )
        self.check(view, user)

    @rule(user=USERS, owner=USERS)
    def list_top(self, user: int, owner: int) -> None:
        type(self).steps += 1
        self.check_top(user, owner)

    def check_top(self, user: int, owner: int) -> None:
        members, caller, whose = self.model.members, self.people[user], self.people[owner]
        is_allowed = caller in members and (user == owner or members[caller])
        try:
            page = self.services.listing.top_level(self.identity(user), self.tenant, whose, ALL)
        except Forbidden:
            assert not is_allowed
            return
        assert is_allowed
        self.check_page(page, self.model.top(whose), whose)
        second = self.services.listing.top_level(self.identity(user), self.tenant, whose, Paging(2, 2))
        assert list(second.records) == list(page.records[2:4])

    @rule(user=USERS, owner=USERS, number=NODES)
    def list_inside(self, user: int, owner: int, number: int) -> None:
        members, caller, whose = self.model.members, self.people[user], self.people[owner]
        node_id, errors = self.pick(number) or "", set[type[StrongroomError]]()
        seen = whose in members and self.model.refusals(whose, node_id, Permission.READ) == set()
        if caller not in members or (user != owner and not members[caller]):
            errors = {Forbidden}
        elif node_id not in self.model.nodes:
            errors = {NotFound}
        elif user == owner and not seen:
            errors = {Forbidden}
        elif self.model.nodes[node_id].content is not None:
            errors = {NotAFolder}
        found = self.expect(
            errors,
            lambda: self.services.listing.inside(self.identity(user), self.tenant, whose, node_id, ALL),
        )
        if found is not None:
            self.check_page(found, self.model.children(node_id) if seen else [], whose)
            second = self.services.listing.inside(
                self.identity(user), self.tenant, whose, node_id, Paging(2, 2)
            )
            assert list(second.records) == list(found.records[2:4])

    @rule(user=USERS, text=NAMES, number=PLACES)
    def search(self, user: int, text: str, number: int | None) -> None:
        folder, who = self.pick(number), self.people[user]
        errors = self.model.refusals(who, folder, Permission.READ)
        if folder in self.model.nodes and self.model.nodes[folder].content is not None:
            errors.add(NotAFolder)
        page = self.expect(
            errors,
            lambda: self.services.search.search(
                self.identity(user), self.tenant, NodeSearch(text, folder), ALL
            ),
        )
        if page is not None:
            self.check_page(page, self.model.search(who, text, folder), who)

    def check_page(self, page: FilePage, expected: list[ModelNode], whose: str) -> None:
        assert page.total == len(expected)
        listed = [json.loads(record) for record in page.records]
        assert [(node["id"], node["permission"]) for node in listed] == [
            (node.id, self.model.permission(whose, node.id).name.lower()) for node in expected
        ]

    @rule(user=USERS, number=NODES, other=USERS)
    def explain(self, user: int, number: int, other: int) -> None:
        node_id, subject = self.pick(number) or "", self.people[other]
        explanation = self.expect(
            self.model.refusals(self.people[user], node_id, Permission.MANAGE),
            lambda: self.services.explainer.explain(self.identity(user), self.tenant, node_id, subject),
        )
        if explanation is not None:
            assert explanation.permission == self.model.permission(subject, node_id)
            found = [
                (reason.node_id, reason.group_id or subject, reason.permission)
                for reason in explanation.reasons
            ]
            holders = self.model.holders(subject)
            expected = [
                (node.id, holder, node.grants[holder][0])
                for node in self.model.path(node_id)
                for holder in holders
                if holder in node.grants
            ]
            # Groups on one node are sorted by name, which the order of their creation is not.
            assert sorted(found) == sorted(expected)
            assert [node for node, _, _ in found] == [node for node, _, _ in expected]

    def teardown(self) -> None:
        """Compare the stored inherited grants and folder counts with the model."""
        if not hasattr(self, "model"):
            return
        of_tenant = nodes.c.tenant_id == self.tenant
        with self.api.container.database.read() as connection:
            rows = connection.execute(select(grants).where(grants.c.tenant_id == self.tenant)).all()
            counted = select(folder_counts).join(nodes).where(of_tenant)
            runs = connection.execute(counted.order_by(folder_counts.c.first_name)).all()
        self.check_runs(runs)
        self.check_blobs()
        kept = {(row.node_id, row.user_id): (row.node_name, row.parent_visible_until) for row in rows}
        # In the trash, no grant puts a node at the top level.
        assert kept == {
            (node.id, user): (node.name, None)
            for entry in self.model.trash.values()
            for node in entry.nodes.values()
            for user in node.grants
            if user not in self.model.groups
        } | {
            (node.id, user): (
                node.name,
                None if (until := self.model.visible_until(user, node.parent)) == FOREVER else until,
            )
            for node in self.model.nodes.values()
            for user in node.grants
            if user not in self.model.groups
        }

    def check_blobs(self) -> None:
        """Check that each stored blob is referred to, and each row has its blob."""
        with self.api.container.database.read() as connection:
            of_rows = connection.execute(
                select(nodes.c.blob_key, nodes.c.checksum)
                .where(nodes.c.blob_key.is_not(None))
                .union_all(select(node_versions.c.blob_key, node_versions.c.checksum))
            ).all()
            stored = connection.execute(
                select(blobs.c.key, blobs.c.checksum).where(blobs.c.state == BlobState.STORED.value)
            ).all()
        assert {tuple(row) for row in of_rows} == {tuple(row) for row in stored}

    def check_runs(self, runs: Sequence[Any]) -> None:
        """Count the children of each folder by the runs that their names belong to."""
        starts: dict[str, list[str]] = {}
        for run in runs:
            starts.setdefault(run.folder_id, []).append(run.first_name)
        trashed = [node for entry in self.model.trash.values() for node in entry.nodes.values()]
        places = [(node, node.parent or self.tenant) for node in self.model.nodes.values()]
        places += [(node, node.parent) for node in trashed if node.parent]
        counted = Counter(
            (folder, max(name for name in starts[folder] if name <= node.name))
            for node, folder in places
        )
        kept = {(run.folder_id, run.first_name): run.children for run in runs if run.children}
        assert kept == counted


def run_machine(kind: type[TreeMachine], api: Api, steps: int) -> None:
    """Run a machine for some steps; fewer on PostgreSQL, where they take longer."""
    steps = steps if api.container.database.engine.dialect.name == "sqlite" else steps // 20
    kind.api, kind.people, kind.steps = api, [api.person().id for _ in range(6)], 0
    run_state_machine_as_test(
        kind,
        settings=settings(
            max_examples=ceil(steps / STEPS_A_RUN) or 1,
            stateful_step_count=STEPS_A_RUN,
            phases=[Phase.generate, Phase.shrink],
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert kind.steps >= steps
