"""Reports the second factors of users."""

from dataclasses import dataclass

from strongroom.foundation.caller import Identity
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, make_page
from strongroom.identity.accounts.factor_methods import FactorMethods, Summary
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.factor_policy import FactorPolicy, FactorState
from strongroom.identity.users.models import FactorRow
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.factors import FactorInfo, factor_kind


@dataclass(slots=True, eq=False, repr=False)
class FactorReports:
    """Lists of enrolments, and of users with their second factors."""

    _database: Database
    _users: UserService
    _enrolled: EnrolledFactors
    _methods: FactorMethods
    _policy: FactorPolicy

    def page(self, identity: Identity, user_id: str, paging: Paging) -> tuple[Page[FactorRow], Summary]:
        """Return a page of a user's enrolments, and for the user the summary of each factor.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        with self._database.read() as connection:
            self._users.get(connection, user_id)
            rows = self._enrolled.of_user(connection, user_id)
            is_self = identity.user_id == user_id
            summary = self._methods.summary(connection, user_id) if is_self else {}
        return make_page(rows, paging, lambda row: (row.factor, row.created_at, row.id)), summary

    def of_kind(self, identity: Identity, user_id: str, factor: str) -> list[FactorRow]:
        """Return the enrolments of a user in one factor.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        with self._database.read() as connection:
            self._users.get(connection, user_id)
            rows = self._enrolled.of_user(connection, user_id)
        return [row for row in rows if row.factor == factor]

    def report(self, paging: Paging, *, only_missing: bool = False) -> Page[FactorState]:
        """Return a page of the users with their second factors, oldest first, for administrators.

        Args:
            only_missing: whether to return only users who must have a second factor and have none.
        """
        with self._database.read() as connection:
            return self._policy.page(connection, paging, only_missing=only_missing)


def to_info(row: FactorRow) -> FactorInfo:
    """Return an enrolment without its secrets."""
    return FactorInfo(
        row.id, factor_kind(row.factor), row.name, row.is_backup, row.created_at, row.last_used_at
    )
