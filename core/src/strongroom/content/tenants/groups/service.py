"""Groups of a tenant's members, which hold grants on files; groups do not contain groups.

Administrators of a tenant manage its groups. Every member sees their names, because every member may
create files at the top level and grant groups a permission on them. Who is in a group is visible to its
members and to administrators.
"""

from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, Final, Protocol

from sqlalchemy import BindParameter, Connection, Select, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, next_revision
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import (
    GROUP,
    GROUP_MEMBER,
    Group,
    GroupMember,
    Role,
    group_members,
    groups,
    tenant_members,
    tenants,
)
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.database.statements import Statement, dynamic, for_each_dialect
from strongroom.foundation.errors import (
    Forbidden,
    GroupNameTaken,
    NotAMember,
    NotFound,
    RevisionConflict,
    TooManyGroups,
)
from strongroom.foundation.ids import new_id
from strongroom.identity.users.service import UserService

_IS_ONE: Final = (groups.c.id == bindparam("group_id")) & (groups.c.tenant_id == bindparam("tenant_id"))
_IN_GROUP: Final = group_members.c.group_id == bindparam("group_id")
_IS_MEMBER: Final = _IN_GROUP & (group_members.c.user_id == bindparam("user_id"))
_FIND: Final = Statement(select(groups).where(_IS_ONE), GROUP)
_ADD: Final = Statement(insert(groups))
_REMOVE: Final = Statement(delete(groups).where(_IS_ONE))
_RENAME: Final = Statement(
    update(groups)
    .where(_IS_ONE)
    .values(
        name=bindparam("new_name"),
        sort_key=bindparam("key"),
        updated_at=bindparam("now"),
        revision=bindparam("next"),
    )
)
_COUNT: Final = Statement(
    select(func.count()).select_from(groups).where(groups.c.tenant_id == bindparam("tenant_id"))
)
_COUNT_OF_USER: Final = Statement(
    select(func.count())
    .select_from(group_members)
    .where(
        group_members.c.user_id == bindparam("user_id"),
        group_members.c.tenant_id == bindparam("tenant_id"),
    )
)
_FIND_MEMBER: Final = Statement(select(group_members).where(_IS_MEMBER), GROUP_MEMBER)
# Two administrators may add the same member at the same time; the second one changes nothing.
_ADD_MEMBER: Final = Statement(
    for_each_dialect(group_members, lambda insert: insert.on_conflict_do_nothing())
)
_REMOVE_MEMBER: Final = Statement(delete(group_members).where(_IS_MEMBER))
_MEMBERS: Final = Statement(select(group_members.c.user_id).where(_IN_GROUP))
_NAMED: Final[BindParameter[str]] = bindparam("user_ids", expanding=True)
_MEMBERS_OF_TENANT: Final = Statement(
    select(tenant_members.c.user_id).where(
        tenant_members.c.tenant_id == bindparam("tenant_id"), tenant_members.c.user_id.in_(_NAMED)
    )
)
_FULL: Final = Statement(
    select(group_members.c.user_id)
    .where(group_members.c.tenant_id == bindparam("tenant_id"), group_members.c.user_id.in_(_NAMED))
    .group_by(group_members.c.user_id)
    .having(func.count() >= bindparam("maximum"))
    .limit(1)
)
_REMOVE_NAMED: Final = Statement(
    delete(group_members).where(_IN_GROUP, group_members.c.user_id.in_(_NAMED))
)
_AT_ONCE: Final = 500
"""Number of members that a statement names."""
_REMOVE_MEMBERS: Final = Statement(delete(group_members).where(_IN_GROUP))
# The memberships are joined, so that no group of a deleted tenant, or of one that was left, is found.
_OF_USER: Final = (
    select(*(groups.c[field.name] for field in fields(Group)))
    .join(group_members, group_members.c.group_id == groups.c.id)
    .join(
        tenant_members,
        (tenant_members.c.tenant_id == groups.c.tenant_id)
        & (tenant_members.c.user_id == group_members.c.user_id),
    )
    .join(tenants, tenants.c.id == groups.c.tenant_id)
    .where(
        group_members.c.user_id == bindparam("user_id"),
        groups.c.tenant_id.in_(bindparam("tenant_ids", expanding=True)),
        tenants.c.deleted_at.is_(None),
    )
    .order_by(groups.c.id)
)


