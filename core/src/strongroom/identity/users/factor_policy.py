"""Which users must have a second factor, and for how long they may still log in without one."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    exists,
    false,
    func,
    or_,
    select,
    true,
)

from strongroom.clock import Clock
from strongroom.foundation.config.accounts import FACTOR_AUDIENCES
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.identity.users.models import User, UserType, factor_grace, second_factors, users

ALL, ADMIN, TENANT_ADMIN = FACTOR_AUDIENCES

Condition = Callable[[ColumnElement[Any]], ColumnElement[bool]]
"""Returns the condition that a user, given by the column of the id, belongs to an audience."""

_OF_USER: Final = factor_grace.c.user_id == bindparam("of_user")
_BEGAN_AT: Final = Statement(select(factor_grace.c.began_at).where(_OF_USER))
# The first of concurrent logins begins the grace period; the others do not restart it.
_BEGIN: Final = Statement(for_each_dialect(factor_grace, lambda insert: insert.on_conflict_do_nothing()))
_FACTORS: Final = Statement(
    select(second_factors.c.user_id, second_factors.c.factor)
    .where(second_factors.c.user_id.in_(bindparam("user_ids", expanding=True)))
    .group_by(second_factors.c.user_id, second_factors.c.factor)
    .order_by(second_factors.c.factor)
)


@dataclass(frozen=True, slots=True)
class FactorState:
    """The second factors of a user.

    Args:
        factors: the names of the enrolled factors.
        is_required: whether the user must have one.
        due_at: the end of the grace period, in milliseconds since the Unix epoch; ``None`` before it has
            begun, and for users who have a factor or need none.
    """

    user_id: str
    name: str
    type: str
    factors: Sequence[str]
    is_required: bool
    due_at: int | None


class FactorPolicy:
    """Decides which users must have a second factor.

    Args:
        required_for: some of :data:`FACTOR_AUDIENCES`.
        grace: milliseconds from the first login that would need a factor.
    """

    def __init__(self, clock: Clock, required_for: Collection[str], grace: int) -> None:
        self._clock = clock
        self._grace = grace
        self._required_for = frozenset(required_for)
        self._conditions: dict[str, Condition] = {
            ALL: lambda _: true(),
            ADMIN: lambda _: users.c.type == UserType.ADMIN.value,
        }
        self._is_required = Statement(
            lambda _: select(users.c.id).where(users.c.id == bindparam("of_user"), self._condition())
        )

    def define(self, audience: str, condition: Condition) -> None:
        """Define an audience of a feature that users do not know."""
        self._conditions[audience] = condition

    def is_required(self, connection: Connection, user: User) -> bool:
        """Return whether a user must have a second factor."""
        if not self._required_for:
            return False
        return self._is_required.scalar(connection, {"of_user": user.id}) is not None

    def due_at(self, connection: Connection, user: User) -> int | None:
        """Return until when a user without a second factor may log in, or ``None`` without such an end.

        The first call begins the grace period. The time is in milliseconds since the Unix epoch.
        """
        if not self.is_required(connection, user):
            return None
        now = self._clock.now()
        began_at: int | None = _BEGAN_AT.scalar(connection, {"of_user": user.id})
        if began_at is None:
            _BEGIN.execute(connection, {"user_id": user.id, "began_at": now})
            began_at = now
        return began_at + self._grace

    def page(
        self, connection: Connection, paging: Paging, *, only_missing: bool = False
    ) -> Page[FactorState]:
        """Return a page of all users who can log in, oldest first.

        Args:
            only_missing: whether to return only users who must have a second factor and have none.
        """
        conditions = [users.c.deleted_at.is_(None), users.c.type != UserType.SERVICE.value]
        required = self._condition()
        if only_missing:
            conditions += [required, ~exists().where(second_factors.c.user_id == users.c.id)]
        query = self._states(required).where(*conditions).order_by(users.c.created_at, users.c.id)
        count = select(func.count()).select_from(users).where(*conditions)
        page = select_page(connection, query, count, paging, tuple)
        factors: dict[str, list[str]] = {row[0]: [] for row in page.items}
        for user_id, factor in _FACTORS.all(connection, {"user_ids": list(factors)}):
            factors[user_id].append(factor)
        states = [self._state(row, factors) for row in page.items]
        return page.with_items(states)

    def _condition(self) -> ColumnElement[bool]:
        return or_(false(), *(self._conditions[name](users.c.id) for name in self._required_for))

    def _states(self, required: ColumnElement[bool]) -> Select[Any]:
        began_at = factor_grace.c.began_at
        columns = (users.c.id, users.c.name, users.c.type, required.label("is_required"), began_at)
        return select(*columns).outerjoin(factor_grace, factor_grace.c.user_id == users.c.id)

    def _state(self, row: Sequence[Any], factors: Mapping[str, Sequence[str]]) -> FactorState:
        user_id, name, kind, is_required, began_at = row
        is_missing = is_required and not factors[user_id] and began_at is not None
        due_at = began_at + self._grace if is_missing else None
        return FactorState(user_id, name, kind, factors[user_id], bool(is_required), due_at)
