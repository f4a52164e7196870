"""Users enrol, log in, step up and recover by a factor and a captcha of plugins, in Chromium."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page

from strongroom.testing.server import free_port
from tests.support.browsers import needs_chromium
from tests.support.config import Table
from tests.support.examples import install, run_tests
from tests.support.login_pages import Inspection, Person, person_at
from tests.support.server import Server, serving, write_config

pytestmark = needs_chromium

Inspect = Callable[[str], None]
"""Inspects a page, by its name."""

PLUGINS: Final = ("grid_card", "reversed_letters")
FACTOR: Final = {"en": "Grid card", "zh": "矩阵卡"}
ADD: Final = {"en": "Set up: Grid card", "zh": "设置：矩阵卡"}
FIELD: Final = {"en": "Numbers in", "zh": "中的数字"}
PRINTED: Final = {"en": "I have printed it", "zh": "我已打印"}
QUESTION: Final = {"en": "Type these letters in reverse order: ", "zh": "请倒序输入这些字母："}
RECOVERY: Final = {"en": "Use a recovery code", "zh": "使用恢复码"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    site = install(*PLUGINS, target=tmp_path_factory.mktemp("site"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
        yield


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, installed: None) -> Iterator[Server]:
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    changes: Table = {
        "server": {"port": port, "public_url": f"http://localhost:{port}"},
        "plugins": {"enabled": ["storage_local", "login_pages", *PLUGINS]},
        "captcha": {"provider": "reversed_letters", "answer": None},
        "limits": {"login_failures_before_captcha": 1},
    }
    database_url = f"sqlite:///{folder}/strongroom.sqlite3"
    with serving(write_config(folder, database_url, changes)) as server:
        yield server


class Card:
    """The card that a person has printed."""

    def __init__(self, page: Page) -> None:
        rows = page.locator("table tr").all()[1:]
        self._rows = [row.locator("td").all_text_contents() for row in rows]

    def answer(self, page: Page, language: str) -> None:
        """Fill in the cells that the page asks for."""
        label = page.locator("label", has_text=FIELD[language]).first
        asked = re.findall("[A-H][1-8]", label.text_content() or "")
        assert len(asked) == 3
        numbers = [self._rows[int(row) - 1]["ABCDEFGH".index(column)] for column, row in asked]
        page.get_by_label(FIELD[language]).fill(" ".join(numbers))


@pytest.fixture(params=["en-scripts", "zh-plain", "en-plain", "zh-scripts"])
def way(request: pytest.FixtureRequest) -> tuple[str, bool]:
    """A language, and whether the browser runs scripts."""
    language, _, scripts = str(request.param).partition("-")
    return language, scripts == "scripts"


def test_a_factor_and_a_captcha_of_plugins(
    browser: Browser, server: Server, way: tuple[str, bool]
) -> None:
    language, has_scripts = way
    with person_at(browser, server, language, java_script_enabled=has_scripts) as person:
        inspection = Inspection(person.page)

        def inspect(name: str) -> None:
            _keep_picture(person.page, f"{name} {language} {has_scripts}")
            if has_scripts:
                inspection.inspect(name)

        _log_in_with_captcha(person, language, inspect)
        card = _enrol(person, language, inspect)
        code = _create_recovery_code(person)
        person.log_out()
        _log_in(person, language, card, inspect)
        person.log_out()
        _recover(person, language, code)
        assert inspection.faults == []


def _log_in_with_captcha(person: Person, language: str, inspect: Inspect) -> None:
    person.log_in("wrong")
    person.log_in_again("wrong")
    person.sees("captcha-by-person")
    inspect("captcha")
    field = person.page.locator("#captcha")
    label = person.page.locator("label[for=captcha]").text_content() or ""
    letters = label.removeprefix(QUESTION[language]).replace(" ", "")
    field.fill(letters[::-1])
    person.log_in_again()
    person.has_heading("security")


def _enrol(person: Person, language: str, inspect: Inspect) -> Card:
    page = person.page
    inspect("account")
    page.get_by_role("button", name=ADD[language]).click()
    inspect("enrolment")
    card = Card(page)
    page.get_by_label(FIELD[language]).fill("0")
    page.get_by_role("button", name=PRINTED[language]).click()
    person.sees("code-wrong")
    card.answer(page, language)
    page.get_by_role("button", name=PRINTED[language]).click()
    person.sees("factor-added")
    return card


def _create_recovery_code(person: Person) -> str:
    person.press("recovery-code.add")
    code = person.page.locator("#secret li").first.text_content() or ""
    assert re.fullmatch("([0-9A-Z]{4}-){3}[0-9A-Z]{4}", code)
    return code


def _log_in(person: Person, language: str, card: Card, inspect: Inspect) -> None:
    page = person.page
    person.log_in()
    person.has_heading("second-factor")
    page.get_by_label(FIELD[language]).fill("1")
    person.press("confirm")
    person.sees("code-wrong")
    inspect("challenge with an error")
    card.answer(page, language)
    person.press("confirm")
    person.has_heading("security")
    person.open("/step-up")
    card.answer(page, language)
    person.press("confirm")
    person.sees("confirmed")


def _recover(person: Person, language: str, code: str) -> None:
    page = person.page
    person.log_in()
    page.locator("summary", has_text=RECOVERY[language]).click()
    page.get_by_label(person.text("recovery-code.field")).fill(code)
    page.locator("details").get_by_role("button").click()
    person.has_heading("security")
    page.get_by_role("link", name=person.text("remove-named", name=FACTOR[language])).click()
    page.locator("button.danger").click()
    person.sees("removed")


def _keep_picture(page: Page, name: str) -> None:
    """Keep a picture of a page for people who look at it, if a folder for pictures is named."""
    folder = os.environ.get("STRONGROOM_TEST_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name.replace(' ', '-')}.png", full_page=True)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", PLUGINS)
def test_their_own_tests_pass(name: str) -> None:
    run_tests(name)
