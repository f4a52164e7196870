"""Refused requests of directories about single users and groups.

The last one of each user or group is stored until a request about it succeeds, so that administrators
see who is not synchronized, and why.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, select

from strongroom.clock import DAY, Clock
from strongroom.content.tenants.models import groups
from strongroom.extensions.provisioning.directories import DirectoryService
from strongroom.extensions.provisioning.models import (
    DIRECTORY_ERROR,
    MAX_CODE,
    MAX_MESSAGE,
    Directory,
    DirectoryError,
    directory_errors,
    provisioned_groups,
    provisioned_users,
)
from strongroom.foundation.caller import Identity
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.ids import new_id

USER: Final = "user"
GROUP: Final = "group"

MOST: Final = 1000
"""Errors of a directory; the oldest go first."""

KEPT: Final = 30 * DAY
"""Milliseconds after which an error that has not occurred again is removed."""

_MAX_NAME: Final = 255
_BATCH: Final = 100

_OF_DIRECTORY: Final = directory_errors.c.directory_id == bindparam("of_directory")
_OF_RESOURCE: Final = (
    _OF_DIRECTORY
    & (directory_errors.c.kind == bindparam("of_kind"))
    & (
        (directory_errors.c.name_key == bindparam("of_name"))
        | (directory_errors.c.resource_id == bindparam("of_resource"))
    )
)


def _putting(insert: Any) -> Any:
    renewed = ("name", "resource_id", "status", "code", "message", "last_at")
    changes = {name: insert.excluded[name] for name in renewed}
    keys = [directory_errors.c[name] for name in ("directory_id", "kind", "name_key")]
    return insert.on_conflict_do_update(
        index_elements=keys, set_={**changes, "count": directory_errors.c.count + 1}
    )


_PUT: Final = Statement(for_each_dialect(directory_errors, _putting))
_FIND: Final = Statement(select(directory_errors.c.id).where(_OF_RESOURCE).limit(1))
_REMOVE: Final = Statement(delete(directory_errors).where(_OF_RESOURCE))
_SURPLUS: Final = (
    select(directory_errors.c.id)
    .where(_OF_DIRECTORY)
    .order_by(directory_errors.c.last_at.desc(), directory_errors.c.id.desc())
    .limit(bindparam("batch"))
    .offset(bindparam("most"))
)
_REMOVE_SURPLUS: Final = Statement(delete(directory_errors).where(directory_errors.c.id.in_(_SURPLUS)))
_NAME_OF_USER: Final = Statement(
    select(provisioned_users.c.login_name).where(
        provisioned_users.c.user_id == bindparam("of_resource"),
        provisioned_users.c.directory_id == bindparam("of_directory"),
    )
)
_NAME_OF_GROUP: Final = Statement(
    select(groups.c.name)
    .join(provisioned_groups, provisioned_groups.c.group_id == groups.c.id)
    .where(
        provisioned_groups.c.group_id == bindparam("of_resource"),
        provisioned_groups.c.directory_id == bindparam("of_directory"),
    )
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request was refused.

    Args:
        status: the status of the response.
        code: the kind of error, in the terms of the protocol.
        message: without values of the request; only the first 500 characters are stored.
    """

    status: int
    code: str | None
    message: str


class Resource(NamedTuple):
    """What a request is about: by the id that the server has given, by the name, or by both."""

    kind: str
    name: str | None = None
    resource_id: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class DirectoryErrors:
    """Stores refused requests, and lists them for administrators."""

    _database: Database
    _clock: Clock
    _directories: DirectoryService
    _most: int = MOST

    def record(
        self, identity: Identity, tenant_id: str | None, resource: Resource, refusal: Refusal | None
    ) -> None:
        """Store that a request was refused; with ``None``, remove the error of a resource.

        A resource without an id of the directory and without a name is not stored.

        Raises:
            Forbidden: no administrator has registered the caller.
        """
        with self._database.read() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=False)
            name, resource_id = self._identify(connection, directory, resource)
            named = {"of_name": _key(name), "of_resource": resource.resource_id}
            one = {"of_directory": directory.id, "of_kind": resource.kind, **named}
            if refusal is None and _FIND.first(connection, one) is None:
                return
        with self._database.write(durable=False) as connection:
            if refusal is None:
                _REMOVE.execute(connection, one)
            elif name:
                error = self._make(directory, resource.kind, name, resource_id, refusal)
                _PUT.execute(connection, DIRECTORY_ERROR.values(error))
                surplus = {"of_directory": directory.id, "most": self._most, "batch": _BATCH}
                _REMOVE_SURPLUS.execute(connection, surplus)

    def page(
        self, identity: Identity, tenant_id: str | None, directory_id: str, paging: Paging
    ) -> Page[DirectoryError]:
        """Return a page of the errors of a directory, the newest first.

        Raises:
            Forbidden: the caller does not administer the tenant, or the server.
            NotFound: there is no such directory.
        """
        columns = directory_errors.c
        ours = columns.directory_id == directory_id
        query = select(directory_errors).where(ours).order_by(columns.last_at.desc(), columns.id.desc())
        count = select(func.count()).select_from(directory_errors).where(ours)
        with self._database.read() as connection:
            self._directories.get(connection, identity, tenant_id, directory_id)
            return select_page(connection, query, count, paging, DIRECTORY_ERROR)

    def prune(self) -> int:
        """Remove errors that have not occurred for 30 days; return the count."""
        old = directory_errors.c.last_at <= self._clock.now() - KEPT
        return prune(self._database, directory_errors.c.id, old)

    def _identify(
        self, connection: Connection, directory: Directory, resource: Resource
    ) -> tuple[str, str | None]:
        """Return the name that the directory knows a resource by, and its id if the directory has it."""
        if resource.resource_id is not None:
            find = _NAME_OF_USER if resource.kind == USER else _NAME_OF_GROUP
            parameters = {"of_directory": directory.id, "of_resource": resource.resource_id}
            name = find.scalar(connection, parameters)
            if name is not None:
                return str(name), resource.resource_id
        return (resource.name or resource.resource_id or "")[:_MAX_NAME], None

    def _make(
        self,
        directory: Directory,
        kind: str,
        name: str,
        resource_id: str | None,
        refusal: Refusal,
    ) -> DirectoryError:
        now = self._clock.now()
        code = None if refusal.code is None else refusal.code[:MAX_CODE]
        message = refusal.message[:MAX_MESSAGE]
        return DirectoryError(
            new_id(),
            directory.id,
            kind,
            name,
            _key(name),
            resource_id,
            refusal.status,
            code,
            message,
            1,
            now,
            now,
        )


def _key(name: str) -> str:
    return name.casefold()[:_MAX_NAME]
