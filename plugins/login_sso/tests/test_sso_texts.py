"""The texts of the pages of single sign-on are complete, in both languages."""

from importlib.resources import files
from pathlib import Path

from tests.support.page_texts import PageTexts

from strongroom_login_sso.pages import ROLES

NOTICES = (
    "domain-added",
    "domain-proven",
    "domain-removed",
    "provider-added",
    "provider-answers",
    "provider-removed",
    "provider-saved",
    "rule-added",
    "rule-removed",
    "error.provider-away",
)


def test_each_text_is_used_and_translated() -> None:
    texts = PageTexts(Path(str(files("strongroom_login_sso"))), computed={*ROLES.values(), *NOTICES})
    assert texts.without_translation == set()
    assert texts.missing == set()
    assert texts.unused == set()
    assert {*texts.not_chinese} == set()
