"""Who may manage the single sign-on of a tenant, and the records of what they do."""

from dataclasses import dataclass
from typing import Any

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.web import ApiError
from strongroom_login_sso.errors import FORBIDDEN

_ADMIN = "admin"


@dataclass(slots=True, eq=False, repr=False)
class Administrators:
    """The administrators of tenants."""

    _host: HostAPI

    def require(self, tenant_id: str) -> str:
        """Return the id of the caller, who must administer the tenant.

        Raises:
            ApiError: the caller does not, whether or not the tenant exists.
        """
        caller = self._host.caller
        if caller is None or self._host.tenants.role(tenant_id) != _ADMIN:
            raise ApiError(FORBIDDEN)
        return caller.user_id

    def can_log_in_alone(self, tenant_id: str, user_id: str) -> bool:
        """Return whether a user administers a tenant and has a second factor.

        Only such a user may log in without the provider that the tenant requires.
        """
        role = self._host.tenants.find_roles(user_id, [tenant_id]).get(tenant_id)
        return role == _ADMIN and self._host.users.has_second_factor(user_id)

    def record(
        self,
        transaction: Transaction,
        action: str,
        target: str,
        target_id: str,
        tenant_id: str,
        **details: Any,
    ) -> None:
        """Record what the caller, or a job, has done, in the transaction that does it."""
        about = {"tenant": tenant_id, **details}
        self._host.audit(action, target, target_id, about, transaction=transaction)
