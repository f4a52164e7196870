"""Errors as pages, for people whose browser has navigated to them; programs get JSON."""

from http import HTTPStatus
from typing import Final

import flask

from strongroom.foundation import errors
from strongroom.foundation.locales import LOCALES, choose_locale
from strongroom.plugin_api.web import ApiError
from strongroom.web.http.access import SAFE_METHODS
from strongroom.web.http.languages import translator
from strongroom.web.http.request import (
    get_service,
    header,
    method,
    request_path,
)
from strongroom.web.pages.design import PageDesign
from strongroom.web.pages.html import Pages
from strongroom.web.pages.languages import page_languages

_PAGES: Final = Pages("strongroom.web.pages")
_API: Final = "/api/"
_PAGE_TYPES: Final = ("text/html", "application/xhtml+xml")
_PLAIN: Final = frozenset(
    kind.code
    for kind in (
        errors.Forbidden,
        errors.HeaderFieldsTooLarge,
        errors.InternalError,
        errors.MalformedRequest,
        errors.MethodNotAllowed,
        errors.NotAcceptable,
        errors.NotFound,
        errors.NotImplementedHere,
        errors.PayloadTooLarge,
        errors.TokenInvalid,
        errors.TokenRequired,
        errors.TooManyRequests,
        errors.Unavailable,
        errors.UnsupportedCoding,
        errors.UnsupportedMediaType,
        errors.UriTooLong,
        errors.ValidationFailed,
    )
)
"""The kinds whose text says no more to a person than the title, or is for programs."""

_OWN_HEADERS: Final = ("Content-Type", "Content-Length", "Content-Language")


def negotiate_error(error: ApiError, response: flask.Response) -> flask.Response:
    """Return the response to an error: a page for people who navigate, and JSON for programs.

    No error of the REST API or of the management interface is a page.

    Args:
        response: the error as JSON.
    """
    if request_path().removeprefix(get_service(PageDesign).base_path).startswith(_API):
        return response
    response.headers["Vary"] = "Accept, Accept-Language"
    return _error_page(error, response) if is_navigation() else response


def is_navigation() -> bool:
    """Return whether a person opens the path of the request in a browser.

    Browsers accept both HTML and XHTML when they navigate. Some clients of APIs, such as Java's,
    accept HTML by default, but not XHTML.
    """
    accept = header("Accept") or ""
    return all(name in accept for name in _PAGE_TYPES)


def _error_page(error: ApiError, response: flask.Response) -> flask.Response:
    """Return the page of an error, with the status and the headers of its JSON.

    It needs no other file of the server.
    """
    design = get_service(PageDesign)
    message = translator(choose_locale(page_languages(), known=LOCALES))(str(error))
    page = _PAGES.render(
        "error.html",
        status=response.status_code,
        policy={"img-src": "'self' data:"},
        message="" if error.code in _PLAIN else message,
        retries=error.status == HTTPStatus.SERVICE_UNAVAILABLE and method() in SAFE_METHODS,
        start_path=f"{design.base_path}/",
    )
    for name, value in response.headers:
        if name not in _OWN_HEADERS:
            page.headers[name] = value
    return page
