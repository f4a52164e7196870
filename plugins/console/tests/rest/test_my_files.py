"""The lists of files in the console, and what their forms change."""

import re
from io import BytesIO
from typing import Any

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
HOSTILE = "<img src=x onerror=alert(1)>\"'&.txt"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def names(browser: PageBrowser) -> list[str]:
    """Return the names in the list of the page, in order."""
    return re.findall(r'<tr data-id="[^"]+" data-type="\w+" data-name="([^"]*)"', browser.page.text)


def upload(browser: PageBrowser, name: str, content: bytes = b"Hello", *, button: int = 0) -> Any:
    """Send the form of uploads by one of its buttons: keep both, or replace."""
    actions = re.findall(r'(?:form)?action="([^"]+/upload[^"]+)"', browser.page.text)
    return browser.open(actions[button].replace("&amp;", "&"), {"file": (BytesIO(content), name)})  # type: ignore[dict-item]


def test_a_list_has_the_rows_that_scripts_rely_on(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    folder = api.folder(tenant, person, "Reports")["id"]
    file = api.upload(tenant, person, HOSTILE, b"x", folder)["id"]
    text = browser.open(f"{root}/files/{folder}/").text
    assert '<form id="selection" method="post"' in text
    assert f'<table id="nodes" data-tenant="{tenant.rpartition("/")[2]}" data-folder="{folder}"' in text
    assert f'<tr data-id="{file}" data-type="file" data-name="&lt;img' in text
    assert f'<input type="checkbox" name="node" value="{file}"' in text
    assert "<img" not in text
    assert "<title>Reports</title>" in text


def test_a_user_creates_a_folder(root: str, browser: PageBrowser) -> None:
    browser.open(f"{root}/files/")
    form = browser.forms[f"{root}/folders"]
    browser.open(f"{root}/folders", {**form, "name": "<b>Reports"})
    assert browser.message == "The folder “&lt;b&gt;Reports” was created."
    assert names(browser) == ["&lt;b&gt;Reports"]
    browser.open(f"{root}/folders", {**form, "name": "<b>Reports"})
    assert 'role="alert"' in browser.page.text
    assert len(names(browser)) == 1


def test_an_upload_keeps_both_files_or_replaces_one(root: str, browser: PageBrowser) -> None:
    browser.open(f"{root}/files/")
    upload(browser, "note.txt")
    assert browser.message == "“note.txt” was uploaded."
    upload(browser, "note.txt")
    assert names(browser) == ["note (1).txt", "note.txt"]
    upload(browser, "note.txt", b"Hello again", button=1)
    assert names(browser) == ["note (1).txt", "note.txt"]
    assert "11 B" in browser.page.text


def test_an_upload_without_a_file_or_secret_is_refused(root: str, browser: PageBrowser) -> None:
    browser.open(f"{root}/files/")
    upload(browser, "")
    assert 'role="alert"' in browser.page.text
    assert browser.request(f"{root}/upload", {"file": (BytesIO(b"x"), "a")}).status_code == 400  # type: ignore[dict-item]


def test_a_reader_is_offered_no_changes(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    other = api.person()
    api.join(tenant, person, other, "admin")
    folder = api.folder(tenant, other, "Theirs")["id"]
    reader = api.person()
    api.join(tenant, person, reader)
    grant = {"ownerId": reader.id, "permission": "read"}
    api.post(f"{tenant}/files/{folder}/owners", grant, by=other)
    browser.log_in(reader.email)
    browser.open(f"{root}/files/{folder}/")
    assert f"{root}/folders" not in browser.forms
    assert "/upload?" not in browser.page.text
    form = {"csrf": browser.forms["/console/logout"]["csrf"], "folder": folder, "name": "Mine"}
    browser.open(f"{root}/folders", form)
    assert 'role="alert"' in browser.page.text
    assert names(browser) == []
