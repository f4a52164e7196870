"""What plugins add to pages: collected from the hooks, and checked."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Any, Final, Protocol, get_args
from urllib.parse import quote

from strongroom.foundation.locales import choose_locale
from strongroom.foundation.plugins.plugin import Plugin, PluginError
from strongroom.plugin_api.browser import is_local_path
from strongroom.plugin_api.pages import (
    Connection,
    ConsoleGroup,
    ConsoleSection,
    FindBrand,
    FindLoginRoute,
    LoginLink,
    LoginPages,
    LoginRequest,
    MenuGroup,
    MenuItem,
    MenuPlace,
    MenuSection,
    PageBrand,
    PageConnection,
    PageLink,
    PageRoute,
    SpaceGroup,
    SpaceSection,
    StaticFiles,
)
from strongroom.plugin_api.tenants import TenantInfo
from strongroom.web.http.mounts import read_mounted
from strongroom.web.pages.icons import icon_names
from strongroom.web.pages.static_files import PICTURES, StaticFolder, static_path

logger = logging.getLogger(__name__)

PLACE_OF_TENANT: Final = "{tenant}"
"""What stands for the id of the tenant in the path of a section of a space."""

_FIRST: Final = "first"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")

CallHook = Callable[[str], Iterable[tuple[Plugin, Any]]]
"""Calls a hook of each plugin, and returns the items with their plugins."""


class _Labelled(Protocol):
    @property
    def labels(self) -> Mapping[str, str]: ...

    @property
    def path(self) -> str: ...


@dataclass(frozen=True)
class PageParts:
    """The parts of pages of all plugins.

    Args:
        login_links: with the plugins that they belong to.
        menu_items: in their order, likewise.
        console_sections: in their order, likewise.
        space_sections: in their order, likewise.
        login_routes: find the login that a name leads to, likewise.
        find_brands: find the brand of what a path leads to.
        static_folders: by plugin.
    """

    base_path: str
    login_links: tuple[tuple[str, LoginLink], ...]
    menu_items: tuple[tuple[str, MenuItem], ...]
    console_sections: tuple[tuple[str, ConsoleSection], ...]
    space_sections: tuple[tuple[str, SpaceSection], ...]
    login_routes: tuple[tuple[str, FindLoginRoute], ...]
    find_brands: tuple[FindBrand, ...]
    static_folders: Mapping[str, StaticFolder]

    def links(self, languages: Iterable[str], user_agent: str | None = None) -> list[PageLink]:
        """Return the login links in the first of some languages that they have.

        Args:
            user_agent: the browser that they are for; ``None``: any browser.
        """
        languages = tuple(languages)
        return [
            PageLink(
                link.name,
                _label(link, languages),
                self.base_path + link.path,
                None if link.icon is None else self.static_path(plugin, link.icon),
                user_agent is None or _works_in(link, user_agent),
                self._connection(link.connection, languages),
                _text(link.platform or link.labels, languages),
                link,
                _has_word(user_agent or "", link.own_app),
            )
            for plugin, link in self.login_links
        ]

    def _connection(
        self, connection: Connection | None, languages: Sequence[str]
    ) -> PageConnection | None:
        if connection is None:
            return None
        path = self.base_path + connection.path
        return PageConnection(_label(connection, languages), path, connection)

    def menu(self, languages: Iterable[str], *, is_administrator: bool) -> list[PageLink]:
        """Return the items of the menu that a user sees, in the first of some languages."""
        languages = tuple(languages)
        return [
            PageLink("", _label(item, languages), self.base_path + item.path, item=item)
            for _, item in self.menu_items
            if is_administrator or not item.for_administrators
        ]

    def find_login_route(self, name: str, languages: Iterable[str]) -> PageRoute | None:
        """Return the login that a name leads to, in the first of some languages; ``None``: to none."""
        for plugin, find in self.login_routes:
            try:
                route = find(name)
            # People can still log in by the other ways.
            except Exception:
                logger.exception('Plugin "%s" failed to find a login', plugin)
                continue
            if route is not None:
                label = _text(route.labels, languages)
                return PageRoute(self.base_path + route.path, label, route.is_required)
        return None

    def find_brand(self, path: str) -> PageBrand | None:
        """Return the brand of the application that a path leads to; ``None`` without one."""
        return next((brand for find in self.find_brands if (brand := find(path))), None)

    def console(self, languages: Iterable[str], heading: Callable[[str], str]) -> list[MenuGroup]:
        """Return the sections of the console's pages of the server, in the first of some languages.

        Args:
            heading: returns the heading of a group.
        """
        languages, sections = tuple(languages), [item for _, item in self.console_sections]
        found = {
            group: [self._section(item, languages) for item in sections if item.group == group]
            for group in get_args(ConsoleGroup)
        }
        return [
            MenuGroup(items, heading(group) if group != _FIRST else "")
            for group, items in found.items()
            if items
        ]

    def _section(self, item: ConsoleSection, languages: Sequence[str]) -> MenuSection:
        return MenuSection(self.base_path + item.path, _label(item, languages), item.icon)

    def space(
        self,
        tenant: TenantInfo,
        language: str,
        text: Callable[[str], str],
        has_route: Callable[[str], bool],
    ) -> Sequence[MenuGroup]:
        """Return the sections of the pages of a tenant that the caller's role in it sees.

        Args:
            text: returns a text of the server's pages by its key.
            has_route: returns whether the server has an operation ``GET`` of a path.
        """
        seen = tuple(
            (item, item.count(tenant) if item.count else "")
            for _, item in self.space_sections
            if is_seen(item, lambda: tenant.role, has_route)
        )
        return _space_groups(seen, self.base_path, quote(tenant.id, safe=""), language, text)

    def find_section(self, path: str) -> tuple[ConsoleSection | SpaceSection, str] | None:
        """Return the nearest section that a path is in, and the id of its tenant.

        Args:
            path: without the base path.

        Returns:
            The id is empty for a section of the server. ``None``: the path is in no section.
        """
        for head, pattern, section in self._section_patterns:
            if path.startswith(head) and (match := pattern.match(path)):
                return section, match.groupdict().get("tenant", "")
        return None

    @cached_property
    def _section_patterns(
        self,
    ) -> Sequence[tuple[str, re.Pattern[str], ConsoleSection | SpaceSection]]:
        """The constant beginnings of the paths of sections, their patterns and the sections."""
        owned: list[tuple[str, ConsoleSection | SpaceSection]] = [
            *self.console_sections,
            *self.space_sections,
        ]
        patterns = []
        for section in sorted((item for _, item in owned), key=_nearness):
            parts = section.path.rstrip("/").split(PLACE_OF_TENANT)
            pattern = "(?P<tenant>[^/]+)".join(re.escape(part) for part in parts)
            patterns.append((parts[0], re.compile(rf"{pattern}(?:/|$)"), section))
        return patterns

    def static_path(self, plugin: str, name: str) -> str:
        """Return the path of a static file of a plugin, with the base path.

        Raises:
            ValueError: the plugin has no such file.
        """
        folder = self.static_folders.get(plugin)
        if folder is None or name not in folder:
            raise ValueError(f'plugin "{plugin}" has no static file {name!r}')
        return self.base_path + static_path(plugin, folder, name)


def is_seen(
    section: SpaceSection, find_role: Callable[[], str | None], has_route: Callable[[str], bool]
) -> bool:
    """Return whether a user sees a section of a space.

    Args:
        find_role: returns the role of the user in the tenant; not called for a section of all members.
        has_route: returns whether the server has an operation ``GET`` of a path.
    """
    if section.route and not has_route(section.route):
        return False
    return section.roles is None or find_role() in section.roles


def _nearness(section: ConsoleSection | SpaceSection) -> tuple[int, bool]:
    """Order sections: the most segments first, and among as many, sections of the server first.

    So ``/drawers/all`` is the section of the server, where ``/drawers/{tenant}`` is one of spaces.
    """
    return -section.path.rstrip("/").count("/"), PLACE_OF_TENANT in section.path


# Hot: each page of a tenant has the groups, and few of them differ.
@lru_cache(maxsize=1024)
def _space_groups(
    seen: Sequence[tuple[SpaceSection, str]],
    base_path: str,
    tenant: str,
    language: str,
    text: Callable[[str], str],
) -> Sequence[MenuGroup]:
    groups: dict[str, list[MenuSection]] = {group: [] for group in get_args(SpaceGroup)}
    for item, count in seen:
        path = base_path + item.path.replace(PLACE_OF_TENANT, tenant)
        short = _text(item.short_labels, [language]) if item.short_labels else ""
        groups[item.group].append(MenuSection(path, _label(item, [language]), item.icon, count, short))
    return tuple(
        MenuGroup(items, text(f"space-{group}") if group != _FIRST else "")
        for group, items in groups.items()
        if items
    )


def _works_in(link: LoginLink, user_agent: str) -> bool:
    is_accepted = not link.works_in or _has_word(user_agent, link.works_in)
    return is_accepted and not _has_word(user_agent, link.fails_in)


def _has_word(user_agent: str, words: Iterable[str]) -> bool:
    return any(word in user_agent for word in words)


def _label(item: _Labelled, languages: Iterable[str]) -> str:
    return _text(item.labels, languages)


def _text(labels: Mapping[str, str], languages: Iterable[str]) -> str:
    return labels[choose_locale(languages, known=labels.keys())]


def page_parts(call: CallHook, base_path: str) -> PageParts:
    """Return the parts of pages of all plugins.

    Raises:
        PluginError: a plugin failed, or returned something that cannot be used.
    """
    folders = _static_folders(call)
    items = [(plugin.name, item) for plugin, item in _menu_items(call)]
    return PageParts(
        base_path,
        _login_links(call, folders),
        tuple(sorted(items, key=lambda owned: owned[1].order)),
        tuple(sorted(_console_sections(call), key=lambda owned: owned[1].order)),
        tuple(sorted(_space_sections(call), key=lambda owned: owned[1].order)),
        tuple(_functions(call, "register_login_routes", "a name")),
        tuple(find for _, find in _functions(call, "register_page_brands", "a path")),
        folders,
    )


def registered_login_pages(applications: Iterable[tuple[Plugin, Any]]) -> LoginPages | None:
    """Return the login pages among the mounted applications; ``None`` without any.

    Raises:
        PluginError: two plugins have login pages.
    """
    offered = [(plugin, pages) for plugin, item in applications if (pages := _login_pages(item))]
    if len(offered) > 1:
        (first, _), (second, _) = offered[:2]
        raise PluginError(f"{second}: {first} has login pages, too; enable one of them")
    return offered[0][1] if offered else None


def _login_pages(item: Any) -> LoginPages | None:
    # What is no application is refused when it is mounted.
    mounted = read_mounted(item)
    application: Any = mounted and mounted.application
    return application if isinstance(application, LoginPages) else None


def _login_links(
    call: CallHook, folders: Mapping[str, StaticFolder]
) -> tuple[tuple[str, LoginLink], ...]:
    links: dict[str, tuple[str, LoginLink]] = {}
    for plugin, link in _labelled(call, "register_login_links", LoginLink):
        _require_name(plugin, link)
        _require_request(plugin, link)
        if link.connection is not None:
            _require_kind(plugin, "register_login_links", link.connection, Connection)
            _require_name(plugin, link.connection)
            _require_labelled(plugin, link.connection)
        if link.name in links:
            raise PluginError(f'{plugin}: there is another login link "{link.name}"; rename one')
        if link.icon is not None and not _is_picture(link.icon, folders.get(plugin.name)):
            rule = "a picture of register_static_files"
            raise PluginError(f'{plugin}: the icon {link.icon!r} of "{link.name}" must be {rule}')
        links[link.name] = (plugin.name, link)
    return tuple(links.values())


def _menu_items(call: CallHook) -> Iterable[tuple[Plugin, MenuItem]]:
    for plugin, item in _labelled(call, "register_menu_items", MenuItem):
        _require_icon(plugin, item)
        _require_choice(plugin, item, "place", get_args(MenuPlace))
        for path in filter(None, (item.choices, item.search)):
            _require_local(plugin, replace(item, path=path))
        yield plugin, item


def _console_sections(call: CallHook) -> Iterable[tuple[str, ConsoleSection]]:
    for plugin, item in _labelled(call, "register_console_sections", ConsoleSection):
        _require_icon(plugin, item)
        _require_choice(plugin, item, "group", get_args(ConsoleGroup))
        yield plugin.name, item


def _space_sections(call: CallHook) -> Iterable[tuple[str, SpaceSection]]:
    for plugin, item in _labelled(call, "register_space_sections", SpaceSection):
        _require_icon(plugin, item)
        _require_choice(plugin, item, "group", get_args(SpaceGroup))
        if PLACE_OF_TENANT not in item.path:
            rule = f"must have {PLACE_OF_TENANT} in place of the id of the tenant"
            raise PluginError(f"{plugin}: the path of a SpaceSection {rule}, not {item.path!r}")
        if item.short_labels:
            _require_english(plugin, item, item.short_labels, "short_labels")
        yield plugin.name, item


def _functions(call: CallHook, hook: str, argument: str) -> Iterable[tuple[str, Any]]:
    for plugin, find in call(hook):
        if not callable(find):
            rule = f"expected a function of {argument}"
            raise PluginError(f"{plugin} returned {find!r} from {hook}; {rule}")
        yield plugin.name, find


def _require_icon(plugin: Plugin, item: MenuItem | ConsoleSection | SpaceSection) -> None:
    if item.icon and item.icon not in icon_names():
        raise PluginError(f"{plugin}: a {type(item).__name__}: the server has no icon {item.icon!r}")


def _require_choice(plugin: Plugin, item: Any, member: str, choices: Sequence[str]) -> None:
    value = getattr(item, member)
    if value not in choices:
        rule = f"must be one of {', '.join(choices)}"
        raise PluginError(f"{plugin}: the {member} of a {type(item).__name__} {rule}, not {value!r}")


def _require_name(plugin: Plugin, item: Any) -> None:
    if not isinstance(item.name, str) or not _NAME.fullmatch(item.name):
        rule = "at most 32 lowercase letters, digits and underscores"
        kind = type(item).__name__
        raise PluginError(f"{plugin}: the name of a {kind} must be {rule}, not {item.name!r}")


def _require_request(plugin: Plugin, link: LoginLink) -> None:
    """Refuse what clients could not use, such as a platform without an English name."""
    if link.platform is not None:
        _require_english(plugin, link, link.platform, "platform")
    if link.request is not None:
        _require_kind(plugin, "register_login_links", link.request, LoginRequest)
        _require_local(plugin, link.request)


def _is_picture(name: Any, folder: StaticFolder | None) -> bool:
    if not isinstance(name, str) or folder is None or name not in folder:
        return False
    return PurePosixPath(name).suffix in PICTURES


def _labelled(call: CallHook, hook: str, kind: type[Any]) -> Iterable[tuple[Plugin, Any]]:
    for plugin, item in call(hook):
        _require_kind(plugin, hook, item, kind)
        _require_labelled(plugin, item)
        yield plugin, item


def _require_labelled(plugin: Plugin, item: Any) -> None:
    _require_english(plugin, item, item.labels, "labels")
    _require_local(plugin, item)


def _require_english(plugin: Plugin, item: Any, labels: Any, what: str) -> None:
    if not isinstance(labels, Mapping) or "en" not in labels:
        rule = f'must have the language "en", not {labels!r}'
        raise PluginError(f"{plugin}: the {what} of a {type(item).__name__} {rule}")


def _require_local(plugin: Plugin, item: Any) -> None:
    if not isinstance(item.path, str) or not is_local_path(item.path):
        rule = f'must be one of the server, such as "/drawer/", not {item.path!r}'
        raise PluginError(f"{plugin}: the path of a {type(item).__name__} {rule}")


def _static_folders(call: CallHook) -> dict[str, StaticFolder]:
    folders: dict[str, StaticFolder] = {}
    for plugin, item in call("register_static_files"):
        _require_kind(plugin, "register_static_files", item, StaticFiles)
        if plugin.name in folders:
            raise PluginError(f"{plugin}: register_static_files returned two folders; return one")
        folders[plugin.name] = _static_folder(plugin, item)
    return folders


def _static_folder(plugin: Plugin, item: StaticFiles) -> StaticFolder:
    if plugin.file is not None or not plugin.module.__package__:
        raise PluginError(f"{plugin}: static files need a package; create one by strongroom plugins new")
    try:
        return StaticFolder.of_package(
            plugin.module.__package__, item.folder, is_compact=item.is_compact
        )
    except ValueError as error:
        raise PluginError(f"{plugin}: {error}") from error


def _require_kind(plugin: Plugin, hook: str, item: Any, kind: type[Any]) -> None:
    if not isinstance(item, kind):
        raise PluginError(f"{plugin} returned {item!r} from {hook}; expected a {kind.__name__}")
