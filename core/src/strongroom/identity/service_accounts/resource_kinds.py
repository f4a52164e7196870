"""What a file declares of the service accounts of the server."""

from typing import Final

from strongroom.identity.service_accounts.schemas import NewServiceAccountSchema
from strongroom.plugin_api.resources import Collection, ResourceKind

KINDS: Final[tuple[ResourceKind, ...]] = (
    Collection(
        "serviceAccounts",
        "/api/v1/service-accounts",
        NewServiceAccountSchema,
        NewServiceAccountSchema,
    ),
)
