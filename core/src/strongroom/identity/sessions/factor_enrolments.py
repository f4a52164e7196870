"""Enrolments of second factors: their ceremonies, and the grant to enrol one without a login."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.clock import iso_format
from strongroom.foundation.errors import ChallengeInvalid, FactorInvalid
from strongroom.identity.sessions.factor_challenges import (
    DUE,
    DUE_LIFETIME,
    FactorChallenges,
    OpenChallenge,
)
from strongroom.identity.users.enrolled_factors import EnrolledFactors, HandleTaken
from strongroom.identity.users.models import FactorRow
from strongroom.plugin_api.factors import Ceremony, Enrolment, SecondFactor, factor_kind

_ENROLMENT: Final = "enrolment"


@dataclass(frozen=True, slots=True)
class EnrolmentGrant:
    """The right of a client to enrol a factor that its user must have.

    Args:
        id: a secret that stands for the first proof.
        kinds: the kinds of factors that the user may enrol.
        expires_at: milliseconds since the Unix epoch.
    """

    id: str = field(repr=False)
    kinds: Sequence[str]
    expires_at: int

    def json(self) -> dict[str, Any]:
        """Return the member ``enrolment`` of the response."""
        return {"id": self.id, "kinds": [*self.kinds], "expiresAt": iso_format(self.expires_at)}


@dataclass(slots=True, eq=False, repr=False)
class FactorEnrolments:
    """Enrols users in second factors, within the caller's transaction.

    Args:
        methods: the enabled factors, by name.
        challenges: has the open enrolments.
        enrolled: has the finished ones.
    """

    methods: Mapping[str, SecondFactor[Any]]
    _challenges: FactorChallenges
    _enrolled: EnrolledFactors

    def grant(self, connection: Connection, user_id: str, context: Mapping[str, Any]) -> EnrolmentGrant:
        """Permit to enrol a factor without a login, for a user who must have one."""
        challenge = OpenChallenge(user_id, context, {})
        identifier, expires_at = self._challenges.open(connection, challenge, DUE, DUE_LIFETIME)
        kinds = [factor_kind(name) for name, method in self.methods.items() if not method.is_backup]
        return EnrolmentGrant(identifier, kinds, expires_at)

    def find_grant(self, connection: Connection, identifier: str) -> tuple[str, Mapping[str, Any]]:
        """Return the user and the context of such a grant, which :meth:`finish` consumes.

        Raises:
            ChallengeInvalid: it is unknown, expired or consumed.
        """
        challenge = self._challenges.find(connection, identifier, DUE)
        if challenge.user_id is None:
            raise ChallengeInvalid
        return challenge.user_id, challenge.context

    def begin(
        self, connection: Connection, user_id: str, factor: str, name: str, ceremony: Ceremony
    ) -> tuple[str, int]:
        """Open an enrolment; return its id and its expiry in milliseconds since the Unix epoch."""
        context = {"factor": factor, "name": name}
        challenge = OpenChallenge(user_id, context, {factor: ceremony.state})
        return self._challenges.open(connection, challenge, _ENROLMENT)

    def count_try(
        self, connection: Connection, user_id: str, identifier: str
    ) -> tuple[str, str, Ceremony]:
        """Count a try of an enrolment; return its factor, its name and its ceremony.

        Raises:
            ChallengeInvalid: it is unknown, of another user or expired, or has no tries left.
        """
        enrolment = self._challenges.count_try(connection, identifier, _ENROLMENT)
        if enrolment.user_id != user_id:
            raise ChallengeInvalid
        factor = enrolment.context["factor"]
        return factor, enrolment.context["name"], Ceremony(state=enrolment.states[factor])

    def finish(
        self,
        connection: Connection,
        user_id: str,
        identifier: str,
        factor: str,
        name: str,
        enrolment: Enrolment,
        *,
        due: str | None = None,
    ) -> FactorRow:
        """Store an enrolment, which consumes the open one, and replaces one that may not repeat.

        Args:
            due: the grant to enrol without a login; ``None`` with a login.

        Raises:
            ChallengeInvalid: it was finished at the same time, or the grant was consumed.
            FactorInvalid: a user has enrolled the same device already.
        """
        self._challenges.consume(connection, identifier, _ENROLMENT)
        # Permissions of other logins end, too: from now on each login proves this factor.
        self._challenges.consume_due(connection, user_id, due)
        method = self.methods[factor]
        if not method.may_repeat:
            self._enrolled.remove_kind(connection, user_id, factor)
        try:
            return self._enrolled.add(
                connection, user_id, factor, name, enrolment, is_backup=method.is_backup
            )
        except HandleTaken as error:
            message = "Must be of a device that is not enrolled yet."
            raise FactorInvalid.of_field("answer", "taken", message) from error

    def remove(self, connection: Connection, user_id: str, factor_id: str) -> FactorRow | None:
        """Remove an enrolment and, with the last factor, the backups; return it, or ``None``."""
        rows = self._enrolled.of_user(connection, user_id)
        removed = next((row for row in rows if row.id == factor_id), None)
        if removed is None:
            return None
        if all(row.is_backup or row is removed for row in rows):
            self.remove_all(connection, user_id)
        else:
            self._enrolled.remove(connection, user_id, factor_id)
        return removed

    def remove_all(self, connection: Connection, user_id: str) -> int:
        """Remove all enrolments and open challenges of a user; return the count of enrolments."""
        self._challenges.remove_all(connection, user_id)
        return self._enrolled.remove_all(connection, user_id)
