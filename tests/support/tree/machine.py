"""Random steps on the tree and its grants, each compared with a model in plain Python."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import ceil
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test
from sqlalchemy import select

from strongroom.clock import DAY
from strongroom.content.files.grants import GrantService
from strongroom.content.nodes import child_counts
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import (
    FOREVER,
    Permission,
    folder_counts,
    folder_runs,
    grants,
    node_versions,
    nodes,
)
from strongroom.content.nodes.order_counts import SECTIONS
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.storage.models import BlobState, blobs
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import Origin
from strongroom.foundation.collation import sort_key
from strongroom.testing.clock import HOUR
from tests.support.api import Api
from tests.support.tree.grants import GrantRules
from tests.support.tree.model import TreeModel
from tests.support.tree.nodes import NodeRules
from tests.support.tree.setting import KEPT, RECORDS, VERSIONS
from tests.support.tree.trash import TrashRules
from tests.support.tree.versions import VersionRules

STEPS_A_RUN = 100


class TreeMachine(NodeRules, VersionRules, TrashRules, GrantRules):
    """All steps, and the comparison of the stored rows at the end."""

    @initialize(few=st.booleans(), seed=st.integers(0, 2**32))
    def begin(self, few: bool, seed: int) -> None:
        self.services = self.api.container
        # With few, no subtree is small enough to be looked through.
        self.services.get(GrantService)._visibility._descend_at_most = 0 if few else 1000
        guard = self.services.get(RemovalGuard)
        guard.defaults = guard.defaults._replace(trash_days=KEPT // DAY, keep_versions=VERSIONS)
        child_counts.SPLIT_ABOVE = 2 if few else 4096
        admin = self.identity(0)
        self.tenant = self.services.get(TenantService).create(admin, "Acme", Origin()).id
        self.model = TreeModel({self.people[0]: True}, self.api.clock.now())
        self.deleted: list[str] = []
        for user in self.people[1:4]:
            self.join(user)
        records = self.people[RECORDS]
        self.services.get(TenantService).put_member(admin, self.tenant, records, Role.RECORDS, Origin())
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

    @rule(hours=st.integers(1, 3) | st.just(KEPT // HOUR))
    def let_time_pass(self, hours: int) -> None:
        type(self).steps += 1
        self.api.clock.advance(hours * HOUR)
        self.model.now = self.api.clock.now()

    def teardown(self) -> None:
        """Compare the stored inherited grants and folder counts with the model."""
        if not hasattr(self, "model"):
            return
        of_tenant = nodes.c.tenant_id == self.tenant
        with self.api.container.database.read() as connection:
            rows = connection.execute(select(grants).where(grants.c.tenant_id == self.tenant)).all()
            counted = select(folder_counts).join(nodes).where(of_tenant)
            runs = connection.execute(counted.order_by(folder_counts.c.first_name)).all()
            orders = connection.execute(select(folder_runs).join(nodes).where(of_tenant)).all()
            children = connection.execute(select(nodes).where(of_tenant)).all()
        self.check_runs(runs)
        self.check_order_runs(orders, runs, children)
        self.check_copies(rows, children)
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

    def check_copies(self, rows: Sequence[Any], children: Sequence[Any]) -> None:
        """Check the values that top-level lists are sorted by."""
        values = {node.id: (node.type, node.size, node.updated_at, node.sort_key) for node in children}
        listed = [row for row in rows if row.parent_visible_until is not None]
        names = ("node_id", "node_type", "node_size", "node_updated_at", "node_sort_key")
        copies = [tuple(getattr(row, name) for name in names) for row in listed]
        assert copies == [(row.node_id, *values[row.node_id]) for row in listed]

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

    def check_order_runs(
        self, orders: Sequence[Any], runs: Sequence[Any], children: Sequence[Any]
    ) -> None:
        """Count the children of each large folder by the runs that they belong to in each order."""
        starts: dict[tuple[str, str], list[tuple[int, str]]] = {}
        for run in orders:
            starts.setdefault((run.folder_id, run.list), []).append((run.first_value, run.first_key))
        large = {run.folder_id for run in runs if run.first_name}
        assert starts.keys() == {(folder, each.label) for folder in large for each in SECTIONS}
        assert all(node.sort_key == sort_key(node.name) for node in children if node.name)
        counted = Counter(
            (
                node.parent_id,
                list_,
                *max(start for start in starts[node.parent_id, list_] if start <= key),
            )
            for node in children
            if node.parent_id in large
            for section in SECTIONS
            if section.type in (None, node.type)
            for list_, key in [(section.label, (_VALUES[section.key](node), node.sort_key))]
        )
        kept = {tuple(run[:4]): run.children for run in orders if run.children}
        assert kept == counted


_VALUES: dict[str, Callable[[Any], int]] = {
    "name": lambda _: 0,
    "size": lambda node: node.size,
    "updatedAt": lambda node: node.updated_at,
}


def run_machine(kind: type[TreeMachine], api: Api, steps: int) -> None:
    """Run a machine for at least some steps."""
    kind.api, kind.people, kind.steps = api, [api.person().id for _ in range(6)], 0
    run_state_machine_as_test(
        kind,
        settings=settings(
            # One more, because Hypothesis may skip one that repeats another.
            max_examples=ceil(steps / STEPS_A_RUN) + 1,
            stateful_step_count=STEPS_A_RUN,
            phases=[Phase.generate, Phase.shrink],
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert kind.steps >= steps
