"""The texts of the pages of a plugin, which tests compare with its code and templates."""

import re
import tomllib
from collections.abc import Collection
from pathlib import Path
from string import Formatter

_CHINESE = re.compile(r"[\u4e00-\u9fff]")


class PageTexts:
    """The texts in the folder ``messages`` of a package.

    Args:
        package: its folder.
        computed: the keys that the code computes, so that they are quoted nowhere.
    """

    def __init__(self, package: Path, computed: Collection[str] = ()) -> None:
        self._package = package
        self._computed = frozenset(computed)
        self.english, self.chinese = self._catalogue("en"), self._catalogue("zh")

    def _catalogue(self, language: str) -> dict[str, str]:
        areas = [
            tomllib.loads(path.read_text())
            for path in (self._package / "messages").glob(f"*.{language}.toml")
        ]
        texts = {key: text for area in areas for key, text in area.items()}
        assert len(texts) == sum(len(area) for area in areas), "two areas have the same key"
        return texts

    @property
    def without_translation(self) -> set[str]:
        """The keys of one language only, and those whose names differ."""
        shared = self.english.keys() & self.chinese.keys()
        differing = {key for key in shared if _names(self.english[key]) != _names(self.chinese[key])}
        return (self.english.keys() ^ self.chinese.keys()) | differing

    @property
    def used(self) -> set[str]:
        """The keys that templates name."""
        texts = [path.read_text() for path in self._package.glob("templates/**/*.html")]
        return {key for text in texts for key in re.findall(r'(?<!\.)text\("([^"]+)"', text)}

    @property
    def missing(self) -> set[str]:
        """The keys that are used, and have no text."""
        return (self.used | self._computed) - self.english.keys()

    @property
    def unused(self) -> set[str]:
        """The keys that neither the code nor a template quotes."""
        sources = [*self._package.glob("**/*.py"), *self._package.glob("templates/**/*.html")]
        quoted = {text for path in sources for text in re.findall(r'"([\w.-]+)"', path.read_text())}
        return self.english.keys() - quoted - self._computed

    @property
    def not_chinese(self) -> list[str]:
        """The keys whose Chinese text has no Chinese character."""
        return [key for key, text in self.chinese.items() if not _CHINESE.search(text)]


def _names(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}
