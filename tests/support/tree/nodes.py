"""Steps that create, change, move, copy and delete nodes."""

import json

from hypothesis import strategies as st
from hypothesis.stateful import rule

from strongroom.content.files.copying import Copy, CopyingService
from strongroom.content.files.listing import FileListing
from strongroom.content.files.moving import Move, MovingService
from strongroom.content.files.replacing import ReplacingService
from strongroom.content.files.service import FileService
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import Permission
from strongroom.foundation.errors import MoveIntoItself, NameConflict
from tests.support.tree.model import ModelNode, normalized
from tests.support.tree.reading import ReadingRules
from tests.support.tree.setting import ALL, CHOICES, NAMES, NODES, PLACES, USERS
from tests.support.upload_fixtures import IncomingBytes

STALE = st.sampled_from([None, 0, 1])


class NodeRules(ReadingRules):
    """Changes nodes as any of the callers."""

    @rule(user=USERS, place=PLACES, name=NAMES, numbered=st.booleans())
    def make_folder(self, user: int, place: int | None, name: str, numbered: bool) -> None:
        parent, final = self.pick(place), normalized(name)
        errors = self.model.refusals_of_place(self.people[user], parent)
        if numbered or self.model.hides(self.people[user], parent, final):
            final = self.model.free_name(parent, final)
        elif self.model.taken(parent, final):
            errors.add(NameConflict)
        choice = OnConflict.RENAME if numbered else OnConflict.FAIL
        files = self.services.get(FileService)
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
        if choice is OnConflict.RENAME or self.model.hides(self.people[user], parent, final):
            final, other = self.model.free_name(parent, final), None
        elif other and (choice is OnConflict.FAIL or other.content is None):
            errors.add(NameConflict)
        elif other:
            errors |= self.model.refusals(self.people[user], other.id, Permission.WRITE)
        incoming = IncomingBytes(name, content)
        view = self.expect(
            errors,
            lambda: self.services.get(FileService).upload(
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
            lambda: self.services.get(ReplacingService).replace_content(
                self.identity(user), self.tenant, node_id, incoming, None
            ),
        )
        if view is not None:
            self.model.nodes[node_id].replace(b"y" * size, self.kept_of(node_id))
            self.check(view, user)

    @rule(user=USERS, number=NODES, name=NAMES, stale=STALE)
    def rename(self, user: int, number: int, name: str, stale: int | None) -> None:
        node_id, final = self.pick(number) or "", normalized(name)
        node = self.model.nodes.get(node_id)
        revision = None if stale is None or node is None else node.revision - stale
        errors = self.model.refusals_of_change(self.people[user], node_id, Permission.WRITE, revision)
        other = node and self.model.taken(node.parent, final)
        if node and self.model.hides(self.people[user], node.parent, final):
            final = self.model.free_name(node.parent, final)
        elif other and other is not node:
            errors.add(NameConflict)
        view = self.expect(
            errors,
            lambda: self.services.get(MovingService).rename(
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
        if node and self.model.hides(self.people[user], parent, final or node.name):
            final, other = self.model.free_name(parent, final or node.name), None
        if taking and node and other and other is not node and None not in (node.content, other.content):
            errors -= {NameConflict}
            errors |= self.model.refusals(self.people[user], other.id, Permission.MANAGE)
            errors |= self.model.refusals_of_hold(other.id)
        wanted = Move(parent, name, OnConflict.REPLACE if taking else OnConflict.FAIL)
        view = self.expect(
            errors,
            lambda: self.services.get(MovingService).move(
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
        if numbered or self.model.hides(who, parent, final):
            final = self.model.free_name(parent, final)
        elif self.model.taken(parent, final):
            errors.add(NameConflict)
        wanted = Copy(parent, name, OnConflict.RENAME if numbered else OnConflict.FAIL)
        if self.model.size(node_id) > 3:
            # Trees would grow without end.
            return self.details(user, number)
        view = self.expect(
            errors,
            lambda: self.services.get(CopyingService).copy(
                self.identity(user), self.tenant, node_id, wanted
            ),
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
        page = self.services.get(FileListing).inside(
            self.identity(0), self.tenant, self.people[0], new_id, ALL
        )
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
            lambda: self.services.get(FileService).delete(
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
