"""A login that is not finished: what it has proven, and its transaction."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, reduce
from typing import Any

from sqlalchemy import Connection

from strongroom.foundation.caller import Origin
from strongroom.foundation.database.changes import Change
from strongroom.foundation.errors import ChallengeInvalid
from strongroom.identity.sessions.factor_verification import MetChallenge, strengthened
from strongroom.identity.sessions.login_sources import NO_SOURCE, LoginSource
from strongroom.identity.sessions.throttle import Ticket
from strongroom.identity.users.accounts import Account
from strongroom.identity.users.models import User
from strongroom.identity.users.password_hashing import StoredPassword
from strongroom.identity.users.resolver import ResolvedUser
from strongroom.plugin_api.login import Assurance, Client, LoginAttempt, VerifiedCredential


@dataclass(frozen=True, slots=True)
class RequestedLogin:
    """A login attempt, with the members that conditions read.

    Args:
        new_password: replaces a password that its user must change.
        accepted_terms: the version of the terms that the user has accepted.
    """

    attempt: LoginAttempt
    new_password: str | None = field(default=None, repr=False)
    accepted_terms: str | None = None


@dataclass(frozen=True, slots=True)
class FirstProof:
    """What a login attempt has proven, kept with the challenge while a second factor is missing.

    Args:
        method: the login method, or the factor that is the first proof.
        verified: the credentials; those that are not bound yet are bound when the login succeeds.
            ``None`` if a factor is the first proof.
        device_id: the client's device, which must answer the challenge, too.
        began_at: milliseconds since the Unix epoch; a password that is changed later voids the proof.
        new_password: what replaces a password that its user must change.
        accepted_terms: the version of the terms that the user has accepted with the login.
    """

    method: str
    verified: VerifiedCredential | None
    device_id: str | None
    began_at: int
    new_password: StoredPassword | None = field(default=None, repr=False)
    accepted_terms: str | None = None

    @classmethod
    def from_challenge(cls, challenge: MetChallenge, now: int) -> "FirstProof":
        """Return the proof in the context of a challenge, or the answer itself if there was none."""
        if challenge.is_first:
            return cls(challenge.row.factor, None, challenge.context["device_id"], now)
        return cls.from_json(challenge.context)

    @classmethod
    def from_json(cls, context: Mapping[str, Any]) -> "FirstProof":
        """Return the proof that :meth:`json` has made JSON of."""
        new = context.get("new_password")
        return cls(
            **{
                **context,
                "verified": VerifiedCredential.from_json(context["verified"]),
                "new_password": StoredPassword(**new) if new else None,
            }
        )

    def json(self) -> dict[str, Any]:
        """Return the proof as JSON, which :meth:`from_json` reads."""
        context = asdict(self)
        for name in ("session", "context", "contacts", "is_invited"):
            # Left out where possible: servers of the version before do not know these members.
            if self.verified is not None and not context["verified"][name]:
                del context["verified"][name]
        return context

    @property
    def proves_password(self) -> bool:
        """Whether the proof is, or includes, the user's password."""
        return self.verified is not None and "pwd" in self.verified.assurance.amr

    def require_device(self, client: Client) -> None:
        """Require the device that gave the proof.

        Raises:
            ChallengeInvalid: the client has another device.
        """
        if self.device_id != client.device_id:
            raise ChallengeInvalid


@dataclass(frozen=True, slots=True)
class RequiredEnrolment:
    """A second factor that a login enrols, because its user must have one and has none.

    Args:
        store: stores the enrolment in the transaction of the login, and consumes the grant for it.
    """

    user_id: str
    store: Callable[[Connection], None]


@dataclass(frozen=True)
class PendingLogin:
    """A login whose first proof is right, before its transaction.

    Args:
        ticket: the reserved attempt of a password, which the login ends.
        second_proof: the challenge that was met; its factor may also be the first proof.
        enrolment: the second factor that the login enrols.
    """

    client: Client
    origin: Origin
    first_proof: FirstProof
    ticket: Ticket | None = None
    second_proof: MetChallenge | None = None
    enrolment: RequiredEnrolment | None = None

    @property
    def is_first_step(self) -> bool:
        """Whether the login has neither answered a challenge nor enrolled a factor."""
        return self.second_proof is None and self.enrolment is None

    @property
    def is_factor_alone(self) -> bool:
        """Whether the answer to a challenge is the first proof, such as a passkey."""
        return self.second_proof is not None and self.second_proof.is_first

    @cached_property
    def assurance(self) -> Assurance:
        """How strongly the login is proven, by all its proofs."""
        verified, second_proof = self.first_proof.verified, self.second_proof
        proofs = [verified.assurance] if verified else []
        if second_proof is not None:
            proofs.append(second_proof.proof.assurance)
        if self.enrolment is not None:
            # A factor states what it proves only when it answers a challenge.
            proofs.append(Assurance())
        return reduce(strengthened, proofs)


@dataclass(slots=True)
class LoginTransaction:
    """A login in its transaction, which its conditions check and add to.

    Args:
        account: the account as it was locked.
        user: the user, who is reinstated if a suspension was over.
        source: what the login is made with.
        factor_due_at: until when the user may log in without a second factor, in milliseconds since the
            Unix epoch; ``None`` without such an end.
        changes: executed together at the end of the transaction.
    """

    connection: Connection
    login: PendingLogin
    resolved: ResolvedUser
    account: Account
    user: User
    source: LoginSource = NO_SOURCE
    factor_due_at: int | None = None
    changes: list[Change] = field(default_factory=list)
