"""Second factors: the enrolments of users, and the challenges that ask for them after a first proof."""

import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from strongroom.audit.service import FAILURE, AuditEvent, AuditService
from strongroom.clock import Clock, iso_format
from strongroom.database import Database
from strongroom.database.pruning import AmortizedPruning, prune
from strongroom.database.statements import Statement
from strongroom.errors import (
    ChallengeInvalid,
    FactorInvalid,
    InvalidCredentials,
    NotImplementedHere,
    TooManyRequests,
)
from strongroom.identity import Origin
from strongroom.ids import new_id
from strongroom.limits.service import Counters
from strongroom.notifications.service import Notices
from strongroom.plugin_api.factors import (
    Ceremony,
    EnrolledFactor,
    Enrolment,
    FactorAlarm,
    FactorProof,
    PasswordlessFactor,
    SecondFactor,
    member_of,
)
from strongroom.plugin_api.login import MULTI_FACTOR, SINGLE_FACTOR, Assurance
from strongroom.secret_keys import SecretKeys
from strongroom.sessions.models import factor_challenges
from strongroom.users.factors import EnrolledFactors, HandleTaken
from strongroom.users.models import FactorRow

LIFETIME: Final = 5 * 60 * 1000
"""Milliseconds within which a challenge must be met."""

DUE_LIFETIME: Final = 15 * 60 * 1000
"""Milliseconds for which a login may enrol a missing factor. Installing an app takes time."""

DUE: Final = "due-enrolment"
"""The purpose of challenges that permit to enrol a factor that is required, and nothing else."""

TRIES: Final = 5
"""Wrong answers that end a challenge."""

DAILY_TRIES: Final = 20
"""Wrong answers of a user per day over all challenges: a new first proof brings no further tries."""

_DAY: Final = 24 * 60 * 60 * 1000
_COUNTED: Final = "second-factor"
_SEAL_DATA: Final = "second-factor"
_SEAL_STATE: Final = "factor-challenge"
_HASH: Final = "factor-challenge"
_HANDLE: Final = "factor-handle"
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{43}")

_OPEN: Final = (factor_challenges.c.hash == bindparam("of_hash")) & (
    factor_challenges.c.purpose == bindparam("of_purpose")
)
_ISSUE: Final = Statement(insert(factor_challenges))
# One UPDATE counts the try before it is evaluated, so that parallel tries cannot exceed the limit.
_TRY: Final = Statement(
    update(factor_challenges)
    .where(_OPEN, factor_challenges.c.tries < TRIES, factor_challenges.c.expires_at > bindparam("now"))
    .values(tries=factor_challenges.c.tries + 1)
    .returning(factor_challenges.c.user_id, factor_challenges.c.sealed_state)
)
_MEET: Final = Statement(delete(factor_challenges).where(_OPEN))
# All of the user's, so that of several logins only one enrols a factor with the first proof alone.
_CLOSE_DUE: Final = Statement(
    delete(factor_challenges)
    .where(factor_challenges.c.user_id == bindparam("of_user"), factor_challenges.c.purpose == DUE)
    .returning(factor_challenges.c.hash)
)
_READ: Final = Statement(
    select(factor_challenges.c.user_id, factor_challenges.c.sealed_state).where(
        _OPEN, factor_challenges.c.expires_at > bindparam("now")
    )
)
_FORGET: Final = Statement(
    delete(factor_challenges).where(factor_challenges.c.user_id == bindparam("of_user"))
)


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
        methods: the factors that meet it, as members of the answer.
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
class IssuedEnrolment:
    """The permission for a client to enrol a factor that its user must have.

    Args:
        id: a secret that stands for the first proof.
        types: the factors that the user may enrol, as members of an answer.
        expires_at: milliseconds since the Unix epoch.
    """

    id: str = field(repr=False)
    types: Sequence[str]
    expires_at: int

    def json(self) -> dict[str, Any]:
        """Return the member ``enrolment`` of the response."""
        return {"id": self.id, "types": [*self.types], "expiresAt": iso_format(self.expires_at)}


