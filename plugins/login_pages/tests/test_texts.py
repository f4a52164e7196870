"""The catalogues have each text that the pages show, in both languages, and no other."""

from pathlib import Path

from tests.support.page_texts import PageTexts

import strongroom_login_pages
from strongroom.plugin_api.authentication import Scope
from strongroom_login_pages.texts import ERROR_TEXTS

COMPUTED = {
    "error.other",
    *ERROR_TEXTS,
    *(scope.value for scope in Scope),
}
"""The codes of errors and the scopes of access keys are keys, too."""

TEXTS = PageTexts(Path(strongroom_login_pages.__file__).parent, COMPUTED)


def test_both_languages_have_the_same_texts() -> None:
    assert TEXTS.without_translation == set()


def test_every_text_of_a_template_is_there() -> None:
    assert len(TEXTS.used) > 40
    assert TEXTS.missing == set()


def test_no_text_is_left_over() -> None:
    assert TEXTS.unused == set()


def test_chinese_texts_are_chinese() -> None:
    assert TEXTS.not_chinese == []
