"""Groups of tenants that directories provision."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Connection, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from strongroom.clock import Clock, next_revision
from strongroom.content.tenants.groups.service import GroupMemberships, GroupService
from strongroom.content.tenants.models import Group, group_members, groups, tenant_members
from strongroom.extensions.provisioning.directories import DirectoryService
from strongroom.extensions.provisioning.models import (
    PROVISIONED_GROUP,
    Directory,
    ProvisionedGroupRow,
    provisioned_groups,
    provisioned_users,
)
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement, dynamic
from strongroom.foundation.errors import (
    GroupNameTaken,
    NotAMember,
    NotFound,
    RevisionConflict,
    ValidationFailed,
)

MAX_MEMBERS: Final = 20_000
"""Members of a group that a directory may name at once."""

_AT_ONCE: Final = 500
_IDS: Final[BindParameter[str]] = bindparam("ids", expanding=True)
_ADD: Final = Statement(insert(provisioned_groups))
_CHANGE: Final = Statement(
    update(provisioned_groups)
    .where(provisioned_groups.c.group_id == bindparam("of_group"))
    .values(
        external_id=bindparam("new_external_id"),
        updated_at=bindparam("now"),
        revision=bindparam("next"),
    )
)
_KNOWN: Final = Statement(
    select(provisioned_users.c.user_id, provisioned_users.c.directory_id, tenant_members.c.user_id)
    .outerjoin(
        tenant_members,
        (tenant_members.c.user_id == provisioned_users.c.user_id)
        & (tenant_members.c.tenant_id == provisioned_users.c.realm),
    )
    .where(provisioned_users.c.user_id.in_(_IDS)),
    tuple,
)
"""Without a condition on the directory, for which a database may read all of its users."""

_MEMBERS: Final = Statement(
    select(group_members.c.user_id, provisioned_users.c.name)
    .join(provisioned_users, provisioned_users.c.user_id == group_members.c.user_id)
    .where(
        group_members.c.group_id == bindparam("of_group"),
        provisioned_users.c.directory_id == bindparam("of_directory"),
    )
    .order_by(group_members.c.user_id),
    tuple,
)
_FOREIGN_MEMBERS: Final = Statement(
    select(group_members.c.user_id)
    .outerjoin(
        provisioned_users,
        (provisioned_users.c.user_id == group_members.c.user_id)
        & (provisioned_users.c.directory_id == bindparam("of_directory")),
    )
    .where(group_members.c.group_id == bindparam("of_group"), provisioned_users.c.user_id.is_(None))
)
_OF_USERS: Final = Statement(
    select(group_members.c.user_id, groups.c.id, groups.c.name)
    .join(groups, groups.c.id == group_members.c.group_id)
    .join(provisioned_groups, provisioned_groups.c.group_id == groups.c.id)
    .where(
        provisioned_groups.c.directory_id == bindparam("of_directory"),
        group_members.c.user_id.in_(_IDS),
    )
    .order_by(group_members.c.user_id, groups.c.id),
    tuple,
)


@dataclass(frozen=True, slots=True)
class GroupState:
    """What a directory says of a group.

    Args:
        member_ids: the members; ``None``: unchanged.
    """

    name: str
    external_id: str | None = None
    member_ids: Collection[str] | None = None


class ProvisionedGroup(NamedTuple):
    """A group that a directory has created."""

    row: ProvisionedGroupRow
    name: str

    @property
    def version(self) -> str:
        """What differs after each change by the directory, or of the name."""
        return str(self.row.revision)


class GroupFilter(NamedTuple):
    """What listed groups have; ``None``: anything."""

    group_id: str | None = None
    name: str | None = None
    external_id: str | None = None
    member_id: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class ProvisionedGroups:
    """Creates, changes and removes groups for the directories of tenants.

    A directory sees and changes the groups that it has created, and in them the users that it has
    created. Members that an administrator has added stay.
    """

    _database: Database
    _clock: Clock
    _directories: DirectoryService
    _group_members: GroupMemberships
    _groups: GroupService

    def provision(
        self, identity: Identity, tenant_id: str, state: GroupState, origin: Origin
    ) -> ProvisionedGroup:
        """Create a group.

        Raises:
            Forbidden: no administrator has registered the caller.
            GroupNameTaken: the tenant has a group of this name, or with the external id.
            TooManyGroups: the tenant has as many groups as allowed, or a member is in as many.
            NotAMember: the directory has not created a member.
            ValidationFailed: there are too many members.
        """
        with self._database.write() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=True)
            group = self._groups.create_in(connection, identity, tenant_id, state.name, origin)
            now = self._clock.now()
            row = ProvisionedGroupRow(
                group.id, directory.id, directory.realm, state.external_id, now, now, now
            )
            with _unique(connection):
                _ADD.execute(connection, PROVISIONED_GROUP.values(row))
            self._set_members(connection, identity, directory, group, state.member_ids, origin)
            self._directories.note_change(connection, directory)
            return self._get(connection, directory, group.id)

    def get(self, identity: Identity, tenant_id: str, group_id: str) -> ProvisionedGroup:
        """Return a group of the caller's directory.

        Raises:
            Forbidden: no administrator has registered the caller.
            NotFound: the directory has no such group.
        """
        with self._database.read() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=False)
            return self._get(connection, directory, group_id)

    def part(
        self,
        identity: Identity,
        tenant_id: str,
        chosen: GroupFilter,
        offset: int,
        limit: int,
    ) -> tuple[int, Sequence[ProvisionedGroup]]:
        """Return the number of groups of the caller's directory, and some of them, the oldest first.

        Raises:
            Forbidden: no administrator has registered the caller.
        """
        with self._database.read() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=False)
            joined = provisioned_groups.join(groups, groups.c.id == provisioned_groups.c.group_id)
            conditions = _conditions(directory, chosen)
            count = select(func.count()).select_from(joined).where(*conditions)
            total = int(dynamic(count).scalar(connection))
            if limit <= 0 or offset >= total:
                return total, []
            return total, self._select(connection, directory, chosen, offset, limit)

    def members(self, identity: Identity, tenant_id: str, group_id: str) -> Sequence[tuple[str, str]]:
        """Return the ids and names of the directory's users in a group; raises as :meth:`get`."""
        with self._database.read() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=False)
            self._get(connection, directory, group_id)
            parameters = {"of_group": group_id, "of_directory": directory.id}
            return _MEMBERS.all(connection, parameters)

    def list_by_user(
        self, identity: Identity, tenant_id: str, user_ids: Collection[str]
    ) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Return the ids and names of the directory's groups, by user.

        Raises:
            Forbidden: no administrator has registered the caller.
        """
        memberships: dict[str, list[tuple[str, str]]] = {}
        if not user_ids:
            return memberships
        with self._database.read() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=False)
            parameters = {"of_directory": directory.id, "ids": sorted(user_ids)}
            for user_id, group_id, name in _OF_USERS.all(connection, parameters):
                memberships.setdefault(user_id, []).append((group_id, name))
        return memberships

    def change(
        self,
        identity: Identity,
        tenant_id: str,
        group_id: str,
        state: GroupState,
        origin: Origin,
        version: str | None = None,
    ) -> ProvisionedGroup:
        """Replace what the directory says of a group, in one transaction.

        What is the same as before leaves the version as it is.

        Raises:
            NotFound: the directory has no such group.
            RevisionConflict: the group has another version than the given one.
            StrongroomError: as :meth:`provision`.
        """
        with self._database.write() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=True)
            present = self._get(connection, directory, group_id, version)
            group = self._group_members.get(connection, tenant_id, group_id)
            is_changed = (state.name, state.external_id) != (group.name, present.row.external_id)
            if state.name != group.name:
                group = self._groups.rename_in(connection, identity, group, state.name, origin)
            if self._set_members(connection, identity, directory, group, state.member_ids, origin):
                is_changed = True
            if not is_changed:
                return present
            return self._store(connection, directory, present, state.external_id)

    def change_members(
        self,
        identity: Identity,
        tenant_id: str,
        group_id: str,
        added: Collection[str],
        removed: Collection[str],
        origin: Origin,
    ) -> ProvisionedGroup:
        """Add users of the directory to a group, and remove others; raises as :meth:`change`."""
        with self._database.write() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=True)
            present = self._get(connection, directory, group_id)
            group = self._group_members.get(connection, tenant_id, group_id)
            parameters = {"of_group": group_id, "of_directory": directory.id}
            members = {user_id for user_id, _ in _MEMBERS.all(connection, parameters)}
            members = members - {*removed} | {*added}
            if not self._set_members(connection, identity, directory, group, members, origin):
                return present
            return self._store(connection, directory, present, present.row.external_id)

    def remove(
        self,
        identity: Identity,
        tenant_id: str,
        group_id: str,
        origin: Origin,
        version: str | None = None,
    ) -> None:
        """Delete a group with its memberships and grants.

        Raises:
            Forbidden, NotFound, RevisionConflict: as :meth:`change`.
        """
        with self._database.write() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=True)
            self._get(connection, directory, group_id, version)
            group = self._group_members.get(connection, tenant_id, group_id)
            # The foreign key deletes the row of the directory.
            self._groups.delete_in(connection, identity, group, origin)
            self._directories.note_change(connection, directory)

    def _store(
        self,
        connection: Connection,
        directory: Directory,
        group: ProvisionedGroup,
        external_id: str | None,
    ) -> ProvisionedGroup:
        """Give a group that has changed a new version."""
        self._directories.note_change(connection, directory)
        now = self._clock.now()
        values = {
            "of_group": group.row.group_id,
            "new_external_id": external_id,
            "now": now,
            "next": next_revision(group.row.revision, now),
        }
        with _unique(connection):
            _CHANGE.execute(connection, values)
        return self._get(connection, directory, group.row.group_id)

    def _select(
        self,
        connection: Connection,
        directory: Directory,
        chosen: GroupFilter,
        offset: int = 0,
        limit: int = 1,
    ) -> list[ProvisionedGroup]:
        query = select(*provisioned_groups.c, groups.c.name)
        query = query.join(groups, groups.c.id == provisioned_groups.c.group_id)
        query = query.where(*_conditions(directory, chosen))
        query = query.order_by(provisioned_groups.c.created_at, provisioned_groups.c.group_id)
        rows = dynamic(query.offset(offset).limit(limit), tuple).all(connection)
        return [_provisioned(row) for row in rows]

    def _get(
        self, connection: Connection, directory: Directory, group_id: str, version: str | None = None
    ) -> ProvisionedGroup:
        """Return a group, which must have the version if there is one."""
        present = self._select(connection, directory, GroupFilter(group_id=group_id))
        if not present:
            raise NotFound
        if version not in (None, present[0].version):
            raise RevisionConflict
        return present[0]

    def _set_members(
        self,
        connection: Connection,
        identity: Identity,
        directory: Directory,
        group: Group,
        member_ids: Collection[str] | None,
        origin: Origin,
    ) -> bool:
        """Set the members of the directory; return whether they have changed."""
        if member_ids is None:
            return False
        if len(member_ids) > MAX_MEMBERS:
            message = f"A group can have at most {MAX_MEMBERS} members."
            raise ValidationFailed.of_field("members", "too-many", message)
        active = self._find_active(connection, directory, sorted(set(member_ids)))
        parameters = {"of_group": group.id, "of_directory": directory.id}
        foreign = _FOREIGN_MEMBERS.scalars(connection, parameters)
        members = {*active, *foreign}
        joined, left = self._groups.set_members_in(connection, identity, group, members, origin)
        return bool(joined or left)

    def _find_active(
        self, connection: Connection, directory: Directory, user_ids: list[str]
    ) -> set[str]:
        """Return the users who are members of the tenant.

        A user who is not active is in no group. The next synchronization adds the user, once active.
        """
        memberships: dict[str, str | None] = {}
        for start in range(0, len(user_ids), _AT_ONCE):
            rows = _KNOWN.all(connection, {"ids": user_ids[start : start + _AT_ONCE]})
            memberships |= {user_id: member for user_id, of, member in rows if of == directory.id}
        if len(memberships) < len(user_ids):
            raise NotAMember.of_field("members", "not-a-member", "Must be users of the directory.")
        return {user_id for user_id, member in memberships.items() if member is not None}


@contextmanager
def _unique(connection: Connection) -> Iterator[None]:
    """Convert the error of a statement that sets an external id that another group has."""
    try:
        with connection.begin_nested():
            yield
    except IntegrityError as error:
        message = "Another group of the tenant has the external id."
        raise GroupNameTaken.of_field("externalId", "taken", message) from error


def _conditions(directory: Directory, chosen: GroupFilter) -> list[ColumnElement[bool]]:
    columns = provisioned_groups.c
    conditions = [columns.directory_id == directory.id]
    if chosen.group_id is not None:
        conditions.append(columns.group_id == chosen.group_id)
    if chosen.external_id is not None:
        # Ids are unique in a realm, and found by the index that keeps them so.
        conditions += [columns.realm == directory.realm, columns.external_id == chosen.external_id]
    if chosen.name is not None:
        conditions.append(func.lower(groups.c.name) == chosen.name.lower())
    if chosen.member_id is not None:
        member = select(group_members.c.group_id).where(
            group_members.c.group_id == columns.group_id,
            group_members.c.user_id == chosen.member_id,
        )
        conditions.append(member.exists())
    return conditions


def _provisioned(row: Sequence[Any]) -> ProvisionedGroup:
    record, (name,) = PROVISIONED_GROUP.split(row)
    return ProvisionedGroup(record, name)
