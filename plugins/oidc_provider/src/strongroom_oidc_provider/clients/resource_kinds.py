"""What a file declares of clients."""

from typing import Final

from strongroom.plugin_api.resources import Collection
from strongroom_oidc_provider.schemas import ClientChangesSchema, NewClientSchema

KINDS: Final = (
    Collection(
        "clients",
        "/api/v1/clients",
        NewClientSchema,
        ClientChangesSchema,
        secrets=("secret",),
        references={"serviceAccountId": "serviceAccounts", "claims.tenants": "tenants"},
    ),
)
