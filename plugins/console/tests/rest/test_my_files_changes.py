"""What the console does with selected files and folders."""

import re
from collections.abc import Sequence
from io import BytesIO
from zipfile import ZipFile

import pytest
from tests.support.api import Answer, Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
HOSTILE = "<b>bold\"'&.txt"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def names(api: Api, tenant: str, by: Person, folder: str | None = None) -> list[str]:
    """Return the names in a folder."""
    inner = f"/{folder}/files" if folder else ""
    nodes = api.get(f"{tenant}/owners/me/files{inner}?pageSize=200", by=by).json["data"]
    return [node["name"] for node in nodes]


def select(browser: PageBrowser, root: str, action: str, nodes: Sequence[str], **fields: str) -> Answer:
    """Press a button of the list that is open, with some rows selected."""
    form = browser.forms[f"{root}/selection/download"]
    return browser.open(f"{root}/selection/{action}", {**form, **fields, "node": list(nodes)})


def proceed(browser: PageBrowser, root: str, action: str, button: str, at: str = "") -> Answer:
    """Press a button of the page that asks for the target folder."""
    nodes = re.findall(r'name="node" value="([^"]+)"', browser.page.text)
    form = {**browser.forms[f"{root}/selection/{action}"], "node": nodes, "onConflict": "rename"}
    return browser.open(f"{root}/selection/{button}", {**form, "at": at})