@dataclass(frozen=True, slots=True)
class ChallengeAnswer:
    """What a client presents for a challenge: the answers, by the members of their factors."""

    id: str = field(repr=False)
    answers: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class MetChallenge:
    """A challenge with a right answer, which counts when :meth:`SecondFactors.settle` has stored it.

    Args:
        user_id: the user.
        is_first: whether it is the first proof of the login.
        context: what the issuer of the challenge has stored with it.
        factor: the name of the factor.
        proof: the proof.
    """

    user_id: str
    is_first: bool
    context: Mapping[str, Any] = field(repr=False)
    factor: str
    proof: FactorProof
    hash: str = field(repr=False)
    purpose: str
    revision: int


class SecondFactors:
    """The enrolled second factors of users, and their challenges.

    Args:
        methods: the enabled factors, by name.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        keys: SecretKeys,
        counters: Counters,
        methods: Mapping[str, SecondFactor[Any]],
        notices: Notices,
        audit: AuditService,
    ) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys
        self._counters = counters
        self._notices = notices
        self._audit = audit
        self._rows = EnrolledFactors(clock)
        self._pruning = AmortizedPruning(factor_challenges.c.hash, factor_challenges.c.expires_at)
        self.methods = methods

    def enrolled(self, connection: Connection, user_id: str) -> list[FactorRow]:
        """Return the enrolments of a user, sorted by factor."""
        return self._rows.of_user(connection, user_id)

    def of_kind(self, connection: Connection, user_id: str, factor: str) -> list[EnrolledFactor]:
        """Return the enrolments of a user in one factor."""
        rows = self.enrolled(connection, user_id)
        return self.opened(row for row in rows if row.factor == factor)

    def opened(self, rows: Iterable[FactorRow]) -> list[EnrolledFactor]:
        """Return enrolments with their decrypted data."""
        return [self._opened(row) for row in rows]

    def issue(
        self, connection: Connection, user_id: str, purpose: str, context: Mapping[str, Any]
    ) -> IssuedChallenge:
        """Issue a challenge that the user's factors meet.

        A factor that is not enabled any more still protects the account: its user needs another one.
        """
        begun = {
            name: self.methods[name].begin_challenge([self._opened(row) for row in rows])
            for name, rows in groupby(self.enrolled(connection, user_id), lambda row: row.factor)
            if name in self.methods
        }
        return self._issue(connection, user_id, purpose, context, begun)

    def issue_first(
        self, connection: Connection, purpose: str, context: Mapping[str, Any]
    ) -> IssuedChallenge:
        """Issue a challenge for a first proof, which any user's passwordless factor meets, in one try.

        One try, because there is no user yet whose tries could be counted.

        Raises:
            NotImplementedHere: there is no such factor.
        """
        begun = {
            name: ceremony
            for name, method in self.methods.items()
            if isinstance(method, PasswordlessFactor) and (ceremony := method.begin_login())
        }
        if not begun:
            raise NotImplementedHere
        return self._issue(connection, None, purpose, context, begun)

    def check(self, answer: ChallengeAnswer, purpose: str, origin: Origin) -> MetChallenge:
        """Check the answer to a challenge. Only a first proof's challenge is used up by it.

        Args:
            answer: the answer.
            purpose: the purpose that the challenge was issued for.
            origin: the origin of the request, for the audit log.

        Raises:
            ChallengeInvalid: the challenge is unknown, expired or met, or has no tries left.
            InvalidCredentials: no answer is right.
            TooManyRequests: the user has too many wrong answers today.
        """
        digest = self._digest(answer.id)
        # Non-durable: an attacker cannot exploit counts lost in a power failure, and the transaction of
        # what the answer permits makes this one durable, too.
        with self._database.write(durable=False) as connection:
            user_id, state = self._count_try(connection, digest, purpose)
            if user_id is None:
                rows = self._named(connection, state, answer.answers)
            else:
                rows = self.enrolled(connection, user_id)
        for factor, group in groupby(rows, lambda row: row.factor):
            found = {row.id: row for row in group}
            proof = self._verify(factor, list(found.values()), state, answer.answers, origin)
            is_first = user_id is None
            if proof is not None and not (is_first and proof.assurance.acr == SINGLE_FACTOR):
                row, context = found[proof.enrolment_id], state["context"]
                return MetChallenge(
                    row.user_id, is_first, context, factor, proof, digest, purpose, row.revision
                )
        raise InvalidCredentials

    def settle(self, connection: Connection, met: MetChallenge) -> None:
        """Use up a challenge and its proof, in the transaction of what they permit.

        Raises:
            ChallengeInvalid: the challenge was met at the same time.
            InvalidCredentials: the proof was used at the same time, or the factor was removed.
        """
        if not _MEET.execute(connection, {"of_hash": met.hash, "of_purpose": met.purpose}):
            raise ChallengeInvalid
        factor_id, data = met.proof.enrolment_id, met.proof.data
        sealed = self._seal(met.user_id, factor_id, data)
        if not self._rows.prove(connection, met.user_id, factor_id, met.revision, sealed):
            raise InvalidCredentials
        # Only this try: a right answer does not give an attacker's wrong ones back.
        self._counters.take_back(connection, _COUNTED, met.user_id)

    def issue_due(
        self, connection: Connection, user_id: str, context: Mapping[str, Any]
    ) -> IssuedEnrolment:
        """Issue the permission to enrol a factor without a login, for a user who must have one."""
        state = {"context": dict(context), "states": {}}
        identifier, expires_at = self._open(connection, user_id, DUE, state, DUE_LIFETIME)
        types = [member_of(name) for name, method in self.methods.items() if not method.is_backup]
        return IssuedEnrolment(identifier, types, expires_at)

    def find_due(self, connection: Connection, identifier: str) -> tuple[str, Mapping[str, Any]]:
        """Return the user and the context of such a permission, which :meth:`add` uses up.

        Raises:
            ChallengeInvalid: it is unknown, expired or used up.
        """
        wanted = {"of_hash": self._digest(identifier), "of_purpose": DUE, "now": self._clock.now()}
        row = _READ.first(connection, wanted)
        if row is None:
            raise ChallengeInvalid
        return row.user_id, json.loads(self._keys.unseal(_SEAL_STATE, row.sealed_state))["context"]

    def begin_enrolment(
        self, connection: Connection, user_id: str, factor: str, name: str, ceremony: Ceremony
    ) -> tuple[str, int]:
        """Open an enrolment; return its id and its expiry in milliseconds since the Unix epoch."""
        context = {"factor": factor, "name": name}
        state = {"context": context, "states": {factor: dict(ceremony.state)}}
        return self._open(connection, user_id, "enrolment", state)

    def open_enrolment(
        self, connection: Connection, user_id: str, identifier: str
    ) -> tuple[str, str, Ceremony]:
        """Count a try of an enrolment; return its factor, its name and its ceremony.

        Raises:
            ChallengeInvalid: it is unknown, of another user or expired, or has no tries left.
        """
        digest = self._digest(identifier)
        owner, state = self._try(connection, digest, "enrolment")
        if owner != user_id:
            raise ChallengeInvalid
        factor, name = state["context"]["factor"], state["context"]["name"]
        return factor, name, Ceremony(state=state["states"][factor])

    def add(
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
        """Store an enrolment, which uses up the open one, and replaces one that may not repeat.

        Args:
            connection: the transaction.
            user_id: the user.
            identifier: the open enrolment.
            factor: the factor.
            name: the name of the enrolment.
            enrolment: the data of the factor.
            due: the permission to enrol without a login; ``None`` with a login.

        Raises:
            ChallengeInvalid: it was finished at the same time, or the permission was used up.
            FactorInvalid: a user has enrolled the same device already.
        """
        digest = self._digest(identifier)
        if not _MEET.execute(connection, {"of_hash": digest, "of_purpose": "enrolment"}):
            raise ChallengeInvalid
        # Permissions of other logins end, too: from now on each login proves this factor.
        closed = _CLOSE_DUE.scalars(connection, {"of_user": user_id})
        if due is not None and self._digest(due) not in closed:
            raise ChallengeInvalid
        method = self.methods[factor]
        if not method.may_repeat:
            self._rows.remove_kind(connection, user_id, factor)
        identifier = new_id()
        row = FactorRow(
            id=identifier,
            user_id=user_id,
            factor=factor,
            is_backup=method.is_backup,
            name=name,
            sealed_data=self._seal(user_id, identifier, enrolment.data),
            revision=1,
            created_at=self._clock.now(),
            last_used_at=None,
            handle=None if enrolment.handle is None else self._handle(factor, enrolment.handle),
        )
        try:
            self._rows.add(connection, row)
        except HandleTaken as error:
            message = "Must be of a device that is not enrolled yet."
            raise FactorInvalid.of_field("answer", "taken", message) from error
        return row

    def rename(
        self, connection: Connection, user_id: str, factor_id: str, name: str
    ) -> FactorRow | None:
        """Rename an enrolment, and return it, or ``None``."""
        self._rows.rename(connection, user_id, factor_id, name)
        rows = self.enrolled(connection, user_id)
        return next((row for row in rows if row.id == factor_id), None)

    def remove(self, connection: Connection, user_id: str, factor_id: str) -> FactorRow | None:
        """Remove an enrolment and, with the last factor, the backups; return it, or ``None``."""
        rows = self.enrolled(connection, user_id)
        found = next((row for row in rows if row.id == factor_id), None)
        if found is None:
            return None
        if all(row.is_backup or row is found for row in rows):
            self.remove_all(connection, user_id)
        else:
            self._rows.remove(connection, user_id, factor_id)
        return found

    def remove_all(self, connection: Connection, user_id: str) -> int:
        """Remove all enrolments and open challenges of a user; return the count of enrolments."""
        _FORGET.execute(connection, {"of_user": user_id})
        return self._rows.remove_all(connection, user_id)

    def prune(self) -> int:
        """Delete expired challenges; return the count."""
        return prune(self._database, factor_challenges.c.hash, self._is_expired())

    def _issue(
        self,
        connection: Connection,
        user_id: str | None,
        purpose: str,
        context: Mapping[str, Any],
        begun: Mapping[str, Ceremony],
    ) -> IssuedChallenge:
        states = {name: dict(ceremony.state) for name, ceremony in begun.items()}
        state = {"context": dict(context), "states": states}
        identifier, expires_at = self._open(connection, user_id, purpose, state)
        shown = {key: value for ceremony in begun.values() for key, value in ceremony.shown.items()}
        return IssuedChallenge(identifier, [member_of(name) for name in begun], expires_at, shown)

    def _open(
        self,
        connection: Connection,
        user_id: str | None,
        purpose: str,
        state: Mapping[str, Any],
        lifetime: int = LIFETIME,
    ) -> tuple[str, int]:
        identifier, expires_at = secrets.token_urlsafe(32), self._clock.now() + lifetime
        row = {
            "hash": self._digest(identifier),
            "purpose": purpose,
            "user_id": user_id,
            "sealed_state": self._keys.seal(_SEAL_STATE, json.dumps(state)),
            # A challenge without a user has one try, which the same statement counts.
            "tries": 0 if user_id else TRIES - 1,
            "expires_at": expires_at,
        }
        _ISSUE.execute(connection, row)
        self._pruning.inserted(connection, self._clock.now())
        return identifier, expires_at

    def _count_try(
        self, connection: Connection, digest: str, purpose: str
    ) -> tuple[str | None, Mapping[str, Any]]:
        user_id, state = self._try(connection, digest, purpose)
        if user_id is None:
            # Not even for the user that the answer names: strangers could use up that user's tries.
            return None, state
        count = self._counters.add_within(connection, _COUNTED, user_id, window=_DAY)
        if count.events > DAILY_TRIES:
            # Undo both counts: a try that is not evaluated is none.
            connection.rollback()
            raise TooManyRequests(retry_after=max(1, (count.expires_at - self._clock.now()) // 1000))
        return user_id, state

    def _try(
        self, connection: Connection, digest: str, purpose: str
    ) -> tuple[str | None, Mapping[str, Any]]:
        wanted = {"of_hash": digest, "of_purpose": purpose, "now": self._clock.now()}
        row = _TRY.first(connection, wanted)
        if row is None:
            raise ChallengeInvalid
        return row.user_id, json.loads(self._keys.unseal(_SEAL_STATE, row.sealed_state))

    def _named(
        self, connection: Connection, state: Mapping[str, Any], answers: Mapping[str, Any]
    ) -> list[FactorRow]:
        """Return the enrolments that the answers to a first proof's challenge name."""
        found = []
        for name in state["states"]:
            method, answer = self.methods.get(name), answers.get(member_of(name))
            if isinstance(method, PasswordlessFactor) and answer is not None:
                handle = method.handle_of(answer)
                row = self._rows.with_handle(connection, self._handle(name, handle or ""))
                # The user that the login has named, if any.
                if row and state["context"]["user_id"] in (None, row.user_id):
                    found.append(row)
        return found

    def _verify(
        self,
        factor: str,
        rows: Sequence[FactorRow],
        state: Mapping[str, Any],
        answers: Mapping[str, Any],
        origin: Origin,
    ) -> FactorProof | None:
        method, answer = self.methods.get(factor), answers.get(member_of(factor))
        # A factor that was enrolled after the challenge was issued has no state in it.
        if method is None or answer is None or factor not in state["states"]:
            return None
        ceremony = Ceremony(state=state["states"][factor])
        try:
            return method.verify([self._opened(row) for row in rows], ceremony, answer)
        except FactorAlarm as alarm:
            self._raise_alarm(f"{factor}.{alarm.reason}", rows[0].user_id, origin)
            return None

    def _raise_alarm(self, action: str, user_id: str, origin: Origin) -> None:
        event = AuditEvent(action, FAILURE, target_type="user", target_id=user_id, origin=origin)
        with self._database.write() as connection:
            self._audit.record(connection, event)
            contacts = self._notices.contacts(connection, user_id)
        # Not in the languages of the request, which is perhaps not the user's.
        self._notices.notify(contacts, "factor-alarm")

    def _opened(self, row: FactorRow) -> EnrolledFactor:
        data = self._keys.unseal(_seal_of(row.user_id, row.id), row.sealed_data)
        return EnrolledFactor(row.id, json.loads(data))

    def _seal(self, user_id: str, factor_id: str, data: Mapping[str, Any]) -> str:
        return self._keys.seal(_seal_of(user_id, factor_id), json.dumps(data))

    def _digest(self, identifier: str) -> str:
        # A malformed id costs no hash; nothing has the digest "".
        return self._keys.hash(_HASH, identifier) if _FORM.fullmatch(identifier) else ""

    def _handle(self, factor: str, handle: str) -> str:
        # A hash has one length, whatever the factor's handles are, and the database need not know them.
        return self._keys.hash(_HANDLE, f"{factor}:{handle}")

    def _is_expired(self) -> Any:
        return factor_challenges.c.expires_at <= self._clock.now()


def _seal_of(user_id: str, factor_id: str) -> str:
    # Bound to the row, so that write access to the table does not suffice to exchange the factors of
    # two users.
    return f"{_SEAL_DATA}:{user_id}:{factor_id}"
