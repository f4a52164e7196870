"""What directories say of users, and the queries for it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select

from strongroom.content.tenants.models import tenant_members
from strongroom.extensions.provisioning.models import (
    PROVISIONED_USER,
    Directory,
    ProvisionedUserRow,
    provisioned_users,
)
from strongroom.foundation.database.statements import dynamic
from strongroom.foundation.errors import ValidationFailed
from strongroom.identity.users.models import UserStatus, users

MAX_PROFILE: Final = 32 * 1024
"""Bytes of the JSON of a profile."""

MAX_TEXT: Final = 255


@dataclass(frozen=True, slots=True)
class UserState:
    """What a directory says of a user.

    Args:
        login_name: the name by which the directory knows the user, unique in the tenant whatever its
            case. No login uses it.
        external_id: the directory's id, unique in the tenant.
        email: the address, which proves nothing until the user returns a code sent to it, unless the
            tenant owns its domain.
        is_active: whether the user may act.
        profile: further attributes, which the server only stores.
    """

    login_name: str
    name: str
    external_id: str | None = None
    email: str | None = None
    locale: str | None = None
    is_active: bool = True
    profile: Mapping[str, Any] = field(default_factory=dict)

    def require_valid(self) -> None:
        """Require texts that the columns take; others check names and addresses.

        Raises:
            ValidationFailed: a value is invalid.
        """
        texts = {"loginName": self.login_name, "externalId": self.external_id, "name": self.name}
        for name, text in texts.items():
            if text is not None and not 1 <= len(text) <= MAX_TEXT:
                raise ValidationFailed.of_field(
                    name, "invalid", f"Must have 1 to {MAX_TEXT} characters."
                )
        if len(self.login_key) > MAX_TEXT:
            raise ValidationFailed.of_field("loginName", "invalid", "Must be shorter.")
        if len(json.dumps(dict(self.profile)).encode()) > MAX_PROFILE:
            raise ValidationFailed.of_field(
                "profile", "too-large", f"Must have at most {MAX_PROFILE} bytes."
            )

    @property
    def login_key(self) -> str:
        """The login name, folded."""
        return self.login_name.casefold()

    @property
    def email_key(self) -> str | None:
        """The address, folded."""
        return None if self.email is None else self.email.casefold()


@dataclass(frozen=True, slots=True)
class ProvisionedUser:
    """A user that a directory has created.

    Args:
        is_active: whether the user may act: in the tenant of the directory, or in the server.
    """

    row: ProvisionedUserRow
    is_active: bool

    @property
    def version(self) -> str:
        """What differs after each change, also by administrators."""
        return f"{self.row.revision}-{int(self.is_active)}"

    def is_as(self, state: UserState) -> bool:
        """Return whether the directory says what is stored."""
        row = self.row
        stored = (row.external_id, row.login_name, row.name, row.email_key, row.profile, self.is_active)
        said = (state.external_id, state.login_name, state.name, state.email_key, dict(state.profile))
        return stored == (*said, state.is_active)


class UserFilter(NamedTuple):
    """What listed users have; ``None``: anything."""

    user_id: str | None = None
    login_name: str | None = None
    external_id: str | None = None
    email: str | None = None


def count_users(connection: Connection, directory: Directory, chosen: UserFilter) -> int:
    """Return the number of users of a directory."""
    count = select(func.count()).select_from(provisioned_users).where(*_conditions(directory, chosen))
    return int(dynamic(count).scalar(connection))


def select_users(
    connection: Connection, directory: Directory, chosen: UserFilter, offset: int = 0, limit: int = 1
) -> list[ProvisionedUser]:
    """Return users of a directory, the oldest first."""
    query = _query(directory).where(*_conditions(directory, chosen))
    columns = provisioned_users.c
    # Ids rise with time. Next to a value, an index with the order would be read in place of the value's.
    is_by_value = any(value is not None for value in chosen)
    order = (columns.user_id,) if is_by_value else (columns.created_at, columns.user_id)
    rows = dynamic(query.order_by(*order).offset(offset).limit(limit), tuple).all(connection)
    return [_provisioned(row) for row in rows]


def _query(directory: Directory) -> Select[Any]:
    """Return the query for rows with the status of the account, and the role in the tenant."""
    member = and_(
        tenant_members.c.user_id == provisioned_users.c.user_id,
        tenant_members.c.tenant_id == directory.realm,
    )
    if directory.tenant_id is None:
        query = select(*provisioned_users.c, users.c.status, provisioned_users.c.realm.label("role"))
        return query.join(users, users.c.id == provisioned_users.c.user_id)
    query = select(*provisioned_users.c, users.c.status, tenant_members.c.role)
    query = query.join(users, users.c.id == provisioned_users.c.user_id)
    return query.outerjoin(tenant_members, member)


def _conditions(directory: Directory, chosen: UserFilter) -> list[ColumnElement[bool]]:
    columns = provisioned_users.c
    conditions = [columns.directory_id == directory.id]
    if chosen.user_id is not None:
        conditions.append(columns.user_id == chosen.user_id)
    # Names and ids are unique in a realm, and found by the indexes that keep them so.
    if chosen.login_name is not None:
        conditions += [
            columns.realm == directory.realm,
            columns.login_key == chosen.login_name.casefold(),
        ]
    if chosen.external_id is not None:
        conditions += [columns.realm == directory.realm, columns.external_id == chosen.external_id]
    if chosen.email is not None:
        conditions.append(columns.email_key == chosen.email.casefold())
    return conditions


def _provisioned(row: Sequence[Any]) -> ProvisionedUser:
    record, (status, role) = PROVISIONED_USER.split(row)
    return ProvisionedUser(record, status == UserStatus.ACTIVE and role is not None)
