"""Which service accounts a client may act as."""

from collections.abc import Mapping
from typing import Any

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_oidc_provider.errors import ACCOUNT_REFUSED


def require_account(host: HostAPI, body: Mapping[str, Any], *, is_public: bool) -> dict[str, Any]:
    """Require that the caller manages the service account of a client; return its column, if it changes.

    An administrator of the server does not manage the accounts of a tenant, so a client must not be a
    way to the tenant's files.

    Raises:
        ApiError: the account is none of a machine or of another tenant, or the client has no secret.
    """
    if "serviceAccountId" not in body:
        return {}
    account_id = body["serviceAccountId"]
    if account_id is None:
        return {"service_tenant_id": None}
    if is_public or host.users.get(account_id).type != "SERVICE":
        raise ApiError(ACCOUNT_REFUSED)
    with host.acting_as(account_id):
        tenants = [tenant.id for tenant in host.tenants.list().items]
    if any(host.tenants.role(tenant_id) != "admin" for tenant_id in tenants):
        raise ApiError(ACCOUNT_REFUSED)
    return {"service_tenant_id": tenants[0] if tenants else None}
