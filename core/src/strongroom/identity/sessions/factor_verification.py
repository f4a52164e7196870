"""Challenges of second factors: they are issued after a first proof, or for one, and answered once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import FAILURE, AuditEvent, AuditService
from strongroom.clock import DAY, Clock, iso_format
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import InvalidCredentials, NotImplementedHere, TooManyRequests
from strongroom.foundation.limits.service import Counters
from strongroom.identity.sessions.factor_challenges import FactorChallenges, OpenChallenge
from strongroom.identity.users.contacts import Notices
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.models import FactorRow
from strongroom.plugin_api.factors import (
    Ceremony,
    FactorAlarm,
    FactorProof,
    PasswordlessFactor,
    SecondFactor,
    factor_kind,
    member_name,
)
from strongroom.plugin_api.login import MULTI_FACTOR, SINGLE_FACTOR, Assurance

DAILY_TRIES: Final = 20
"""Wrong answers of a user per day over all challenges: a new first proof brings no further tries."""

_COUNTED: Final = "second-factor"


def strengthened(first: Assurance, second: Assurance) -> Assurance:
    """Return the assurance of a login that is proven by two factors."""
    proofs = dict.fromkeys((*first.amr, *second.amr))
    proofs.pop("mfa", None)
    return Assurance((*proofs, "mfa"), MULTI_FACTOR if second.acr == SINGLE_FACTOR else second.acr)


@dataclass(frozen=True, slots=True)
class IssuedChallenge:
    """A challenge for a client.

    Args:
        id: a secret that stands for the first proof.
        methods: the kinds of factors that meet it.
        expires_at: milliseconds since the Unix epoch.
        shown: members that the factors add.
    """

    id: str = field(repr=False)
    methods: Sequence[str]
    expires_at: int
    shown: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def json(self) -> dict[str, Any]:
        """Return the member ``challenge`` of the response."""
        expires_at = iso_format(self.expires_at)
        return {**self.shown, "id": self.id, "methods": [*self.methods], "expiresAt": expires_at}


@dataclass(frozen=True, slots=True)
class ChallengeAnswer:
    """What a client presents for a challenge: the answers, by the members of their factors."""

    id: str = field(repr=False)
    answers: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class MetChallenge:
    """A challenge with a right answer, which counts when :meth:`SecondFactors.consume` has stored it.

    Args:
        purpose: the purpose that it was issued for.
        context: what the issuer of the challenge has stored with it.
        is_first: whether it is the first proof of the login.
        row: the enrolment that the answer was checked against.
    """

    id: str = field(repr=False)
    purpose: str
    context: Mapping[str, Any] = field(repr=False)
    is_first: bool
    row: FactorRow = field(repr=False)
    proof: FactorProof

    @property
    def user_id(self) -> str:
        """The user whose factor met the challenge."""
        return self.row.user_id


@dataclass(slots=True, eq=False, repr=False)
class SecondFactors:
    """Issues the challenges of second factors, and checks the answers.

    Args:
        methods: the enabled factors, by name.
        challenges: has the open challenges.
        enrolled: has the factors of the users.
    """

    _database: Database
    _clock: Clock
    _counters: Counters
    methods: Mapping[str, SecondFactor[Any]]
    _challenges: FactorChallenges
    _enrolled: EnrolledFactors
    _notices: Notices
    _audit: AuditService

    def issue(
        self, connection: Connection, user_id: str, purpose: str, context: Mapping[str, Any]
    ) -> IssuedChallenge:
        """Issue a challenge that the user's factors meet.

        A factor that is not enabled any more still protects the account: its user needs another one.
        """
        rows = self._enrolled.of_user(connection, user_id)
        begun = {
            factor: self.methods[factor].begin_challenge(self._enrolled.opened(group))
            for factor, group in groupby(rows, attrgetter("factor"))
            if factor in self.methods
        }
        return self._issue(connection, user_id, purpose, context, begun)

    @property
    def is_passwordless(self) -> bool:
        """Whether a factor can be a first proof."""
        return bool(self._first_ceremonies())

    def _first_ceremonies(self) -> dict[str, Ceremony]:
        return {
            name: ceremony
            for name, method in self.methods.items()
            if isinstance(method, PasswordlessFactor) and (ceremony := method.begin_login())
        }

    def issue_first(
        self, connection: Connection, purpose: str, context: Mapping[str, Any]
    ) -> IssuedChallenge:
        """Issue a challenge for a first proof, which any user's passwordless factor meets, in one try.

        One try, because there is no user yet whose tries could be counted.

        Raises:
            NotImplementedHere: there is no such factor.
        """
        begun = self._first_ceremonies()
        if not begun:
            raise NotImplementedHere
        return self._issue(connection, None, purpose, context, begun)

    def check(self, answer: ChallengeAnswer, purpose: str, origin: Origin) -> MetChallenge:
        """Check the answer to a challenge. Only a first proof's challenge is consumed by it.

        Args:
            purpose: the purpose that the challenge was issued for.
            origin: the origin of the request, for the audit log.

        Raises:
            ChallengeInvalid: the challenge is unknown, expired or met, or has no tries left.
            InvalidCredentials: no answer is right.
            TooManyRequests: the user has too many wrong answers today.
        """
        # Non-durable: an attacker cannot exploit counts lost in a power failure, and the transaction of
        # what the answer permits makes this one durable, too.
        with self._database.write(durable=False) as connection:
            challenge = self._challenges.count_try(connection, answer.id, purpose)
            if challenge.user_id is None:
                # Not counted for the user that the answer names: strangers could consume the tries.
                rows = self._named(connection, challenge, answer.answers)
            else:
                self._count_daily_try(connection, challenge.user_id)
                rows = self._enrolled.of_user(connection, challenge.user_id)
        is_first = challenge.user_id is None
        # Outside the transaction: a factor may take long, and an alarm is stored though the login fails.
        for factor, group in groupby(rows, attrgetter("factor")):
            enrolled = {row.id: row for row in group}
            proof = self._verify(factor, list(enrolled.values()), challenge, answer.answers, origin)
            # A first proof without a password or code must be as good as two factors.
            if proof is not None and not (is_first and proof.assurance.acr == SINGLE_FACTOR):
                row = enrolled[proof.enrolment_id]
                return MetChallenge(answer.id, purpose, challenge.context, is_first, row, proof)
        raise InvalidCredentials

    def consume(self, connection: Connection, met: MetChallenge) -> None:
        """Consume a challenge and its proof, in the transaction of what they permit.

        Raises:
            ChallengeInvalid: the challenge was met at the same time.
            InvalidCredentials: the proof was used at the same time, or the factor was removed.
        """
        self._challenges.consume(connection, met.id, met.purpose)
        if not self._enrolled.prove(connection, met.row, met.proof.data):
            raise InvalidCredentials
        # Only this try: a right answer does not give an attacker's wrong ones back.
        self._counters.take_back(connection, _COUNTED, met.user_id)

    def notify_of_backup(self, met: MetChallenge, origin: Origin) -> None:
        """Notify the user after the use of a recovery code, which may be stolen from its sheet.

        Call it after the transaction of :meth:`settle`.
        """
        if not met.row.is_backup:
            return
        with self._database.read() as connection:
            contacts = self._notices.contacts(connection, met.user_id)
        # Not in the languages of the request, which is perhaps not the user's.
        self._notices.notify(contacts, "recovery-code-used", origin=origin)

    def _issue(
        self,
        connection: Connection,
        user_id: str | None,
        purpose: str,
        context: Mapping[str, Any],
        begun: Mapping[str, Ceremony],
    ) -> IssuedChallenge:
        states = {name: ceremony.state for name, ceremony in begun.items()}
        challenge = OpenChallenge(user_id, context, states)
        identifier, expires_at = self._challenges.open(connection, challenge, purpose)
        shown = {key: value for ceremony in begun.values() for key, value in ceremony.shown.items()}
        return IssuedChallenge(identifier, [factor_kind(name) for name in begun], expires_at, shown)

    def _count_daily_try(self, connection: Connection, user_id: str) -> None:
        count = self._counters.add_within(connection, _COUNTED, user_id, window=DAY)
        if count.events > DAILY_TRIES:
            # Undo both counts: a try that is not evaluated is none.
            connection.rollback()
            raise TooManyRequests(retry_after=max(1, (count.expires_at - self._clock.now()) // 1000))

    def _named(
        self, connection: Connection, challenge: OpenChallenge, answers: Mapping[str, Any]
    ) -> list[FactorRow]:
        """Return the enrolments that the answers to a first proof's challenge name."""
        named = []
        for name in challenge.states:
            method, answer = self.methods.get(name), answers.get(member_name(name))
            if isinstance(method, PasswordlessFactor) and answer is not None:
                row = self._enrolled.with_handle(connection, name, method.get_handle(answer) or "")
                # The user that the login has named, if any.
                if row and challenge.context["user_id"] in (None, row.user_id):
                    named.append(row)
        return named

    def _verify(
        self,
        factor: str,
        rows: Sequence[FactorRow],
        challenge: OpenChallenge,
        answers: Mapping[str, Any],
        origin: Origin,
    ) -> FactorProof | None:
        method, answer = self.methods.get(factor), answers.get(member_name(factor))
        # A factor that was enrolled after the challenge was issued has no state in it.
        if method is None or answer is None or factor not in challenge.states:
            return None
        ceremony = Ceremony(state=challenge.states[factor])
        try:
            return method.verify(self._enrolled.opened(rows), ceremony, answer)
        except FactorAlarm as alarm:
            self._raise_alarm(f"{factor}.{alarm.reason}", rows[0].user_id, origin)
            return None

    def _raise_alarm(self, action: str, user_id: str, origin: Origin) -> None:
        event = AuditEvent(
            action,
            FAILURE,
            target_type="user",
            target_id=user_id,
            origin=origin,
            details={"userId": user_id},
        )
        with self._database.write() as connection:
            self._audit.record(connection, event)
            contacts = self._notices.contacts(connection, user_id)
        # Not in the languages of the request, which is perhaps not the user's.
        self._notices.notify(contacts, "factor-alarm", origin=origin)
