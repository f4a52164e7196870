"""A model of a tenant's tree and grants in plain Python."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from strongroom.content.nodes.models import FOREVER, Permission
from strongroom.foundation.collation import sort_key
from strongroom.foundation.errors import (
    FileHeld,
    Forbidden,
    MoveIntoItself,
    NameConflict,
    NotAFile,
    NotAFolder,
    NotAMember,
    NotFound,
    ParentGone,
    RevisionConflict,
    StrongroomError,
)

Errors = set[type[StrongroomError]]


@dataclass
class ModelNode:
    """A file, or without content a folder. Grants are a permission and an end by user or group."""

    id: str
    parent: str | None
    name: str
    content: bytes | None
    revision: int
    owner: str = ""
    grants: dict[str, tuple[Permission, int]] = field(default_factory=dict)
    versions: dict[int, bytes] = field(default_factory=dict)
    marked: set[int] = field(default_factory=set)
    replaced: int = 0
    is_held: bool = False

    def replace(self, content: bytes, keep: int | None) -> None:
        """Give a file other content, and keep the earlier ones as versions: so many, or all."""
        self.replaced += 1
        self.versions[self.replaced] = self.content or b""
        self.content = content
        for number in sorted(self.versions.keys() - self.marked)[:-keep] if keep else ():
            del self.versions[number]


@dataclass
class Trashed:
    """A subtree in the trash: who deleted it, when and from where."""

    by: str
    at: int
    parent: str | None
    nodes: dict[str, ModelNode]


@dataclass
class TreeModel:
    """Nodes and permissions; ``members`` maps each member to whether it administers the tenant."""

    members: dict[str, bool]
    now: int = 0
    nodes: dict[str, ModelNode] = field(default_factory=dict)
    groups: dict[str, set[str]] = field(default_factory=dict)
    trash: dict[str, Trashed] = field(default_factory=dict)

    def holders(self, user: str) -> list[str]:
        """Return a user and the user's groups."""
        return [user, *(group for group, members in self.groups.items() if user in members)]

    def held(self, user: str, node_id: str | None) -> Iterator[tuple[Permission, int]]:
        """Yield the grants of a user and the user's groups on a node and the folders around it."""
        holders = self.holders(user)
        for node in self.path(node_id):
            yield from (node.grants[holder] for holder in holders if holder in node.grants)

    def path(self, node_id: str | None) -> Iterator[ModelNode]:
        """Yield a node and all folders around it."""
        while node_id is not None:
            node = self.nodes[node_id]
            yield node
            node_id = node.parent

    def permission(self, user: str, node_id: str) -> Permission:
        """Return a user's permission on a node."""
        if self.members.get(user):
            return Permission.MANAGE
        levels = (level for level, end in self.held(user, node_id) if end > self.now)
        return max(levels, default=Permission.NONE)

    def manages_until(self, user: str, node_id: str) -> int:
        """Return until when a user manages a node."""
        if self.members.get(user):
            return FOREVER
        return self.granted_until(user, node_id, Permission.MANAGE)

    def granted_until(self, user: str, node_id: str | None, needed: Permission) -> int:
        """Return until when grants give a user a level on a node."""
        return max((end for level, end in self.held(user, node_id) if level >= needed), default=0)

    def given_until(self, holder: str, node_id: str | None, needed: Permission) -> int:
        """Return until when the grants of one user or one group alone give a level on a node."""
        held = (node.grants.get(holder, (Permission.NONE, 0)) for node in self.path(node_id))
        return max((end for level, end in held if level >= needed), default=0)

    def writes_until(self, user: str, folder_id: str | None) -> int:
        """Return until when a user may put something into a folder, or at the top."""
        if folder_id is None or self.members.get(user):
            return FOREVER
        return self.granted_until(user, folder_id, Permission.WRITE)

    def children(self, parent: str | None) -> list[ModelNode]:
        """Return the nodes of a folder, or of the top, by name."""
        inside = (node for node in self.nodes.values() if node.parent == parent)
        return sorted(inside, key=lambda node: sort_key(node.name))

    def top(self, user: str) -> list[ModelNode]:
        """Return a user's top-level nodes: visible nodes whose parent is not visible."""

        def stands_at_top(node: ModelNode) -> bool:
            return self.permission(user, node.id) > 0 and (
                node.parent is None or self.permission(user, node.parent) == 0
            )

        found = (node for node in self.nodes.values() if user in self.members and stands_at_top(node))
        return sorted(found, key=lambda node: (sort_key(node.name), node.id))

    def search(self, user: str, text: str, folder: str | None) -> list[ModelNode]:
        """Return the nodes that a user sees in the tenant or below a folder, by a part of the name."""

        def is_below(node: ModelNode) -> bool:
            return folder is None or folder in [around.id for around in self.path(node.parent)]

        wanted = unicodedata.normalize("NFKC", text.casefold())
        found = (
            node
            for node in self.nodes.values()
            if wanted in unicodedata.normalize("NFKC", node.name.casefold())
            and is_below(node)
            and self.permission(user, node.id) > 0
        )
        return sorted(found, key=lambda node: (sort_key(node.name), node.id))

    def taken(self, parent: str | None, name: str) -> ModelNode | None:
        """Return the node of a name in a folder."""
        return next((node for node in self.children(parent) if node.name == name), None)

    def hides(self, user: str, parent: str | None, name: str) -> bool:
        """Return whether a node at the top level, which the user cannot see, has a name."""
        other = self.taken(parent, name)
        return parent is None and other is not None and not self.permission(user, other.id)

    def free_name(self, parent: str | None, name: str) -> str:
        """Return the name, or the first with a number that is free."""
        candidates = (f"{name} ({number})" if number else name for number in range(1000))
        return next(candidate for candidate in candidates if not self.taken(parent, candidate))

    def holds_around(self, node_id: str | None) -> set[str]:
        """Return the held nodes among a node and the folders around it."""
        return {node.id for node in self.path(node_id) if node.is_held}

    def refusals_of_hold(self, node_id: str, *, within: bool = True) -> Errors:
        """Return why a node may not be removed: a hold covers it, or a node within it."""
        if node_id not in self.nodes:
            return set()
        is_within = within and any(self.nodes[each].is_held for each in self.subtree(node_id))
        return {FileHeld} if is_within or self.holds_around(node_id) else set()

    def refusals(self, user: str, node_id: str | None, needed: Permission) -> Errors:
        """Return why a user may not do something with a node, or at the top."""
        if user not in self.members:
            return {Forbidden}
        if node_id is None:
            return set()
        if node_id not in self.nodes:
            return {NotFound}
        return {Forbidden} if self.permission(user, node_id) < needed else set()

    def refusals_of_place(self, user: str, parent: str | None) -> Errors:
        """Return why a user may not put something somewhere."""
        errors = self.refusals(user, parent, Permission.WRITE)
        is_file = parent in self.nodes and self.nodes[parent].content is not None
        return errors | ({NotAFolder} if is_file else set())

    def refusals_of_change(
        self, user: str, node_id: str, needed: Permission, revision: int | None
    ) -> Errors:
        """Return why a user may not change a node that was read at a revision."""
        errors = self.refusals(user, node_id, needed)
        node = self.nodes.get(node_id)
        is_stale = node is not None and revision not in (None, node.revision)
        return errors | ({RevisionConflict} if is_stale else set())

    def refusals_of_content(self, user: str, node_id: str) -> Errors:
        """Return why a user may not give a node other content."""
        is_folder = node_id in self.nodes and self.nodes[node_id].content is None
        return self.refusals(user, node_id, Permission.WRITE) | ({NotAFile} if is_folder else set())

    def refusals_of_version(self, user: str, node_id: str, number: int, needed: Permission) -> Errors:
        """Return why a user may not do something with a version of a file."""
        errors = self.refusals(user, node_id, needed)
        node = self.nodes.get(node_id)
        if node is not None and node.content is None:
            errors.add(NotAFile)
        elif node is not None and number not in node.versions:
            errors.add(NotFound)
        return errors

    def refusals_of_move(
        self, user: str, node_id: str, parent: str | None, name: str | None, revision: int | None
    ) -> Errors:
        """Return why a user may not move a node. A move into its own folder is a rename."""
        is_rename = node_id in self.nodes and self.nodes[node_id].parent == parent
        needed = Permission.WRITE if is_rename else Permission.MANAGE
        errors = self.refusals_of_change(user, node_id, needed, revision)
        if not is_rename:
            errors |= self.refusals_of_place(user, parent)
        if node_id in self.nodes and (parent is None or parent in self.nodes):
            if any(around.id == node_id for around in self.path(parent)):
                errors.add(MoveIntoItself)
            final = name or self.nodes[node_id].name
            other = self.taken(parent, final)
            if other is not None and other.id != node_id and not self.hides(user, parent, final):
                errors.add(NameConflict)
            if not errors - {NameConflict} and self.outlasts(user, node_id, parent):
                errors.add(Forbidden)
            if self.holds_around(self.nodes[node_id].parent) - self.holds_around(parent):
                errors.add(FileHeld)
        return errors

    def outlasts(self, user: str, node_id: str, parent: str | None) -> bool:
        """Return whether a move would give a member or a group more than the mover's own last."""
        if parent == self.nodes[node_id].parent:
            return False
        managed, written = self.manages_until(user, node_id), self.writes_until(user, parent)
        members = (other for other, is_admin in self.members.items() if not is_admin)
        return any(
            self.gains_node(holder, node_id, parent, managed)
            or self.gains_folder(holder, node_id, parent, written)
            for holder in (*members, *self.groups)
        )

    def gains_node(self, holder: str, node_id: str, parent: str | None, until: int) -> bool:
        """Return whether a folder's grants would give a user or group more of a node than before."""
        return any(
            self.given_until(holder, parent, level)
            > max(until, self.given_until(holder, node_id, level))
            for level in (Permission.READ, Permission.WRITE, Permission.MANAGE)
        )

    def gains_folder(self, holder: str, node_id: str, parent: str | None, until: int) -> bool:
        """Return whether grants in a moved subtree would extend the write access below a folder."""
        brought = [self.nodes[each].grants.get(holder) for each in self.subtree(node_id)]
        ends = [held[1] for held in brought if held and held[0] >= Permission.WRITE]
        return max(ends, default=0) > max(until, self.given_until(holder, parent, Permission.WRITE))

    def reduces_owner(self, user: str, node_id: str, holder: str, level: Permission, end: int) -> bool:
        """Return whether a user would reduce an owner's grant who is neither owner nor administrator."""
        node = self.nodes[node_id]
        before = node.grants.get(holder, (Permission.NONE, 0))
        if holder != node.owner or user == holder or self.members.get(user):
            return False
        was = before[0] is Permission.MANAGE and before[1] > self.now
        return was and (level is not Permission.MANAGE or end < before[1])

    def refusals_of_grant(self, user: str, node_id: str, grantee: str, end: int) -> Errors:
        """Return why a user may not grant something."""
        errors = self.refusals(user, node_id, Permission.MANAGE)
        if not errors and end > self.manages_until(user, node_id):
            errors.add(Forbidden)
        return errors | (set() if grantee in self.members else {NotAMember})

    def all_nodes(self) -> Iterator[ModelNode]:
        """Yield all nodes, those in the trash included."""
        for nodes in (self.nodes, *(entry.nodes for entry in self.trash.values())):
            yield from nodes.values()

    def remove_group(self, group: str) -> None:
        """Remove a group, and all that was granted to it."""
        del self.groups[group]
        for node in self.all_nodes():
            node.grants.pop(group, None)

    def add(self, node: ModelNode, creator: str) -> None:
        """Put a new node in its place."""
        node.owner = creator
        node.grants[creator] = (Permission.MANAGE, self.writes_until(creator, node.parent))
        self.nodes[node.id] = node

    def remove(self, node_id: str) -> dict[str, ModelNode]:
        """Remove a node and all below it, and return them."""
        return {each: self.nodes.pop(each) for each in self.subtree(node_id)}

    def throw_away(self, user: str, node_id: str) -> None:
        """Move a node and all below it to the trash."""
        parent, removed = self.nodes[node_id].parent, self.remove(node_id)
        removed[node_id].parent = None
        self.trash[node_id] = Trashed(user, self.now, parent, removed)

    def restore(self, node_id: str, parent: str | None, name: str) -> ModelNode:
        """Put a subtree back into a folder."""
        self.nodes |= self.trash.pop(node_id).nodes
        node = self.nodes[node_id]
        node.parent, node.name = parent, name
        return node

    def seen_trash(self, user: str) -> list[str]:
        """Return what a member sees in the trash."""
        all_of_it = self.members.get(user)
        return [node_id for node_id, entry in self.trash.items() if all_of_it or entry.by == user]

    def refusals_of_trash(self, user: str, node_id: str) -> Errors:
        """Return why a user may not do something with an entry of the trash."""
        if user not in self.members:
            return {Forbidden}
        return set() if node_id in self.seen_trash(user) else {NotFound}

    def refusals_of_restoration(
        self, user: str, node_id: str, parent: str | None, *, former: bool
    ) -> Errors:
        """Return why a user may not restore something to a folder, whatever its name."""
        errors = self.refusals_of_trash(user, node_id)
        entry = self.trash.get(node_id)
        if errors or entry is None:
            return errors
        if former and entry.parent is not None and entry.parent not in self.nodes:
            return {ParentGone}
        errors = self.refusals_of_place(user, parent)
        if not errors and parent != entry.parent:
            # The grants on the folder that it was in count, as long as there is that folder.
            self.nodes |= entry.nodes
            self.nodes[node_id].parent = entry.parent if entry.parent in self.nodes else None
            errors |= {Forbidden} if self.outlasts(user, node_id, parent) else set()
            self.remove(node_id)[node_id].parent = None
        return errors

    def subtree(self, node_id: str) -> list[str]:
        """Return a node and all below it."""
        return [each for each in self.nodes if any(node.id == node_id for node in self.path(each))]

    def size(self, node_id: str) -> int:
        """Return how many nodes a subtree has."""
        return len(self.subtree(node_id))

    def leave(self, user: str) -> None:
        """End a membership, and all that was granted with it."""
        del self.members[user]
        for members in self.groups.values():
            members.discard(user)
        for node in self.all_nodes():
            node.grants.pop(user, None)

    def visible_until(self, user: str, node_id: str | None) -> int:
        """Return until when a user sees a node by grants."""
        return max((end for _, end in self.held(user, node_id)), default=0)


def normalized(name: str) -> str:
    """Return a name in its one form."""
    return unicodedata.normalize("NFC", name)


def content_size(nodes: dict[str, ModelNode]) -> int:
    """Return the bytes of the content of all nodes, without versions."""
    return sum(len(node.content or b"") for node in nodes.values())
