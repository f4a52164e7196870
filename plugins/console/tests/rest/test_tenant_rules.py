"""The pages of the invitations, rules and actions of a tenant."""

import re
from collections.abc import Callable

import pytest
from tests.support.api import PASSWORD, Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.foundation.database.upgrade import upgrade
from strongroom.testing.clock import HOUR
from strongroom_share_links.plugin import register_tables

WITHOUT_SHARES: Table = merged(
    FIXED_CAPTCHA,
    {"plugins": {"enabled": ["storage_local", "login_sms", "login_pages", "console"]}},
)
CONFIG: Table = merged(
    WITHOUT_SHARES,
    {"plugins": {"enabled": ["storage_local", "login_sms", "login_pages", "share_links", "console"]}},
)
HOSTILE = '<img src=x onerror="alert(1)">\u202etxt'

LogIn = Callable[[Person], PageBrowser]

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture(autouse=True)
def create_tables(api: Api) -> None:
    upgrade(api.container.database.engine, {"share_links": register_tables()})


class TestInvitations:
    @pytest.mark.parametrize("contact", ["new@example.com", "+8613800138000"])
    def test_a_contact_is_invited_again_and_no_more(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person, contact: str
    ) -> None:
        group = api.post(f"{tenant}/groups", {"name": HOSTILE}, by=person).json["id"]
        page = browser.open(f"{root}/invitations/")
        assert "<img" not in page.text
        browser.submit(f"{root}/invitations/", user=f"invite:{contact}", role="member", group=group)
        assert browser.message == f"\u2068{contact}\u2069 was invited."
        (invitation,) = api.get(f"{tenant}/invitations", by=person).json["data"]
        assert contact in (invitation["email"], invitation["mobile"])
        assert invitation["groups"] == [group]
        path = f"{root}/invitations/{invitation['id']}"
        browser.submit(f"{path}/resend")
        assert browser.message == "The invitation was sent again."
        browser.submit(f"{path}/removal")
        assert browser.message == "The invitation was withdrawn."
        assert "No invitation is open." in browser.page.text

    def test_a_wrong_contact_is_refused_and_kept_in_the_form(
        self, browser: PageBrowser, root: str
    ) -> None:
        browser.open(f"{root}/invitations/")
        browser.submit(f"{root}/invitations/", user=f"invite:{HOSTILE}@", role="admin")
        assert browser.page.status_code == 400
        assert 'role="alert"' in browser.page.text
        assert 'id="user-fault"' in browser.page.text
        assert re.search(r'<option value="invite:&lt;img[^>]* selected', browser.page.text)
        assert '<option value="admin" selected>' in browser.page.text


