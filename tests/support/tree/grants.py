"""Steps on grants, groups and members."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from strongroom.content.files.grants import GrantRequest, GrantService, GroupGrantRequest
from strongroom.content.files.group_grants import GroupGrantService
from strongroom.content.nodes.models import FOREVER, Permission
from strongroom.content.tenants.groups.service import GroupService
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import Forbidden, NotAMember
from strongroom.testing.clock import HOUR
from tests.support.tree.model import Errors
from tests.support.tree.reading import ReadingRules
from tests.support.tree.setting import HOURS, LEVELS, NODES, USERS

GROUPS = st.integers(0, 1)


class GrantRules(ReadingRules):
    """Grants and revokes permissions of members and groups, and changes who is in them."""

    group_names: int

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
            lambda: self.services.get(GrantService).put(
                self.identity(user), self.tenant, node_id, wish, Origin()
            ),
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
            lambda: self.services.get(GrantService).remove(
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
        created = self.services.get(GroupService).create(self.identity(0), self.tenant, name, Origin())
        self.model.groups[created.id] = set()
        return len(self.model.groups) - 1

    @rule(number=GROUPS)
    def replace_group(self, number: int) -> None:
        """Delete a group and make another: few members need few groups."""
        group = self.group(number)
        self.services.get(GroupService).delete(self.identity(0), self.tenant, group, Origin())
        self.model.remove_group(group)
        self.check_top(1 + number % 3, 1 + number % 3)
        self.make_group()

    @rule(user=USERS, number=GROUPS, joins=st.booleans())
    def change_member(self, user: int, number: int, joins: bool) -> None:
        member, group = self.people[user], self.group(number)
        groups = self.services.get(GroupService)
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
            lambda: self.services.get(GroupGrantService).put(
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
            lambda: self.services.get(GroupGrantService).remove(
                self.identity(user), self.tenant, node_id, group, Origin()
            ),
        )
        if not errors:
            self.model.nodes[node_id].grants.pop(group, None)

    @rule(user=st.integers(1, 3))
    def leave_and_join_again(self, user: int) -> None:
        type(self).steps += 1
        member = self.people[user]
        self.services.get(TenantService).remove_member(self.identity(0), self.tenant, member, Origin())
        self.model.leave(member)
        self.check_top(user, user)
        self.join(member)
