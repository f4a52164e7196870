"""The guide for users names the pages of the account as the pages do."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MESSAGES = ROOT / "plugins/login_pages/src/strongroom_login_pages/messages"
GUIDES = {
    "en": (ROOT / "docs/guides/account-pages.md", r'"([A-Z][^"]+)"'),
    "zh": (ROOT / "docs/zh/guides/account-pages.md", r"“([^”]+)”"),
}


@pytest.mark.parametrize("language", GUIDES)
def test_the_guide_names_pages_and_buttons_by_their_labels(language: str) -> None:
    guide, quoted = GUIDES[language]
    labels = set(re.findall(quoted, guide.read_text(encoding="utf-8")))
    texts = {
        text
        for path in MESSAGES.glob(f"*.{language}.toml")
        for text in tomllib.loads(path.read_text(encoding="utf-8")).values()
    }
    assert len(labels) >= 7
    assert labels - texts == set()
