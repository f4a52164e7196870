"""The quarantine of the server: files that a scanner refused are released or deleted."""

import re
from pathlib import Path

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.scanners import SCANNING, VIRUS, install_word_scanner

from strongroom.content.scanning.worker import ScanWorker

CONFIG: Table = merged(
    merged(FIXED_CAPTCHA, SCANNING),
    {"plugins": {"enabled": ["storage_local", "login_pages", "console", "scan_words"]}},
)
HOSTILE = '<img src=x onerror="alert(1)">\u202etxt'
HERE = "/console/server/quarantine/"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG), pytest.mark.usefixtures("tables")]


@pytest.fixture(autouse=True)
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_word_scanner(tmp_path / "plugins", monkeypatch)


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(admin=True, name="Root")


def test_files_are_released_or_deleted(api: Api, browser: PageBrowser) -> None:
    owner = api.person(name=HOSTILE)
    tenant = api.tenant(owner)
    for name in (HOSTILE, "b.txt"):
        api.upload(tenant, owner, name, b"x" * 5000 + VIRUS)
        api.container.get(ScanWorker).run_due()
    page = browser.open(HERE)
    assert "<img" not in page.text
    assert "Test-Virus" in page.text
    for change, fields, message in (
        ("release", {"reason": "Examined"}, "The file was released."),
        ("deletion", {}, "The file was deleted."),
    ):
        path = re.findall(rf'"({HERE}[^"/]+/{change})', browser.open(HERE).text)[0]
        assert "<img" not in browser.open(path).text
        browser.open(path, {**browser.forms[path], **fields})
        assert browser.message == message
    assert "No file is in quarantine." in browser.page.text
    assert browser.open(path).status_code == 404


def test_a_file_that_a_rule_refuses_has_a_reason_in_words(api: Api, browser: PageBrowser) -> None:
    owner = api.person()
    api.upload(api.tenant(owner), owner, "program.exe", b"x" * 5000)
    api.container.get(ScanWorker).run_due()
    page = browser.open(HERE).text
    path = re.findall(rf'"({HERE}[^"/]+/release)', page)[0]
    for text in (page, browser.open(path).text):
        assert "Refused by a rule" in text
        assert "error.refused-by-test" not in text


def test_files_are_found_by_their_names(api: Api, browser: PageBrowser) -> None:
    owner = api.person()
    tenant = api.tenant(owner)
    for name in ("a.txt", "b.txt"):
        api.upload(tenant, owner, name, b"x" * 5000 + VIRUS)
        api.container.get(ScanWorker).run_due()
    page = browser.open(f"{HERE}?q=B.TXT").text
    assert "b.txt" in page
    assert "a.txt" not in page
    assert "Nothing matches." in browser.open(f"{HERE}?q=c.txt").text


def test_a_file_of_another_page_than_the_query_names_is_released(api: Api, browser: PageBrowser) -> None:
    owner = api.person(name="Alice")
    api.upload(api.tenant(owner), owner, "a.txt", b"x" * 5000 + VIRUS)
    api.container.get(ScanWorker).run_due()
    path = re.findall(rf'"({HERE}[^"/]+/release)\?page=1', browser.open(HERE).text)[0]
    assert "a.txt" in browser.open(f"{path}?page=2").text
