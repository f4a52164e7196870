"""What a client presents to continue a login, or to begin one by a factor alone."""

from dataclasses import dataclass

from strongroom.clock import Clock
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.identity.sessions.due_consents import DueConsents
from strongroom.identity.sessions.due_factors import LOGIN
from strongroom.identity.sessions.factor_verification import (
    ChallengeAnswer,
    IssuedChallenge,
    SecondFactors,
)
from strongroom.identity.sessions.pending_login import FirstProof, PendingLogin
from strongroom.identity.users.credentials import CredentialService
from strongroom.plugin_api.login import Client


@dataclass(slots=True, eq=False, repr=False)
class LoginChallenges:
    """Issues challenges for logins without a first proof, and checks what continues a login."""

    _database: Database
    _clock: Clock
    _credentials: CredentialService
    _factors: SecondFactors
    _consents: DueConsents

    def issue(self, username: str | None, client: Client) -> IssuedChallenge:
        """Issue a challenge for a login without a first proof.

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
            return self._factors.issue_first(connection, LOGIN, context)

    def check(self, answer: ChallengeAnswer, client: Client, origin: Origin) -> PendingLogin:
        """Check the answer to a challenge, and return the login that it continues or begins.

        Raises:
            ChallengeInvalid: the challenge is unknown, expired, of another device, or consumed.
            InvalidCredentials: the answer is wrong.
            TooManyRequests: the user has too many wrong answers today.
        """
        second_proof = self._factors.check(answer, LOGIN, origin)
        first_proof = FirstProof.from_challenge(second_proof, self._clock.now())
        first_proof.require_device(client)
        return PendingLogin(client, origin, first_proof, second_proof=second_proof)

    def accept_terms(
        self, identifier: str, accepted: str, client: Client, origin: Origin
    ) -> PendingLogin:
        """Consume the grant of a login that waits for a consent, and return the login.

        Raises:
            TermsNotAccepted: another version must be accepted.
            ChallengeInvalid: the grant is unknown, expired, of another device, or consumed.
        """
        context = self._consents.consume(identifier, accepted)
        first_proof = FirstProof.from_json({**context, "accepted_terms": accepted})
        first_proof.require_device(client)
        return PendingLogin(client, origin, first_proof)
