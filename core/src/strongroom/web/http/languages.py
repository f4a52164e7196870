"""The language of a response: of errors, and of the items of a batch that failed."""

from functools import partial
from typing import Protocol

from strongroom.foundation.errors import Translate, Unavailable
from strongroom.foundation.locales import DEFAULT_LOCALE, LOCALES, choose_locale
from strongroom.foundation.translations import Translations
from strongroom.web.http.access import presented_user_id
from strongroom.web.http.request import get_service, languages


class LocaleLookup(Protocol):
    """Finds the languages that users have chosen."""

    def get_locale(self, user_id: str) -> str | None:
        """Return the user's locale as a BCP 47 tag, or ``None`` if the user has chosen none."""


def response_locale() -> str:
    """Return the language of the response: the client's, then the user's, then English.

    ``Accept-Language`` is for this request, so it precedes the locale in the user's account.
    """
    accepted = choose_locale(languages(), "", LOCALES)
    return accepted or choose_locale(filter(None, [_locale_of_user()]))


def translator(locale: str) -> Translate:
    """Return the function that translates messages to a language. English ones stay as they are."""
    if locale == DEFAULT_LOCALE:
        return str
    return partial(get_service(Translations).translate, locale=locale)


def _locale_of_user() -> str | None:
    user_id = presented_user_id()
    if user_id is None:
        return None
    # The response to an error must not fail because the database, too, is unavailable.
    try:
        return get_service(LocaleLookup).get_locale(user_id)
    except Unavailable:
        return None
