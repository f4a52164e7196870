"""The pages of the members and groups of a tenant, and what others than its administrators reach."""

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
HOSTILE = '<img src=x onerror="alert(1)">\u202etxt'
ESCAPED = "<bdi>&lt;img src=x onerror=&#34;alert(1)&#34;&gt;⟨U+202E⟩txt</bdi>"

LogIn = Callable[[Person], PageBrowser]

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def bob(api: Api, person: Person, tenant: str) -> Person:
    bob = api.person(name=HOSTILE)
    api.join(tenant, person, bob)
    return bob


def roles(api: Api, tenant: str, by: Person) -> dict[str, str]:
    members = api.get(f"{tenant}/members", by=by).json["data"]
    return {member["user"]["$ref"]: member["role"] for member in members}


def groups(api: Api, tenant: str, by: Person) -> dict[str, str]:
    return {group["name"]: group["id"] for group in api.get(f"{tenant}/groups", by=by).json["data"]}


class TestMembers:
    def test_the_list_has_names_and_roles(self, browser: PageBrowser, root: str, bob: Person) -> None:
        page = browser.open(f"{root}/members/")
        assert "Alice" in page.text
        assert ESCAPED in page.text
        for role in ("Administrator", "Member"):
            assert len(re.findall(rf'<span class="tag[^>]*>{role}</span>', page.text)) == 1
        assert f'href="{root}/members/{bob.id}/"' in page.text

    def test_an_administrator_adds_a_member_by_the_id(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        carol = api.person(name="Carol")
        browser.open(f"{root}/members/")
        browser.submit(f"{root}/members/", user=carol.id, role="records")
        assert browser.message == "The member was added."
        assert roles(api, tenant, person)[carol.id] == "records"

    def test_an_administrator_of_a_space_adds_members_by_id_or_address_without_scripts(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        carol = api.person(name="Carol")
        page = browser.open(f"{root}/members/")
        (fields,) = re.findall("<noscript>.*?</noscript>", page.text, re.DOTALL)
        assert 'name="typed"' in fields
        assert not re.search(r'<select id="user"[^>]* required', page.text)
        browser.submit(f"{root}/members/", user="", typed=carol.id, role="records")
        assert roles(api, tenant, person)[carol.id] == "records"
        browser.submit(f"{root}/members/", user="", typed="dora@example.com", role="member")
        assert "dora@example.com" in browser.message

    @pytest.mark.parametrize("name", ["", "nobody@example.com", "../members", "?", "\u202e"])
    def test_an_unknown_user_is_refused(self, browser: PageBrowser, root: str, name: str) -> None:
        browser.open(f"{root}/members/")
        browser.submit(f"{root}/members/", user=name, role="member")
        assert 'role="alert"' in browser.page.text
        assert browser.path == f"{root}/members/"

    def test_administrators_of_the_server_add_members_by_a_contact(
        self, api: Api, log_in: LogIn
    ) -> None:
        admin, carol = api.person(admin=True), api.person(username="carol")
        tenant = api.tenant(admin)
        browser = log_in(admin)
        path = f"/console{tenant.removeprefix('/api/v1')}/members/"
        for name, role in ((carol.email, "member"), ("carol", "records"), (carol.id, "admin")):
            browser.open(path)
            browser.submit(path, user=name, role=role)
            assert roles(api, tenant, admin)[carol.id] == role
        for name in ("", "@", "+8613800138000", "\u202e"):
            browser.submit(path, user=name, role="member")
            assert browser.path == path
            assert 'role="alert"' in browser.page.text

    def test_an_address_is_invited_with_the_role(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        page = browser.open(f"{root}/members/")
        assert re.search(r'<select id="user"[^>]* data-invite="Invite {address}"', page.text)
        browser.submit(f"{root}/members/", user="invite:dora@example.com", role="records")
        assert "dora@example.com" in browser.message
        invited = api.get(f"{tenant}/invitations", by=person).json["data"]
        assert [(item["email"], item["role"]) for item in invited] == [("dora@example.com", "records")]

    def test_administrators_of_the_server_choose_among_the_users_that_are_found(
        self, api: Api, log_in: LogIn
    ) -> None:
        admin, carol = api.person(admin=True), api.person(name="Carol Unique")
        path = f"/console{api.tenant(admin).removeprefix('/api/v1')}/members/"
        browser = log_in(admin)
        assert f'<option value="{carol.id}"' in browser.open(f"{path}?find=Unique").text
        assert f'<option value="{carol.id}"' not in browser.open(f"{path}?find=Nobody").text

    def test_a_new_member_joins_groups(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        carol = api.person(name="Carol")
        group = api.post(f"{tenant}/groups", {"name": "Sales"}, by=person).json["id"]
        browser.open(f"{root}/members/")
        browser.submit(f"{root}/members/", user=carol.id, role="member", group=group)
        (member,) = api.get(f"{tenant}/groups/{group}/members", by=person).json["data"]
        assert member["user"]["$ref"] == carol.id

    def test_an_administrator_of_a_space_sees_no_other_users(
        self, api: Api, browser: PageBrowser, root: str
    ) -> None:
        carol = api.person(name="Carol Unique")
        assert f'<option value="{carol.id}"' not in browser.open(f"{root}/members/?find=Unique").text

    def test_an_administrator_changes_a_role(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person, bob: Person
    ) -> None:
        page = browser.open(f"{root}/members/{bob.id}/")
        assert ESCAPED in page.text
        browser.submit(f"{root}/members/{bob.id}/role", role="admin")
        assert browser.message == "The role was changed."
        browser.submit(f"{root}/members/{bob.id}/role", role="king")
        assert 'role="alert"' in browser.page.text
        assert roles(api, tenant, person)[bob.id] == "admin"

    def test_the_last_administrator_stays(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person, bob: Person
    ) -> None:
        browser.open(f"{root}/members/{person.id}/")
        browser.submit(f"{root}/members/{person.id}/role", role="member")
        assert 'role="alert"' in browser.page.text
        browser.open(f"{root}/leave")
        browser.submit(f"{root}/leave")
        assert browser.path == f"{root}/leave"
        assert 'role="alert"' in browser.page.text
        assert roles(api, tenant, person)[person.id] == "admin"

    def test_the_files_of_a_member_are_handed_over(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person, bob: Person
    ) -> None:
        api.folder(tenant, bob, "Bob's")
        browser.open(f"{root}/members/{bob.id}/")
        browser.submit(f"{root}/members/{bob.id}/files", successor="nobody")
        assert 'role="alert"' in browser.page.text
        browser.submit(f"{root}/members/{bob.id}/files", successor=person.id)
        assert browser.message == "The files were handed over."
        (folder,) = api.get(f"{tenant}/owners/me/files", by=person).json["data"]
        assert folder["owner"]["$ref"] == person.id

    def test_a_member_is_removed_after_a_question_and_the_files_are_kept(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person, bob: Person
    ) -> None:
        api.folder(tenant, bob, "Bob's")
        question = browser.open(f"{root}/members/{bob.id}/removal")
        assert "Remove \u2068&lt;img" in question.text
        browser.submit(f"{root}/members/{bob.id}/removal", successor="nobody")
        assert 'role="alert"' in browser.page.text
        browser.submit(f"{root}/members/{bob.id}/removal", successor=person.id)
        assert browser.message == "The member was removed."
        assert bob.id not in roles(api, tenant, person)
        assert api.get(f"{tenant}/owners/me/files", by=person).json["data"][0]["name"] == "Bob's"
        assert browser.open(f"{root}/members/{bob.id}/").status_code == 404

    def test_a_member_leaves(self, log_in: LogIn, root: str, bob: Person) -> None:
        browser = log_in(bob)
        browser.open(f"{root}/members/")
        browser.open(f"{root}/leave")
        browser.submit(f"{root}/leave")
        assert browser.message == "You have left the space."
        assert browser.open(f"{root}/members/").status_code == 403


class TestGroups:
    def test_the_changes_of_a_group_are_in_a_menu(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        page = browser.open(f"{root}/groups/").text
        assert 'commandfor="new-group"' in page
        browser.submit(f"{root}/groups/", name="Sales")
        page = browser.page.text
        assert 'popovertarget="group-menu"' in page
        assert re.search(r'class="popup-item"[^>]* commandfor="rename"', page)
        assert re.search(r'<dialog id="rename" class="window"', page)
        group = groups(api, tenant, person)["Sales"]
        assert f'href="{root}/groups/{group}/removal" data-asks' in page

    def test_an_administrator_creates_renames_and_deletes_a_group(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        browser.open(f"{root}/groups/")
        browser.submit(f"{root}/groups/", name=HOSTILE)
        group = f"{root}/groups/{groups(api, tenant, person)[HOSTILE]}"
        assert (browser.path, browser.message) == (f"{group}/", "The group was created.")
        assert ESCAPED in browser.page.text
        browser.submit(f"{group}/name", name="Sales")
        assert browser.message == "The group was renamed."
        browser.submit(f"{group}/name", name=" ")
        assert 'role="alert"' in browser.page.text
        assert "Delete the group \u2068Sales\u2069?" in browser.open(f"{group}/removal").text
        browser.submit(f"{group}/removal")
        assert browser.message == "The group was deleted."
        assert groups(api, tenant, person) == {}

    def test_members_are_added_and_removed(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person, bob: Person
    ) -> None:
        group_id = api.post(f"{tenant}/groups", {"name": "Sales"}, by=person).json["id"]
        group = f"{root}/groups/{group_id}"
        browser.open(f"{group}/")
        browser.submit(f"{group}/members", user="")
        assert 'role="alert"' in browser.page.text
        browser.submit(f"{group}/members", user=bob.id)
        assert browser.message == "The member was added to the group."
        assert ESCAPED in browser.page.text
        browser.submit(f"{group}/members/{bob.id}/removal")
        assert browser.message == "The member was removed from the group."
        assert "no members yet" in browser.page.text

    def test_members_see_the_members_of_their_own_groups_and_leave_them(
        self, api: Api, log_in: LogIn, root: str, tenant: str, person: Person, bob: Person
    ) -> None:
        own, other = (
            api.post(f"{tenant}/groups", {"name": name}, by=person).json["id"] for name in "AB"
        )
        api.put(f"{tenant}/groups/{own}/members/{bob.id}", by=person)
        browser = log_in(bob)
        assert "New group" not in browser.open(f"{root}/groups/").text
        assert "Only members of the group" in browser.open(f"{root}/groups/{other}/").text
        page = browser.open(f"{root}/groups/{own}/")
        assert ESCAPED in page.text
        assert "Rename the group" not in page.text
        browser.submit(f"{root}/groups/{own}/members/{bob.id}/removal")
        assert browser.message == "The member was removed from the group."
        assert "Only members of the group" in browser.page.text


class TestOthers:
    def test_members_see_no_forms_of_administrators(
        self, log_in: LogIn, root: str, person: Person, bob: Person
    ) -> None:
        browser = log_in(bob)
        page = browser.open(f"{root}/members/")
        assert "Invite people" not in page.text
        for section in ("settings", "retention"):
            assert f"{root}/{section}/" not in page.text
        for path in (f"members/{person.id}/", f"members/{person.id}/removal", "settings/"):
            assert browser.open(f"{root}/{path}").status_code == 404, path

    def test_what_members_send_nevertheless_is_refused(
        self, api: Api, log_in: LogIn, root: str, tenant: str, person: Person, bob: Person
    ) -> None:
        group = api.post(f"{tenant}/groups", {"name": "Sales"}, by=person).json["id"]
        before = (roles(api, tenant, person), groups(api, tenant, person))
        browser = log_in(bob)
        browser.open(f"{root}/members/")
        csrf = browser.forms["/console/logout"]["csrf"]
        for path in (
            "members/",
            f"members/{bob.id}/role",
            f"members/{person.id}/removal",
            f"members/{person.id}/files",
            "groups/",
            f"groups/{group}/name",
            f"groups/{group}/removal",
            f"groups/{group}/members",
            f"groups/{group}/members/{person.id}/removal",
        ):
            form = {"csrf": csrf, "role": "admin", "user": bob.id, "name": "X", "successor": bob.id}
            browser.request(f"{root}/{path}", form)
            assert browser.page.status_code in (303, 400, 403, 404), path
        assert (roles(api, tenant, person), groups(api, tenant, person)) == before

    @pytest.mark.parametrize("is_admin", [False, True], ids=["stranger", "administrator-of-the-server"])
    def test_who_is_no_member_sees_no_page(
        self, api: Api, log_in: LogIn, root: str, person: Person, *, is_admin: bool
    ) -> None:
        browser = log_in(api.person(admin=is_admin))
        for path in ("members/", f"members/{person.id}/", "groups/", "settings/", "leave"):
            assert browser.open(f"{root}/{path}").status_code in (403, 404), path
            assert "Acme" not in browser.page.text

    @pytest.mark.parametrize(
        "name", ["%3Fx=1", "..", "%2E%2E%2Fmembers", "%00", "%E2%80%AE", "x" * 2000]
    )
    def test_an_id_that_is_none_leads_to_no_page(
        self, browser: PageBrowser, root: str, name: str
    ) -> None:
        for path in (
            f"{root}/members/{name}/",
            f"{root}/groups/{name}/",
            f"/console/tenants/{name}/usage/",
        ):
            assert browser.open(path).status_code in (400, 403, 404), path

    def test_a_form_without_its_secret_is_refused(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person, bob: Person
    ) -> None:
        browser.request(f"{root}/members/{bob.id}/removal", {})
        assert browser.page.status_code == 400
        assert bob.id in roles(api, tenant, person)
