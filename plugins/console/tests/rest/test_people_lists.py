"""Lists of people: the search, the filters, and changes of several people at once."""

import re
from collections.abc import Callable

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
USERS = "/console/server/users/"
CHANGES = f"{USERS}changes"

LogIn = Callable[[Person], PageBrowser]

pytestmark = [on_sqlite, pytest.mark.config(CONFIG), pytest.mark.usefixtures("tables")]


def changed(browser: PageBrowser, list_path: str, form_path: str, **fields: object) -> None:
    """Send the form of a list."""
    browser.open(list_path)
    browser.open(form_path, {**browser.forms[form_path], **fields})  # type: ignore[dict-item]


class TestUsers:
    @pytest.fixture
    def person(self, api: Api) -> Person:
        return api.person(admin=True, name="Root")

    @pytest.fixture
    def others(self, api: Api) -> list[Person]:
        return [api.person(name=name) for name in ("Ann", "Bo", "Carla")]

    def test_filters_are_links_that_keep_the_search(
        self, browser: PageBrowser, others: list[Person]
    ) -> None:
        page = browser.open(f"{USERS}?q=ann&sort=name").text
        assert 'href="?q=ann&amp;sort=name&amp;status=suspended"' in page
        page = browser.open(f"{USERS}?q=ann&status=suspended").text
        assert re.search(r'href="\?q=ann" aria-current="true">.*?Suspended', page)
        assert others

    def test_a_heading_reverses_its_order(self, browser: PageBrowser, others: list[Person]) -> None:
        page = browser.open(f"{USERS}?sort=name").text
        assert 'href="?sort=-name">Name' in page
        assert page.index(">Ann<") < page.index(">Carla<")
        page = browser.open(f"{USERS}?sort=-name").text
        assert page.index(">Carla<") < page.index(">Ann<")
        assert others

    def test_several_are_suspended_and_the_notice_undoes_it(
        self, api: Api, browser: PageBrowser, person: Person, others: list[Person]
    ) -> None:
        ids = [other.id for other in others[:2]]
        changed(browser, f"{USERS}?sort=name", CHANGES, user=ids, change="suspend")
        assert browser.message == "Suspended: 2."
        assert self._suspended(api, person) == set(ids)
        undo = re.search(r'<div class="notice">.*?</div>', browser.page.text, re.DOTALL)
        assert undo
        assert undo[0].count('name="user"') == 2
        form = {"csrf": browser.forms[CHANGES]["csrf"], "change": "reinstate", "undo": "1"}
        browser.open(CHANGES, {**form, "user": ids})
        assert self._suspended(api, person) == set()

    def _suspended(self, api: Api, admin: Person) -> set[str]:
        listed = api.get("/users?status=suspended", by=admin).json["data"]
        return {user["id"] for user in listed}

    def test_the_button_of_a_row_logs_out_one_user(
        self, api: Api, browser: PageBrowser, others: list[Person]
    ) -> None:
        ann, bo, _ = others
        changed(browser, f"{USERS}?q=ann", CHANGES, row=f"log-out:{ann.id}")
        assert browser.message == "\u2068Ann\u2069 was logged out everywhere."
        assert "q=ann" in browser.page.text
        assert api.get("/users/me", by=ann).status_code == 401
        assert api.get("/users/me", by=bo).status_code == 200

    def test_a_refusal_of_some_is_reported(
        self, api: Api, browser: PageBrowser, person: Person, others: list[Person]
    ) -> None:
        changed(browser, USERS, CHANGES, user=[others[0].id, "x" * 36], change="suspend")
        assert 'role="alert"' in browser.page.text
        assert "1 of 2 were changed." in browser.page.text
        assert "First problem: This no longer exists, or you do not have access." in browser.page.text
        assert self._suspended(api, person) == {others[0].id}

    def test_a_refusal_of_some_names_the_first(
        self, api: Api, browser: PageBrowser, person: Person, others: list[Person]
    ) -> None:
        changed(browser, USERS, CHANGES, user=[others[0].id, person.id], change="suspend")
        label = api.get("/users/me", by=person).json["name"] or person.email
        first = browser.message.partition("First problem, of ")[2].partition(":")[0]
        assert label in first
        assert self._suspended(api, person) == {others[0].id}

    @pytest.mark.parametrize("fields", [{}, {"change": "suspend"}, {"change": "erase", "user": "x"}])
    def test_nothing_happens_without_a_choice(
        self, browser: PageBrowser, others: list[Person], fields: dict[str, str]
    ) -> None:
        changed(browser, USERS, CHANGES, **fields)
        assert browser.message == "Select someone first."
        assert others

    def test_others_change_nobody(self, api: Api, log_in: LogIn, others: list[Person]) -> None:
        ann, bo, _ = others
        browser = log_in(ann)
        browser.open("/console/")
        form = {"csrf": browser.forms["/console/logout"]["csrf"], "user": bo.id, "change": "suspend"}
        assert browser.open(CHANGES, form).status_code == 404
        assert api.get("/users/me", by=bo).status_code == 200


