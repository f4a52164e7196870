"""Parts of HTML pages: buttons and items that plugins add to pages of others, and files that pages need.

All paths are paths of the server without its base path, such as ``/account/``. A label has a text per
language, at least ``en``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from strongroom.plugin_api.login import Credential

if TYPE_CHECKING:
    from strongroom.plugin_api.tenants import TenantInfo
    from strongroom.plugin_api.web import RestResponse


@dataclass(frozen=True, slots=True)
class Connection:
    """How users who are logged in connect their account of another platform.

    Args:
        name: its name: lowercase letters, digits and underscores. Links with connections of one name
            connect the same platform.
        labels: the name of the platform by language.
        path: the path that begins connecting, by GET, in a browser that is logged in.
        method: the name of the login method that verifies the proof.
        kinds: the kinds of the credentials that are bound.
        rest_path: the path of the REST API that unbinds them: by DELETE, with the header
            ``X-Verification-Code``.
        replaced: returns the credentials that a new one replaces, as for :meth:`LoginsAPI.bind`.
        prefix: the beginning of their values, where several connections have these kinds.
    """

    name: str
    labels: Mapping[str, str]
    path: str
    method: str
    kinds: tuple[str, ...]
    rest_path: str
    replaced: Callable[[Sequence[Credential]], Collection[Credential]]
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class LoginRequest:
    """How clients with pages of their own begin a login by the REST API.

    Args:
        path: the path of the operation, by POST, whose response has the ``url`` of the platform.
        body: the members of its body that choose the app or provider, such as ``{"app": "main"}``.
    """

    path: str
    body: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoginLink:
    """A button of the login page that begins a login by another way, such as a redirect.

    Args:
        name: its name in the configuration: lowercase letters, digits and underscores.
        labels: its text by language.
        path: the path that begins the login, by GET.
        icon: the name of a picture among the static files of the plugin, such as ``mark.svg``.
        works_in: words in the ``User-Agent`` of the browsers in which it works, such as
            ``MicroMessenger``; empty: it works in all of them.
        fails_in: words in the ``User-Agent`` of browsers in which it does not work.
        connection: how users connect such an account to theirs; ``None``: they cannot.
        kind: the name of its login method, which clients choose a design by.
        platform: the name of the platform by language; ``None``: its text.
        shows_qr_code: whether the page that it leads to shows a QR code to scan.
        request: how clients with pages of their own begin it; ``None``: they cannot.
        own_app: words in the ``User-Agent`` of the platform's own app, in whose browser the page
            offers it before all other ways.
    """

    name: str
    labels: Mapping[str, str]
    path: str
    icon: str | None = None
    works_in: tuple[str, ...] = ()
    fails_in: tuple[str, ...] = ()
    connection: Connection | None = None
    kind: str | None = None
    platform: Mapping[str, str] | None = None
    shows_qr_code: bool = False
    request: LoginRequest | None = None
    own_app: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoginRoute:
    """The login that a name leads to, such as the one at the identity provider of a company.

    Args:
        path: begins the login, as the path of a :class:`LoginLink`.
        labels: the text of its button by language.
        is_required: whether the page leads there at once. A browser that comes back finds the other ways
            below, because some users may take them; a condition of logins refuses the others.
    """

    path: str
    labels: Mapping[str, str]
    is_required: bool = False


FindLoginRoute = Callable[[str], LoginRoute | None]
"""Returns the login that a name leads to, as its user has typed it; ``None``: by the ways of the page.

The result must be the same whether or not a user has the name, and so must the time that it takes.
"""


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A :class:`LoginRoute` in the language of a page.

    Args:
        path: the path with the base path of the server, for ``href``.
    """

    path: str
    label: str
    is_required: bool


MenuPlace = Literal["menu", "area", "person", "account"]
"""The part of the menu: the sidebar, its areas, the menu of the user, or the sidebar of the account."""


@dataclass(frozen=True, slots=True)
class MenuItem:
    """An item of the menu of the pages for users who are logged in.

    Args:
        path: the path of the page.
        labels: its text by language.
        icon: the name of an icon of the server, such as ``folder``; empty: a circle.
        order: its place; items of one order are in the order of ``plugins.enabled``.
        for_administrators: whether only administrators of the server see it.
        place: the part of the menu.
        choices: the path of the places of an area, which the switcher reads when it opens: an HTML
            document whose first ``ul`` has their links; ``None`` without such places.
        search: the path of a page that searches everything for the parameter ``q``. The same path with
            ``/results`` has the results alone: sections with a heading and a list of links. ``None``
            without a search. The frame uses the search of the first item that has one.
    """

    path: str
    labels: Mapping[str, str]
    icon: str = ""
    order: int = 100
    for_administrators: bool = False
    place: MenuPlace = "menu"
    choices: str | None = None
    search: str | None = None


