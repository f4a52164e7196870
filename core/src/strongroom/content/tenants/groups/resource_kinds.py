"""What a file declares of groups, which are below their tenant and have members themselves."""

from typing import Final

from strongroom.content.tenants.resource_kinds import TENANTS
from strongroom.content.tenants.schemas import GroupNameSchema, NewGroupSchema
from strongroom.plugin_api.resources import Collection, Membership, ResourceKind

_GROUPS: Final = "/api/v1/tenants/{tenants}/groups"

KINDS: Final[tuple[ResourceKind, ...]] = (
    Collection("groups", _GROUPS, NewGroupSchema, GroupNameSchema, parent=TENANTS),
    Membership("members", f"{_GROUPS}/{{groups}}/members", parent=f"{TENANTS}.groups"),
)
