"""The languages of texts for people."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

LOCALES: Final = ("en", "zh")
DEFAULT_LOCALE: Final = LOCALES[0]


def choose_locale(
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


def environment_locale(environ: Mapping[str, str]) -> str:
    """Return the language of messages that the environment names (POSIX, XBD 8.2), or the default."""
    named = (environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    tag = next(filter(None, named), "").partition(".")[0].replace("_", "-")
    return choose_locale([tag])
