"""What all pages of a tenant share: its name, the sections, and which of them the user sees."""

from collections.abc import Mapping
from typing import Any, Final

from strongroom_console.visit import Visit

SECTIONS: Final[Mapping[str, str]] = {
    "files/": "files",
}
"""The keys of the names of the sections, by their paths below that of the tenant."""

ADMINISTRATOR_SECTIONS: Final[Mapping[str, str]] = {}
"""The sections that only administrators of the tenant see."""


def tenant_path(tenant_id: str) -> str:
    """Return the path of a tenant in the REST API."""
    return f"/api/v1/tenants/{tenant_id}"


def tenant_page(visit: Visit, template: str, tenant_id: str, section: str, **values: Any) -> Any:
    """Return the response with a page of a tenant.

    Args:
        section: the path of the section that the page belongs to.

    Raises:
        Refused: the user is no member of the tenant.
    """
    tenant = visit.read(tenant_path(tenant_id))
    is_tenant_administrator = visit.host.administers(visit.session.user_id, tenant_id)
    sections = {**SECTIONS, **(ADMINISTRATOR_SECTIONS if is_tenant_administrator else {})}
    here = f"{visit.root}/tenants/{tenant_id}"
    return visit.page(
        template,
        tenant=tenant,
        is_tenant_administrator=is_tenant_administrator,
        tenant_root=here,
        sections={f"{here}/{path}": key for path, key in sections.items()},
        section=f"{here}/{section}",
        **values,
    )
