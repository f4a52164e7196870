"""Conditions of logins: what ``register_login_conditions`` returns.

A plugin may refuse a login whose proof is right, or add the user to a tenant::

    @hookimpl
    def register_login_conditions(host: HostAPI) -> list[CheckLogin]:
        return [refuse_passwords]

    def refuse_passwords(transaction: Transaction, login: LoginFacts) -> None:
        if login.method == "password" and not login.is_administrator:
            raise ApiError(NO_PASSWORDS)

The functions are called in the transaction of each login, whatever its method: passwords, codes,
passkeys, platforms, and the steps after a first proof, such as a second factor or the terms. A refresh
is no login. A refusal rolls everything back: a refused login registers no user and binds no credential.
The proof comes first: a client without it gets the same answer whatever a condition decides.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from strongroom.plugin_api.login import Client, Credential, VerifiedCredential
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.tenants import MemberRole


class LoginFacts(ABC):
    """A login in its transaction. API 2.0.

    Methods query the database, so call them only when they decide. The server keeps no reference
    to a plugin's copy: the object is valid until the function returns.
    """

    @property
    @abstractmethod
    def user_id(self) -> str:
        """The user, who is active."""

    @property
    @abstractmethod
    def method(self) -> str:
        """The login method, or the second factor that logs in alone, such as a passkey."""

    @property
    @abstractmethod
    def verified(self) -> VerifiedCredential | None:
        """What the method has verified; ``None`` if a second factor logs in alone."""

    @property
    @abstractmethod
    def client(self) -> Client:
        """The client."""

    @property
    @abstractmethod
    def is_new(self) -> bool:
        """Whether the login creates the user."""

    @property
    @abstractmethod
    def is_by_contact(self) -> bool:
        """Whether only an e-mail address or a mobile number has led to the user, who existed before."""

    @property
    @abstractmethod
    def is_administrator(self) -> bool:
        """Whether the user administers the server."""

    @property
    @abstractmethod
    def has_second_factor(self) -> bool:
        """Whether the user has enrolled a second factor, which the login must prove."""

    @abstractmethod
    def find_credentials(self) -> Sequence[Credential]:
        """Return what the user logs in with: verified addresses and numbers, and ids at platforms."""

    @abstractmethod
    def find_roles(self) -> Mapping[str, str]:
        """Return the user's roles in all tenants, by their ids."""

    @abstractmethod
    def add_member(self, tenant_id: str, role: MemberRole) -> None:
        """Make the user a member of a tenant, with an audit record that names the plugin.

        Raises:
            ApiError: ``error.not-found``: there is no such tenant.
        """

    @abstractmethod
    def after_login(self, action: Callable[[], object]) -> None:
        """Call a function after the login, without a transaction. An error is logged."""


CheckLogin = Callable[[Transaction, LoginFacts], None]
"""Accepts a login, or refuses it by an ``ApiError`` of a kind that the plugin has registered. API 2.0.

It must be short, because it holds the lock on the user's logins. Another error fails the login with the
status 500.
"""
