"""Pages speak of spaces, and have a text for each scope and event."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import strongroom_console
import strongroom_login_pages
import strongroom_share_links
from strongroom.foundation import translations
from strongroom.plugin_api.authentication import Scope
from strongroom_console.scopes import SCOPES

# Not the names of placeholders.
WORDS_OF_THE_API = re.compile(r"(?<![${])\btenants?\b|租户|\bcontact is bound\b", re.IGNORECASE)
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff]:")


def texts() -> Iterator[tuple[str, str]]:
    """Return the texts of all pages, and where each one is."""
    for package in (strongroom_console, strongroom_login_pages, strongroom_share_links):
        for path in sorted(Path(next(iter(package.__path__))).rglob("*.toml")):
            for key, text in tomllib.loads(path.read_text()).items():
                yield f"{package.__name__}/{path.name}: {key}", text
    path = Path(next(iter(translations.__path__))) / "zh.toml"
    for key, text in tomllib.loads(path.read_text()).items():
        yield f"translations: {key}", text


def test_pages_have_no_words_of_the_api() -> None:
    every = list(texts())
    assert len(every) > 1000
    assert [place for place, text in every if WORDS_OF_THE_API.search(text)] == []


def test_chinese_texts_have_full_width_colons() -> None:
    assert [place for place, text in texts() if HALF_WIDTH.search(text)] == []


def test_each_scope_has_a_text() -> None:
    assert set(SCOPES) == {scope.value for scope in Scope}
