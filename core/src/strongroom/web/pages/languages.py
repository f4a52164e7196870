"""The language of a page."""

from flask import request

from strongroom.web.http.request import get_service, languages
from strongroom.web.pages.browsers import Browsers
from strongroom.web.pages.page_parameters import UI_LOCALES


def page_languages() -> tuple[str, ...]:
    """Return the languages of a page, the preferred one first.

    The query's come first (``ui_locales``: OpenID Connect Core 1.0, section 3.1.2.1), then the one
    that the user has chosen, then the browser's.
    """
    browser = get_service(Browsers).current()
    choice = browser.state.language if browser.is_known else None
    passed = request.args.get(UI_LOCALES, "").split()
    return (*passed, *filter(None, [choice]), *languages())
