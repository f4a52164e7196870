"""The sections of the pages of the server, which the console registers as other plugins do."""

from typing import Final

from strongroom.plugin_api.pages import ConsoleGroup, ConsoleSection
from strongroom_console.visit import PREFIX

_SECTIONS: Final[tuple[tuple[ConsoleGroup, str, str, str, str], ...]] = (
    ("first", "", "Overview", "概览", "house"),
    ("first", "health/", "Health", "健康状况", "heart-pulse"),
    ("people", "users/", "Users", "用户", "users"),
    ("people", "imports/", "Import and export", "导入与导出", "upload"),
    ("people", "tenants/", "All spaces", "所有空间", "layout-grid"),
    ("people", "service-accounts/", "Service accounts", "服务账号", "key-round"),
    ("security", "logins/", "Logins", "登录方式", "log-in"),
    ("security", "audit/", "Audit log", "审计日志", "scroll-text"),
    ("security", "quarantine/", "Quarantine", "隔离区", "shield"),
    ("operation", "storages/", "Storages", "存储", "hard-drive"),
    ("operation", "jobs/", "Jobs", "任务", "clock"),
    ("operation", "messages/", "Messages", "消息", "mail"),
    ("operation", "limits/", "Limits", "限额", "sliders-horizontal"),
    ("operation", "plugins/", "Plugins", "插件", "puzzle"),
    ("operation", "settings/", "Settings", "设置", "settings"),
)
"""The sections: groups, paths below the server's, names in English and Chinese, and icons."""

SERVER_SECTIONS: Final = tuple(
    ConsoleSection(
        f"{PREFIX}/server/{path}", {"en": english, "zh": chinese}, icon, group, order=10 * place
    )
    for place, (group, path, english, chinese, icon) in enumerate(_SECTIONS, 1)
)
"""The sections, ten numbers apart, so that other plugins can place theirs between two."""
