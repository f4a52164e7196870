"""Translates texts by their English form, as gettext does, so that code has English texts only.

The file ``translations/LANGUAGE.toml`` of a package has a line for each text, and ``{name}`` for a part
that varies::

    "Must be less than {max}." = "必须小于 {max}。"

The file next to this module has the messages of marshmallow, too. A text without a translation stays
English. Pages choose their texts by keys instead: see :mod:`strongroom.web.pages.html`.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

from strongroom.foundation.locales import DEFAULT_LOCALE

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_MAX_TEXT: Final = 2000
"""Longer texts, which have parts of the request, stay English: matching them would take too long."""


class Translations:
    """The translations of the core and of some packages.

    Args:
        packages: the names of the packages, whose files are read when a language is first used.
    """

    def __init__(self, packages: Iterable[str] = ()) -> None:
        self._packages = ("strongroom.foundation", *packages)
        self._catalogue_of = lru_cache(maxsize=None)(self._load)

    def translate(self, text: str, locale: str) -> str:
        """Return the text in a language, or the text itself if that language has none."""
        if locale == DEFAULT_LOCALE or len(text) > _MAX_TEXT:
            return text
        return self._catalogue_of(locale).translate(text)

    def _load(self, locale: str) -> "_Catalogue":
        texts: dict[str, str] = {}
        for package in self._packages:
            texts |= _read(package, locale)
        return _Catalogue(texts)


def _read(package: str, locale: str) -> Mapping[str, str]:
    file = files(package) / "translations" / f"{locale}.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


class _Catalogue:
    """The texts of one language."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        # Those with the most fixed characters first, because a short one may match the same texts.
        varying = sorted(filter(_PLACEHOLDER.search, texts), key=_fixed_length, reverse=True)
        self._patterns = [(_pattern(text), texts[text]) for text in varying]

    def translate(self, text: str) -> str:
        known = self._texts.get(text)
        return known or self._matched(text) or text

    def _matched(self, text: str) -> str | None:
        for pattern, translation in self._patterns:
            if match := pattern.fullmatch(text):
                # A part may be a text itself, such as the fault of one name in a path.
                parts = {name: self._texts.get(part, part) for name, part in match.groupdict().items()}
                return _PLACEHOLDER.sub(lambda name: parts[name[1]], translation)  # noqa: B023
        return None


def _fixed_length(text: str) -> int:
    return len(_PLACEHOLDER.sub("", text))


def _pattern(text: str) -> re.Pattern[str]:
    parts = _PLACEHOLDER.split(text)
    named = [f"(?P<{part}>.+?)" if odd % 2 else re.escape(part) for odd, part in enumerate(parts)]
    return re.compile("".join(named), re.DOTALL)