class GroupObserver(Protocol):
    """Updates data that depends on the members of groups, in the transaction that changes them."""

    def joined(self, connection: Connection, tenant_id: str, group_id: str, user_ids: list[str]) -> None:
        """Handle new members."""

    def left(self, connection: Connection, tenant_id: str, group_id: str, user_ids: list[str]) -> None:
        """Handle former members; the group's grants still exist."""


class GroupMemberships:
    """Changes the members of groups within the caller's transaction; checks no permission.

    Args:
        max_per_user: maximum number of groups of a user in a tenant.
    """

    def __init__(self, clock: Clock, memberships: Memberships, *, max_per_user: int) -> None:
        self._clock = clock
        self._memberships = memberships
        self._max_per_user = max_per_user
        self._observers: list[GroupObserver] = []

    def observe(self, observer: GroupObserver) -> None:
        """Register what updates data that depends on the members of groups."""
        self._observers.append(observer)

    def find(self, connection: Connection, tenant_id: str, group_id: str) -> Group | None:
        """Return a group of a tenant."""
        return _FIND.first(connection, {"tenant_id": tenant_id, "group_id": group_id})

    def get(self, connection: Connection, tenant_id: str, group_id: str) -> Group:
        """Return a group of a tenant.

        Raises:
            NotFound: the tenant has no such group.
        """
        group = self.find(connection, tenant_id, group_id)
        if group is None:
            raise NotFound
        return group

    def find_member(self, connection: Connection, group_id: str, user_id: str) -> GroupMember | None:
        """Return a membership of a group."""
        return _FIND_MEMBER.first(connection, {"group_id": group_id, "user_id": user_id})

    def add(
        self, connection: Connection, group: Group, user_id: str, added_by: str | None
    ) -> tuple[GroupMember, bool]:
        """Add a member of the tenant to a group; return the membership, and whether it is new.

        Raises:
            NotAMember: the user is not a member of the tenant, whether or not the user exists.
            TooManyGroups: the user is in as many groups as allowed.
        """
        self._memberships.lock_tenant(connection, group.tenant_id)
        if self._memberships.role(connection, group.tenant_id, user_id) is None:
            raise NotAMember.of_field("userId", "not-a-member", "Must be a member of the tenant.")
        existing = self.find_member(connection, group.id, user_id)
        if existing is not None:
            return existing, False
        # Counted under the lock, so that parallel requests cannot exceed the limit together.
        of_user = {"tenant_id": group.tenant_id, "user_id": user_id}
        if _COUNT_OF_USER.scalar(connection, of_user) >= self._max_per_user:
            raise TooManyGroups("The user is in as many groups as allowed.")
        member = GroupMember(group.id, user_id, group.tenant_id, added_by, self._clock.now())
        _ADD_MEMBER.execute(connection, GROUP_MEMBER.values(member))
        for observer in self._observers:
            observer.joined(connection, group.tenant_id, group.id, [user_id])
        return member, True

    def replace(
        self, connection: Connection, group: Group, user_ids: Collection[str], added_by: str | None
    ) -> tuple[list[str], list[str]]:
        """Make users the only members of a group; return the new and the former members, sorted.

        Raises:
            NotAMember: a new one is not a member of the tenant.
            TooManyGroups: a new one is in as many groups as allowed.
        """
        self._memberships.lock_tenant(connection, group.tenant_id)
        present = set(_MEMBERS.scalars(connection, {"group_id": group.id}))
        joining, leaving = sorted(set(user_ids) - present), sorted(present - set(user_ids))
        for part in _parts(leaving):
            _REMOVE_NAMED.execute(connection, {"group_id": group.id, "user_ids": part})
        if leaving:
            self._report_left(connection, group, leaving)
        for part in _parts(joining):
            self._require_addable(connection, group.tenant_id, part)
            now = self._clock.now()
            new = [GroupMember(group.id, item, group.tenant_id, added_by, now) for item in part]
            _ADD_MEMBER.execute(connection, [GROUP_MEMBER.values(member) for member in new])
        if joining:
            for observer in self._observers:
                observer.joined(connection, group.tenant_id, group.id, joining)
        return joining, leaving

    def _require_addable(self, connection: Connection, tenant_id: str, user_ids: list[str]) -> None:
        of_tenant = {"tenant_id": tenant_id, "user_ids": user_ids}
        if len(_MEMBERS_OF_TENANT.scalars(connection, of_tenant)) < len(user_ids):
            raise NotAMember.of_field("userIds", "not-a-member", "Must be members of the tenant.")
        if _FULL.scalar(connection, {**of_tenant, "maximum": self._max_per_user}) is not None:
            raise TooManyGroups("A user is in as many groups as allowed.")

    def remove(self, connection: Connection, group: Group, user_id: str) -> bool:
        """Remove a member from a group, and return whether the membership existed."""
        self._memberships.lock_tenant(connection, group.tenant_id)
        removed = _REMOVE_MEMBER.execute(connection, {"group_id": group.id, "user_id": user_id}) == 1
        if removed:
            self._report_left(connection, group, [user_id])
        return removed

    def remove_all(self, connection: Connection, group: Group) -> None:
        """Remove all members from a group."""
        self._memberships.lock_tenant(connection, group.tenant_id)
        of_group = {"group_id": group.id}
        # Read before the rows are gone, because the observer updates the lists of these users.
        user_ids = list(_MEMBERS.scalars(connection, of_group))
        _REMOVE_MEMBERS.execute(connection, of_group)
        self._report_left(connection, group, user_ids)

    def _report_left(self, connection: Connection, group: Group, user_ids: list[str]) -> None:
        for observer in self._observers:
            observer.left(connection, group.tenant_id, group.id, user_ids)


