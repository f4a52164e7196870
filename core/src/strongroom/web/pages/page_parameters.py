"""The query parameters that every page accepts: its language and its theme."""

from typing import Final

from werkzeug.datastructures import MultiDict

CHOICE: Final = "lang"
"""Chooses the language of pages, from this request on."""

UI_LOCALES: Final = "ui_locales"
"""The languages of a user, with spaces between, as a client passes them."""

THEME: Final = "theme"
"""Chooses the theme of pages, from this request on."""

PAGE_PARAMETERS: Final = (CHOICE, UI_LOCALES, THEME)


def without_page_parameters(arguments: MultiDict[str, str]) -> MultiDict[str, str]:
    """Return the query parameters of a page without those that every page accepts."""
    items = arguments.items(multi=True)
    return MultiDict([item for item in items if item[0] not in PAGE_PARAMETERS])
