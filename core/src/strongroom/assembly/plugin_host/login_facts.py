"""The facts of a login for the conditions of plugins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from strongroom.assembly.plugin_host.acting import ActingUser
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import Identity
from strongroom.foundation.database.transaction_state import after_commit
from strongroom.identity.sessions.pending_login import LoginTransaction
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import UserType
from strongroom.plugin_api.login import CONTACT_KINDS, Client, Credential, VerifiedCredential
from strongroom.plugin_api.login_conditions import LoginFacts
from strongroom.plugin_api.tenants import MemberRole


@dataclass(slots=True, eq=False, repr=False)
class HostLoginFacts(LoginFacts):
    """Implements :class:`strongroom.plugin_api.login_conditions.LoginFacts`.

    Args:
        user: the services of the process, and the name of the plugin.
    """

    _user: ActingUser
    _transaction: LoginTransaction

    @property
    def user_id(self) -> str:
        return self._transaction.user.id

    @property
    def method(self) -> str:
        return self._transaction.login.first_proof.method

    @property
    def verified(self) -> VerifiedCredential | None:
        return self._transaction.login.first_proof.verified

    @property
    def client(self) -> Client:
        return self._transaction.login.client

    @property
    def is_new(self) -> bool:
        return self._transaction.resolved.is_new

    @property
    def is_by_contact(self) -> bool:
        return self._transaction.resolved.by_contact

    @property
    def is_administrator(self) -> bool:
        return self._transaction.user.type == UserType.ADMIN

    @property
    def has_second_factor(self) -> bool:
        return self._transaction.account.has_second_factor

    def find_credentials(self) -> Sequence[Credential]:
        credentials = self._user.services().get(CredentialService)
        rows = credentials.of_user(self._transaction.connection, self.user_id)
        return [item.credential for item in rows if item.is_verified or item.kind not in CONTACT_KINDS]

    def find_roles(self) -> Mapping[str, str]:
        tenants = self._user.services().get(TenantService)
        return tenants.find_all_roles(self._transaction.connection, self.user_id)

    def add_member(self, tenant_id: str, role: MemberRole) -> None:
        user = self._transaction.user
        identity = Identity(user.id, user.type, "", self.client.address, plugin=self._user.plugin)
        origin = self._user.signed_origin()
        tenants = self._user.services().get(TenantService)
        tenants.join(self._transaction.connection, identity, tenant_id, Role(role), origin)

    def after_login(self, action: Callable[[], object]) -> None:
        after_commit(self._transaction.connection, action)
