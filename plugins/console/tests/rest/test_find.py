"""The search of all that a user sees."""

import re
from collections.abc import Callable

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom_console.find import MOST_FOUND

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
LogIn = Callable[[Person], PageBrowser]

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def found(browser: PageBrowser, words: str, **query: str) -> dict[str, list[str]]:
    """Return the names that the search has found, by the ids of their kinds."""
    rest = "".join(f"&{name}={value}" for name, value in query.items())
    page = browser.open(f"/console/find/results?q={words}{rest}")
    assert page.status_code == 200
    sections = re.findall(
        r'<section aria-labelledby="found-(\w+)">(.*?)</section>', page.text, re.DOTALL
    )
    return {kind: re.findall(r'class="label"><bdi>([^<]*)</bdi>', text) for kind, text in sections}


def id_of(tenant: str) -> str:
    return tenant.rpartition("/")[2]


def test_each_user_finds_what_the_user_may_see(api: Api, log_in: LogIn) -> None:
    alice, bob, root = api.person(name="Alice"), api.person(name="Bob"), api.person(admin=True)
    plans, secrets = api.tenant(alice, "Plans"), api.tenant(bob, "Plans of Bob")
    api.join(plans, alice, bob)
    folder = api.folder(plans, alice, "Plan folder")["id"]
    api.upload(plans, alice, "plan A.txt", b"x", folder)
    api.upload(secrets, bob, "plan B.txt", b"x")
    assert found(log_in(alice), "plan")["spaces"] == ["Plans"]
    assert set(found(log_in(alice), "plan")["files"]) == {"Plan folder", "plan A.txt"}
    assert found(log_in(bob), "plan")["spaces"] == ["Plans", "Plans of Bob"]
    # A member sees no files of others in the space.
    assert found(log_in(bob), "plan")["files"] == ["plan B.txt"]
    assert "files" not in found(log_in(root), "plan")
    assert "spaces" not in found(log_in(root), "plan")


def test_the_id_of_another_space_finds_nothing_in_it(api: Api, log_in: LogIn) -> None:
    alice, bob = api.person(), api.person()
    tenant = api.tenant(alice, "Plans")
    api.upload(tenant, alice, "plan.txt", b"x")
    assert found(log_in(bob), "plan", **{"in": id_of(tenant)}) == {}


def test_only_administrators_find_users_and_pages_of_the_server(api: Api, log_in: LogIn) -> None:
    alice, root = api.person(name="Alice Adams"), api.person(name="Root", admin=True)
    assert found(log_in(root), "adams")["users"] == ["Alice Adams"]
    assert "Quarantine" in found(log_in(root), "quaran")["pages"]
    assert found(log_in(alice), "adams") == {}
    assert found(log_in(alice), "quaran") == {}


def test_only_roles_that_see_a_section_find_it(api: Api, log_in: LogIn) -> None:
    alice, bob = api.person(), api.person()
    tenant = api.tenant(alice)
    api.join(tenant, alice, bob)
    here = {"in": id_of(tenant)}
    # The other one is that of the user's own account.
    assert found(log_in(alice), "invita", **here)["pages"] == ["Invitations", "Invitations"]
    assert found(log_in(bob), "invita", **here)["pages"] == ["Invitations"]


def test_an_answer_is_bounded(api: Api, log_in: LogIn) -> None:
    alice = api.person()
    tenants = [api.tenant(alice, f"Plan {number}") for number in range(MOST_FOUND + 2)]
    for number in range(MOST_FOUND):
        api.folder(tenants[0], alice, f"plan {number}")
        api.folder(tenants[1], alice, f"plan {number}")
    results = found(log_in(alice), "plan", **{"in": id_of(tenants[1])})
    assert len(results["spaces"]) == len(results["files"]) == MOST_FOUND


def test_words_match_whatever_their_case_accents_and_order(api: Api, log_in: LogIn) -> None:
    alice = api.person()
    for name in ("M\u00fcller S\u00f6hne", "\u6cd5\u52a1"):
        api.tenant(alice, name)
    browser = log_in(alice)
    assert found(browser, "sohne+MULLER")["spaces"] == ["M\u00fcller S\u00f6hne"]
    assert found(browser, "\u6cd5")["spaces"] == ["\u6cd5\u52a1"]


def test_hostile_names_and_words_are_text(api: Api, log_in: LogIn) -> None:
    alice = api.person()
    tenant = api.tenant(alice, "<img src=x>{{7*7}}")
    api.upload(tenant, alice, "<img src=x>.txt", b"x")
    browser = log_in(alice)
    for path in ("/console/find/results", "/console/find"):
        page = browser.open(f"{path}?q=%3Cimg+src%3D%22x%22%3E{{{{7*7}}}}").text
        assert "<img" not in page
        page = browser.open(f"{path}?q=img").text
        assert "<img" not in page
        assert "&lt;img src=x&gt;{{7*7}}" in page


def test_the_page_has_the_results_without_scripts(api: Api, log_in: LogIn) -> None:
    alice = api.person()
    tenant = api.tenant(alice, "Plans")
    folder = api.folder(tenant, alice, "Plan folder")["id"]
    browser = log_in(alice)
    page = browser.open("/console/find?q=plan").text
    root = f"/console{tenant.removeprefix('/api/v1')}"
    assert f'<a href="{root}/files/{folder}/"' in page
    assert 'value="plan"' in page
