"""Steps that read: details, lists, searches, usage and explanations."""

import json

from hypothesis import strategies as st
from hypothesis.stateful import rule

from strongroom.content.files.access_explanation import AccessExplainer
from strongroom.content.files.list_requests import FilePage
from strongroom.content.files.listing import FileListing
from strongroom.content.files.service import FileService
from strongroom.content.nodes.models import Permission
from strongroom.content.tenants.service import TenantService
from strongroom.extensions.search.service import FileSearch, NodeSearch
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.errors import Forbidden, NotAFolder, NotFound, StrongroomError
from tests.support.tree.model import ModelNode, content_size
from tests.support.tree.setting import ALL, NAMES, NODES, PLACES, USERS, TreeSetting


class ReadingRules(TreeSetting):
    """Compares what each caller sees with the model."""

    @rule(user=USERS, number=NODES)
    def details(self, user: int, number: int) -> None:
        node_id = self.pick(number) or ""
        view = self.expect(
            self.model.refusals(self.people[user], node_id, Permission.READ),
            lambda: self.services.get(FileService).get(self.identity(user), self.tenant, node_id),
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
            page = self.services.get(FileListing).top_level(self.identity(user), self.tenant, whose, ALL)
        except Forbidden:
            assert not is_allowed
            return
        assert is_allowed
        self.check_page(page, self.model.top(whose), whose)
        second = self.services.get(FileListing).top_level(
            self.identity(user), self.tenant, whose, Paging(2, 2)
        )
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
            lambda: self.services.get(FileListing).inside(
                self.identity(user), self.tenant, whose, node_id, ALL
            ),
        )
        if found is not None:
            self.check_page(found, self.model.children(node_id) if seen else [], whose)
            second = self.services.get(FileListing).inside(
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
            lambda: self.services.get(FileSearch).search(
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

    @rule(user=st.integers(0, 3))
    def usage(self, user: int) -> None:
        type(self).steps += 1
        usage = self.services.get(TenantService).usage(self.identity(user), self.tenant)
        trashed = sum(content_size(entry.nodes) for entry in self.model.trash.values())
        kept = sum(len(content) for node in self.model.all_nodes() for content in node.versions.values())
        assert (usage.live_bytes, usage.trash_bytes, usage.version_bytes) == (
            content_size(self.model.nodes),
            trashed,
            kept,
        )

    @rule(user=USERS, number=NODES, other=USERS)
    def explain(self, user: int, number: int, other: int) -> None:
        node_id, subject = self.pick(number) or "", self.people[other]
        explanation = self.expect(
            self.model.refusals(self.people[user], node_id, Permission.MANAGE),
            lambda: self.services.get(AccessExplainer).explain(
                self.identity(user), self.tenant, node_id, subject
            ),
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
