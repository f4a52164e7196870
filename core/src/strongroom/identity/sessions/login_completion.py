"""The transaction of a login: it finds the user, checks the conditions and issues the tokens."""

from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import execute_together
from strongroom.foundation.database.transaction_state import after_commit
from strongroom.foundation.errors import InvalidCredentials, StrongroomError
from strongroom.identity.sessions.login_conditions import LoginConditions, LoginIncomplete
from strongroom.identity.sessions.login_methods import LoginMethods
from strongroom.identity.sessions.login_records import LoginRecords
from strongroom.identity.sessions.pending_login import LoginTransaction, PendingLogin
from strongroom.identity.sessions.token_issuing import GraceTokens, IssuedTokens, TokenIssuer
from strongroom.identity.users.accounts import lock_account
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.resolver import IdentityResolver, ResolvedUser
from strongroom.identity.users.service import lock_logins, record_login
from strongroom.plugin_api.login import Credential, NewLogin


@dataclass(slots=True, eq=False, repr=False)
class LoginUsers:
    """Finds or registers the users of logins, and locks their logins."""

    _credentials: CredentialService
    _resolver: IdentityResolver

    def resolve(self, connection: Connection, login: PendingLogin) -> ResolvedUser:
        """Return the user whose proofs a login has.

        Raises:
            StrongroomError: as :meth:`IdentityResolver.resolve`.
        """
        verified, second_proof = login.first_proof.verified, login.second_proof
        if verified is not None:
            if login.first_proof.new_password is not None:
                self._lock(connection, verified.credential)
            return self._resolver.resolve(connection, verified)
        account = None
        if second_proof is not None:
            account = lock_account(connection, second_proof.user_id)
        if account is None:
            raise InvalidCredentials
        return ResolvedUser(account)

    def _lock(self, connection: Connection, credential: Credential) -> None:
        """Block all logins of the holder of a credential, before the login itself shares their lock.

        Two logins that first shared the lock could not both end the others.
        """
        holders = self._credentials.find_users(connection, [credential], for_update=True)
        if credential in holders:
            lock_logins(connection, holders[credential])


@dataclass(slots=True, eq=False, repr=False)
class LoginCompletion:
    """Finishes logins whose proofs are right."""

    _database: Database
    _clock: Clock
    _users: LoginUsers
    _conditions: LoginConditions
    _issuer: TokenIssuer
    _methods: LoginMethods
    _records: LoginRecords

    def finish(self, login: PendingLogin) -> IssuedTokens | StrongroomError:
        """Return the tokens, or the refusal that says what the login needs in addition.

        Raises:
            StrongroomError: the login fails.
        """
        try:
            # One transaction: a failure after the credentials are bound also undoes the binding.
            with self._database.write() as connection:
                return self._finish(connection, login)
        except LoginIncomplete as incomplete:
            with self._database.write() as connection:
                return self._refuse(connection, login, incomplete)

    def _finish(self, connection: Connection, login: PendingLogin) -> IssuedTokens | StrongroomError:
        resolved = self._users.resolve(connection, login)
        account = resolved.account
        transaction = LoginTransaction(connection, login, resolved, account, account.user)
        try:
            self._conditions.in_transaction(transaction)
        except LoginIncomplete as incomplete:
            if not incomplete.keeps_user:
                raise
            return self._refuse(connection, login, incomplete)
        return self._issue(transaction)

    def _refuse(
        self, connection: Connection, login: PendingLogin, incomplete: LoginIncomplete
    ) -> StrongroomError:
        refusal = incomplete.refuse(connection)
        self._records.first_proof(connection, incomplete.user_id, login)
        return refusal

    def _issue(self, transaction: LoginTransaction) -> IssuedTokens:
        connection, login, user = transaction.connection, transaction.login, transaction.user
        first_proof = login.first_proof
        issued, begun = self._issuer.begin(
            connection, user, first_proof.method, login.assurance, login.client, transaction.source
        )
        # On its own and first: others lock the user's row before counts of attempts, too.
        execute_together(connection, [record_login(user.id, self._clock.now())])
        record = self._records.login(connection, issued, login)
        execute_together(connection, [*begun, *transaction.changes, record])
        if first_proof.verified is not None:
            report = NewLogin(user.id, issued.authorization_id, first_proof.verified)
            after_commit(connection, partial(self._methods.logged_in, first_proof.method, report))
        return GraceTokens.from_issued(issued, transaction.factor_due_at)
