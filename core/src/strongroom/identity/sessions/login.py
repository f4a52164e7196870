"""Logs users in by the login methods of the configuration."""

from dataclasses import dataclass

from strongroom.clock import Clock
from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import InvalidCredentials, StrongroomError, UserSuspended
from strongroom.identity.sessions.factor_verification import ChallengeAnswer
from strongroom.identity.sessions.login_challenges import LoginChallenges
from strongroom.identity.sessions.login_completion import LoginCompletion
from strongroom.identity.sessions.login_conditions import LoginConditions
from strongroom.identity.sessions.login_methods import LoginMethods
from strongroom.identity.sessions.login_records import LoginRecords
from strongroom.identity.sessions.password_attempts import PasswordAttempts
from strongroom.identity.sessions.pending_login import (
    FirstProof,
    PendingLogin,
    RequestedLogin,
    RequiredEnrolment,
)
from strongroom.identity.sessions.throttle import Ticket
from strongroom.identity.sessions.token_issuing import IssuedTokens
from strongroom.identity.verification.captchas import CaptchaAnswer
from strongroom.plugin_api.login import Client, LoginAttempt, VerifiedCredential
from strongroom.plugin_api.web import ApiError


@dataclass(slots=True, eq=False, repr=False)
class LoginService:
    """Checks login attempts and issues tokens. What a login needs besides is in the conditions."""

    _clock: Clock
    _methods: LoginMethods
    _conditions: LoginConditions
    _attempts: PasswordAttempts
    _challenges: LoginChallenges
    _completion: LoginCompletion
    _records: LoginRecords

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
        request = RequestedLogin(attempt, new_password, accepted_terms)
        self._conditions.before(request)
        origin, began_at = origin or Origin(), self._clock.now()
        ticket = None
        try:
            ticket = self._attempts.reserve(attempt, captcha)
            first_proof = self._prove(request, ticket, began_at)
            outcome = self._completion.finish(PendingLogin(attempt.client, origin, first_proof, ticket))
        except ApiError as error:
            self._records.failure(attempt, error, origin, ticket)
            raise
        return _issued(outcome)

    def prove(self, attempt: LoginAttempt) -> VerifiedCredential:
        """Check the proof of an attempt without a password, without logging in.

        Raises:
            InvalidCredentials: the proof is wrong or missing.
            ApiError: a login method rejected the proof with its own error.
            Unavailable: the proof cannot be checked now.
        """
        return self._methods.prove(attempt)[1]

    def accept_terms(
        self, identifier: str, accepted: str, client: Client, origin: Origin
    ) -> IssuedTokens:
        """Continue a login that :class:`TermsNotAccepted` has refused.

        Args:
            identifier: the id of the error.
            accepted: the version of the terms that the user has accepted.

        Raises:
            TermsNotAccepted: another version must be accepted.
            ChallengeInvalid: the id is unknown, expired, of another device, or consumed.
            StrongroomError: as :meth:`log_in`.
        """
        try:
            login = self._challenges.accept_terms(identifier, accepted, client, origin)
            outcome = self._completion.finish(login)
        except ApiError as error:
            self._records.failure(LoginAttempt(client), error, origin)
            raise
        return _issued(outcome)

    def meet_challenge(self, answer: ChallengeAnswer, client: Client, origin: Origin) -> IssuedTokens:
        """Finish a login by the answer to a challenge, and issue tokens.

        Raises:
            ChallengeInvalid: the challenge is unknown, expired, of another device, or consumed.
            InvalidCredentials: the answer is wrong, or the password was changed since the first proof;
                or the answer is the first proof, and the user is suspended.
            TooManyRequests: the user has too many wrong answers today.
            UserSuspended: the user is suspended.
        """
        login = None
        try:
            login = self._challenges.check(answer, client, origin)
            outcome = self._completion.finish(login)
        except ApiError as error:
            self._records.failure(LoginAttempt(client), error, origin)
            if login is not None and login.is_factor_alone and isinstance(error, UserSuspended):
                # As for an unknown device, because nothing else of the user is proven.
                raise InvalidCredentials from error
            raise
        return _issued(outcome)

    def finish_enrolled(
        self, first_proof: FirstProof, enrolment: RequiredEnrolment, client: Client, origin: Origin
    ) -> IssuedTokens:
        """Finish a login that enrols the second factor that its user must have, and issue tokens.

        Raises:
            ChallengeInvalid: the grant was consumed, or the user has a factor by now.
            InvalidCredentials: the password was changed since the first proof.
            UserSuspended: the user is suspended.
        """
        try:
            login = PendingLogin(client, origin, first_proof, enrolment=enrolment)
            outcome = self._completion.finish(login)
        except ApiError as error:
            self._records.failure(LoginAttempt(client), error, origin)
            raise
        return _issued(outcome)

    def _prove(self, request: RequestedLogin, ticket: Ticket | None, began_at: int) -> FirstProof:
        attempt = request.attempt
        try:
            method, verified = self._methods.prove(attempt)
        finally:
            # Also in place of the refusal of a wrong password.
            self._attempts.require_lease(ticket)
        device_id, accepted = attempt.client.device_id, request.accepted_terms
        first_proof = FirstProof(method, verified, device_id, began_at, accepted_terms=accepted)
        return self._conditions.proven(request, first_proof)


def _issued(outcome: IssuedTokens | StrongroomError) -> IssuedTokens:
    """Return the tokens, or raise a refusal, which is no failure."""
    if isinstance(outcome, StrongroomError):
        raise outcome
    return outcome
