"""HTML pages of plugins: ``host.pages``.

A page is a template of the plugin's package, in the design of the server's own pages::

    return host.pages.render("report.html", rows=rows)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from strongroom.plugin_api.forms import FormsAPI
from strongroom.plugin_api.pages import MenuGroup, PageBrand, PageLink, PageRoute
from strongroom.plugin_api.tenants import TenantInfo

PageCompression = bool | Literal["any-site"]
"""Whether a page is compressed, see :meth:`PagesAPI.render`."""

ANY_SITE: Final = "any-site"
"""A page that is compressed whichever site has led the browser to it."""


class PagesAPI(ABC):
    """Renders pages, and lists what other plugins add to them."""

    @abstractmethod
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
        """Return the Flask response with an HTML page of the plugin, in the browser's language.

        The package of the plugin has the folders ``templates``, with Jinja2 templates, and ``messages``,
        with a TOML file of texts per language, such as ``zh.toml``, or several such as
        ``errors.zh.toml``. ``{{ text("key", name=name) }}`` is
        a text of the page's language, with ``{name}`` replaced. ``{% extends "strongroom/frame.html"
        %}`` gives a page the design of the server's own, with the brand and a switch of languages; its
        blocks are ``heading``, ``content``, ``style`` and ``scripts``. ``strongroom/parts.html`` has
        macros for fields, choices, tables, dialogs and alerts. The Content-Security-Policy allows only
        scripts and styles with ``nonce="{{ nonce }}"``, and styles, pictures and fonts of the server.

        Args:
            template: the file name of the template.
            status: the status code.
            policy: directives that replace the strict policy's, such as
                ``{"form-action": "'self'"}``.
            language: the language of the page, such as ``zh``; ``None``: the one that the user has
                chosen in the pages, or else the browser's.
            compress: send the page compressed. A page that shows a secret must not be, because the
                size of a compressed response reveals how similar its parts are: neither a link of a
                share, a key or a code, nor a path that has one. :attr:`BrowserAPI.csrf` is none.
                ``True`` compresses it for requests that no other site has caused, ``"any-site"`` for
                all: its path is a secret, and who knows it may see the whole page, so a site that can
                lead a browser there has nothing to learn.
            values: the other variables of the template, which also has ``static``, a function that
                returns the path of a static file of the plugin. A :class:`PagePart` among them, or in a
                list, adds its script and its sources of the policy to the page.
        """

    @abstractmethod
    def login_links(self) -> Sequence[PageLink]:
        """Return the buttons that plugins add to the login page, in its language.

        Some work in other browsers only, see :attr:`PageLink.is_usable`.
        """

    @property
    @abstractmethod
    def find_login_route(self) -> Callable[[str], PageRoute | None] | None:
        """Finds the login that a name leads to; ``None``: no plugin leads names to logins.

        With it, the login page asks for the name first. A function of a plugin that fails finds nothing.
        """

    @abstractmethod
    def menu_items(self) -> Sequence[PageLink]:
        """Return the items of the menu that the caller sees, in the page's language."""

    @abstractmethod
    def sections(self, tenant: TenantInfo | None = None) -> Sequence[MenuGroup]:
        """Return the sections of the console's pages of a tenant, or of the server, in its language.

        Args:
            tenant: of :meth:`TenantsAPI.get`, whose role decides about the sections; ``None``: the
                server, for its administrators.
        """

    @abstractmethod
    def require_section(self, path: str) -> None:
        """Require that the caller may open a page, by the section of the console that it is in.

        That is the one with the most segments that the path begins with; a page in none passes.
        :class:`~strongroom.plugin_api.visits.PageApplication` calls this before each view.

        Args:
            path: the path of the page, without the base path.

        Raises:
            NotFound: it is in a section of the server, and the caller is no administrator of it; or in a
                section of a space that the caller's role does not see, or whose route is missing.
        """

    @abstractmethod
    def find_brand(self, path: str | None) -> PageBrand | None:
        """Return the brand of the application that a path leads to; ``None`` without one.

        Args:
            path: a path of this server with the base path and the query, such as the one that a login
                leads to.
        """

    @abstractmethod
    def has_route(self, method: str, path: str) -> bool:
        """Return whether the server has an operation of the REST API, without calling it.

        For pages that offer only what the enabled plugins provide. Routes that answer 501 do not count.
        Request-bound.

        Args:
            path: a path without the query and without the base path, such as
                ``/api/v1/tenants/any/members``; any text stands for a parameter.
        """

    @property
    @abstractmethod
    def forms(self) -> FormsAPI:
        """The forms of second factors and captchas, for pages."""
