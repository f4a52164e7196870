"""The lists of files in the console, and what their forms change."""

import base64
import re
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import update
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.content.nodes.models import nodes

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
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


def test_the_list_of_a_file_is_its_details(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    file = api.upload(tenant, person, "a.txt", b"x")["id"]
    browser.open(f"{root}/files/{file}/")
    assert browser.path == f"{root}/nodes/{file}"


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


def test_a_search_shows_where_each_hit_is(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    outer = api.folder(tenant, person, "Outer <i>")["id"]
    inner = api.folder(tenant, person, "Inner", parent=outer)["id"]
    api.upload(tenant, person, "report a", b"x", inner)
    api.upload(tenant, person, "report b", b"x", outer)
    api.upload(tenant, person, "report c", b"x")
    api.upload(tenant, person, "other", b"x")
    browser.open(f"{root}/files/{outer}/?q=REPORT")
    assert names(browser) == ["report b"]
    browser.open(f"{root}/files/{outer}/?q=report&in=below&sort=-name")
    assert names(browser) == ["report b", "report a"]
    text = browser.open(f"{root}/files/{outer}/?q=report&in=space").text
    assert names(browser) == ["report a", "report b", "report c"]
    assert f'<a href="{root}/files/{inner}/"><bdi>Outer &lt;i&gt; ' in text
    assert "Entries: 3" in text


def test_filters_and_orders_apply(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    api.folder(tenant, person, "folder")
    for name, content in (("a.txt", b"xx"), ("b.pdf", b"%PDF-1.4 x"), ("c.txt", b"x")):
        api.upload(tenant, person, name, content)
    for query, expected in (
        ("kind=folders", ["folder"]),
        ("kind=files&sort=-size", ["b.pdf", "a.txt", "c.txt"]),
        ("kind=pdf", ["b.pdf"]),
        ("kind=texts&sort=-name", ["c.txt", "a.txt"]),
        ("kind=pictures", []),
        ("kind=nonsense&sort=nonsense&in=nonsense", ["folder", "a.txt", "b.pdf", "c.txt"]),
        ("sort=-name", ["folder", "c.txt", "b.pdf", "a.txt"]),
        ("sort=-size", ["folder", "b.pdf", "a.txt", "c.txt"]),
    ):
        browser.open(f"{root}/files/?{query}")
        assert names(browser) == expected, query
    browser.open(f"{root}/files/?kind=pictures")
    assert "Nothing matches." in browser.page.text
    text = browser.open(f"{root}/files/?kind=texts&sort=name").text
    assert 'href="?kind=texts&amp;sort=-name"' in text
    assert 'aria-sort="ascending"' in text


def test_the_view_is_remembered(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    api.upload(tenant, person, "dot.png", PNG)
    browser.open(f"{root}/files/?view=grid")
    assert 'class="grid"' in browser.page.text
    assert "/thumbnail" in browser.open(f"{root}/files/").text
    browser.open(f"{root}/files/?view=list")
    assert "/thumbnail" not in browser.open(f"{root}/files/").text


def test_the_thumbnail_of_a_picture_is_encoded_again(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    node = api.upload(tenant, person, "dot.png", PNG)["id"]
    picture = browser.open(f"{root}/nodes/{node}/thumbnail")
    assert picture.headers["Content-Type"] == "image/png"
    assert picture.data.startswith(b"\x89PNG")
    text = api.upload(tenant, person, "a.png", b"<html>")["id"]
    assert browser.open(f"{root}/nodes/{text}/thumbnail").status_code in (400, 415, 422)


def test_a_long_list_has_pages(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    for number in range(101):
        api.folder(tenant, person, f"{number:03}")
    browser.open(f"{root}/files/?sort=-name")
    assert len(names(browser)) == 100
    assert 'rel="next" href="?sort=-name&amp;page=2"' in browser.page.text
    browser.open(f"{root}/files/?sort=-name&page=2")
    assert names(browser) == ["000"]


def test_a_hold_is_shown_to_administrators(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    node = api.upload(tenant, person, "a", b"x")["id"]
    assert "Hold</span>" not in browser.open(f"{root}/files/").text
    officer = api.person()
    api.join(tenant, person, officer, "records")
    api.put(f"{tenant}/files/{node}/hold", {"reason": "a dispute"}, by=officer)
    assert "Hold</span>" in browser.open(f"{root}/files/").text


def test_filters_are_links_that_apply_at_once(root: str, browser: PageBrowser) -> None:
    browser.open(f"{root}/files/")
    upload(browser, "note.txt")
    assert 'href="?kind=texts"' in browser.open(f"{root}/files/").text
    page = browser.open(f"{root}/files/?q=note&in=space&owner=me&since=week").text
    assert names(browser) == ["note.txt"]
    assert 'href="?q=note&amp;in=space&amp;owner=me"' in page
    assert 'href="?q=note&amp;in=space&amp;since=week"' in page
    browser.open(f"{root}/files/?q=note&in=space&owner=x&since=x")
    assert names(browser) == ["note.txt"]


def test_a_folder_is_filtered_by_owner(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    other = api.person(name="Ben <b>")
    api.join(tenant, person, other)
    folder = api.folder(tenant, person, "shared")["id"]
    grant = {"ownerId": other.id, "permission": "write"}
    api.post(f"{tenant}/files/{folder}/owners", grant, by=person)
    api.upload(tenant, other, "theirs", b"x", folder)
    api.upload(tenant, person, "mine", b"x", folder)
    page = browser.open(f"{root}/files/{folder}/").text
    assert f'href="?owner={other.id}"' in page
    page = browser.open(f"{root}/files/{folder}/?owner={other.id}").text
    assert names(browser) == ["theirs"]
    assert "Owner: Ben &lt;b&gt;" in page
    browser.open(f"{root}/files/{folder}/?owner=me")
    assert names(browser) == ["mine"]
    assert 'name="owner" value="me"' in browser.page.text


@pytest.mark.parametrize(
    ("since", "found"),
    [
        ("today", ["today"]),
        ("week", ["days", "today"]),
        ("month", ["days", "today", "weeks"]),
        ("year", ["days", "months", "today", "weeks"]),
    ],
)
def test_a_folder_is_filtered_by_the_day_of_the_change(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser, since: str, found: list[str]
) -> None:
    """Days begin at midnight of the zone of the page."""
    folder = api.folder(tenant, person, "days")["id"]
    zone = ZoneInfo("Pacific/Kiritimati")
    now = datetime.fromtimestamp(api.clock.now() / 1000, zone)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    moments = {
        "today": midnight + timedelta(minutes=1),
        "days": midnight - timedelta(minutes=1),
        "weeks": midnight - timedelta(days=20),
        "months": midnight.replace(month=1, day=2),
        "years": midnight.replace(month=1, day=1) - timedelta(minutes=1),
    }
    for name, moment in moments.items():
        node = api.upload(tenant, person, name, b"x", folder)["id"]
        with api.container.database.write() as connection:
            changed = update(nodes).where(nodes.c.id == node)
            connection.execute(changed.values(updated_at=int(moment.timestamp() * 1000)))
    browser.remember("timezone", "Pacific/Kiritimati")
    browser.open(f"{root}/files/{folder}/?since={since}")
    assert names(browser) == found
