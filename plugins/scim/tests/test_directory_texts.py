"""The texts of the pages of directories are complete, in both languages."""

from importlib.resources import files
from pathlib import Path

from tests.support.page_texts import PageTexts

from strongroom_scim.pages import OTHER_REASON, OTHER_REASONS, REASONS, SUBJECTS


def test_each_text_is_used_and_translated() -> None:
    computed = {*REASONS.values(), *OTHER_REASONS.values(), OTHER_REASON, *SUBJECTS.values()}
    texts = PageTexts(Path(str(files("strongroom_scim"))), computed=computed)
    assert texts.without_translation == set()
    assert texts.missing == set()
    assert texts.unused == set()
    assert {*texts.not_chinese} == set()
