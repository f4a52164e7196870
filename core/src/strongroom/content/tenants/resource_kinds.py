"""What a file declares of tenants."""

from typing import Final

from strongroom.content.tenants.schemas import NewTenantSchema, RoleSchema, TenantChangesSchema
from strongroom.plugin_api.resources import Collection, Membership, ResourceKind

TENANTS: Final = "tenants"
"""The kind that resources of tenants are below."""

_TENANT: Final = "/api/v1/tenants/{tenants}"

KINDS: Final[tuple[ResourceKind, ...]] = (
    Collection(TENANTS, "/api/v1/tenants", NewTenantSchema, TenantChangesSchema, query={"all": "true"}),
    Membership("members", f"{_TENANT}/members", RoleSchema, parent=TENANTS),
)
