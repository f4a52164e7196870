"""Random steps of users whose permissions end: after that, they and their friends hold nothing."""

from collections.abc import Callable
from contextlib import suppress
from random import Random

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from sqlalchemy import select
from tests.support.api import Api
from tests.support.campaign import campaign_steps
from tests.support.upload_fixtures import IncomingBytes

from strongroom.content.files.grants import GrantRequest, GrantService, GroupGrantRequest
from strongroom.content.files.group_grants import GroupGrantService
from strongroom.content.files.moving import Move, MovingService
from strongroom.content.files.replacing import ReplacingService
from strongroom.content.files.service import FileService
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import Permission, nodes
from strongroom.content.tenants.groups.service import GroupService
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.errors import StrongroomError
from strongroom.testing.clock import HOUR

STEPS_A_RUN = 50

ADMIN, OWNER, GUEST, FRIEND = range(4)
CALLERS = st.sampled_from([GUEST, GUEST, FRIEND])
NODES = st.integers(0, 1000)
HOURS = st.none() | st.integers(1, 6)
LOANS = [Permission.READ, Permission.WRITE, Permission.MANAGE, Permission.MANAGE]
LEVELS = st.sampled_from([Permission.READ, Permission.WRITE, Permission.MANAGE])


class ExpiryMachine(RuleBasedStateMachine):
    """An owner grants parts of a tree to a guest and a friend, who use their permissions at random.

    The rule: no user except the owner and the administrator holds a permission on a
    node of the owner's after the last loan on it, or on a folder around it, has ended; wherever the
    node lies by then. Nor can another user write below such a folder.
    """

    api: Api
    people: list[str]
    steps = 0

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        self.services, self.random = self.api.container, Random(seed)
        self.tenant = self.services.get(TenantService).create(self.identity(ADMIN), "Acme", Origin()).id
        for member in self.people[1:]:
            self.services.get(TenantService).put_member(
                self.identity(ADMIN), self.tenant, member, Role.MEMBER, Origin()
            )
        self.granted_until: dict[str, int] = {}
        self.group = self.make_group()
        for name in "ab":
            self.make_tree(name)
        for user in (GUEST, FRIEND):
            own = self.make_folder(user, None, f"own {user}")
            other = FRIEND if user == GUEST else GUEST
            self.grant(user, own, other, self.random.choice(LOANS), None)
            if self.random.random() < 0.5:
                self.grant_group(user, own, self.random.choice(LOANS), None)
        self.first = sorted(self.tree())

    def make_group(self) -> str:
        """Make a group of the guest and the friend, which holds some of the loans."""
        groups = self.services.get(GroupService)
        made = groups.create(self.identity(ADMIN), self.tenant, "group", Origin())
        for user in (GUEST, FRIEND):
            member = self.people[user]
            groups.add_member(self.identity(ADMIN), self.tenant, made.id, member, Origin())
        return made.id

    def grant_group(self, user: int, node: str, level: Permission, hours: int | None) -> None:
        end = None if hours is None else self.api.clock.now() + hours * HOUR
        wish = GroupGrantRequest(self.group, level, end)
        self.services.get(GroupGrantService).put(self.identity(user), self.tenant, node, wish, Origin())

    def make_tree(self, name: str) -> None:
        """Make a folder of the owner with two subfolders, and grant some of them."""
        top = self.make_folder(OWNER, None, name)
        inner = [self.make_folder(OWNER, top, part) for part in "cd"]
        ends = {top: self.grant_part(top)}
        for folder in inner:
            ends[folder] = max(ends[top], self.grant_part(folder))
        self.granted_until |= ends

    def grant_part(self, node_id: str) -> int:
        """Grant something to the guest, perhaps to the friend, and return when the last of it ends."""
        last = 0
        for user in self.random.sample([GUEST, FRIEND], self.random.randint(1, 2)):
            hours, level = self.random.randint(2, 6), self.random.choice(LOANS)
            self.grant(OWNER, node_id, user, level, hours)
            last = max(last, self.api.clock.now() + hours * HOUR)
        if self.random.random() < 0.5:
            hours = self.random.randint(2, 6)
            self.grant_group(OWNER, node_id, self.random.choice(LOANS), hours)
            last = max(last, self.api.clock.now() + hours * HOUR)
        return last

    def identity(self, user: int) -> Identity:
        return Identity(self.people[user], "USER", "login")

    def make_folder(self, user: int, parent: str | None, name: str) -> str:
        files = self.services.get(FileService)
        view = files.create_folder(self.identity(user), self.tenant, parent, name, OnConflict.RENAME)
        return view.node.id

    def grant(self, user: int, node: str, other: int, level: Permission, hours: int | None) -> None:
        end = None if hours is None else self.api.clock.now() + hours * HOUR
        wish = GrantRequest(self.people[other], level, end)
        self.services.get(GrantService).put(self.identity(user), self.tenant, node, wish, Origin())

    def pick(self, number: int) -> str:
        # Often one of the first folders of the owner or the grantees: those are the critical ones.
        found = self.first if number % 2 else sorted(self.tree())
        return found[number // 2 % len(found)]

    def tree(self) -> dict[str, str | None]:
        """Return the nodes there are, and the folders that they lie in."""
        query = select(nodes.c.id, nodes.c.parent_id).where(
            nodes.c.tenant_id == self.tenant, nodes.c.parent_id.is_not(None)
        )
        with self.api.container.database.read() as connection:
            return {row.id: row.parent_id for row in connection.execute(query)}

    def attempt(self, act: Callable[[], object]) -> None:
        """Act, or be refused."""
        type(self).steps += 1
        with suppress(StrongroomError):
            act()

    @rule(user=CALLERS, number=NODES, is_file=st.booleans(), at_top=st.booleans())
    def create(self, user: int, number: int, is_file: bool, at_top: bool) -> None:
        parent = None if at_top else self.pick(number)
        caller, files = self.identity(user), self.services.get(FileService)
        if is_file:
            upload, choice = IncomingBytes("f", b"x"), self.random.choice([*OnConflict])
            self.attempt(lambda: files.upload(caller, self.tenant, parent, upload, choice))
        else:
            self.attempt(lambda: self.make_folder(user, parent, "n"))

    @rule(user=CALLERS, number=NODES)
    def replace(self, user: int, number: int) -> None:
        node, replacing = self.pick(number), self.services.get(ReplacingService)
        if node in self.first:
            return self.move(user, number, number // 3)
        self.attempt(
            lambda: replacing.replace_content(
                self.identity(user), self.tenant, node, IncomingBytes("f", b"y"), None
            )
        )
        return None

    @rule(user=CALLERS, number=NODES, place=st.none() | NODES)
    def move(self, user: int, number: int, place: int | None) -> None:
        node, parent = self.pick(number), None if place is None else self.pick(place)
        wanted = Move(parent, None, self.random.choice([*OnConflict]))
        moving = self.services.get(MovingService)
        self.attempt(lambda: moving.move(self.identity(user), self.tenant, node, wanted, None))

    @rule(
        user=CALLERS,
        number=NODES,
        other=st.sampled_from([OWNER, GUEST, FRIEND]),
        level=LEVELS,
        hours=HOURS,
    )
    def share(self, user: int, number: int, other: int, level: Permission, hours: int | None) -> None:
        node = self.pick(number)
        self.attempt(lambda: self.grant(user, node, other, level, hours))

    @rule(user=CALLERS, number=NODES, level=LEVELS, hours=HOURS)
    def share_with_group(self, user: int, number: int, level: Permission, hours: int | None) -> None:
        node = self.pick(number)
        self.attempt(lambda: self.grant_group(user, node, level, hours))

    @rule(user=CALLERS, joins=st.booleans())
    def change_member(self, user: int, joins: bool) -> None:
        groups, admin, member = self.services.get(GroupService), self.identity(ADMIN), self.people[user]
        if joins:
            self.attempt(lambda: groups.add_member(admin, self.tenant, self.group, member, Origin()))
        else:
            self.attempt(lambda: groups.remove_member(admin, self.tenant, self.group, member, Origin()))

    @rule(user=CALLERS, number=NODES, other=st.sampled_from([OWNER, GUEST, FRIEND]))
    def revoke(self, user: int, number: int, other: int) -> None:
        node, grants = self.pick(number), self.services.get(GrantService)
        self.attempt(
            lambda: grants.remove(self.identity(user), self.tenant, node, self.people[other], Origin())
        )

    @rule(wait=st.integers(0, 3))
    def let_time_pass(self, wait: int) -> None:
        type(self).steps += 1
        if not wait:
            self.api.clock.advance(HOUR)
            self.check()

    def teardown(self) -> None:
        if hasattr(self, "granted_until"):
            self.api.clock.advance(9 * HOUR)
            self.check()

    def check(self) -> None:
        """Compare every node with the grants on the owner's folders."""
        tree, now = self.tree(), self.api.clock.now()
        for node_id in tree:
            around = self.granted_until.keys() & self.path(tree, node_id)
            if node_id in self.granted_until:
                assert self.permission(OWNER, node_id) is Permission.MANAGE
                self.require_at_most(node_id, Permission.NONE, self.granted_until[node_id] <= now)
            elif around:
                has_ended = all(self.granted_until[folder] <= now for folder in around)
                self.require_at_most(node_id, Permission.READ, has_ended)

    def require_at_most(self, node_id: str, level: Permission, has_ended: bool) -> None:
        if has_ended:
            assert max(self.permission(user, node_id) for user in (GUEST, FRIEND)) <= level

    def path(self, tree: dict[str, str | None], node_id: str | None) -> set[str]:
        path = set()
        while node_id in tree:
            path.add(node_id)
            node_id = tree[node_id]
        return path

    def permission(self, user: int, node_id: str) -> Permission:
        try:
            return (
                self.services.get(FileService).get(self.identity(user), self.tenant, node_id).permission
            )
        except StrongroomError:
            return Permission.NONE


def test_no_permission_outlasts_the_grant_that_it_comes_from(api: Api) -> None:
    steps = campaign_steps(api, "EXPIRY_STEPS", 1_500)
    people = [api.person().id for _ in range(4)]

    class Machine(ExpiryMachine):
        pass

    Machine.api, Machine.people = api, people
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=max(1, steps // STEPS_A_RUN),
            stateful_step_count=STEPS_A_RUN,
            phases=[Phase.generate],
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Machine.steps >= steps // 2
