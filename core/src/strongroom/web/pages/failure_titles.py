"""The titles of pages about failures, by the HTTP status."""

from http import HTTPStatus
from typing import Final

_TITLES: Final = {
    HTTPStatus.UNAUTHORIZED: "error-login",
    HTTPStatus.FORBIDDEN: "error-forbidden",
    HTTPStatus.NOT_FOUND: "error-not-found",
    HTTPStatus.METHOD_NOT_ALLOWED: "error-no-page",
    HTTPStatus.NOT_ACCEPTABLE: "error-no-page",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "error-too-large",
    HTTPStatus.REQUEST_URI_TOO_LONG: "error-not-found",
    HTTPStatus.TOO_MANY_REQUESTS: "error-too-many",
}


def failure_title(status: int) -> str:
    """Return the key of the title; with ``-hint`` it is the key of the text on what to do."""
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return "error-temporary"
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "error-server"
    return _TITLES.get(HTTPStatus(status), "error-refused")
