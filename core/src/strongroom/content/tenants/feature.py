"""Tenants, their members and their quota."""

from collections.abc import Iterable
from typing import Final

from strongroom.activity.audit.outcomes import FAILURE
from strongroom.activity.events.declarations import TENANT, USER, on, server_event, tenant_data
from strongroom.content.tenants.events import ROLE, member_data
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent
from strongroom.web.feature import Feature

_OF_TENANT: Final = (TENANT, ACTOR)


class TenantsFeature(Feature):
    """Tenants and their members."""

    blueprints = ("views:blueprint",)
    services = "services:TenantServices"
    resource_kinds = "resource_kinds:KINDS"

    def register_event_types(self) -> Iterable[CoreEvent]:
        return [
            server_event(
                "quota.exceeded",
                "An upload was refused because it would exceed the quota of its tenant. Each process "
                "reports at most one refusal per tenant and hour.",
                (TENANT,),
                on("quota.exceed", lambda record: {"tenantId": record.target_id}, FAILURE),
            ),
            server_event(
                "tenant.created", "A tenant was created.", _OF_TENANT, on("tenant.create", tenant_data)
            ),
            server_event(
                "tenant.updated",
                "The name or quota of a tenant was changed.",
                _OF_TENANT,
                on("tenant.update", tenant_data),
            ),
            server_event(
                "tenant.deleted",
                "A tenant was hidden; it can be restored.",
                _OF_TENANT,
                on("tenant.delete", tenant_data),
            ),
            server_event(
                "tenant.restored",
                "A deleted tenant was restored.",
                _OF_TENANT,
                on("tenant.restore", tenant_data),
            ),
            server_event(
                "tenant.purged",
                "A deleted tenant was removed with its files.",
                _OF_TENANT,
                on("tenant.purge", tenant_data),
            ),
            server_event(
                "member.added",
                "A user became a member of a tenant, or the role of a member was changed.",
                (TENANT, USER, ROLE, ACTOR),
                on("member.put", member_data),
            ),
            server_event(
                "member.removed",
                "A member of a tenant was removed.",
                (TENANT, USER, ACTOR),
                on("member.remove", member_data),
            ),
        ]