@dataclass(slots=True, eq=False, repr=False)
class GroupService:
    """Groups, for the members of a tenant and its administrators.

    Args:
        max_groups: maximum number of groups of a tenant.
    """

    _database: Database
    _clock: Clock
    _memberships: Memberships
    _members: GroupMemberships
    _users: UserService
    _audit: AuditService
    _: KW_ONLY
    max_groups: int

    def create(self, identity: Identity, tenant_id: str, name: str, origin: Origin) -> Group:
        """Create an empty group.

        Raises:
            Forbidden: the caller does not administer the tenant.
            GroupNameTaken: the tenant has a group of this name.
            TooManyGroups: the tenant has as many groups as allowed.
        """
        with self._database.write() as connection:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
            return self.create_in(connection, identity, tenant_id, name, origin)

    def create_in(
        self, connection: Connection, identity: Identity, tenant_id: str, name: str, origin: Origin
    ) -> Group:
        """Create a group within the caller's transaction, which has checked and locked the tenant.

        Raises:
            GroupNameTaken, TooManyGroups: as :meth:`create`.
        """
        now = self._clock.now()
        group = Group(new_id(), tenant_id, name, now, now, now)
        if _COUNT.scalar(connection, {"tenant_id": tenant_id}) >= self.max_groups:
            raise TooManyGroups
        try:
            _ADD.execute(connection, GROUP.values(group))
        except IntegrityError as error:
            raise GroupNameTaken.of_taken_name() from error
        self._record(connection, "group.create", identity, group, origin, {"name": name})
        return group

    @replica_read
    def page(
        self, identity: Identity, tenant_id: str, user_id: str | None, paging: Paging
    ) -> Page[Group]:
        """Return a page of a tenant's groups, sorted by name.

        Args:
            user_id: only the groups of this user; ``None`` returns all groups.

        Raises:
            Forbidden: the caller is not a member of the tenant, or requests the groups of another user
                without being an administrator.
        """
        ours = groups.c.tenant_id == tenant_id
        query = select(groups).where(ours)
        if user_id is not None:
            query = query.join(group_members).where(group_members.c.user_id == user_id)
        count = select(func.count()).select_from(query.subquery())
        with self._database.read() as connection:
            role = self._memberships.require_member(connection, tenant_id, identity)
            if user_id not in (None, identity.user_id) and role is not Role.ADMIN:
                raise Forbidden
            ordered = query.order_by(groups.c.sort_key, groups.c.id)
            return select_page(connection, ordered, count, paging, GROUP)

    def find_of_user(
        self, user_id: str, tenant_ids: Collection[str], group_ids: Collection[str], limit: int
    ) -> Sequence[Group]:
        """Return the groups of a user in tenants, sorted by id; checks no permission.

        Args:
            group_ids: only these; empty: all.
        """
        query = _OF_USER if not group_ids else _OF_USER.where(groups.c.id.in_(sorted(group_ids)))
        ids = {"user_id": user_id, "tenant_ids": sorted(tenant_ids)}
        with self._database.read() as connection:
            return dynamic(query.limit(limit), lambda row: Group(*row)).all(connection, ids)

    def get(self, identity: Identity, tenant_id: str, group_id: str) -> Group:
        """Return a group.

        Raises:
            Forbidden: the caller is not a member of the tenant.
            NotFound: the tenant has no such group.
        """
        with self._database.read() as connection:
            self._memberships.require_member(connection, tenant_id, identity)
            return self._members.get(connection, tenant_id, group_id)

    def rename(
        self,
        identity: Identity,
        tenant_id: str,
        group_id: str,
        name: str,
        revision: int | None,
        origin: Origin,
    ) -> Group:
        """Rename a group.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such group.
            RevisionConflict: the group has changed since the given revision.
            GroupNameTaken: the tenant has another group of this name.
        """
        with self._database.write() as connection:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
            group = self._members.get(connection, tenant_id, group_id)
            _require_revision(group, revision)
            return self.rename_in(connection, identity, group, name, origin)

    def rename_in(
        self, connection: Connection, identity: Identity, group: Group, name: str, origin: Origin
    ) -> Group:
        """Rename a group within the caller's transaction, which has checked and locked the tenant.

        Raises:
            GroupNameTaken: the tenant has another group of this name.
        """
        now = self._clock.now()
        values = {
            "new_name": name,
            "key": sort_key(name),
            "now": now,
            "next": next_revision(group.revision, now),
        }
        try:
            _RENAME.execute(connection, {"tenant_id": group.tenant_id, "group_id": group.id, **values})
        except IntegrityError as error:
            raise GroupNameTaken.of_taken_name() from error
        self._record(connection, "group.update", identity, group, origin, {"name": name})
        return self._members.get(connection, group.tenant_id, group.id)

    def delete(
        self,
        identity: Identity,
        tenant_id: str,
        group_id: str,
        origin: Origin,
        revision: int | None = None,
    ) -> None:
        """Delete a group with its memberships and grants.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such group.
            RevisionConflict: the group has changed since the given revision.
        """
        with self._database.write() as connection:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
            group = self._members.get(connection, tenant_id, group_id)
            _require_revision(group, revision)
            self.delete_in(connection, identity, group, origin)

    def delete_in(
        self, connection: Connection, identity: Identity, group: Group, origin: Origin
    ) -> None:
        """Delete a group within the caller's transaction, which has checked and locked the tenant."""
        # The members go first, while the grants exist that their lists depend on.
        self._members.remove_all(connection, group)
        # The foreign key deletes the group's grants.
        _REMOVE.execute(connection, {"tenant_id": group.tenant_id, "group_id": group.id})
        self._record(connection, "group.delete", identity, group, origin, {"name": group.name})

    def set_members(
        self,
        identity: Identity,
        tenant_id: str,
        group_id: str,
        user_ids: Collection[str],
        origin: Origin,
        revision: int | None = None,
    ) -> tuple[int, int]:
        """Make users the only members of a group, in one transaction.

        Args:
            revision: the expected revision of the group.

        Returns:
            How many users were added and removed.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such group.
            RevisionConflict: the group has changed since the given revision.
            NotAMember, TooManyGroups: see :meth:`GroupMemberships.replace`.
        """
        with self._database.write() as connection:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
            group = self._members.get(connection, tenant_id, group_id)
            _require_revision(group, revision)
            joined, left = self.set_members_in(connection, identity, group, user_ids, origin)
        return len(joined), len(left)

    def set_members_in(
        self,
        connection: Connection,
        identity: Identity,
        group: Group,
        user_ids: Collection[str],
        origin: Origin,
    ) -> tuple[list[str], list[str]]:
        """Replace members within the caller's transaction, which has checked and locked the tenant.

        Returns:
            The new and the former members.

        Raises:
            NotAMember, TooManyGroups: see :meth:`GroupMemberships.replace`.
        """
        joined, left = self._members.replace(connection, group, user_ids, identity.user_id)
        for action, members in (("group-member.remove", left), ("group-member.add", joined)):
            for user_id in members:
                self._record(connection, action, identity, group, origin, {"user": user_id})
        return joined, left

    def members(
        self, identity: Identity, tenant_id: str, group_id: str, paging: Paging
    ) -> tuple[Page[GroupMember], list[dict[str, str]]]:
        """Return a page of a group's members, oldest first, and summaries of the users in it.

        Raises:
            Forbidden: the caller neither administers the tenant nor is in the group.
            NotFound: the tenant has no such group.
        """
        with self._database.read() as connection:
            role = self._memberships.require_member(connection, tenant_id, identity)
            self._members.get(connection, tenant_id, group_id)
            own = self._members.find_member(connection, group_id, identity.user_id)
            if role is not Role.ADMIN and own is None:
                raise Forbidden
            page = select_page(connection, *_page_of_members(group_id), paging, GROUP_MEMBER)
            users = {member.user_id for member in page.items}
            users |= {member.added_by for member in page.items if member.added_by}
            return page, self._users.summaries(connection, users)

    def add_member(
        self, identity: Identity, tenant_id: str, group_id: str, user_id: str, origin: Origin
    ) -> GroupMember:
        """Add a member of the tenant to a group, and return the membership, which may exist already.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such group.
            NotAMember: the user is not a member of the tenant, whether or not the user exists.
            TooManyGroups: the user is in as many groups as allowed.
        """
        with self._database.write() as connection:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
            group = self._members.get(connection, tenant_id, group_id)
            member, is_new = self._members.add(connection, group, user_id, identity.user_id)
            if is_new:
                self._record(connection, "group-member.add", identity, group, origin, {"user": user_id})
        return member

    def remove_member(
        self, identity: Identity, tenant_id: str, group_id: str, user_id: str, origin: Origin
    ) -> None:
        """Remove a member from a group; a missing one is not an error. Users may remove themselves.

        Raises:
            Forbidden: the caller neither administers the tenant nor is the member to be removed.
            NotFound: the tenant has no such group.
        """
        with self._database.write() as connection:
            self._memberships.lock_tenant(connection, tenant_id)
            role = self._memberships.require_member(connection, tenant_id, identity)
            if role is not Role.ADMIN and user_id != identity.user_id:
                raise Forbidden
            group = self._members.get(connection, tenant_id, group_id)
            if self._members.remove(connection, group, user_id):
                details = {"user": user_id}
                self._record(connection, "group-member.remove", identity, group, origin, details)

    def _record(
        self,
        connection: Connection,
        action: str,
        identity: Identity,
        group: Group,
        origin: Origin,
        details: dict[str, str],
    ) -> None:
        event = AuditEvent(
            action,
            actor_id=identity.user_id,
            target_type="group",
            target_id=group.id,
            origin=origin,
            details={"tenant": group.tenant_id, **details},
        )
        self._audit.record(connection, event)


def _parts(user_ids: list[str]) -> list[list[str]]:
    return [user_ids[start : start + _AT_ONCE] for start in range(0, len(user_ids), _AT_ONCE)]


def _require_revision(group: Group, revision: int | None) -> None:
    # Under the lock of the tenant, which each change of a group takes.
    if revision not in (None, group.revision):
        raise RevisionConflict


def _page_of_members(group_id: str) -> tuple[Select[Any], Select[Any]]:
    """Return the queries for the members of a group, oldest first, and for their number."""
    ours = group_members.c.group_id == group_id
    query = select(group_members).where(ours)
    ordered = query.order_by(group_members.c.created_at, group_members.c.user_id)
    return ordered, select(func.count()).select_from(group_members).where(ours)
