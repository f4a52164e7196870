"""Enrolled second factors: the rows, and the statements that read and change them."""

from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from strongroom.clock import Clock
from strongroom.database.statements import Statement
from strongroom.users.models import FACTOR, FactorRow, second_factors

_OF_USER: Final = second_factors.c.user_id == bindparam("of_user")
_OF_ID: Final = second_factors.c.id == bindparam("of_id")
_ENROLLED: Final = Statement(
    select(second_factors)
    .where(_OF_USER)
    .order_by(second_factors.c.factor, second_factors.c.created_at, second_factors.c.id),
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


class EnrolledFactors:
    """The second factors that users have enrolled, within the caller's transaction."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def of_user(self, connection: Connection, user_id: str) -> list[FactorRow]:
        """Return the enrolments of a user, sorted by factor."""
        return _ENROLLED.all(connection, {"of_user": user_id})

    def with_handle(self, connection: Connection, handle: str) -> FactorRow | None:
        """Return the enrolment whose handle has a keyed hash, or ``None``."""
        return _WITH_HANDLE.first(connection, {"of_handle": handle})

    def add(self, connection: Connection, row: FactorRow) -> None:
        """Store an enrolment.

        Raises:
            HandleTaken: another enrolment, perhaps of another user, has the same handle.
        """
        try:
            # A savepoint: on PostgreSQL, a failed INSERT would otherwise abort the whole transaction.
            with connection.begin_nested():
                _ENROL.execute(connection, FACTOR.values(row))
        except IntegrityError as error:
            raise HandleTaken from error

    def rename(self, connection: Connection, user_id: str, factor_id: str, name: str) -> None:
        """Rename an enrolment of a user."""
        _RENAME.execute(connection, {"of_user": user_id, "of_id": factor_id, "new_name": name})

    def prove(
        self, connection: Connection, user_id: str, factor_id: str, checked: int, sealed_data: str
    ) -> bool:
        """Replace the data of an enrolment; return ``False`` if it changed since ``checked``.

        Args:
            connection: the transaction of what the proof permits.
            user_id: the user.
            factor_id: the enrolment.
            checked: the revision whose data the proof was checked against.
            sealed_data: the new data.
        """
        values = {"data": sealed_data, "now": self._clock.now()}
        proven = {"of_user": user_id, "of_id": factor_id, "checked": checked, **values}
        return _PROVE.execute(connection, proven) == 1

    def remove(self, connection: Connection, user_id: str, factor_id: str) -> None:
        """Remove one enrolment of a user."""
        _REMOVE.execute(connection, {"of_user": user_id, "of_id": factor_id})

    def remove_kind(self, connection: Connection, user_id: str, factor: str) -> None:
        """Remove the enrolments of a user in one factor."""
        _REMOVE_KIND.execute(connection, {"of_user": user_id, "of_factor": factor})

    def remove_all(self, connection: Connection, user_id: str) -> int:
        """Remove all enrolments of a user; return the count."""
        return _REMOVE_ALL.execute(connection, {"of_user": user_id})
