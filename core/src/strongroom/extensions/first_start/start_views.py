"""The start page of the server, for people and for programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from strongroom.extensions.first_start.first_administrator import Setup
from strongroom.extensions.first_start.setup_command import setup_commands
from strongroom.foundation.config import Settings
from strongroom.foundation.locales import choose_locale
from strongroom.identity.accounts.schemas import StartSchema
from strongroom.plugin_api.web import StartPage
from strongroom.version import __version__
from strongroom.web.http.access import Access
from strongroom.web.http.caching import CACHE_CONTROL, DAY, public
from strongroom.web.http.request import get_service, header, languages
from strongroom.web.http.response import Response, no_content
from strongroom.web.http.routing import Blueprint
from strongroom.web.pages.html import Pages

HTML: Final = "text/html"

blueprint: Final = Blueprint("start", description="The start page.")
_PAGES: Final = Pages("strongroom.extensions.first_start")
_BY_ACCEPT: Final = {"Vary": "Accept, Accept-Language"}


@dataclass(frozen=True, slots=True)
class StartPages:
    """The pages for people that plugins have registered, below the base path of the server."""

    base_path: str
    pages: Sequence[StartPage]

    def links(self) -> list[dict[str, str]]:
        """Return the path and the label of each page, in the language of the browser."""
        return [{"path": self.base_path + page.path, "label": _label(page)} for page in self.pages]

    @property
    def home(self) -> str | None:
        """The path of the page that the start page leads to; ``None`` without one."""
        paths = (self.base_path + page.path for page in self.pages if page.is_home)
        return next(paths, None)


def _label(page: StartPage) -> str:
    return page.labels[choose_locale(languages(), known=page.labels.keys())]


@blueprint.operation(
    "GET",
    "/",
    access=Access.PUBLIC,
    returns=StartSchema,
    any_query=True,
    document={
        "responses": {
            "200": {
                "description": "The server",
                "content": {
                    "application/json": {"schema": StartSchema},
                    HTML: {"schema": {"type": "string"}},
                },
            }
        }
    },
)
def show_start_page() -> Any:
    """Get the name, the version and links: as a page for people, as JSON for programs.

    A plugin may have a home page, to which people are redirected once there is an administrator.
    """
    settings, setup = get_service(Settings), get_service(Setup)
    base_path = settings.server.base_path
    root = settings.public_root + base_path
    addresses = {"openapi": "/openapi.json"}
    if settings.serves_api_docs:
        addresses["documentation"] = "/docs"
    if setup.is_needed():
        addresses["setup"] = "/setup"
    if HTML not in (header("Accept") or ""):
        links = {name: root + path for name, path in addresses.items()}
        return {"name": "Strongroom", "version": __version__, "links": links}, 200, _BY_ACCEPT
    home = get_service(StartPages).home
    if home is not None and "setup" not in addresses:
        return Response(b"", HTTPStatus.SEE_OTHER, {**_BY_ACCEPT, "Location": home})
    paths = {name: base_path + path for name, path in addresses.items()}
    return _page(paths, is_production=settings.is_production)


def _page(paths: dict[str, str], *, is_production: bool) -> Any:
    response = _PAGES.render(
        "start.html",
        links=paths,
        pages=get_service(StartPages).links(),
        version=__version__,
        is_production=is_production,
        command=setup_commands(is_production=is_production),
    )
    response.headers["Vary"] = _BY_ACCEPT["Vary"]
    return response


@blueprint.operation("GET", "/favicon.ico", access=Access.PUBLIC, status=204)
def get_favicon() -> Response:
    """Answer browsers, which request it with each first page; the server has no icon.

    Responds 204 without a body, so that the requests of browsers are no errors in the log. The response
    may be cached for a day.
    """
    return no_content({CACHE_CONTROL: public(DAY)})
