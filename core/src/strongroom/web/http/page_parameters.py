"""The query parameters that every page accepts: those of its language."""

from typing import Final

from werkzeug.datastructures import MultiDict

from strongroom.web.http.request import current_environ

CHOICE: Final = "lang"
"""Chooses the language of pages, from this request on."""

UI_LOCALES: Final = "ui_locales"
"""The languages of a user, with spaces between, as a client passes them."""

PAGE_PARAMETERS: Final = (CHOICE, UI_LOCALES)


def has_page_parameters() -> bool:
    """Return whether the request has one of them, and is that of a browser for a page.

    Other clients get the error of an unknown parameter.
    """
    environ = current_environ()
    query = environ.get("QUERY_STRING", "")
    is_present = any(f"{name}=" in query for name in PAGE_PARAMETERS)
    return is_present and "text/html" in environ.get("HTTP_ACCEPT", "")


def without_page_parameters(arguments: MultiDict[str, str]) -> MultiDict[str, str]:
    """Return the query parameters of a page without those that every page accepts."""
    items = arguments.items(multi=True)
    return MultiDict([item for item in items if item[0] not in PAGE_PARAMETERS])
