"""A tenant, its model in plain Python, and how a step is compared with the model."""

from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine

from strongroom.assembly.container import Container
from strongroom.content.nodes.access import NodeView
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import Permission
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database.paging import Paging
from strongroom.testing.clock import HOUR
from tests.support.api import Api
from tests.support.tree.model import Errors, ModelNode, TreeModel

T = TypeVar("T")

ALL = Paging(1, 200)

USERS = st.sampled_from([0, 0, 0, 1, 1, 2, 2, 3, 4])
NODES = st.integers(0, 1000)
PLACES = st.none() | NODES
NAMES = st.sampled_from(["a", "b", "c", "A", "é", "e\u0301"])
LEVELS = st.sampled_from([Permission.READ, Permission.WRITE, Permission.MANAGE])
HOURS = st.none() | st.integers(1, 5)
CHOICES = st.sampled_from(OnConflict)

RECORDS = 5
"""The member with the role ``records``, who is never picked otherwise."""

VERSIONS = 3
"""Number of versions of a file that are kept."""

KEPT = 24 * HOUR
"""Milliseconds for which the trash is kept."""


class TreeSetting(RuleBasedStateMachine):
    """A tenant with an administrator, three members and a stranger.

    Nodes are picked by a number, among those there are and the last one that was deleted.
    """

    api: Api
    people: list[str]
    steps = 0
    services: Container
    model: TreeModel
    tenant: str
    deleted: list[str]

    def identity(self, user: int) -> Identity:
        return Identity(self.people[user], "USER", "login")

    def join(self, user: str) -> None:
        self.services.get(TenantService).put_member(
            self.identity(0), self.tenant, user, Role.MEMBER, Origin()
        )
        self.model.members[user] = False

    def kept_of(self, node_id: str) -> int | None:
        """Return how many versions of a file are kept: all of them under a hold."""
        return None if self.model.holds_around(node_id) else VERSIONS

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
