"""What all pages of a tenant share: its name, the sections, and which of them the user sees."""

from typing import Any
from urllib.parse import quote

from werkzeug.exceptions import NotFound

from strongroom.plugin_api.visits import Visit
from strongroom_console.ages import ages
from strongroom_console.tenant.sections import BY_PATH


def tenant_path(tenant_id: str, *names: str) -> str:
    """Return the path of a tenant, or of something in it, in the REST API."""
    return "/".join(("/api/v1/tenants", *(quote(name, safe="") for name in (tenant_id, *names))))


def page_path(tenant_id: str, *names: str) -> str:
    """Return the path of a page of a tenant, below the console's."""
    return "/".join(("/tenants", *(quote(name, safe="") for name in (tenant_id, *names)), ""))


def tenant_page(visit: Visit, template: str, tenant_id: str, section: str, **values: Any) -> Any:
    """Return the response with a page of a tenant.

    Args:
        section: the path of the section that the page belongs to.

    Raises:
        ApiError: the user is no member of the tenant.
    """
    tenant = visit.host.tenants.get(tenant_id)
    role = tenant.role
    here = f"{visit.root}/tenants/{tenant_id}"
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


def require_section(visit: Visit, tenant_id: str, section: str) -> None:
    """Require that the user sees a section, before its page reads what only some users may.

    Raises:
        NotFound: the role of the user does not see it, or its plugin is not enabled.
    """
    item = BY_PATH[section]
    role = visit.host.tenants.role(tenant_id)
    if item.roles is not None and role not in item.roles:
        raise NotFound
    if item.route and not visit.host.pages.has_route("GET", item.route):
        raise NotFound
