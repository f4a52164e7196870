"""The query parameters that every page accepts: its language."""

from typing import Final

from werkzeug.datastructures import MultiDict

CHOICE: Final = "lang"
"""Chooses the language of pages, from this request on."""

UI_LOCALES: Final = "ui_locales"
"""The languages of a user, with spaces between, as a client passes them."""

PAGE_PARAMETERS: Final = (CHOICE, UI_LOCALES)


def without_page_parameters(arguments: MultiDict[str, str]) -> MultiDict[str, str]:
    """Return the query parameters of a page without those that every page accepts."""
    items = arguments.items(multi=True)
    return MultiDict([item for item in items if item[0] not in PAGE_PARAMETERS])
