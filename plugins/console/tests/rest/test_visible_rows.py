"""Every page for every kind of user: which names they show, and which never.

The name of each thing is a word of its own, so a page that shows it to another user contains that word.
"""

from collections.abc import Callable
from typing import Final

import pytest
from tests.support.api import Api, Person
from tests.support.console_town import CONFIG, CONSOLE, ConsoleTown, routes
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

LogIn = Callable[[Person], PageBrowser]

_FILES: Final = frozenset({"folder", "file", "private", "trashed", "label", "share"})
_OF_ADMINISTRATORS: Final = frozenset({"endpoint", "key", "invited"})
_TENANT: Final = _FILES | _OF_ADMINISTRATORS | {"tenant", "group", "account"}
_PEOPLE: Final = frozenset({"root", "owner", "reader", "member", "other"})

HIDDEN: Final = {
    "owner": frozenset({"other tenant", "other"}),
    "reader": frozenset({"private", "trashed", "other tenant", "other"}) | _OF_ADMINISTRATORS,
    "member": _FILES - {"folder", "file", "label"} | {"other tenant", "other"} | _OF_ADMINISTRATORS,
    "other": _TENANT | _PEOPLE - {"other"},
    "root": _FILES,
}
"""The kinds of names that no page shows to a user. The group of the member may read the folder."""

SHOWN: Final = {
    "owner": {"tenant", "folder", "file", "private", "group", "member", "label", "owner"},
    "reader": {"tenant", "folder", "file", "reader"},
    "member": {"tenant", "folder", "member"},
    "other": {"other"},
    "root": _PEOPLE,
}
"""The kinds of names that some page shows, so that the test is not empty."""

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def word(kind: str) -> str:
    """Return the name of a thing: a word that no text contains."""
    return f"Zq{kind.replace(' ', '')}xJ"


@pytest.fixture
def town(api: Api) -> ConsoleTown:
    return ConsoleTown.built(api, word)


@pytest.mark.parametrize("kind", HIDDEN)
def test_pages_show_the_right_names(town: ConsoleTown, log_in: LogIn, kind: str) -> None:
    browser, shown = log_in(getattr(town, kind)), set[str]()
    for rule in routes(town.api):
        if "GET" in (rule.methods or ()):
            text = browser.request(town.path(rule.rule)).text
            seen = {kind for kind in _TENANT | _PEOPLE | {"other tenant"} if word(kind) in text}
            assert seen & HIDDEN[kind] == set(), rule
            shown |= seen
    assert SHOWN[kind] - shown == set()


@pytest.mark.parametrize("kind", ["owner", "reader", "member", "other"])
def test_pages_of_the_server_are_for_its_administrators(
    town: ConsoleTown, log_in: LogIn, kind: str
) -> None:
    browser = log_in(getattr(town, kind))
    for rule in routes(town.api):
        if rule.rule.startswith("/server") and "GET" in (rule.methods or ()):
            assert browser.request(town.path(rule.rule)).status_code in (403, 404), rule
    assert f'href="{CONSOLE}/server/"' not in browser.open(f"{CONSOLE}/").text


def test_a_suspended_user_loses_the_console_at_once(town: ConsoleTown, log_in: LogIn) -> None:
    browser = log_in(town.reader)
    assert browser.request(f"{CONSOLE}{town.tenant.removeprefix('/api/v1')}/files/").status_code == 200
    assert town.api.post(f"/users/{town.reader.id}/suspension", by=town.root).status_code == 200
    for rule in routes(town.api):
        if "GET" in (rule.methods or ()):
            page = browser.request(town.path(rule.rule))
            assert page.headers.get("Location", "").startswith("/account/login"), rule
            assert "Zq" not in page.text
