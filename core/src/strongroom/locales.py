"""The languages of texts for people."""

from collections.abc import Collection, Iterable
from typing import Final

LOCALES: Final = ("en", "zh")
DEFAULT_LOCALE: Final = LOCALES[0]


def locale_of(
    languages: Iterable[str], default: str = DEFAULT_LOCALE, known: Collection[str] = LOCALES
) -> str:
    """Return the first language that has texts, ignoring regions, or the default.

    Args:
        languages: BCP 47 tags, the preferred one first.
        default: the language if none is known.
        known: the languages that have texts.
    """
    primary = (language.partition("-")[0].lower() for language in languages)
    return next((language for language in primary if language in known), default)
