"""What all pages of a tenant share: its name, the sections, and which of them the user sees."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from werkzeug.exceptions import NotFound

from strongroom.plugin_api.visits import Visit
from strongroom_console.ages import ages

SECTIONS: Final[Mapping[str, str]] = {
    "files/": "files",
    "shared/": "shared-with-me",
    "trash/": "trash",
    "shares/": "links",
    "members/": "members",
    "groups/": "groups",
    "usage/": "usage",
}
"""The keys of the names of the sections, by their paths below the tenant's."""

RECORDS_SECTIONS: Final[Mapping[str, str]] = {"retention/": "retention"}
"""The sections that administrators of the tenant and the role ``records`` see."""

ADMINISTRATOR_SECTIONS: Final[Mapping[str, str]] = {
    "invitations/": "invitations",
    "service-accounts/": "service-accounts",
    "share-policy/": "share-policy",
    "webhooks/": "webhooks",
    "activity/": "activity",
    "settings/": "settings",
}
"""The sections that only administrators of the tenant see."""

ROUTES_OF_PLUGINS: Final[Mapping[str, str]] = {
    "shared/": "/api/v1/shared-with-me",
    "shares/": "/api/v1/tenants/any/shares",
    "share-policy/": "/api/v1/tenants/any/share-policy",
    "webhooks/": "/api/v1/webhook-endpoints",
}
"""The routes of the REST API without which a section is missing, because its plugin is not enabled."""


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
    sections = sections_of(visit, role)
    here = f"{visit.root}/tenants/{tenant_id}"
    return visit.page(
        template,
        tenant=tenant,
        is_tenant_administrator=role == "admin",
        role=role,
        age=ages(visit.host),
        tenant_root=here,
        sections={f"{here}/{path}": key for path, key in sections.items()},
        section=f"{here}/{section}",
        **values,
    )


def require_section(visit: Visit, tenant_id: str, section: str) -> None:
    """Require that the user sees a section, before its page reads what only some users may.

    Raises:
        NotFound: the role of the user does not see it, or its plugin is not enabled.
    """
    if section not in sections_of(visit, visit.host.tenants.role(tenant_id)):
        raise NotFound


def sections_of(visit: Visit, role: str | None) -> Mapping[str, str]:
    """Return the sections that a role in a tenant sees, of those whose plugins are enabled."""
    is_administrator = role == "admin"
    sections = {
        **SECTIONS,
        **(RECORDS_SECTIONS if is_administrator or role == "records" else {}),
        **(ADMINISTRATOR_SECTIONS if is_administrator else {}),
    }
    missing = {
        path for path, route in ROUTES_OF_PLUGINS.items() if not visit.host.pages.has_route("GET", route)
    }
    return {path: key for path, key in sections.items() if path not in missing}