@dataclass(frozen=True, slots=True)
class MenuSection:
    """A page of an area, in the sidebar of its pages.

    Args:
        path: the path of the page, with the base path of the server.
        label: its text in the language of the page.
        icon: the name of its icon, as of a :class:`MenuItem`.
        count: what stands behind the text, such as a number.
        short_label: a text of one word, for the bar of phones; empty: the same text.
    """

    path: str
    label: str
    icon: str = ""
    count: str = ""
    short_label: str = ""


@dataclass(frozen=True, slots=True)
class MenuGroup:
    """Sections of an area below one heading.

    Args:
        label: the heading in the language of the page; empty without one.
    """

    sections: Sequence[MenuSection]
    label: str = ""


ConsoleGroup = Literal["first", "people", "security", "operation"]
"""The group of a section of the console's pages of the server; the first one has no heading."""


@dataclass(frozen=True, slots=True)
class ConsoleSection:
    """A page for administrators of the server, in the sidebar of the console's pages of the server.

    The page passes :meth:`PagesAPI.sections` to its template as ``sections``, and its own path
    as ``section``. A :class:`~strongroom.plugin_api.visits.PageApplication` opens the path, and all
    paths below it, for administrators only; other applications call :meth:`PagesAPI.require_section`.

    Args:
        path: the path of the page.
        labels: its text by language.
        icon: the name of an icon of the server, such as ``folder``; empty: a circle.
        group: the group that it is in.
        order: its place in the group; sections of one order are in the order of ``plugins.enabled``.
    """

    path: str
    labels: Mapping[str, str]
    icon: str = ""
    group: ConsoleGroup = "operation"
    order: int = 100


SpaceGroup = Literal["first", "space", "rules", "connections"]
"""The group of a section of the pages of a space; the first one has no heading."""


@dataclass(frozen=True, slots=True, eq=False)
class SpaceSection:
    """A page of a space, which is a tenant, in the sidebar of the console's pages of the space.

    The page passes :meth:`PagesAPI.sections` to its template as ``sections``, and its own path as
    ``section``. A :class:`~strongroom.plugin_api.visits.PageApplication` opens the path, and all paths
    below it, for ``roles`` only; other applications call :meth:`PagesAPI.require_section`.

    Args:
        path: the path of the page, with ``{tenant}`` in place of the id of the tenant.
        labels: its text by language.
        icon: the name of an icon of the server, such as ``folder``; empty: a circle.
        group: the group that it is in.
        order: its place in the group; sections of one order are in the order of ``plugins.enabled``.
        roles: the roles in the tenant that see it; ``None``: all members.
        route: the path of an operation ``GET`` of the REST API without which it is missing, as of
            :meth:`PagesAPI.has_route`; empty: none.
        count: returns what stands behind the text, such as a number; empty: nothing.
        short_labels: a text of one word by language, for the bar of phones; empty: ``labels``.
    """

    path: str
    labels: Mapping[str, str]
    icon: str = ""
    group: SpaceGroup = "connections"
    order: int = 100
    roles: frozenset[str] | None = None
    route: str = ""
    count: "Callable[[TenantInfo], str] | None" = None
    short_labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """Files that the server sends as they are: scripts, styles, pictures and fonts.

    On pages that extend ``strongroom/page.html``, modules import the server's as ``strongroom/``:
    ``strongroom/documents.js`` reads pages, ``strongroom/texts.js`` formats numbers and sizes, and
    ``strongroom/parts.js`` has the icons.

    Args:
        folder: the folder in the package of the plugin, with its subfolders.
        is_compact: send scripts and style sheets without comments and indentation, except the ones in
            folders called ``vendor``. Template literals of scripts must not span lines.
    """

    folder: str = "static"
    is_compact: bool = False


