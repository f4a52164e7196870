"""The guides for users name the pages of the account and of the console as the pages do."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDES = {"account-pages": "login_pages", "console": "console"}
"""The plugin whose pages a guide is about."""
QUOTED = {"en": ("docs/guides", r'"([A-Z][^"]+)"'), "zh": ("docs/zh/guides", r"“([^”]+)”")}
MENU = {"Server", "服务器"}
"""The labels of the menu, which no catalogue has."""


@pytest.mark.parametrize("guide", GUIDES)
@pytest.mark.parametrize("language", QUOTED)
def test_the_guide_names_pages_and_buttons_by_their_labels(language: str, guide: str) -> None:
    folder, quoted = QUOTED[language]
    text_of_guide = (ROOT / folder / f"{guide}.md").read_text(encoding="utf-8")
    labels = set(re.findall(quoted, text_of_guide)) - MENU
    plugin = GUIDES[guide]
    messages = ROOT / f"plugins/{plugin}/src/strongroom_{plugin}/messages"
    texts = {
        text
        for path in messages.glob(f"*.{language}.toml")
        for text in tomllib.loads(path.read_text(encoding="utf-8")).values()
    }
    assert len(labels) >= 7
    assert labels - texts == set()