class TestMembers:
    @pytest.fixture
    def others(self, api: Api, person: Person, tenant: str) -> list[Person]:
        others = [
            api.person(name=name) for name in ("Ann Zhang", "Zoë Ångström", "Wang Wei", "Wang Wei")
        ]
        for other in others:
            api.join(tenant, person, other)
        return others

    def test_the_search_ignores_accents_and_the_order_of_words(
        self, browser: PageBrowser, root: str, others: list[Person]
    ) -> None:
        page = browser.open(f"{root}/members/?q=angstrom+zoe").text
        assert "People: 1" in page
        assert others[1].id in page
        assert "No one matches" in browser.open(f"{root}/members/?q=zo+x").text

    def test_a_filter_finds_a_role(self, browser: PageBrowser, root: str, others: list[Person]) -> None:
        page = browser.open(f"{root}/members/?role=admin").text
        assert "People: 1" in page
        assert ">Alice<" in page
        assert "People: 5" in browser.open(f"{root}/members/?role=wrong").text
        assert others

    def test_equal_names_have_a_mark(
        self, browser: PageBrowser, root: str, others: list[Person]
    ) -> None:
        page = browser.open(f"{root}/members/").text
        for twin in others[2:]:
            assert f"… {twin.id[-8:]}" in page
        assert f"… {others[0].id[-8:]}" not in page

    def test_roles_of_several_are_changed(
        self,
        api: Api,
        browser: PageBrowser,
        person: Person,
        tenant: str,
        root: str,
        others: list[Person],
    ) -> None:
        ids = [other.id for other in others[:2]]
        fields = {"user": ids, "change": "role", "role": "records"}
        changed(browser, f"{root}/members/", f"{root}/members/changes", **fields)
        assert browser.message == "Roles changed: 2."
        assert self._roles(api, tenant, person)["records"] == set(ids)
        row = {"row": f"admin:{ids[0]}"}
        changed(browser, f"{root}/members/", f"{root}/members/changes", **row)
        assert ids[0] in self._roles(api, tenant, person)["admin"]

    def _roles(self, api: Api, tenant: str, by: Person) -> dict[str, set[str]]:
        roles: dict[str, set[str]] = {"admin": set(), "member": set(), "records": set()}
        for member in api.get(f"{tenant}/members", by=by).json["data"]:
            roles[member["role"]].add(member["user"]["$ref"])
        return roles

    def test_several_are_removed_after_a_question(
        self,
        api: Api,
        browser: PageBrowser,
        person: Person,
        tenant: str,
        root: str,
        others: list[Person],
    ) -> None:
        action = f"{root}/members/changes"
        ids = [other.id for other in others[:2]]
        changed(browser, f"{root}/members/", action, user=ids, change="remove")
        assert "Remove from the space: 2 selected" in browser.page.text
        assert "Ann Zhang" in browser.page.text
        assert len(self._roles(api, tenant, person)["member"]) == 4
        browser.open(action, {**browser.forms[action], "user": ids})
        assert browser.message == "Removed from the space: 2."
        assert len(self._roles(api, tenant, person)["member"]) == 2

    def test_members_change_nobody(
        self, api: Api, log_in: LogIn, person: Person, tenant: str, root: str, others: list[Person]
    ) -> None:
        browser = log_in(others[0])
        assert 'name="change"' not in browser.open(f"{root}/members/").text
        form = {"csrf": browser.forms["/console/logout"]["csrf"], "confirmed": "1"}
        fields = {**form, "user": person.id, "change": "remove"}
        assert browser.open(f"{root}/members/changes", fields).status_code == 404
        assert person.id in self._roles(api, tenant, person)["admin"]


class TestSpaces:
    @pytest.fixture
    def person(self, api: Api) -> Person:
        return api.person(admin=True, name="Root")

    def test_a_search_finds_a_space_of_another_page(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        for number in range(51):
            api.tenant(person, f"Space {number:02}")
        last = api.tenant(person, "Zürich").rpartition("/")[2]
        listed = browser.open("/console/server/tenants/").text
        assert "Spaces: 52" in listed
        assert last not in listed
        found = browser.open("/console/server/tenants/?q=zurich").text
        assert "Spaces: 1" in found
        assert f'href="/console/server/tenants/{last}/?page=1"' in found
        assert "Zürich" in browser.open(f"/console/server/tenants/{last}/?page=1").text
