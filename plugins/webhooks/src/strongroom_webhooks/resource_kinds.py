"""What a file declares of webhook endpoints, which their URLs identify."""

from typing import Final

from strongroom.plugin_api.resources import Collection
from strongroom_webhooks.schemas import EndpointChangesSchema, NewEndpointSchema


def _endpoints(parent: str) -> Collection:
    return Collection(
        "webhooks",
        "/api/v1/webhook-endpoints",
        NewEndpointSchema,
        EndpointChangesSchema,
        parent=parent,
        key="url",
        parent_member="tenantId",
        secrets=("secret", "publicKey"),
    )


KINDS: Final = (_endpoints(""), _endpoints("tenants"))
"""The endpoints of the server, and the endpoints of a tenant."""
