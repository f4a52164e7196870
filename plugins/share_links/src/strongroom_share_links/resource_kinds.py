"""What a file declares of shares: the rules of a tenant."""

from typing import Final

from strongroom.plugin_api.resources import Rules
from strongroom_share_links.schemas import PolicyChangesSchema

KINDS: Final = (
    Rules(
        "shareRules",
        "/api/v1/tenants/{tenants}/share-policy",
        PolicyChangesSchema,
        parent="tenants",
    ),
)
