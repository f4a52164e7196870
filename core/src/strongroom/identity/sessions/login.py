"""Logs users in by the login methods of the configuration."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import FAILURE, AuditEvent, AuditService, lock_chain
from strongroom.clock import Clock
from strongroom.foundation.assurance import is_as_strong
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.errors import (
    CaptchaRequired,
    ChallengeInvalid,
    FactorEnrolmentRequired,
    InvalidCredentials,
    SecondFactorRequired,
    StrongroomError,
    Unavailable,
    UserSuspended,
)
from strongroom.foundation.limits.turns import RETRY_SECONDS
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.sessions.due_consents import ConsentMissing, DueConsents
from strongroom.identity.sessions.due_password_changes import DuePasswordChanges, PasswordProof
from strongroom.identity.sessions.factor_enrolments import EnrolmentGrant, FactorEnrolments
from strongroom.identity.sessions.factor_verification import (
    ChallengeAnswer,
    IssuedChallenge,
    MetChallenge,
    SecondFactors,
    strengthened,
)
from strongroom.identity.sessions.login_methods import LoginMethods
from strongroom.identity.sessions.login_sources import LoginSources
from strongroom.identity.sessions.throttle import AttemptedNames, LoginThrottle, Ticket
from strongroom.identity.sessions.tokens import GraceTokens, IssuedTokens, TokenIssuer
from strongroom.identity.users.accounts import Account, lock_account
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.factor_policy import FactorPolicy
from strongroom.identity.users.password_hashing import StoredPassword
from strongroom.identity.users.resolver import IdentityResolver, ResolvedUser
from strongroom.identity.users.service import record_login
from strongroom.identity.verification.captchas import CaptchaAnswer, CaptchaService
from strongroom.plugin_api.login import (
    MULTI_FACTOR,
    Assurance,
    Client,
    LoginAttempt,
    NewLogin,
    VerifiedCredential,
)
from strongroom.plugin_api.web import ApiError


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
    def of_met(cls, met: MetChallenge, clock: Clock) -> "FirstProof":
        """Return the proof in the context of a challenge, or the answer itself if there was none."""
        if met.is_first:
            return cls(met.row.factor, None, met.context["device_id"], clock.now())
        return cls.of_json(met.context)

    def json(self) -> dict[str, Any]:
        """Return the proof as JSON, which :meth:`of_json` reads."""
        context = asdict(self)
        for name in ("session", "context", "contacts"):
            # Left out where possible: servers of the version before do not know these members.
            if self.verified is not None and not context["verified"][name]:
                del context["verified"][name]
        return context

    @classmethod
    def of_json(cls, context: Mapping[str, Any]) -> "FirstProof":
        """Return the proof that :meth:`json` has made JSON of."""
        new = context.get("new_password")
        return cls(
            **{
                **context,
                "verified": VerifiedCredential.from_json(context["verified"]),
                "new_password": StoredPassword(**new) if new else None,
            }
        )

    @property
    def password(self) -> PasswordProof:
        """The proof as far as passwords matter."""
        proves = self.verified is not None and "pwd" in self.verified.assurance.amr
        return PasswordProof(proves, self.new_password)

    def assurance(self, met: MetChallenge | None) -> Assurance:
        """Return the assurance of the login, with the challenge that was met."""
        proofs = [self.verified.assurance] if self.verified else []
        proofs += [met.proof.assurance] if met else []
        return reduce(strengthened, proofs)


@dataclass(frozen=True, slots=True)
class NewFactor:
    """A second factor that a login enrols, because its user must have one and has none.

    Args:
        store: stores the enrolment in the transaction of the login, and uses up the grant for it.
    """

    user_id: str
    store: Callable[[Connection], None]


class _FactorMissing(Exception):
    """The user has a second factor, and the login has proven one only."""

    def __init__(self, user_id: str) -> None:
        super().__init__()
        self.user_id = user_id


class _PasswordRefused(Exception):
    """The password is right, and must change, or must not."""

    def __init__(self, user_id: str, refusal: StrongroomError) -> None:
        super().__init__()
        self.user_id = user_id
        self.refusal = refusal


class _EnrolmentMissing(Exception):
    """The user must have a second factor and has none, and the grace period is over."""

    def __init__(self, resolved: ResolvedUser) -> None:
        super().__init__()
        self.resolved = resolved


_CHALLENGE: Final = "login"


class LoginService:
    """Checks login attempts and issues tokens.

    Args:
        credentials: recognises names, for the throttle and for records of failures.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        issuer: TokenIssuer,
        methods: LoginMethods,
        credentials: CredentialService,
        resolver: IdentityResolver,
        captchas: CaptchaService,
        throttle: LoginThrottle,
        factors: SecondFactors,
        enrolments: FactorEnrolments,
        policy: FactorPolicy,
        password_changes: DuePasswordChanges,
        consents: DueConsents,
        changes: CredentialChanges,
        audit: AuditService,
        keys: SecretKeys,
    ) -> None:
        self._database = database
        self._clock = clock
        self._issuer = issuer
        self._methods = methods
        self._credentials = credentials
        self._resolver = resolver
        self._captchas = captchas
        self._throttle = throttle
        self._factors = factors
        self._enrolments = enrolments
        self._policy = policy
        self._password_changes = password_changes
        self._consents = consents
        self._changes = changes
        self._audit = audit
        self._names = AttemptedNames(credentials, keys)
        self._sources = LoginSources(keys)

    def log_in(
        self,
        attempt: LoginAttempt,
        captcha: CaptchaAnswer | None = None,
        origin: Origin | None = None,
        *,
        new_password: str | None = None,
        accepted_terms: str | None = None,
    ) -> IssuedTokens:
        """Check the proof of an attempt, and issue tokens.

        Args:
            new_password: replaces a password that its user must change.
            accepted_terms: the version of the terms that the user has accepted.

        Raises:
            ValidationFailed: the new password does not meet the policy, or is not due.
            PasswordChangeRequired: the password is right, and its user must change it.
            InvalidCredentials: the proof is wrong or missing.
            ApiError: a login method rejected the proof with its own error.
            CredentialConflict: the verified credentials belong to two users.
            CaptchaRequired: a captcha is required after too many failures, and there is none.
            CaptchaInvalid: a captcha is required, and its solution is wrong.
            SecondFactorRequired: the proof is right, and the user has a second factor.
            FactorEnrolmentRequired: the proof is right, and the user must enrol a second factor first.
            TermsNotAccepted: the login would register a user, who must accept the terms first.
            UserSuspended: the user is suspended.
            Unavailable: the proof cannot be checked now.
        """
        self._password_changes.require_acceptable(new_password, attempt.password)
        origin, began_at = origin or Origin(), self._clock.now()
        ticket = None
        try:
            # The throttle counts password attempts only, because codes have their own limits.
            if attempt.password:
                ticket = self._check_captcha(attempt, captcha)
            proven = self._prove(attempt, ticket)
            replacement = self._password_changes.hash(new_password)
            device_id = attempt.client.device_id
            first = FirstProof(*proven, device_id, began_at, replacement, accepted_terms)
            outcome = self._continue(attempt.client, first, ticket, origin)
        except (ApiError, StrongroomError) as error:
            self._record_failure(attempt, error, origin, ticket)
            raise
        if isinstance(outcome, StrongroomError):
            raise outcome
        return outcome

    def accept_terms(
        self, identifier: str, accepted: str, client: Client, origin: Origin
    ) -> IssuedTokens:
        """Continue a login that :class:`TermsNotAccepted` has refused.

        Args:
            identifier: the id of the error.
            accepted: the version of the terms that the user has accepted.

        Raises:
            TermsNotAccepted: another version must be accepted.
            ChallengeInvalid: the id is unknown, expired, of another device, or used up.
            StrongroomError: as :meth:`log_in`.
        """
        try:
            first = FirstProof.of_json(self._consents.redeem(identifier, accepted))
            if first.device_id != client.device_id:
                raise ChallengeInvalid
            outcome = self._continue(client, replace(first, accepted_terms=accepted), None, origin)
        except StrongroomError as error:
            self._record_failure(LoginAttempt(client), error, origin)
            raise
        if isinstance(outcome, StrongroomError):
            raise outcome
        return outcome

    def _continue(
        self, client: Client, first: FirstProof, ticket: Ticket | None, origin: Origin
    ) -> IssuedTokens | StrongroomError:
        """Return the tokens, or the refusal that says what the login needs in addition."""
        try:
            return self._authorize(client, first, ticket, origin)
        except ConsentMissing:
            return self._consents.grant(first.json())
        except _FactorMissing as missing:
            challenge = self._challenge(missing.user_id, first, ticket, origin)
            return SecondFactorRequired(challenge.json())
        except _EnrolmentMissing as missing:
            grant = self._grant_enrolment(missing.resolved, first, ticket, origin)
            return FactorEnrolmentRequired(grant.json())
        except _PasswordRefused as refused:
            with self._database.write() as connection:
                self._record_first(connection, refused.user_id, first, ticket, origin)
            return refused.refusal

    def prove(self, attempt: LoginAttempt) -> VerifiedCredential:
        """Check the proof of an attempt without a password, without logging in.

        Raises:
            InvalidCredentials: the proof is wrong or missing.
            ApiError: a login method rejected the proof with its own error.
            Unavailable: the proof cannot be checked now.
        """
        return self._methods.prove(attempt)[1]

    def challenge(self, username: str | None, client: Client) -> IssuedChallenge:
        """Issue a challenge for a login without a first proof; :meth:`meet_challenge` finishes it.

        Args:
            username: a name of the only user whose answer is right; ``None``: any user's.

        Raises:
            NotImplementedHere: no factor that is enabled can log in alone.
        """
        named = self._credentials.identify(username or "")
        # Non-durable: a client whose challenge is lost in a power failure gets another.
        with self._database.write(durable=False) as connection:
            user_id = None
            if username is not None:
                holders = self._credentials.find_users(connection, [named] if named else [])
                # No user has the id "", so the response is the same for unknown names.
                user_id = next(iter(holders.values()), "")
            context = {"user_id": user_id, "device_id": client.device_id}
            return self._factors.issue_first(connection, _CHALLENGE, context)

    def meet_challenge(self, answer: ChallengeAnswer, client: Client, origin: Origin) -> IssuedTokens:
        """Finish a login by the answer to a challenge, and issue tokens.

        Raises:
            ChallengeInvalid: the challenge is unknown, expired, of another device, or used up.
            InvalidCredentials: the answer is wrong, or the password was changed since the first proof;
                or the answer is the first proof, and the user is suspended.
            TooManyRequests: the user has too many wrong answers today.
            UserSuspended: the user is suspended.
        """
        met = None
        try:
            met = self._factors.check(answer, _CHALLENGE, origin)
            first = FirstProof.of_met(met, self._clock)
            if first.device_id != client.device_id:
                raise ChallengeInvalid
            return self._authorize(client, first, None, origin, met)
        except StrongroomError as error:
            self._record_failure(LoginAttempt(client), error, origin)
            if met is not None and met.is_first and isinstance(error, UserSuspended):
                # As for an unknown device, because nothing else of the user is proven.
                raise InvalidCredentials from error
            raise

    def finish_enrolled(
        self, first: FirstProof, new: NewFactor, client: Client, origin: Origin
    ) -> IssuedTokens:
        """Finish a login that enrols the second factor that its user must have, and issue tokens.

        Raises:
            ChallengeInvalid: the grant was used up, or the user has a factor by now.
            InvalidCredentials: the password was changed since the first proof.
            UserSuspended: the user is suspended.
        """
        try:
            return self._authorize(client, first, None, origin, new=new)
        except StrongroomError as error:
            self._record_failure(LoginAttempt(client), error, origin)
            raise

    def _prove(self, attempt: LoginAttempt, ticket: Ticket | None) -> tuple[str, VerifiedCredential]:
        try:
            return self._methods.prove(attempt)
        finally:
            # Also in place of the refusal of a wrong password.
            if ticket is not None and self._throttle.is_lost(ticket):
                raise Unavailable(retry_after=RETRY_SECONDS)

    def _check_captcha(self, attempt: LoginAttempt, captcha: CaptchaAnswer | None) -> Ticket:
        name, address = self._credentials.canonical_name(attempt.username or ""), attempt.client.address
        try:
            return self._throttle.begin(name, address)
        except CaptchaRequired:
            if captcha is None:
                raise
        self._captchas.spend(captcha, address)
        return self._throttle.begin_solved(name, address)

    def _challenge(
        self, user_id: str, first: FirstProof, ticket: Ticket | None, origin: Origin
    ) -> IssuedChallenge:
        with self._database.write() as connection:
            challenge = self._factors.issue(connection, user_id, _CHALLENGE, first.json())
            self._record_first(connection, user_id, first, ticket, origin)
        return challenge

    def _grant_enrolment(
        self, resolved: ResolvedUser, first: FirstProof, ticket: Ticket | None, origin: Origin
    ) -> EnrolmentGrant:
        user_id = resolved.user.id
        with self._database.write() as connection:
            if resolved.is_new:
                # Registered again, because the transaction of the login was rolled back.
                user_id = self._resolve(connection, first, None, origin).user.id
            grant = self._enrolments.grant(connection, user_id, first.json())
            self._record_first(connection, user_id, first, ticket, origin)
        return grant

    def _record_first(
        self,
        connection: Connection,
        user_id: str,
        first: FirstProof,
        ticket: Ticket | None,
        origin: Origin,
    ) -> None:
        """Record a first proof, which was right, so it is no failure; the second has its own limits."""
        if ticket is not None:
            execute_together(connection, [self._throttle.success(ticket)])
        event = AuditEvent(
            "login.challenge",
            target_type="user",
            target_id=user_id,
            origin=origin,
            details={"method": first.method},
        )
        self._audit.record(connection, event)

    def _authorize(
        self,
        client: Client,
        first: FirstProof,
        ticket: Ticket | None,
        origin: Origin,
        met: MetChallenge | None = None,
        *,
        new: NewFactor | None = None,
    ) -> IssuedTokens:
        method, assurance = first.method, first.assurance(met)
        if new is not None:
            # A factor states what it proves only when it answers a challenge.
            assurance = strengthened(assurance, Assurance())
        # One transaction: a failure after the credentials are bound also undoes the binding.
        with self._database.write() as connection:
            resolved = self._resolve(connection, first, met, origin)
            issued, changes = self._issuer.begin(
                connection, resolved.user, method, assurance, client, self._sources.of(first.verified)
            )
            self._require_password(resolved.account, first, is_first=met is None and new is None)
            due_at = self._require_factor(connection, resolved, assurance, met, new)
            self._password_changes.apply(connection, resolved.account, first.password)
            changes += self._clear_failures(connection, resolved.user.id, ticket)
            self._settle_changes(connection, resolved, method, origin)
            # Last, because all writers of audit events wait for this transaction from here on.
            lock_chain(connection, record_login(issued.user.id, self._clock.now()))
            changes.append(self._audit.append_change(_login_event(issued, method, origin)))
            execute_together(connection, changes)
        if met is not None:
            self._factors.notify_of_backup(met)
        if first.verified is not None:
            login = NewLogin(issued.user.id, issued.authorization_id, first.verified)
            self._methods.logged_in(method, login)
        return GraceTokens.of(issued, due_at)

    def _require_password(self, account: Account, first: FirstProof, *, is_first: bool) -> None:
        # The password may have been changed between its check and this transaction.
        if (account.password_changed_at or 0) > first.began_at:
            raise InvalidCredentials
        if refusal := self._password_changes.refusal(account, first.password):
            raise _PasswordRefused(account.user.id, refusal) if is_first else refusal

    def _clear_failures(
        self, connection: Connection, user_id: str, ticket: Ticket | None
    ) -> list[Change]:
        """Return the changes that clear the failures of the name, or of all names if there is none."""
        if ticket is not None:
            return [self._throttle.success(ticket)]
        bound = self._credentials.of_user(connection, user_id)
        return self._throttle.clear(self._credentials.canonical_name(item.value) for item in bound)

    def _resolve(
        self, connection: Connection, first: FirstProof, met: MetChallenge | None, origin: Origin
    ) -> ResolvedUser:
        if first.verified is not None:
            if first.new_password is not None:
                self._password_changes.lock(connection, first.verified.credential)
            resolved = self._resolver.resolve(connection, first.verified)
            self._consents.settle(connection, resolved, first.accepted_terms, origin)
            return resolved
        account = lock_account(connection, met.user_id) if met else None
        if account is None:
            raise InvalidCredentials
        return ResolvedUser(account)

    def _require_factor(
        self,
        connection: Connection,
        resolved: ResolvedUser,
        assurance: Assurance,
        met: MetChallenge | None,
        new: NewFactor | None,
    ) -> int | None:
        """Require a second factor of a user who has or must have one: the only such decision.

        Returns until when the user may log in without one, if there is such an end.
        """
        second = met or new
        # The credential may belong to another user since the first proof.
        if second is not None and second.user_id != resolved.user.id:
            raise ChallengeInvalid
        if met is not None:
            self._factors.settle(connection, met)
        elif new is not None:
            # The first proof alone enrols a factor only if there is none to ask for.
            if resolved.account.has_second_factor:
                raise ChallengeInvalid
            new.store(connection)
        elif not is_as_strong(assurance.acr, MULTI_FACTOR):
            return self._require_enrolled(connection, resolved)
        return None

    def _require_enrolled(self, connection: Connection, resolved: ResolvedUser) -> int | None:
        user = resolved.user
        if resolved.account.has_second_factor:
            raise _FactorMissing(user.id)
        due_at = self._policy.due_at(connection, user)
        if due_at is not None and due_at <= self._clock.now():
            raise _EnrolmentMissing(resolved)
        return due_at

    def _settle_changes(
        self, connection: Connection, resolved: ResolvedUser, method: str, origin: Origin
    ) -> None:
        """Settle credentials, a password and a factor that the login has added or changed."""
        # A platform that proves its own credential adds others of the same person.
        informs = resolved.by_contact or not resolved.added_credentials
        details = {"method": method} if resolved.added_credentials else {}
        by = ChangedBy(resolved.user.id, origin, details=details, informs=informs)
        self._changes.settle(connection, by)

    def _record_failure(
        self, attempt: LoginAttempt, error: Exception, origin: Origin, ticket: Ticket | None = None
    ) -> None:
        is_pending = ticket is not None and not self._throttle.is_lost(ticket)
        outcome = [self._outcome(ticket, error)] if ticket is not None and is_pending else []
        try:
            self._record_unsuccessful(attempt, error, origin, outcome)
        except Unavailable:
            for change in outcome:
                self._throttle.owe(change)
            raise

    def _record_unsuccessful(
        self, attempt: LoginAttempt, error: Exception, origin: Origin, outcome: list[Change]
    ) -> None:
        named = self._credentials.identify(attempt.username or "")
        # A separate transaction, because that of the login was rolled back.
        with self._database.write() as connection:
            holders = self._credentials.find_users(connection, [named] if named else [])
            attempted = {} if holders else self._names.details(attempt.username or "")
            event = AuditEvent(
                "login",
                FAILURE,
                target_type="user" if holders else None,
                target_id=next(iter(holders.values()), None),
                origin=origin,
                details={"code": getattr(error, "code", InvalidCredentials.code), **attempted},
            )
            if outcome:
                execute_together(connection, outcome)
            self._audit.record(connection, event)

    def _outcome(self, ticket: Ticket, error: Exception) -> Change:
        """Return the change that counts a failed attempt, unless its password was not evaluated."""
        was_evaluated = not isinstance(error, Unavailable)
        return self._throttle.failure(ticket) if was_evaluated else self._throttle.undo(ticket)


def _login_event(issued: IssuedTokens, method: str, origin: Origin) -> AuditEvent:
    return AuditEvent(
        "login",
        actor_id=issued.user.id,
        target_type="authorization",
        target_id=issued.authorization_id,
        origin=origin,
        details={"method": method},
    )
