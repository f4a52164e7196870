"""Steps on the versions of files."""

from hashlib import sha256

from hypothesis import strategies as st
from hypothesis.stateful import rule

from strongroom.content.nodes.models import Permission
from strongroom.extensions.versions.service import VersionService
from tests.support.tree.setting import ALL, NODES, USERS, TreeSetting


class VersionRules(TreeSetting):
    """Reads, restores, marks and deletes versions."""

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
            lambda: self.services.get(VersionService).locate(
                self.identity(user), self.tenant, node_id, wanted
            ),
        )
        if found is not None:
            node = self.model.nodes[node_id]
            assert found[0].checksum == sha256(node.versions[wanted]).hexdigest()
            page, _ = self.services.get(VersionService).page(
                self.identity(user), self.tenant, node_id, ALL
            )
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
            lambda: self.services.get(VersionService).restore(
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
            lambda: self.services.get(VersionService).mark(
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
            lambda: self.services.get(VersionService).delete(
                self.identity(user), self.tenant, node_id, wanted
            ),
        )
        if not errors:
            del self.model.nodes[node_id].versions[wanted]
            self.model.nodes[node_id].marked.discard(wanted)
