"""What a file declares of the service accounts of a tenant."""

from typing import Final

from strongroom.content.tenants.resource_kinds import TENANTS
from strongroom.identity.service_accounts.schemas import NewServiceAccountSchema
from strongroom.plugin_api.resources import Collection, ResourceKind

KINDS: Final[tuple[ResourceKind, ...]] = (
    Collection(
        "serviceAccounts",
        "/api/v1/tenants/{tenants}/service-accounts",
        NewServiceAccountSchema,
        parent=TENANTS,
    ),
)
