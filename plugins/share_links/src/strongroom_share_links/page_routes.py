"""The routes of the pages of shares."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from flask import request

from strongroom.plugin_api.request import get_service
from strongroom.plugin_api.web import Access, ApiError, Blueprint
from strongroom_share_links.pages import SharePages
from strongroom_share_links.schemas import DropFormQuery, PageQuery
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
    "captchaKind": "`picture` requests a picture in place of a captcha for scripts",
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


def count() -> Any:
    """Count a request of a visitor; beyond a limit, the response is a page."""
    return get_service(SharePages).count()


routes = Blueprint(
    "share-pages",
    description="Pages of share links, for browsers.",
    parameters={
        **PATH_PARAMETERS,
        "path": "The names of folders, and of the file, below the shared folder, with `/` between",
    },
)
routes.after_request(protect)


@routes.operation(
    "GET", "/s/<secret>", access=Access.OPTIONAL, limit=count, query=PageQuery, document=_DOCUMENT
)
def show_share(secret: str, query: Json) -> Any:
    """Show the page of a share.

    It has the files, the form for uploads, or the form for the password. For browsers: programs use
    `GET /api/v1/shares/{secret}`.
    """
    return _show(secret, [], query, is_folder=True)


@routes.operation(
    "GET", "/s/<secret>/", access=Access.OPTIONAL, limit=count, query=PageQuery, document=_DOCUMENT
)
def show_share_folder(secret: str, query: Json) -> Any:
    """Show the page of a share; its links are relative to this path.

    It is the page of the path without the final slash.
    """
    return _show(secret, [], query, is_folder=True)


@routes.operation(
    "GET",
    "/s/<secret>/<path:path>",
    access=Access.OPTIONAL,
    limit=count,
    query=PageQuery,
    document=_DOCUMENT,
)
def show_shared_path(secret: str, path: str, query: Json) -> Any:
    """Show a folder of a share, or download a file of it, by its path.

    A path that ends with a slash is a folder. Downloads are counted and can be resumed by ranges.
    """
    names = [name for name in path.split("/") if name]
    return _show(secret, names, query, is_folder=path.endswith("/"))


@routes.operation(
    "POST", "/s/<secret>", access=Access.OPTIONAL, limit=count, any_query=True, document=_FORM
)
def open_share(secret: str) -> Any:
    """Open a share by the password in a form.

    The right password sets a cookie for 15 minutes and redirects to the page; a wrong one shows the
    form again.
    """
    return _page(secret, lambda: get_service(SharePages).prove(secret, request.form))


@routes.operation(
    "POST",
    "/s/<secret>/drop",
    access=Access.OPTIONAL,
    limit=count,
    any_query=True,
    query=DropFormQuery,
    document=_DOCUMENT,
)
def drop_file_by_form(secret: str, query: Json) -> Any:
    """Upload a file by a form, without a script.

    The file is in a form of the page, with the value of its field `csrf`. The browser is redirected
    to the page, which confirms the upload.
    """
    return _page(secret, lambda: get_service(SharePages).drop(secret, query))


def _show(secret: str, names: Sequence[str], query: Json, *, is_folder: bool) -> Any:
    pages = get_service(SharePages)
    return _page(secret, lambda: pages.get(secret, names, query, is_folder=is_folder))


def _page(secret: str, show: Callable[[], Any]) -> Any:
    try:
        return show()
    except ApiError as error:
        return get_service(SharePages).failed(secret, error)
