"""One contact sheet for each area: its screens in each language, colour scheme and width.

``make contact-sheet`` writes them into a folder, with the photographs that they are made of. Its knob
``OPTIONS="-k console"`` photographs the screens of one server.
"""

import os
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser

from strongroom.activity.notifications.composition import Composer
from strongroom.activity.notifications.templates import TEMPLATES, MessageTexts, template_parameters
from strongroom.foundation.config.page_settings import PagesSettings
from strongroom.foundation.translations import Translations
from tests.support.browser_pages import LOCALES, Walk
from tests.support.browsers import needs_chromium
from tests.support.contact_sheets import area_of, photograph, write_sheet
from tests.support.screens import AREAS, NAMES

FOLDER: Final = os.environ.get("STRONGROOM_TEST_CONTACT_SHEET", "")
"""The folder of the sheets."""

SAMPLES: Final = {
    "code": "482913",
    "link": "https://files.example.com/account/l/4bT9.xQ2",
    "minutes": "10",
    "hours": "24",
    "days": "7",
    "tenant": "Acme",
    "inviter": "Mara Klein",
    "what": "Your e-mail address was changed from m•••@example.com to n•••@example.org.",
    "time": "2026-11-28 09:41 (Europe/Berlin)",
    "source": "Firefox, Windows, 192.0.2.7",
    "name": "Backup of the office",
    "subject": "A webhook was disabled",
    "text": "The endpoint https://hooks.example.com/files has failed for three days.",
}

pytestmark = [
    needs_chromium,
    pytest.mark.extended,
    pytest.mark.skipif(not FOLDER, reason="only make contact-sheet photographs"),
    pytest.mark.parametrize("language", LOCALES),
]


def folder_of(area: str, name: str) -> Path:
    folder = Path(FOLDER, area, name.replace(" ", "-").replace(":", ""))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("name", AREAS)
def test_the_screens_of_a_server_are_photographed(
    browser: Browser, tmp_path: Path, name: str, language: str
) -> None:
    area = AREAS[name]
    with area.stage(tmp_path) as stage:
        walk = Walk(browser, stage.origin, language, stage, True, NAMES, stage.partners)
        for screen in area.screens:
            # The pages with a brand are those of other servers, too.
            title = f"{screen.name} of a brand" if name == "brand" else screen.name
            folder = folder_of(area_of(screen), title)
            walk.visit(screen, partial(photograph, folder=folder, language=language))
    for area_name in {area_of(screen) for screen in area.screens}:
        assert write_sheet(Path(FOLDER, area_name)).exists()
    assert not walk.faults, "\n".join(walk.faults)


def test_the_mails_are_photographed(browser: Browser, language: str) -> None:
    composer = Composer(MessageTexts(Translations(), {}), PagesSettings(), code_in_subject=True)
    page = browser.new_context(locale=LOCALES[language]).new_page()
    for template in TEMPLATES:
        values = {name: SAMPLES.get(name, name) for name in template_parameters(template)}
        mail = composer.compose(("email", "mara@example.com"), template, language, values)
        page.set_content(mail.html or "")
        photograph(page, folder_of("mails", template), language)
    page.context.close()
    assert write_sheet(Path(FOLDER, "mails")).exists()
