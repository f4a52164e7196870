"""What all pages of a tenant share: its name, the sections, and which of them the user sees."""

from typing import Any

from strongroom.plugin_api.visits import Visit, join_path
from strongroom_console.ages import ages


def tenant_path(tenant_id: str, *names: str) -> str:
    """Return the path of a tenant, or of something in it, in the REST API."""
    return join_path("/api/v1/tenants", tenant_id, *names)


def page_path(tenant_id: str, *names: str) -> str:
    """Return the path of a page of a tenant, below the console's."""
    return join_path("/tenants", tenant_id, *names, "")


def tenant_page(visit: Visit, template: str, tenant_id: str, section: str, **values: Any) -> Any:
    """Return the response with a page of a tenant.

    Args:
        section: the path of the section that the page belongs to.

    Raises:
        ApiError: the user is no member of the tenant.
    """
    tenant = visit.host.tenants.get(tenant_id)
    role = tenant.role
    here = join_path(f"{visit.root}/tenants", tenant_id)
    return visit.page(
        template,
        tenant=tenant,
        is_tenant_administrator=role == "admin",
        role=role,
        age=ages(visit.host),
        tenant_root=here,
        sections=visit.host.pages.sections(tenant),
        section=f"{here}/{section}",
        **values,
    )
