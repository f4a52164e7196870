"""What a list of files costs: calls of functions, SQL statements and requests within the process."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import pytest
from tests.support.api import Api, Person
from tests.support.calls import calls
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.statements import statements

from strongroom.web.http.dispatch.application import Application

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
ROWS = 200
MOST_CALLS = 450
"""Per row; 200 rows took 16 ms of processor time with 425 calls."""
MOST_STATEMENTS = 12

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def test_a_page_of_200_rows_takes_few_calls_per_row(
    api: Api,
    person: Person,
    tenant: str,
    root: str,
    browser: PageBrowser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Twice as many as a page has, because the limit is that of a longer page.
    monkeypatch.setattr(import_module("strongroom_console.my_files.listing"), "ROWS", ROWS)
    folder = api.folder(tenant, person, "Reports")["id"]
    for number in range(ROWS):
        api.upload(tenant, person, f"report {number}.txt", b"x", folder)
    for view in ("list", "grid"):
        address = f"{root}/files/{folder}/?view={view}"
        # The first one compiles the templates and fills caches.
        browser.request(address)
        page, count = calls(partial(browser.request, address))
        assert page.text.count("<tr data-id=") == ROWS
        # Scripts hide groups of rows that are far from the window; tiles of several would have gaps.
        assert page.text.count("<tbody role=") == (ROWS // 25 if view == "list" else 1)
        assert count <= MOST_CALLS * ROWS, view


def test_a_list_sends_one_request_and_executes_few_statements(
    api: Api,
    person: Person,
    tenant: str,
    root: str,
    browser: PageBrowser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paths: list[str] = []
    serve = Application.wsgi_app

    def note(self: Application, environ: Any, start_response: Any) -> Any:
        paths.append(environ["PATH_INFO"])
        return serve(self, environ, start_response)

    monkeypatch.setattr(Application, "wsgi_app", note)
    folder = api.folder(tenant, person, "Reports")["id"]
    api.folder(tenant, person, "2026", folder)
    for place in (None, folder):
        api.upload(tenant, person, "a.txt", b"x", place)
    for page, rest in (
        (f"{root}/files/", "/owners/me/files"),
        (f"{root}/files/{folder}/", f"/owners/me/files/{folder}/files"),
        (f"{root}/files/?q=a&in=space", "/search"),
    ):
        # The first one fills caches, such as the texts of statements.
        browser.request(page)
        paths.clear()
        with statements() as seen:
            assert "a.txt" in browser.request(page).text
        assert paths == [f"{tenant}{rest}"]
        # Folders and files are two ranges of an index.
        assert len(seen) <= MOST_STATEMENTS, "\n".join(seen)


def test_a_page_shows_the_name_that_the_user_has_just_changed(
    api: Api, person: Person, root: str, browser: PageBrowser
) -> None:
    for name in ("Alice", "Alice B."):
        assert api.patch("/users/me", {"name": name}, by=person).status_code == 200
        assert f"<bdi>{name}</bdi>" in browser.request(f"{root}/files/").text


def test_the_address_stands_for_a_missing_name(
    api: Api, log_in: Callable[[Person], PageBrowser]
) -> None:
    nameless = api.person(name="")
    assert f"<bdi>{nameless.email}</bdi>" in log_in(nameless).request("/console/").text