class TestRetention:
    def test_the_rule_is_set_with_a_fresh_proof(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        api.clock.advance(HOUR // 5)
        form = {
            "trashDays": "10",
            "keepVersions": "",
            "versionDays": "30",
            "minimumDays": "",
            "mode": "governance",
        }
        browser.open(f"{root}/retention/")
        browser.submit(f"{root}/retention/", **form)
        assert browser.path == "/account/step-up"
        browser.send("step-up", password=PASSWORD)
        assert browser.path == f"{root}/retention/"
        assert browser.message == "Confirmed. Now send the form again."
        browser.submit(f"{root}/retention/", **form)
        assert browser.message == "The rule was saved."
        rule = api.get(f"{tenant}/retention", by=person).json
        assert (rule["trashDays"], rule["versionDays"], rule["minimumDays"]) == (10, 30, 0)

    def test_a_wrong_number_is_refused_and_kept_in_the_form(
        self, browser: PageBrowser, root: str
    ) -> None:
        browser.open(f"{root}/retention/")
        browser.submit(f"{root}/retention/", trashDays="many", minimumDays="7", mode="governance")
        assert browser.page.status_code == 400
        assert 'value="many"' in browser.page.text
        assert 'value="7"' in browser.page.text

    def test_the_holds_are_listed_for_administrators_and_the_role_records(
        self, api: Api, browser: PageBrowser, log_in: LogIn, root: str, tenant: str, person: Person
    ) -> None:
        keeper = api.person(name="Kim")
        api.join(tenant, person, keeper, role="records")
        folder = api.folder(tenant, person, "<i>Evidence")["id"]
        assert "No file is under a hold." in browser.open(f"{root}/retention/").text
        api.put(f"{tenant}/files/{folder}/hold", {"reason": HOSTILE}, by=keeper)
        page = browser.open(f"{root}/retention/")
        assert "<bdi>&lt;i&gt;Evidence</bdi>" in page.text
        assert "placed by \u2068Kim" in page.text
        assert "<img" not in page.text
        page = log_in(keeper).open(f"{root}/retention/")
        assert "placed by \u2068Kim" in page.text
        assert f'action="{root}/retention/"' not in page.text


class TestSharePolicy:
    def test_the_rules_are_replaced(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        page = browser.open(f"{root}/share-policy/")
        assert 'name="kinds" value="read" checked' in page.text
        fields = {"kinds": "drop", "who": "tenant-admins", "maxLifetimeDays": "7", "password": "1"}
        browser.submit(f"{root}/share-policy/", enabled="1", **fields)
        assert browser.message == "The rules were saved."
        policy = api.get(f"{tenant}/share-policy", by=person).json
        assert policy["kinds"] == ["drop"]
        assert (policy["maxLifetimeDays"], policy["password"]) == (7, "required")

    def test_wrong_rules_are_refused_and_kept_in_the_form(self, browser: PageBrowser, root: str) -> None:
        browser.open(f"{root}/share-policy/")
        browser.submit(f"{root}/share-policy/", kinds="drop", who="manage", maxLifetimeDays="long")
        assert browser.page.status_code == 400
        assert 'value="long"' in browser.page.text

    @pytest.mark.config(WITHOUT_SHARES)
    def test_the_section_is_missing_without_the_plugin(self, browser: PageBrowser, root: str) -> None:
        assert "share-policy" not in browser.open(f"{root}/members/").text
        assert browser.open(f"{root}/share-policy/").status_code == 404


class TestActivity:
    def test_the_actions_are_listed_and_filtered(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        api.folder(tenant, person, HOSTILE)
        api.upload(tenant, person, "a.txt", b"x" * 1500)
        page = browser.open(f"{root}/activity/")
        assert "</bdi></b> created the folder <a href=" in " ".join(page.text.split())
        assert "1.5 KB" in page.text
        assert "<img" not in page.text
        page = browser.open(f"{root}/activity/?action=file.created&actor={person.id}&from=2020-01-01")
        assert "created the folder" not in page.text
        assert "a.txt" in page.text
        assert "Nothing matches." in browser.open(f"{root}/activity/?to=2000-01-01").text
        # WeChat appends it to links.
        appended = browser.open(f"{root}/activity/?from=singlemessage&isappinstalled=0").text
        assert 'value="singlemessage"' not in appended

    @pytest.mark.parametrize(
        "query", ["action=x", "from=today", "to=2026-99-99", "page=0", "actor=%E2%80%AE", "from=%00"]
    )
    def test_filters_that_are_none_are_no_errors(
        self, browser: PageBrowser, root: str, query: str
    ) -> None:
        assert browser.open(f"{root}/activity/?{query}").status_code in (200, 400)

    def test_a_long_list_has_pages(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        for number in range(51):
            api.folder(tenant, person, f"folder {number}")
        page = browser.open(f"{root}/activity/?action=folder.created")
        assert "Page 1 of 2" in page.text
        assert 'href="?action=folder.created&amp;page=2"' in page.text


class TestOthers:
    @pytest.mark.parametrize("who", ["member", "stranger", "administrator-of-the-server"])
    def test_only_administrators_see_the_pages(
        self, api: Api, log_in: LogIn, root: str, tenant: str, person: Person, who: str
    ) -> None:
        other = api.person(admin=who.startswith("administrator"))
        if who == "member":
            api.join(tenant, person, other)
        browser = log_in(other)
        for section in ("invitations", "retention", "share-policy", "activity"):
            assert browser.open(f"{root}/{section}/").status_code in (403, 404), section
        browser.open("/console/")
        csrf = browser.forms["/console/logout"]["csrf"]
        before = [api.get(f"{tenant}/{name}", by=person).json for name in ("retention", "share-policy")]
        form = {
            "csrf": csrf,
            "contact": "x@example.com",
            "trashDays": "1",
            "mode": "compliance",
            "who": "nobody",
        }
        for section in ("invitations", "retention", "share-policy"):
            browser.request(f"{root}/{section}/", form)
            assert browser.page.status_code in (400, 403, 404), section
        after = [api.get(f"{tenant}/{name}", by=person).json for name in ("retention", "share-policy")]
        assert after == before
        assert api.get(f"{tenant}/invitations", by=person).json["data"] == []
