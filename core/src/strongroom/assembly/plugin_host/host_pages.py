"""Implements ``host.pages``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

from strongroom.assembly.plugin_host.forms import HostForms, PluginForms
from strongroom.assembly.plugin_host.page_parts import PageParts, is_seen
from strongroom.foundation.errors import NotFound
from strongroom.foundation.locales import choose_locale
from strongroom.identity.sessions.factor_verification import SecondFactors
from strongroom.identity.verification.captchas import CaptchaService
from strongroom.plugin_api.forms import FormsAPI
from strongroom.plugin_api.pages import (
    ConsoleSection,
    LoginPages,
    MenuGroup,
    PageBrand,
    PageLink,
    PageRoute,
    SpaceSection,
)
from strongroom.plugin_api.rendering import PageCompression, PagesAPI
from strongroom.plugin_api.tenants import TenantInfo, TenantsAPI
from strongroom.web.http.access import optional_identity
from strongroom.web.http.internal_requests import has_operation
from strongroom.web.http.request import client, current_request_id
from strongroom.web.pages.design import TEXTS
from strongroom.web.pages.html import Pages
from strongroom.web.pages.languages import page_languages

if TYPE_CHECKING:
    from strongroom.assembly.services import Services


class RegisteredParts(Protocol):
    """What all plugins have registered for pages.

    Each property calls hooks of plugins when it is first read, and raises PluginError if one failed.
    """

    @property
    def page_parts(self) -> PageParts:
        """The links, menus and static files."""

    @property
    def forms(self) -> PluginForms:
        """The forms of second factors and captchas."""

    @property
    def offered_login_pages(self) -> LoginPages | None:
        """The pages on which browsers log in, if a plugin has them."""


@dataclass(eq=False, repr=False)
class HostPages(PagesAPI):
    """Implements ``host.pages``.

    Args:
        plugin: the plugin, whose templates and files it uses.
        services: returns the services of the process.
        registered: what all plugins have registered for pages.
        tenants: returns ``host.tenants``.
    """

    _plugin: str
    _base_path: str
    _services: Callable[[], "Services"]
    _registered: RegisteredParts
    _tenants: Callable[[], TenantsAPI]

    def render(
        self,
        template: str,
        *,
        status: int = 200,
        policy: Mapping[str, str] | None = None,
        language: str | None = None,
        compress: PageCompression = False,
        **values: Any,
    ) -> Any:
        return self._pages.render(
            template,
            status=status,
            policy=policy,
            language=language,
            compress=compress,
            **{"static": self._static_path, **values},
        )

    def login_links(self) -> Sequence[PageLink]:
        user_agent = client().user_agent if current_request_id() else None
        return self._registered.page_parts.links(self._page_languages(), user_agent)

    @property
    def find_login_route(self) -> Callable[[str], PageRoute | None] | None:
        parts = self._registered.page_parts
        if not parts.login_routes:
            return None
        return partial(parts.find_login_route, languages=tuple(self._page_languages()))

    def menu_items(self) -> Sequence[PageLink]:
        identity = optional_identity()
        is_administrator = identity is not None and identity.is_admin
        return self._registered.page_parts.menu(
            self._page_languages(), is_administrator=is_administrator
        )

    def sections(self, tenant: TenantInfo | None = None) -> Sequence[MenuGroup]:
        parts, languages = self._registered.page_parts, self._page_languages()
        language = choose_locale(languages)
        text = TEXTS.translator(language)
        if tenant is None:
            return parts.console(languages, lambda group: text(f"console-{group}"))
        return parts.space(tenant, language, text, self._can_read)

    def require_section(self, path: str) -> None:
        place = self._registered.page_parts.find_section(path)
        if place is not None and not self._sees(*place):
            raise NotFound

    def _sees(self, section: ConsoleSection | SpaceSection, tenant_id: str) -> bool:
        if isinstance(section, ConsoleSection):
            identity = optional_identity()
            return identity is not None and identity.is_admin
        return is_seen(section, lambda: self._tenants().role(tenant_id), self._can_read)

    def find_brand(self, path: str | None) -> PageBrand | None:
        return None if path is None else self._registered.page_parts.find_brand(path)

    def has_route(self, method: str, path: str) -> bool:
        return has_operation(method, self._base_path + path)

    def _can_read(self, route: str) -> bool:
        return self.has_route("GET", route)

    @cached_property
    def forms(self) -> FormsAPI:
        return HostForms(
            lambda: self._registered.forms,
            lambda: self._services().get(SecondFactors).methods,
            lambda: self._services().get(CaptchaService),
            self._base_path,
            self._plugin,
        )

    def _page_languages(self) -> Sequence[str]:
        return () if current_request_id() is None else page_languages()

    @cached_property
    def _pages(self) -> Pages:
        plugins = self._services().selection.plugins.plugins
        module = next(plugin.module for plugin in plugins if plugin.name == self._plugin)
        # The package of the plugin's module, or the module itself if it is a package.
        return Pages(module.__package__ or module.__name__, self._plugin)

    def _static_path(self, name: str) -> str:
        return self._registered.page_parts.static_path(self._plugin, name)
