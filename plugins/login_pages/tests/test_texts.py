"""The catalogues have each text that the pages show, in both languages, and no other."""

import re
import tomllib
from pathlib import Path
from string import Formatter

import strongroom_login_pages
from strongroom.plugin_api.authentication import Scope
from strongroom_login_pages.texts import ERROR_TEXTS

PACKAGE = Path(strongroom_login_pages.__file__).parent
TEMPLATES = [*PACKAGE.glob("templates/**/*.html")]
SOURCES = [*PACKAGE.glob("**/*.py"), *TEMPLATES]
COMPUTED = {"totp", "recovery-code", *ERROR_TEXTS, *(scope.value for scope in Scope)}
"""The types of factors, the codes of errors and the scopes of access keys are keys, too."""


def catalogue(language: str) -> dict[str, str]:
    """Return the texts of all areas, each of which has keys of its own."""
    areas = [
        tomllib.loads(path.read_text()) for path in (PACKAGE / "messages").glob(f"*.{language}.toml")
    ]
    texts = {key: text for area in areas for key, text in area.items()}
    assert len(texts) == sum(len(area) for area in areas)
    return texts


ENGLISH, CHINESE = catalogue("en"), catalogue("zh")


def quoted() -> set[str]:
    """Return every text in quotes in the code and the templates."""
    return {text for path in SOURCES for text in re.findall(r'"([\w.-]+)"', path.read_text())}


def names(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_texts() -> None:
    assert ENGLISH.keys() == CHINESE.keys()
    assert {key: names(text) for key, text in ENGLISH.items()} == {
        key: names(text) for key, text in CHINESE.items()
    }


def test_every_text_of_a_template_is_there() -> None:
    templates = [path.read_text() for path in TEMPLATES]
    used = {key for text in templates for key in re.findall(r'text\("([^"]+)"', text)}
    assert len(used) > 40
    assert (used | COMPUTED | {"error.other"}) - ENGLISH.keys() == set()


def test_no_text_is_left_over() -> None:
    assert ENGLISH.keys() - quoted() - COMPUTED == set()


def test_chinese_texts_are_chinese() -> None:
    assert [key for key, text in CHINESE.items() if not re.search(r"[\u4e00-\u9fff]", text)] == []
