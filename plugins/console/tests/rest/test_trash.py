"""The trash in the console, and what others share with the user."""

import re

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.foundation.database.upgrade import upgrade
from strongroom.testing.clock import HOUR
from strongroom_share_links.plugin import register_tables

PLUGINS = ["storage_local", "login_pages", "console", "share_links"]
CONFIG: Table = merged(FIXED_CAPTCHA, {"plugins": {"enabled": PLUGINS}})
HOSTILE = "<b>bold\"'&.txt"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def tables(api: Api) -> None:
    upgrade(api.container.database.engine, {"share_links": register_tables()})


def trashed(api: Api, tenant: str, by: Person, name: str, parent: str | None = None) -> str:
    """Upload and delete a file; return its id."""
    node: str = api.upload(tenant, by, name, b"x", parent)["id"]
    assert api.delete(f"{tenant}/files/{node}", by=by).status_code == 200
    return node


def names(browser: PageBrowser, root: str) -> list[str]:
    """Return the names in the trash, as HTML."""
    return re.findall(r'data-name="([^"]*)"', browser.open(f"{root}/trash/").text)


def press(browser: PageBrowser, root: str, action: str, nodes: list[str], **fields: str) -> None:
    form = browser.forms[f"{root}/trash/restore"]
    browser.open(f"{root}/trash/{action}", {**form, **fields, "node": nodes})


def test_an_empty_trash_says_what_it_is_for(root: str, browser: PageBrowser) -> None:
    assert names(browser, root) == []
    assert "The trash is empty." in browser.page.text
    assert f"{root}/trash/empty" not in browser.page.text


def test_several_files_are_restored_at_once(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    nodes = [trashed(api, tenant, person, name) for name in ("a", HOSTILE)]
    assert names(browser, root) == ["&lt;b&gt;bold&#34;&#39;&amp;.txt", "a"]
    press(browser, root, "restore", nodes)
    assert browser.message == "Restored: 2."
    assert names(browser, root) == []


def test_a_file_whose_folder_is_gone_is_restored_to_the_top_level(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    folder = api.folder(tenant, person, "Folder")["id"]
    nodes = [trashed(api, tenant, person, name, folder) for name in ("a", "b")]
    api.delete(f"{tenant}/files/{folder}", by=person)
    names(browser, root)
    press(browser, root, "restore", nodes)
    assert browser.message == "Failed: 2. Done: 0."
    assert "<strong><bdi>a</bdi></strong>" in browser.page.text
    names(browser, root)
    press(browser, root, "restore", nodes, top="yes")
    assert browser.message == "Restored: 2."
    assert names(browser, root) == ["Folder"]


def test_files_are_removed_permanently_after_a_question(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    nodes = [trashed(api, tenant, person, name) for name in ("a", "b", "c")]
    names(browser, root)
    press(browser, root, "remove", nodes[:2])
    assert "Delete permanently: 2 selected" in browser.page.text
    form = browser.forms[f"{root}/trash/remove"]
    assert names(browser, root) == ["c", "b", "a"]
    browser.open(f"{root}/trash/remove", {**form, "node": nodes[:2]})
    assert browser.message == "Deleted: 2."
    assert names(browser, root) == ["c"]


def test_the_trash_is_emptied_after_a_question(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    trashed(api, tenant, person, "a")
    assert f'href="{root}/trash/empty"' in browser.open(f"{root}/trash/").text
    browser.open(f"{root}/trash/empty")
    browser.open(f"{root}/trash/empty", browser.forms[f"{root}/trash/empty"])
    assert browser.message.startswith("The trash was emptied.")
    assert names(browser, root) == []


@pytest.mark.parametrize("action", ["remove", "empty"])
def test_a_removal_needs_a_fresh_proof_and_returns(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser, action: str
) -> None:
    node = trashed(api, tenant, person, "a")
    api.clock.advance(HOUR)
    names(browser, root)
    press(browser, root, action, [node], confirmed="yes")
    assert browser.path == "/account/step-up"
    browser.send("step-up", password="Correct1Horse")
    assert browser.path == f"{root}/trash/{'empty' if action == 'empty' else ''}"
    assert names(browser, root) == ["a"]


def test_others_cannot_reach_the_trash(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    node = trashed(api, tenant, person, "secret.txt")
    member = api.person()
    api.join(tenant, person, member)
    browser.log_in(member.email)
    assert names(browser, root) == []
    form = {"csrf": browser.forms["/console/logout"]["csrf"], "node": node, "confirmed": "yes"}
    for action in ("restore", "remove"):
        page = browser.open(f"{root}/trash/{action}", form)
        assert 'role="alert"' in page.text
        assert "secret" not in page.text
    browser.open(f"{root}/trash/empty", form)
    browser.log_in(person.email)
    assert names(browser, root) == ["secret.txt"]


def test_administrators_see_who_has_deleted_a_file(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    member = api.person(name="<i>Bob")
    api.join(tenant, person, member)
    trashed(api, tenant, member, "b")
    assert names(browser, root) == ["b"]
    assert '<td class="owner"><bdi>&lt;i&gt;Bob</bdi>' in browser.page.text


@pytest.mark.usefixtures("tables")
def test_links_of_others_for_the_user_are_listed(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    member = api.person(name="Bob")
    api.join(tenant, person, member)
    node = api.upload(tenant, person, HOSTILE, b"x")["id"]
    share = {"kind": "read", "audience": {"userIds": [member.id]}}
    url = api.post(f"{tenant}/files/{node}/shares", share, by=person).json["url"]
    assert "Nothing is shared with you yet." in browser.open(f"{root}/shared/").text
    browser.log_in(member.email)
    text = browser.open(f"{root}/shared/").text
    assert f'<a href="{url}"><bdi>&lt;b&gt;bold' in text
    assert "<bdi>Alice</bdi>" in text


@pytest.mark.config(merged(FIXED_CAPTCHA, {"plugins": {"enabled": PLUGINS[:-1]}}))
def test_without_the_plugin_of_links_nothing_is_shared(
    root: str, tenant: str, browser: PageBrowser
) -> None:
    assert f"{root}/shared/" not in browser.open(f"{root}/files/").text
    assert browser.open(f"{root}/shared/").status_code == 404
