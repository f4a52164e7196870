"""The routes of the pages of shares."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from flask import request

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import Access, ApiError, Blueprint
from strongroom_share_links.pages import SharePages
from strongroom_share_links.schemas import DropFormQuery, PageQuery
from strongroom_share_links.service import Shares
from strongroom_share_links.visitor_routes import PATH_PARAMETERS, protect

Json = dict[str, Any]

_HTML: Final = {"text/html": {"schema": {"type": "string"}}}
_ERROR: Final = {
    "description": "An error: a page, or JSON for clients that accept JSON rather than HTML",
    "content": {**_HTML, "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
_DOCUMENT: Final = {
    "responses": {
        "200": {"description": "The page", "content": _HTML},
        **{str(status): _ERROR for status in (400, 401, 403, 404, 413, 415, 422, 429, 503, 507)},
    }
}
_FORM_FIELDS: Final = {
    "password": "The password of the share",
    "captcha": "Id of the captcha on the page, if there is one",
    "captchaAnswer": "What the visitor entered for the captcha",
    "csrf": "The value that the page has in its form",
}
_FORM: Final = {
    **_DOCUMENT,
    "requestBody": {
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": {
                    "type": "object",
                    "properties": {
                        name: {"type": "string", "description": text}
                        for name, text in _FORM_FIELDS.items()
                    },
                }
            }
        }
    },
}


def make_pages(host: HostAPI, shares: Shares) -> list[Blueprint]:
    """Return the routes of the pages, if the options enable them."""
    if not shares.options.page:
        return []
    routes = host.blueprint(
        "share-pages",
        description="Pages of share links, for browsers.",
        parameters={
            **PATH_PARAMETERS,
            "path": "The names of folders, and of the file, below the shared folder, with `/` between",
        },
    )
    pages = SharePages(host, shares)
    _add_pages(routes, pages)
    _add_forms(routes, pages)
    routes.after_request(protect)
    return [routes]


def _add_pages(routes: Blueprint, pages: SharePages) -> None:
    page: Any = {
        "access": Access.OPTIONAL,
        "limit": pages.count,
        "query": PageQuery,
        "document": _DOCUMENT,
    }

    def show(secret: str, names: Sequence[str], query: Json, *, is_folder: bool) -> Any:
        return _page(pages, secret, lambda: pages.get(secret, names, query, is_folder=is_folder))

    @routes.operation("GET", "/s/<secret>", **page)
    def show_share(secret: str, query: Json) -> Any:
        """Show the page of a share.

        It has the files, the form for uploads, or the form for the password. For browsers: programs use
        `GET /api/v1/shares/{secret}`.
        """
        return show(secret, [], query, is_folder=True)

    @routes.operation("GET", "/s/<secret>/", **page)
    def show_share_folder(secret: str, query: Json) -> Any:
        """Show the page of a share; its links are relative to this path.

        It is the page of the path without the final slash.
        """
        return show(secret, [], query, is_folder=True)

    @routes.operation("GET", "/s/<secret>/<path:path>", **page)
    def show_shared_path(secret: str, path: str, query: Json) -> Any:
        """Show a folder of a share, or download a file of it, by its path.

        A path that ends with a slash is a folder. Downloads are counted and can be resumed by ranges.
        """
        names = [name for name in path.split("/") if name]
        return show(secret, names, query, is_folder=path.endswith("/"))


def _add_forms(routes: Blueprint, pages: SharePages) -> None:
    form: Any = {"access": Access.OPTIONAL, "limit": pages.count, "any_query": True}

    @routes.operation("POST", "/s/<secret>", **form, document=_FORM)
    def open_share(secret: str) -> Any:
        """Open a share by the password in a form.

        The right password sets a cookie for 15 minutes and redirects to the page; a wrong one shows the
        form again.
        """
        return _page(pages, secret, lambda: pages.prove(secret, request.form))

    @routes.operation("POST", "/s/<secret>/drop", **form, query=DropFormQuery, document=_DOCUMENT)
    def drop_file_by_form(secret: str, query: Json) -> Any:
        """Upload a file by a form, without a script.

        The file is in a form of the page, with the value of its field `csrf`. The browser is redirected
        to the page, which confirms the upload.
        """
        return _page(pages, secret, lambda: pages.drop(secret, query))


def _page(pages: SharePages, secret: str, show: Callable[[], Any]) -> Any:
    try:
        return show()
    except ApiError as error:
        return pages.failed(secret, error)