@dataclass(frozen=True, slots=True)
class PageConnection:
    """The connection of a login link, in the language of the page.

    Args:
        label: the name of the platform.
        path: the path that begins connecting, with the base path of the server, for ``href``.
    """

    label: str
    path: str
    connection: Connection


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link of a page, in the language of the page.

    Args:
        name: the name of a login link; empty for an item of a menu.
        path: the path with the base path of the server, for ``href``.
        icon: the path of its picture, for ``src``; ``None`` without one.
        is_usable: whether it works in the browser of the request.
        connection: the connection of a login link, if it has one.
        platform: the name of the platform of a login link.
        link: the login link; ``None`` for an item of a menu.
        is_of_app: whether the browser of the request is in the platform's own app.
        item: the item of a menu; ``None`` for a login link.
    """

    name: str
    label: str
    path: str
    icon: str | None = None
    is_usable: bool = True
    connection: PageConnection | None = None
    platform: str = ""
    link: LoginLink | None = None
    is_of_app: bool = False
    item: MenuItem | None = None


@dataclass(frozen=True, slots=True)
class PageBrand:
    """The brand of an application that a page of a login leads to, in addition to the server's brand.

    A page shows it if it is the variable ``page_brand`` of its template, and has no menu.

    Args:
        name: the name of the application.
        logo: the path of a picture of the server, with the base path; ``None`` without one.
        accent: the colour of buttons and links, as ``#rrggbb``; ``None``: the server's. Labels on it are
            black or white, and links are a darker or lighter shade where the contrast would be too low.
        terms_url: the terms of service of the application.
        privacy_url: its privacy policy.
    """

    name: str
    logo: str | None = None
    accent: str | None = None
    terms_url: str | None = None
    privacy_url: str | None = None


FindBrand = Callable[[str], PageBrand | None]
"""Returns the brand of the application that a path of the server leads to, with its query."""


class LoginPages(ABC):
    """The pages on which browsers log in. The WSGI application of one plugin derives from it."""

    @abstractmethod
    def login_path(self, resume: str | None, *, login_hint: str | None = None) -> str:
        """Return the path of the login page, with the base path of the server.

        Args:
            resume: a path of this server that the login leads to, with the base path and the query;
                ``None``, or a text that :func:`is_local_path` refuses: to the page of the account.
            login_hint: the name that the page fills in, untrusted.
        """

    def account_path(self) -> str:
        """Return the path of the page of the account, with the base path of the server.

        It leads users who are not logged in to the login.
        """
        return self.login_path(None)

    def change_password_path(self) -> str | None:
        """Return the path of the page on which users change their password; ``None`` without one.

        ``/.well-known/change-password`` leads to it, unless a plugin has a route of that path.
        """
        return None

    def step_up_path(self, resume: str) -> str | None:  # noqa: ARG002  for the classes that override it
        """Return the path of the page for a fresh proof of the user who is logged in.

        Args:
            resume: a path of this server that the proof leads back to, as in :meth:`login_path`.

        Returns:
            ``None`` by default: these pages have no step-up.
        """
        return None

    @abstractmethod
    def finish(
        self, login: "RestResponse", resume: str | None, *, method: str, link: str | None = None
    ) -> Any:
        """Return the Flask response that follows a login by another method, or the refusal of one.

        That is the return to the page or the front end that needs the login, after the pages for a
        second factor if the response requires one; or the login page with the text of the error.

        Args:
            login: the response that ``POST /authorizations`` gives to such a login.
            resume: the path that the login leads to; ``None``: what the login page was opened for.
            method: the name of the login method.
            link: the name of the login link that it began with, if that is known.
        """

    def refuse(self, login: "RestResponse") -> Any:  # noqa: ARG002  for the classes that override it
        """Return the Flask response that leads to a page with the text of an error.

        Args:
            login: the error response.

        Returns:
            ``None`` by default: the server's page of errors shows it.
        """
        return None

    def finish_connection(
        self,
        name: str,  # noqa: ARG002  for the classes that override it
        proof: Mapping[str, str] | None,  # noqa: ARG002
    ) -> Any:
        """Return the Flask response that requires the user's own proof, and then connects an account.

        The proof stays sealed in the browser meanwhile. The user's own proof is what
        :meth:`LoginsAPI.bind` requires.

        Args:
            name: the name of the :class:`Connection`.
            proof: the proof for its login method; ``None``: the user has refused it on the platform.

        Returns:
            ``None`` by default: these pages connect no accounts.
        """
        return None
