"""Steps on the trash, and holds, which keep nodes out of it."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import Permission
from strongroom.extensions.retention.service import HoldService
from strongroom.extensions.trash.removal import TrashRemoval
from strongroom.extensions.trash.service import RestoreRequest, TrashService
from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import Forbidden, NameConflict, NotFound
from tests.support.tree.model import Errors, content_size
from tests.support.tree.setting import ALL, CHOICES, KEPT, NODES, PLACES, RECORDS, USERS, TreeSetting


class TrashRules(TreeSetting):
    """Restores and removes deleted nodes, and holds others."""

    @rule(user=st.sampled_from([RECORDS, RECORDS, 0, 1, 4]), number=NODES)
    def hold(self, user: int, number: int) -> None:
        node_id = self.pick(number) or ""
        if any(node_id in entry.nodes for entry in self.model.trash.values()):
            # Holds in the trash have tests of their own.
            return
        errors: Errors = set() if user == RECORDS else {Forbidden}
        errors |= set() if node_id in self.model.nodes else {NotFound}
        holds, origin = self.services.get(HoldService), Origin()
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
        holds, who = self.services.get(HoldService), self.identity(RECORDS)
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
        if other and (choice is OnConflict.RENAME or self.model.hides(caller, parent, name)):
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
            lambda: self.services.get(TrashService).restore(
                self.identity(user), self.tenant, node_id, wanted
            ),
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
            errors,
            lambda: self.services.get(TrashRemoval).delete(self.identity(user), self.tenant, node_id),
        )
        if not errors:
            del self.model.trash[node_id]

    @rule(user=USERS)
    def list_trash(self, user: int) -> None:
        errors: Errors = set() if self.people[user] in self.model.members else {Forbidden}
        found = self.expect(
            errors, lambda: self.services.get(TrashService).page(self.identity(user), self.tenant, ALL)
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
        """Remove the due entries, of this tenant and of those of earlier runs."""
        type(self).steps += 1
        self.services.get(TrashRemoval).purge()
        self.model.trash = {
            node_id: entry
            for node_id, entry in self.model.trash.items()
            if entry.at > self.model.now - KEPT
        }
