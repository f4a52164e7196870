"""Random steps on a tree with share links, whose visitors use the rights that the makers have now."""

from collections.abc import Callable
from io import BytesIO
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from tests.support.api import Api
from tests.support.campaign import campaign_steps
from tests.support.config import lifted
from tests.support.shares import ALL_KINDS, PLUGINS
from tests.support.tree.machine import TreeMachine, run_machine
from tests.support.tree.setting import HOURS, NAMES, NODES, USERS

from strongroom.content.files.service import FileService
from strongroom.content.nodes.models import Permission
from strongroom.foundation.database.upgrade import upgrade
from strongroom.foundation.errors import Forbidden, InsufficientScope, NotFound
from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom.testing.clock import HOUR
from strongroom_share_links.errors import FORBIDDEN as SHARE_FORBIDDEN
from strongroom_share_links.errors import POLICY
from strongroom_share_links.models import Audience, Kind, Link
from strongroom_share_links.plugin import register_tables
from strongroom_share_links.service import Shares
from strongroom_share_links.states import State, delegation_of

T = TypeVar("T")
Json = dict[str, Any]

LINKS = st.integers(0, 1000)
DROP: Json = {
    "max_bytes": None,
    "max_files": None,
    "allowed_types": [],
    "require_name": False,
    "layout": "flat",
}


def wanted(kind: Kind, expires_at: int | None) -> Json:
    """Return a share for anyone, without a password."""
    return {
        "kind": kind,
        "label": "",
        "password": None,
        "expiresAt": expires_at,
        "maxDownloads": None,
        "audience": (Audience.ANYONE, []),
        "notify": False,
        "drop": DROP,
    }


class SharedTreeMachine(TreeMachine):
    """The tree, and links to its nodes."""

    host: HostAPI

    @initialize()
    def begin_sharing(self) -> None:
        self.shares = Shares(self.host)
        self.links: list[Link] = []

    def expect_code(self, codes: set[str], act: Callable[[], T]) -> T | None:
        """Act, and pass if that is refused with one of the codes, or not at all if there are none."""
        type(self).steps += 1
        if not codes:
            return act()
        with pytest.raises(ApiError) as refused:
            act()
        assert refused.value.code in codes
        return None

    def codes(self, user: str, node_id: str, needed: Permission) -> set[str]:
        """Return the codes with which a user is refused a node."""
        return {error.code for error in self.model.refusals(user, node_id, needed)}

    def codes_of(self, link: Link, node_id: str) -> set[str]:
        """Return the codes with which a visitor is refused a node."""
        is_managed = not self.codes(link.creator_id, link.file_id, Permission.MANAGE)
        is_inside = is_managed and node_id in self.model.subtree(link.file_id)
        return set() if is_inside else {Forbidden.code, NotFound.code}

    def is_open(self, link: Link) -> bool:
        """Return whether the model opens a link: its maker still manages its node."""
        is_over = link.expires_at is not None and link.expires_at <= self.model.now
        return not is_over and not self.codes(link.creator_id, link.file_id, Permission.MANAGE)

    @rule(user=USERS, number=NODES, writes=st.booleans(), hours=HOURS)
    def share(self, user: int, number: int, writes: bool, hours: int | None) -> None:
        node_id, maker = self.pick(number) or "", self.people[user]
        node = self.model.nodes.get(node_id)
        kind = Kind.WRITE if writes and node is not None and node.content is None else Kind.READ
        end = None if hours is None else self.model.now + hours * HOUR

        def act() -> Link:
            with self.host.acting_as(maker):
                return self.shares.links.create(self.tenant, node_id, wanted(kind, end)).link

        codes = self.codes(maker, node_id, Permission.READ)
        if not codes and self.codes(maker, node_id, Permission.MANAGE):
            codes.add(SHARE_FORBIDDEN.code)
        elif not codes and end is not None and end > self.model.manages_until(maker, node_id):
            codes.add(POLICY.code)
        link = self.expect_code(codes, act)
        if link is not None:
            self.links.append(link)

    def pick_link(self, number: int) -> Link | None:
        return self.links[number % len(self.links)] if self.links else None

    @rule(which=LINKS, number=NODES)
    def visit(self, which: int, number: int) -> None:
        """Open a link, and a node that is in it or elsewhere."""
        link, node_id = self.pick_link(which), self.pick(number) or ""
        if link is None:
            self.usage(0)
            return
        is_open = self.is_open(link)
        with self.host.database.read() as transaction:
            policy = self.shares.policies.find(transaction, self.tenant)
        state, _ = self.shares.states.find(link, policy)
        assert (state is State.ACTIVE) is is_open

        def act() -> FileInfo:
            with self.host.acting_for(delegation_of(link)):
                return self.host.files.stat(self.tenant, node_id)

        found = self.expect_code(self.codes_of(link, node_id), act)
        if found is not None:
            node = self.model.nodes[node_id]
            assert (found.name, found.size, found.permission) == (
                node.name,
                len(node.content or b""),
                "read",
            )

    @rule(which=LINKS, number=NODES)
    def list_shared(self, which: int, number: int) -> None:
        """List a folder by a link: all nodes in it, or a refusal."""
        link, node_id = self.pick_link(which), self.pick(number) or ""
        folder = self.model.nodes.get(node_id)
        if link is None or folder is None or folder.content is not None:
            self.usage(0)
            return

        def act() -> list[str]:
            with self.host.acting_for(delegation_of(link)):
                return [item.id for item in self.host.files.list(self.tenant, node_id).items]

        listed = self.expect_code(self.codes_of(link, node_id), act)
        if listed is not None:
            assert listed == [child.id for child in self.model.children(node_id)]

    @rule(which=LINKS, number=NODES, name=NAMES, size=st.integers(0, 9))
    def drop(self, which: int, number: int, name: str, size: int) -> None:
        """Upload into a folder by a link that allows it; the file belongs to the maker."""
        link, node_id = self.pick_link(which), self.pick(number) or ""
        folder = self.model.nodes.get(node_id)
        if link is None or folder is None or folder.content is not None:
            self.usage(0)
            return
        writes = link.kind == Kind.WRITE
        codes = self.codes_of(link, node_id) | (set() if writes else {InsufficientScope.code})
        final = self.model.free_name(node_id, name)

        def act() -> FileInfo:
            level: Any = "write" if writes else "read"
            with self.host.acting_for(delegation_of(link, level)):
                return self.host.files.upload(
                    self.tenant, node_id, final, BytesIO(b"x" * size), on_conflict="fail"
                )

        file = self.expect_code(codes, act)
        if file is not None:
            maker = self.people.index(link.creator_id)
            view = self.services.get(FileService).get(self.identity(maker), self.tenant, file.id)
            self.added(view, maker, view.node.name, b"x" * size)


pytestmark = pytest.mark.config(
    lifted(), {"plugins": {"enabled": PLUGINS, "share_links": {"kinds": ALL_KINDS}}}
)


def test_links_give_what_their_makers_have(hurried: Api) -> None:
    upgrade(hurried.container.database.engine, {"share_links": register_tables()})
    SharedTreeMachine.host = hurried.container.hosts.get("share_links")
    run_machine(SharedTreeMachine, hurried, campaign_steps(hurried, "SHARED_TREE_STEPS", 1_500))
