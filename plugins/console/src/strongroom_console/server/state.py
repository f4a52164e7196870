"""What the server runs with: its settings, plugins, limits, jobs and messages."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import changed_query, page_number
from strongroom.plugin_api.server import ServerSetting
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.visits import current_visit
from strongroom_console.filters import make_chips
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.server.forms import filters
from strongroom_console.server.frame import server_page
from strongroom_console.server.titles import has_title_with, title_key
from strongroom_console.server.units import duration_words, rate_words, setting_value

state: Final = Blueprint("state", __name__, url_prefix="/server")

MESSAGE_STATES: Final = {
    "pending": "message-pending",
    "sent": "message-sent",
    "failed": "message-failed",
    "uncertain": "message-uncertain",
    "suppressed": "message-suppressed",
}
"""The keys of the names of the states of messages."""

JOB_STATES: Final = {
    "new": "job-new",
    "waiting": "job-waiting",
    "running": "job-running",
    "failed": "job-failed",
}
"""The keys of the names of the states of jobs."""

_LAST_PAGE: Final = 1000
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "settings-server": ("server", "management", "logging", "tracing", "database", "redis", "advanced"),
    "settings-people": (
        *("users", "login", "passwords", "tokens", "second_factors"),
        *("captcha", "access_keys", "limits", "audit"),
    ),
    "settings-files": ("tenants", "files", "business_files", "storages", "keys", "scanning", "events"),
    "settings-pages": ("pages", "messages", "plugins"),
}
"""The keys of the names of the groups of settings, with the first parts of the names of their tables."""

_OF_TABLE: Final = {table: key for key, tables in GROUPS.items() for table in tables}


@state.get("/settings/")
def show_settings() -> Any:
    """Show the configuration: all keys, those that a word finds, or those that were changed."""
    visit = current_visit()
    query = filters("q", changed=("1",))
    settings = [item for item in _in_order(visit.host.server.settings()) if _matches(item, query)]
    return server_page(
        visit,
        "server/settings.html",
        "settings/",
        groups=_groups(settings),
        is_open=bool(query),
        title_key=title_key,
        setting_value=setting_value,
        rate_words=rate_words,
        count=len(settings),
        query=query,
        chips=make_chips({("changed", "1"): "only-changed"}, query),
    )


def _in_order(settings: Sequence[ServerSetting]) -> list[ServerSetting]:
    """Return the settings with the tables of extensions after those that they belong to."""
    tables = list(dict.fromkeys(item.key.partition(".")[0] for item in settings))
    return sorted(settings, key=lambda item: tables.index(item.key.partition(".")[0]))


def _groups(settings: Sequence[ServerSetting]) -> list[Mapping[str, Any]]:
    """Return the tables of settings by the groups that they belong to."""
    groups: dict[str, list[tuple[str, list[ServerSetting]]]] = {key: [] for key in GROUPS}
    for name, items in groupby(settings, _table_of):
        # A table that is new is one of the server.
        groups[_OF_TABLE.get(name.partition(".")[0], "settings-server")].append((name, list(items)))
    return [{"key": key, "tables": tables} for key, tables in groups.items() if tables]


def _matches(setting: ServerSetting, query: dict[str, str]) -> bool:
    word = query.get("q", "").casefold()
    is_named = any(word in text.casefold() for text in (setting.key, setting.help))
    is_named = is_named or has_title_with(word, "setting", setting.key)
    return is_named and (setting.is_changed or "changed" not in query)


def _table_of(setting: ServerSetting) -> str:
    return setting.key.rpartition(".")[0]


@state.get("/plugins/")
def list_plugins() -> Any:
    """Show the plugins that run, and those that are installed only."""
    visit = current_visit()
    plugins = visit.host.server.plugins()
    return server_page(
        visit,
        "server/plugins.html",
        "plugins/",
        enabled=[item for item in plugins if item.is_enabled and not item.is_builtin],
        builtin=[item for item in plugins if item.is_builtin],
        others=[item for item in plugins if not item.is_enabled],
        title_key=title_key,
        setting_value=setting_value,
        rate_words=rate_words,
    )


@state.get("/limits/")
def show_limits() -> Any:
    """Show the limits in force."""
    visit = current_visit()
    limits = visit.host.server.limits()
    values = {"limits": limits, "title_key": title_key, "rate_words": rate_words}
    return server_page(visit, "server/limits.html", "limits/", **values)


@state.get("/jobs/")
def list_jobs() -> Any:
    """Show the recurring jobs."""
    visit = current_visit()
    return server_page(
        visit,
        "server/jobs.html",
        "jobs/",
        jobs=visit.host.server.jobs(),
        iso_format=iso_format,
        duration_words=duration_words,
        states=JOB_STATES,
        title_key=title_key,
    )


@state.get("/messages/")
def list_messages() -> Any:
    """Show the messages that were sent lately."""
    visit, number = current_visit(), min(page_number(), _LAST_PAGE)
    query = {"q": request.args.get("q", "").strip()[:255]}
    messages = visit.host.server.messages(page=number, size=PAGE_SIZE, recipient=query["q"])
    newer, older = number - 1, number + 1
    is_last = len(messages) < PAGE_SIZE or number >= _LAST_PAGE
    return server_page(
        visit,
        "server/messages.html",
        "messages/",
        messages=messages,
        iso_format=iso_format,
        states=MESSAGE_STATES,
        title_key=title_key,
        query=query,
        newer=changed_query(page=str(newer)) if newer else "",
        older="" if is_last else changed_query(page=str(older)),
    )
