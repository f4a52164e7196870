"""The texts of a package's pages, by language."""

import tomllib
from collections.abc import Callable, Collection, Mapping
from functools import cache, cached_property, partial
from importlib.resources import files
from importlib.resources.abc import Traversable

from strongroom.foundation.locales import DEFAULT_LOCALE

Texts = Mapping[str, str]


class PageTexts:
    """The texts in the folder ``messages`` of a package, if it has one.

    ``zh.toml`` has texts in Chinese, and ``account.zh.toml`` the texts of one part of the pages.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._functions: dict[str, Callable[..., str]] = {}

    @cached_property
    def languages(self) -> Collection[str]:
        """The languages that have texts, and English."""
        return self._catalogues.keys() | {DEFAULT_LOCALE}

    def translator(self, language: str) -> Callable[..., str]:
        """Return the function that returns a text by its key; in English if the language lacks it."""
        if language not in self._functions:
            catalogues = self._catalogues
            texts = {**catalogues.get(DEFAULT_LOCALE, {}), **catalogues.get(language, {})}
            self._functions[language] = partial(_filled, texts)
        return self._functions[language]

    @cached_property
    def _catalogues(self) -> Mapping[str, Texts]:
        # All folders are hashable, although the protocol does not declare it.
        return _read_catalogues(files(self._package) / "messages")  # type: ignore[arg-type]


@cache  # A package has pages of several applications.
def _read_catalogues(folder: Traversable) -> Mapping[str, Texts]:
    members = folder.iterdir() if folder.is_dir() else ()
    catalogues: dict[str, dict[str, str]] = {}
    for item in sorted(members, key=lambda member: member.name):
        if item.name.endswith(".toml"):
            language = item.name.removesuffix(".toml").rpartition(".")[2]
            catalogues.setdefault(language, {}).update(tomllib.loads(item.read_text("utf-8")))
    return catalogues


def _filled(texts: Texts, key: str, /, **values: object) -> str:
    return texts[key].format(**values)
