"""What all pages of a tenant share: its name, the sections, and which of them the user sees."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote

from werkzeug.exceptions import NotFound

from strongroom.plugin_api.pages import MenuGroup, MenuSection
from strongroom.plugin_api.tenants import TenantInfo
from strongroom.plugin_api.visits import Visit
from strongroom_console.ages import ages

GROUPS: Final[Mapping[str, Sequence[tuple[str, str, str]]]] = {
    "": (
        ("files/", "files", "folder"),
        ("shared/", "shared-with-me", "inbox"),
        ("shares/", "links", "link"),
        ("trash/", "trash", "trash-2"),
    ),
    "group-space": (
        ("members/", "members", "users"),
        ("groups/", "groups", "tag"),
        ("invitations/", "invitations", "mail"),
        ("usage/", "usage", "gauge"),
        ("activity/", "activity", "activity"),
        ("settings/", "settings", "settings"),
    ),
    "group-rules": (
        ("retention/", "retention", "clock"),
        ("share-policy/", "share-policy", "lock"),
    ),
    "group-connections": (
        ("webhooks/", "webhooks", "webhook"),
        ("service-accounts/", "service-accounts", "key-round"),
    ),
}
"""The sections by the keys of their headings: paths below the tenant's, keys of names, and icons."""

SHORT: Final[Mapping[str, str]] = {"shared/": "shared"}
"""The keys of the names in the bar of phones, which has room for one word."""

_PATHS: Final = frozenset(path for group in GROUPS.values() for path, _, _ in group)

RECORDS_SECTIONS: Final = frozenset({"retention/"})
"""The sections that administrators of the tenant and the role ``records`` see."""

ADMINISTRATOR_SECTIONS: Final = frozenset(
    {"invitations/", "service-accounts/", "share-policy/", "webhooks/", "activity/", "settings/"}
)
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
    here = f"{visit.root}/tenants/{tenant_id}"
    return visit.page(
        template,
        tenant=tenant,
        is_tenant_administrator=role == "admin",
        role=role,
        age=ages(visit.host),
        tenant_root=here,
        sections=tenant_groups(visit, tenant, here),
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


def sections_of(visit: Visit, role: str | None) -> frozenset[str]:
    """Return the paths of the sections that a role in a tenant sees, if their plugins are enabled."""
    hidden = {
        path for path, route in ROUTES_OF_PLUGINS.items() if not visit.host.pages.has_route("GET", route)
    }
    if role != "admin":
        hidden |= ADMINISTRATOR_SECTIONS
    if role not in ("admin", "records"):
        hidden |= RECORDS_SECTIONS
    return _PATHS - hidden


def tenant_groups(visit: Visit, tenant: TenantInfo, root: str) -> Sequence[MenuGroup]:
    """Return the sections of a tenant that the user sees, by their headings."""
    return _groups(root, sections_of(visit, tenant.role), _used_share(tenant))


# Hot: each page of a tenant has the groups, and few of them differ.
@lru_cache(maxsize=1024)
def _groups(root: str, seen: frozenset[str], used: str) -> Sequence[MenuGroup]:
    groups = [
        MenuGroup(
            [
                MenuSection(
                    f"{root}/{path}", key, icon, used if path == "usage/" else "", SHORT.get(path, "")
                )
                for path, key, icon in group
                if path in seen
            ],
            heading,
        )
        for heading, group in GROUPS.items()
    ]
    return tuple(group for group in groups if group.sections)


def _used_share(tenant: TenantInfo) -> str:
    return f"{tenant.used_bytes * 100 // tenant.quota_bytes} %" if tenant.quota_bytes else ""
