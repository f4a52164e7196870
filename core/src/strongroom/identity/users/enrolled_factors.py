"""Enrolled second factors: the rows, and the statements that read and change them.

The data of a factor is encrypted, because it has keys from which answers are computed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from strongroom.clock import Clock
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.ids import new_id
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.users.credential_changes import note_change
from strongroom.identity.users.models import FACTOR, FactorRow, second_factors
from strongroom.plugin_api.factors import EnrolledFactor, Enrolment

_SEAL: Final = "second-factor"
_HANDLE: Final = "factor-handle"

_OF_USER: Final = second_factors.c.user_id == bindparam("of_user")
_OF_ID: Final = second_factors.c.id == bindparam("of_id")
_ENROLLED: Final = Statement(
    select(second_factors)
    .where(_OF_USER)
    .order_by(second_factors.c.factor, second_factors.c.created_at, second_factors.c.id),
    FACTOR,
)
_OF_USERS: Final = Statement(
    select(second_factors)
    .where(
        second_factors.c.user_id.in_(bindparam("of_users", expanding=True)),
        second_factors.c.factor == bindparam("of_factor"),
    )
    .order_by(second_factors.c.created_at.desc(), second_factors.c.id.desc()),
    FACTOR,
)
_WITH_HANDLE: Final = Statement(
    select(second_factors).where(second_factors.c.handle == bindparam("of_handle")), FACTOR
)
_RENAME: Final = Statement(
    update(second_factors).where(_OF_USER, _OF_ID).values(name=bindparam("new_name"))
)
_ENROL: Final = Statement(insert(second_factors))
_REMOVE: Final = Statement(delete(second_factors).where(_OF_USER, _OF_ID))
_REMOVE_KIND: Final = Statement(
    delete(second_factors).where(_OF_USER, second_factors.c.factor == bindparam("of_factor"))
)
_REMOVE_ALL: Final = Statement(delete(second_factors).where(_OF_USER))
# The revision makes a proof count once: a concurrent one that was checked against the same data fails.
_PROVE: Final = Statement(
    update(second_factors)
    .where(_OF_USER, _OF_ID, second_factors.c.revision == bindparam("checked"))
    .values(
        sealed_data=bindparam("data"),
        revision=second_factors.c.revision + 1,
        last_used_at=bindparam("now"),
    )
)


class HandleTaken(Exception):
    """An enrolment with the same handle exists already."""


@dataclass(slots=True, eq=False, repr=False)
class EnrolledFactors:
    """The second factors that users have enrolled, within the caller's transaction."""

    _clock: Clock
    _keys: SecretKeys

    def of_user(self, connection: Connection, user_id: str) -> list[FactorRow]:
        """Return the enrolments of a user, sorted by factor."""
        return _ENROLLED.all(connection, {"of_user": user_id})

    def of_kind(self, connection: Connection, user_id: str, factor: str) -> list[EnrolledFactor]:
        """Return the enrolments of a user in one factor."""
        rows = self.of_user(connection, user_id)
        return self.opened(row for row in rows if row.factor == factor)

    def oldest_of_kind(
        self, connection: Connection, user_ids: Sequence[str], factor: str
    ) -> dict[str, EnrolledFactor]:
        """Return the oldest enrolment in one factor of each of the users who have some."""
        rows = _OF_USERS.all(connection, {"of_users": user_ids, "of_factor": factor})
        # The oldest comes last, and replaces the others.
        return {row.user_id: self._opened(row) for row in rows}

    def with_handle(self, connection: Connection, factor: str, handle: str) -> FactorRow | None:
        """Return the enrolment in a factor that has a handle, or ``None``."""
        return _WITH_HANDLE.first(connection, {"of_handle": self._hash(factor, handle)})

    def opened(self, rows: Iterable[FactorRow]) -> list[EnrolledFactor]:
        """Return enrolments with their decrypted data."""
        return [self._opened(row) for row in rows]

    def add(
        self,
        connection: Connection,
        user_id: str,
        factor: str,
        name: str,
        enrolment: Enrolment,
        *,
        is_backup: bool,
    ) -> FactorRow:
        """Store an enrolment, and return it.

        Raises:
            HandleTaken: another enrolment, perhaps of another user, has the same handle.
        """
        identifier = new_id()
        row = FactorRow(
            id=identifier,
            user_id=user_id,
            factor=factor,
            is_backup=is_backup,
            name=name,
            sealed_data=self._seal(user_id, identifier, enrolment.data),
            revision=1,
            created_at=self._clock.now(),
            last_used_at=None,
            handle=None if enrolment.handle is None else self._hash(factor, enrolment.handle),
        )
        note_change(connection, user_id)
        try:
            # A savepoint: on PostgreSQL, a failed INSERT would otherwise abort the whole transaction.
            with connection.begin_nested():
                _ENROL.execute(connection, FACTOR.values(row))
        except IntegrityError as error:
            raise HandleTaken from error
        return row

    def rename(
        self, connection: Connection, user_id: str, factor_id: str, name: str
    ) -> FactorRow | None:
        """Rename an enrolment, and return it; ``None`` if the user has no such enrolment."""
        _RENAME.execute(connection, {"of_user": user_id, "of_id": factor_id, "new_name": name})
        rows = self.of_user(connection, user_id)
        return next((row for row in rows if row.id == factor_id), None)

    def prove(self, connection: Connection, checked: FactorRow, data: Mapping[str, Any]) -> bool:
        """Replace the data of an enrolment; return ``False`` if it has changed or was removed.

        Args:
            connection: the transaction of what the proof permits.
            checked: the enrolment as the proof was checked against it.
        """
        proven = {
            "of_user": checked.user_id,
            "of_id": checked.id,
            "checked": checked.revision,
            "data": self._seal(checked.user_id, checked.id, data),
            "now": self._clock.now(),
        }
        return _PROVE.execute(connection, proven) == 1

    def remove(self, connection: Connection, user_id: str, factor_id: str) -> None:
        """Remove one enrolment of a user."""
        note_change(connection, user_id)
        _REMOVE.execute(connection, {"of_user": user_id, "of_id": factor_id})

    def remove_kind(self, connection: Connection, user_id: str, factor: str) -> None:
        """Remove the enrolments of a user in one factor."""
        note_change(connection, user_id)
        _REMOVE_KIND.execute(connection, {"of_user": user_id, "of_factor": factor})

    def remove_all(self, connection: Connection, user_id: str) -> int:
        """Remove all enrolments of a user; return the count."""
        note_change(connection, user_id)
        return _REMOVE_ALL.execute(connection, {"of_user": user_id})

    def _opened(self, row: FactorRow) -> EnrolledFactor:
        data = self._keys.unseal(_seal_context(row.user_id, row.id), row.sealed_data)
        return EnrolledFactor(row.id, json.loads(data))

    def _seal(self, user_id: str, factor_id: str, data: Mapping[str, Any]) -> str:
        return self._keys.seal(_seal_context(user_id, factor_id), json.dumps(data))

    def _hash(self, factor: str, handle: str) -> str:
        # A hash has one length, whatever the factor's handles are, and the database need not know them.
        return self._keys.hash(_HANDLE, f"{factor}:{handle}")


def _seal_context(user_id: str, factor_id: str) -> str:
    # Bound to the row, so that write access to the table does not suffice to exchange the factors of
    # two users.
    return f"{_SEAL}:{user_id}:{factor_id}"
