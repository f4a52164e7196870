"""The sections of the pages of a space, which the console registers as other plugins do."""

from collections.abc import Mapping
from typing import Final

from strongroom.plugin_api.pages import SpaceGroup, SpaceSection
from strongroom.plugin_api.tenants import TenantInfo
from strongroom_console.visit import PREFIX

_SECTIONS: Final[tuple[tuple[SpaceGroup, str, str, str, str], ...]] = (
    ("first", "files/", "Files", "文件", "folder"),
    ("first", "shared/", "Shared with me", "与我共享", "inbox"),
    ("first", "shares/", "Links", "链接", "link"),
    ("first", "trash/", "Trash", "回收站", "trash-2"),
    ("space", "members/", "Members", "成员", "users"),
    ("space", "groups/", "Groups", "群组", "tag"),
    ("space", "invitations/", "Invitations", "邀请", "mail"),
    ("space", "usage/", "Usage", "用量", "gauge"),
    ("space", "activity/", "Activity", "动态", "activity"),
    ("space", "settings/", "Settings", "设置", "settings"),
    ("rules", "retention/", "Retention", "保留", "clock"),
    ("rules", "share-policy/", "Rules for links", "链接规则", "lock"),
    ("connections", "webhooks/", "Webhooks", "Webhook 推送", "webhook"),
    ("connections", "service-accounts/", "Service accounts", "服务账号", "key-round"),
)
"""The sections: groups, paths below the tenant's, names in English and Chinese, and icons."""

_SHORT: Final[Mapping[str, Mapping[str, str]]] = {"shared/": {"en": "Shared", "zh": "共享"}}

_ADMINISTRATORS: Final = frozenset({"admin"})

_ROLES: Final[Mapping[str, frozenset[str]]] = {
    "retention/": frozenset({"admin", "records"}),
    **dict.fromkeys(
        ("invitations/", "service-accounts/", "share-policy/", "webhooks/", "activity/", "settings/"),
        _ADMINISTRATORS,
    ),
}

_ROUTES: Final[Mapping[str, str]] = {
    "shared/": "/api/v1/shared-with-me",
    "shares/": "/api/v1/tenants/any/shares",
    "share-policy/": "/api/v1/tenants/any/share-policy",
    "webhooks/": "/api/v1/webhook-endpoints",
}
"""The routes of other plugins, without which a section is missing."""


def _used_share(tenant: TenantInfo) -> str:
    return f"{tenant.used_bytes * 100 // tenant.quota_bytes} %" if tenant.quota_bytes else ""


SPACE_SECTIONS: Final = tuple(
    SpaceSection(
        f"{PREFIX}/tenants/{{tenant}}/{path}",
        {"en": english, "zh": chinese},
        icon,
        group,
        order=10 * place,
        roles=_ROLES.get(path),
        route=_ROUTES.get(path, ""),
        count=_used_share if path == "usage/" else None,
        short_labels=_SHORT.get(path, {}),
    )
    for place, (group, path, english, chinese, icon) in enumerate(_SECTIONS, 1)
)
"""The sections, ten numbers apart, so that other plugins can place theirs between two."""
