"""The guide to texts of one's own is true."""

import re
from pathlib import Path

from strongroom.activity.notifications.composition import Composer
from strongroom.activity.notifications.templates import (
    TEMPLATES,
    MessageTexts,
    read_texts,
    template_parameters,
)
from strongroom.foundation.config.page_settings import PagesSettings
from strongroom.foundation.locales import LOCALES
from strongroom.foundation.translations import Translations

GUIDE = (Path(__file__).parents[2] / "docs/guides/message-texts.md").read_text()


def test_its_table_names_every_occasion_with_what_its_text_may_hold() -> None:
    rows = [line.split("|") for line in GUIDE.splitlines() if line.startswith("| `")]
    documented = {
        occasion: set(re.findall(r"`\$(\w+)`", row[3]))
        for row in rows
        for occasion in re.findall(r"`([a-z-]+)`", row[1])
    }
    assert documented == {occasion: set(template_parameters(occasion)) for occasion in TEMPLATES}
    assert all(f"`{locale}`" in GUIDE for locale in LOCALES)


def test_its_file_is_accepted(tmp_path: Path) -> None:
    (content,) = re.findall(r"```\n(Subject:.*?)```", GUIDE, re.DOTALL)
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "login.txt").write_text(content)
    texts = MessageTexts(Translations(), read_texts(tmp_path))
    composer = Composer(texts, PagesSettings(), code_in_subject=True)
    message = composer.compose(("sms", "+8613"), "login", "en", {"code": "123456", "minutes": "5"})
    assert message.subject == "Your code for Acme"
    assert message.text == "123456 is your code for Acme. It is good for 5 minutes."
