"""The conditions of a login besides its proof: the next condition is an entry in a list.

Each condition has a class, which overrides only the methods that it needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.foundation.errors import StrongroomError
from strongroom.identity.sessions.login_sources import LoginSources
from strongroom.identity.sessions.pending_login import FirstProof, LoginTransaction, RequestedLogin
from strongroom.identity.sessions.token_issuing import TokenIssuer
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges


class LoginIncomplete(Exception):
    """The proof is right, and the login needs something in addition: no failure.

    A condition raises it within the transaction of the login, which is rolled back.

    Args:
        user_id: the user; ``None`` if the login would register one.
        refuse: makes the response, in a transaction of its own.
        keeps_user: whether a new user stays: the transaction is committed with the response.
    """

    def __init__(
        self,
        user_id: str | None,
        refuse: Callable[[Connection], StrongroomError],
        *,
        keeps_user: bool = False,
    ) -> None:
        super().__init__()
        self.user_id = user_id
        self.refuse = refuse
        self.keeps_user = keeps_user


class LoginCondition:
    """A condition of logins. Each method accepts all logins unless it is overridden."""

    __slots__ = ()

    def before(self, request: RequestedLogin) -> None:
        """Check a request before its proof, which costs more.

        Raises:
            StrongroomError: the request is refused; neither counted nor recorded.
        """

    def proven(self, request: RequestedLogin, first_proof: FirstProof) -> FirstProof:  # noqa: ARG002
        """Return the first proof with what the condition adds to it; without a transaction."""
        return first_proof

    def in_transaction(self, transaction: LoginTransaction) -> None:
        """Check, or add to, a login in its transaction, which has locked the user's logins.

        Raises:
            LoginIncomplete: the login needs something in addition.
            StrongroomError: the login fails.
        """


class LoginConditions:
    """The conditions of all logins, in the order in which they are checked."""

    def __init__(self, conditions: Sequence[LoginCondition]) -> None:
        # Only overridden methods are called, so that a condition costs no more than it checks.
        self._before = [each.before for each in conditions if _overrides(each, "before")]
        self._proven = [each.proven for each in conditions if _overrides(each, "proven")]
        self._checks = [each.in_transaction for each in conditions if _overrides(each, "in_transaction")]

    def before(self, request: RequestedLogin) -> None:
        """Call :meth:`LoginCondition.before` of all conditions."""
        for check in self._before:
            check(request)

    def proven(self, request: RequestedLogin, first_proof: FirstProof) -> FirstProof:
        """Call :meth:`LoginCondition.proven` of all conditions."""
        for add in self._proven:
            first_proof = add(request, first_proof)
        return first_proof

    def in_transaction(self, transaction: LoginTransaction) -> None:
        """Call :meth:`LoginCondition.in_transaction` of all conditions."""
        for check in self._checks:
            check(transaction)


def _overrides(condition: LoginCondition, name: str) -> bool:
    return getattr(type(condition), name) is not getattr(LoginCondition, name)


@dataclass(slots=True, eq=False, repr=False)
class AllowedUser(LoginCondition):
    """The user is not suspended, and is a person. A suspension that is over ends here."""

    _issuer: TokenIssuer

    def in_transaction(self, transaction: LoginTransaction) -> None:
        transaction.user = self._issuer.require_allowed(transaction.connection, transaction.user)


@dataclass(slots=True, eq=False, repr=False)
class RecordedSource(LoginCondition):
    """The platform of the credential can end the login."""

    _sources: LoginSources

    def in_transaction(self, transaction: LoginTransaction) -> None:
        transaction.source = self._sources.find(transaction.login.first_proof.verified)


@dataclass(slots=True, eq=False, repr=False)
class SettledCredentials(LoginCondition):
    """Credentials, a password and a factor that the login has added or changed follow their rules."""

    _changes: CredentialChanges

    def in_transaction(self, transaction: LoginTransaction) -> None:
        resolved, login = transaction.resolved, transaction.login
        # A platform that proves its own credential adds others of the same person.
        informs = resolved.by_contact or not resolved.added_credentials
        details = {"method": login.first_proof.method} if resolved.added_credentials else {}
        by = ChangedBy(transaction.user.id, login.origin, details=details, informs=informs)
        self._changes.settle(transaction.connection, by)
