"""The texts of the page "Connect your computer" are complete, in both languages."""

from importlib.resources import files
from pathlib import Path

from tests.support.page_texts import PageTexts

from strongroom_webdav.pages import STEPS

SYSTEMS = {"windows", "macos", "linux", "phone", "rclone"}
NAMES = {"windows", "macos", "linux", "rclone"}
"""The names of systems are the same in all languages."""


def test_each_text_is_used_and_translated() -> None:
    steps = {f"{system}-{step + 1}" for system, count in STEPS.items() for step in range(count)}
    texts = PageTexts(Path(str(files("strongroom_webdav"))), computed={*STEPS, *steps})
    assert STEPS.keys() == SYSTEMS
    assert texts.without_translation == set()
    assert texts.missing == set()
    assert texts.unused == set()
    assert {*texts.not_chinese} == NAMES
