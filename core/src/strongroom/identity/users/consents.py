"""Consents of users to the terms, within the caller's transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, Connection, ForeignKey, String, Table, bindparam, delete, select

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.foundation.caller import Origin
from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import TermsNotAccepted

TERMS: Final = "terms"
"""The document of a consent: the terms of service and the privacy policy, which have one version."""

consents: Final = Table(
    "consents",
    metadata,
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("document", String(16), primary_key=True),
    Column("version", String(64), primary_key=True),
    Column("accepted_at", Timestamp, nullable=False),
)
"""The versions of documents that users have accepted. A later version does not replace the row."""


@dataclass(frozen=True, slots=True)
class Consent:
    """A row of :data:`consents`. ``accepted_at`` is in milliseconds since the Unix epoch."""

    user_id: str
    document: str
    version: str
    accepted_at: int


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a deployment.

    Args:
        version: the version that users accept.
        url: the terms of service.
        privacy_url: the privacy policy.
        is_required: whether users cannot register without accepting them.
    """

    version: str
    url: str | None
    privacy_url: str | None
    is_required: bool

    def json(self) -> dict[str, Any]:
        """Return the member ``consent`` of an error."""
        return {"version": self.version, "termsUrl": self.url, "privacyUrl": self.privacy_url}


_CONSENT: Final = RowMapper(Consent, consents)
_OF_USER: Final = Statement(
    select(consents)
    .where(consents.c.user_id == bindparam("of_user"))
    .order_by(consents.c.accepted_at, consents.c.version),
    _CONSENT,
)
# Accepting a version again changes nothing: the first time counts.
_ADD: Final = Statement(for_each_dialect(consents, lambda insert: insert.on_conflict_do_nothing()))
_ERASE: Final = Statement(
    delete(consents).where(consents.c.user_id.in_(bindparam("user_ids", expanding=True)))
)


@dataclass(slots=True, eq=False, repr=False)
class Consents:
    """Requires and stores consents to the current version of the terms."""

    _clock: Clock
    terms: Terms
    _audit: AuditService

    def require(self, accepted: str | None) -> None:
        """Require that a registration accepts the terms; a version of another time accepts nothing.

        Raises:
            TermsNotAccepted: they are required, or another version is accepted.
        """
        if accepted == self.terms.version or (accepted is None and not self.terms.is_required):
            return
        raise TermsNotAccepted(self.terms.json())

    def record(self, connection: Connection, user_id: str, accepted: str | None, origin: Origin) -> None:
        """Store the consent of a user, if there is one."""
        if accepted is None:
            return
        _ADD.execute(connection, _CONSENT.values(Consent(user_id, TERMS, accepted, self._clock.now())))
        event = AuditEvent(
            "consent.accept",
            actor_id=user_id,
            target_type="user",
            target_id=user_id,
            origin=origin,
            details={"document": TERMS, "version": accepted},
        )
        self._audit.record(connection, event)

    def of_user(self, connection: Connection, user_id: str) -> list[Consent]:
        """Return the consents of a user, the oldest first."""
        return list(_OF_USER.all(connection, {"of_user": user_id}))

    def erase(self, connection: Connection, user_ids: Sequence[str]) -> None:
        """Remove the consents of users whose personal data are erased."""
        _ERASE.execute(connection, {"user_ids": user_ids})