def test_deleted_files_go_to_the_trash_and_come_back(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    nodes = [api.upload(tenant, person, name, b"x")["id"] for name in ("a", "b", HOSTILE)]
    browser.open(f"{root}/files/?sort=-name")
    select(browser, root, "delete", nodes[:2])
    assert browser.message == "Moved to the trash: 2."
    assert names(api, tenant, person) == [HOSTILE]
    undo = browser.forms[f"{root}/selection/restore"]
    browser.open(f"{root}/selection/restore", {**undo, "node": nodes[:2]})
    assert browser.message == "Restored: 2."
    assert names(api, tenant, person) == [HOSTILE, "a", "b"]
    assert browser.page.text.index('data-name="b"') < browser.page.text.index('data-name="a"')


def test_the_undo_of_a_notice_names_what_was_deleted(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    node = api.upload(tenant, person, "a", b"x")["id"]
    browser.open(f"{root}/files/")
    select(browser, root, "delete", [node])
    assert f'name="node" value="{node}"' in browser.page.text
    browser.open(f"{root}/files/")
    assert f"{root}/selection/restore" not in browser.forms


@pytest.mark.config(merged(CONFIG, {"files": {"trash": {"enabled": False}}}))
def test_a_deletion_that_is_final_is_asked_for(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    nodes = [api.upload(tenant, person, name, b"x")["id"] for name in ("a", "b")]
    browser.open(f"{root}/files/")
    select(browser, root, "delete", nodes)
    assert names(api, tenant, person) == ["a", "b"]
    form = browser.forms[f"{root}/selection/delete"]
    browser.open(f"{root}/selection/delete", {**form, "node": nodes})
    assert browser.message == "Deleted: 2."
    assert names(api, tenant, person) == []


@pytest.mark.parametrize(
    "action", ["download", "copy", "move", "rename", "share", "details", "delete", "restore"]
)
def test_an_action_needs_a_selection(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser, action: str
) -> None:
    api.upload(tenant, person, "a", b"x")
    browser.open(f"{root}/files/")
    select(browser, root, action, [])
    assert browser.message.startswith("Select ")


@pytest.mark.parametrize(("action", "page"), [("share", "/share"), ("details", "")])
def test_a_selected_folder_leads_to_its_pages(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser, action: str, page: str
) -> None:
    nodes = [api.folder(tenant, person, name)["id"] for name in ("a", "b")]
    browser.open(f"{root}/files/")
    select(browser, root, action, nodes)
    assert browser.message == "Select one file or folder for this."
    select(browser, root, action, nodes[:1])
    assert browser.path == f"{root}/nodes/{nodes[0]}{page}"
    assert browser.page.status_code == 200
    assert f'href="{root}/nodes/{nodes[0]}"' in browser.open(f"{root}/files/{nodes[0]}/").text


def test_many_deletions_are_undone_in_the_trash(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    nodes = [api.folder(tenant, person, str(number))["id"] for number in range(21)]
    browser.open(f"{root}/files/")
    select(browser, root, "delete", nodes)
    assert browser.message == "Moved to the trash: 21."
    assert f"{root}/selection/restore" not in browser.forms
    assert f'<a class="button plain" href="{root}/trash/">Open the trash</a>' in browser.page.text


def test_files_move_into_a_folder_that_is_walked_to(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    outer = api.folder(tenant, person, "Outer <i>")["id"]
    inner = api.folder(tenant, person, "Inner", parent=outer)["id"]
    api.upload(tenant, person, "a", b"old", inner)
    nodes = [api.upload(tenant, person, name, b"x")["id"] for name in ("a", "b")]
    browser.open(f"{root}/files/")
    select(browser, root, "move", nodes)
    assert "<bdi>Outer &lt;i&gt;</bdi>" in browser.page.text
    assert f"{root}/selection/move-here" not in browser.page.text  # it is the folder that they are in
    proceed(browser, root, "move", "move", outer)
    assert f'name="at" value="{inner}"' in browser.page.text
    proceed(browser, root, "move", "move", inner)
    assert "<bdi>Inner</bdi></strong>" in browser.page.text
    proceed(browser, root, "move", "move-here", inner)
    assert browser.message == "Moved: 2."
    assert names(api, tenant, person) == ["Outer <i>"]
    assert names(api, tenant, person, inner) == ["a", "a (1)", "b"]


def test_a_file_moves_up_to_the_top_level(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    folder = api.folder(tenant, person, "Folder")["id"]
    node = api.upload(tenant, person, "a", b"x", folder)["id"]
    browser.open(f"{root}/files/{folder}/")
    select(browser, root, "move", [node])
    proceed(browser, root, "move", "move")
    proceed(browser, root, "move", "move-here")
    assert names(api, tenant, person) == ["a", "Folder"]
    assert browser.path == f"{root}/files/{folder}/"


def test_copies_get_free_names(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    node = api.upload(tenant, person, "a", b"x")["id"]
    browser.open(f"{root}/files/")
    select(browser, root, "copy", [node])
    proceed(browser, root, "copy", "copy-here")
    assert browser.message == "Copied: 1."
    assert names(api, tenant, person) == ["a", "a (1)"]


def test_a_folder_is_not_moved_into_itself(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    folder = api.folder(tenant, person, "Folder")["id"]
    browser.open(f"{root}/files/")
    select(browser, root, "move", [folder])
    assert f'value="{folder}" disabled' in browser.page.text
    proceed(browser, root, "move", "move-here", folder)
    assert 'role="alert"' in browser.page.text
    assert names(api, tenant, person) == ["Folder"]


def test_a_page_names_what_failed(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    folder = api.folder(tenant, person, "<u>Target")["id"]
    node = api.upload(tenant, person, "a", b"x")["id"]
    browser.open(f"{root}/files/")
    select(browser, root, "move", [folder, node])
    page = proceed(browser, root, "move", "move-here", folder)
    assert page.status_code == 400
    assert browser.message == "Failed: 1. Done: 1."
    assert "<bdi>&lt;u&gt;Target</bdi>" in page.text
    assert names(api, tenant, person, folder) == ["a"]


def test_a_file_is_renamed_and_a_wrong_name_is_kept_in_the_form(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    node = api.upload(tenant, person, "a", b"x")["id"]
    api.upload(tenant, person, "b", b"x")
    browser.open(f"{root}/files/")
    select(browser, root, "rename", [node])
    assert browser.path == f"{root}/nodes/{node}/rename"
    form = browser.forms[browser.path]
    page = browser.open(browser.path, {**form, "name": 'x/"y'})
    assert page.status_code == 400
    assert 'value="x/&#34;y"' in page.text
    assert browser.open(f"{root}/nodes/{node}/rename", {**form, "name": "b"}).status_code == 400
    browser.open(f"{root}/nodes/{node}/rename", {**form, "name": HOSTILE})
    assert browser.message == "Renamed to “&lt;b&gt;bold&#34;&#39;&amp;.txt”."
    assert names(api, tenant, person) == [HOSTILE, "b"]


def test_one_file_is_downloaded_as_an_attachment_also_in_ranges(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    node = api.upload(tenant, person, "note.txt", b"0123456789")["id"]
    browser.open(f"{root}/files/")
    page = select(browser, root, "download", [node])
    assert page.data == b"0123456789"
    assert page.headers["Content-Disposition"] == 'attachment; filename="note.txt"'
    page = browser.open(f"{root}/nodes/{node}/download", Range="bytes=2-4")
    assert (page.status_code, page.data) == (206, b"234")
    assert page.headers["Content-Disposition"].startswith("attachment")


def test_several_files_and_folders_are_downloaded_as_an_archive(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    folder = api.folder(tenant, person, "Folder")["id"]
    api.upload(tenant, person, "inner.txt", b"1", folder)
    node = api.upload(tenant, person, "note.txt", b"2")["id"]
    browser.open(f"{root}/files/")
    page = select(browser, root, "download", [folder, node])
    with ZipFile(BytesIO(page.data)) as archive:
        assert sorted(archive.namelist()) == ["Folder/", "Folder/inner.txt", "note.txt"]
    part = browser.open(browser.path, Range="bytes=0-3")
    assert (part.status_code, part.data) == (206, page.data[:4])


def test_the_files_of_others_are_out_of_reach(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    stranger = api.person()
    foreign = api.tenant(stranger, "Theirs")
    node = api.upload(foreign, stranger, "secret.txt", b"secret")["id"]
    theirs = f"/console{foreign.removeprefix('/api/v1')}"
    api.upload(tenant, person, "a", b"x")
    browser.open(f"{root}/files/")
    form = {**browser.forms[f"{root}/selection/download"], "node": [node]}
    for action in ("download", "delete", "restore", "move-here", "copy-here"):
        page = browser.open(f"{theirs}/selection/{action}", form)
        assert "secret" not in page.text, action
        assert page.status_code in (403, 404), action
    for path in (
        f"files/{node}/",
        f"nodes/{node}/download",
        f"nodes/{node}/rename",
        f"nodes/{node}/thumbnail",
    ):
        page = browser.open(f"{theirs}/{path}")
        assert page.status_code in (403, 404), path
    assert names(api, foreign, stranger) == ["secret.txt"]


def test_a_reader_cannot_delete_or_move(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    reader = api.person()
    api.join(tenant, person, reader)
    node = api.upload(tenant, person, "a", b"x")["id"]
    api.post(f"{tenant}/files/{node}/owners", {"ownerId": reader.id, "permission": "read"}, by=person)
    browser.log_in(reader.email)
    text = browser.open(f"{root}/files/").text
    assert "selection/copy" in text
    assert not {"selection/move", "selection/rename", "selection/delete"} & set(
        re.findall(r"selection/\w+", text)
    )
    assert re.search('<td role="cell" class="owner">.*<bdi>Alice</bdi>', text)
    for action in ("delete", "move-here"):
        browser.open(f"{root}/files/")
        select(browser, root, action, [node], at="")
        assert 'role="alert"' in browser.page.text
    assert names(api, tenant, person) == ["a"]


def test_every_change_needs_the_secret_of_the_session(root: str, browser: PageBrowser) -> None:
    browser.open("/console/")
    for action in ("download", "move", "copy", "move-here", "copy-here", "rename", "delete", "restore"):
        assert browser.request(f"{root}/selection/{action}", {"node": "x"}).status_code == 400
