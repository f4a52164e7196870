"""The pages of the usage, the quota and the settings of a tenant."""

from collections.abc import Callable

import pytest
from tests.support.api import PASSWORD, Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
HOSTILE = '"><script>alert(1)</script>'

LogIn = Callable[[Person], PageBrowser]

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def pages(tenant: str) -> str:
    return f"/console{tenant.removeprefix('/api/v1')}"


class TestUsage:
    def test_the_bar_has_a_text_and_the_parts(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        api.upload(tenant, person, "a.txt", b"x" * 1500)
        trashed = api.upload(tenant, person, "b.txt", b"x" * 500)["id"]
        api.delete(f"{tenant}/files/{trashed}", by=person)
        page = browser.open(f"{root}/usage/")
        assert "2.0 KB used" in page.text
        assert "Trash <strong>500 B</strong>" in page.text
        assert '<rect class="live" x="0" width="750"' in page.text
        assert "Quota</h2>" not in page.text

    @pytest.mark.parametrize(
        ("quota", "unit", "stored", "shown"),
        [
            ("1.5", "TB", 1_500_000_000_000, "1.5 TB"),
            ("0", "GB", 0, "0 B"),
            ("", "GB", None, "without a limit"),
        ],
    )
    def test_administrators_of_the_server_set_the_quota(
        self, api: Api, log_in: LogIn, quota: str, unit: str, stored: int | None, shown: str
    ) -> None:
        admin = api.person(admin=True)
        tenant = api.tenant(admin)
        browser, path = log_in(admin), f"{pages(tenant)}/usage"
        browser.open(f"{path}/")
        browser.submit(f"{path}/quota", quota=quota, unit=unit)
        assert browser.message == "The quota was saved."
        assert shown in browser.page.text
        assert api.get(tenant, by=admin).json["quotaBytes"] == stored

    @pytest.mark.parametrize("quota", ["-1", "much", "1e5000", "NaN", "1e30", "٣x"])
    def test_a_quota_that_is_none_is_refused(self, api: Api, log_in: LogIn, quota: str) -> None:
        admin = api.person(admin=True)
        tenant = api.tenant(admin)
        browser, path = log_in(admin), f"{pages(tenant)}/usage"
        browser.open(f"{path}/")
        browser.submit(f"{path}/quota", quota=quota, unit="GB")
        assert 'class="fault" id="quota-fault"' in browser.page.text
        assert api.get(tenant, by=admin).json["quotaBytes"] is None

    def test_the_quota_is_not_for_administrators_of_the_tenant(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        browser.open(f"{root}/usage/")
        csrf = browser.forms["/console/logout"]["csrf"]
        browser.open(f"{root}/usage/quota", {"csrf": csrf, "quota": "9", "unit": "TB"})
        assert 'role="alert"' in browser.page.text
        assert api.get(tenant, by=person).json["quotaBytes"] is None


class TestSettings:
    def test_the_tenant_is_renamed(self, browser: PageBrowser, root: str) -> None:
        browser.open(f"{root}/settings/")
        browser.submit(f"{root}/settings/name", name=HOSTILE)
        assert browser.message == "The space was renamed."
        assert "<script>" not in browser.page.text
        browser.submit(f"{root}/settings/name", name=" ")
        assert 'role="alert"' in browser.page.text

    def test_a_demand_that_the_own_login_misses_leads_to_a_proof(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        browser.open(f"{root}/settings/")
        browser.submit(f"{root}/settings/assurance", level="phr", age="")
        assert browser.path == "/account/step-up"
        assert api.get(tenant, by=person).json["assurance"] is None

    def test_a_tenant_that_demands_a_recent_login_leads_to_a_proof_and_back(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        browser.open(f"{root}/settings/")
        browser.submit(f"{root}/settings/assurance", level="", age="900")
        assert browser.message == "The login rules were saved."
        assert '<option value="900" selected>' in browser.page.text
        api.clock.advance(901_000)
        for path in ("settings/", "members/"):
            browser.open(f"{root}/{path}")
            assert browser.path == "/account/step-up"
        browser.send("step-up", password=PASSWORD)
        assert browser.path == f"{root}/members/"
        browser.open(f"{root}/settings/")
        browser.submit(f"{root}/settings/assurance", level="", age="")
        assert api.get(tenant, by=person).json["assurance"] is None

    def test_an_endless_number_is_no_age(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        browser.open(f"{root}/settings/")
        # Python refuses to read a number of more than 4,300 digits.
        page = browser.submit(f"{root}/settings/assurance", level="", age="9" * 5_000)
        assert page.status_code == 200
        assert api.get(tenant, by=person).json["assurance"] is None

    def test_the_administration_is_handed_over(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        bob = api.person(name="Bob")
        api.join(tenant, person, bob)
        browser.open(f"{root}/settings/")
        browser.submit(f"{root}/settings/transfer", successor="")
        assert 'role="alert"' in browser.page.text
        browser.submit(f"{root}/settings/transfer", successor=bob.id)
        assert browser.message == "The administration was handed over."
        assert browser.path == f"{root}/members/"
        assert browser.open(f"{root}/settings/").status_code == 404

    def test_the_tenant_is_deleted_by_its_name_alone(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        browser.open(f"{root}/settings/deletion")
        browser.submit(f"{root}/settings/deletion", name="acme")
        assert browser.page.status_code == 400
        assert "not the name" in browser.message
        assert api.get(tenant, by=person).status_code == 200
        browser.submit(f"{root}/settings/deletion", name="Acme")
        assert browser.message == "\u2068Acme\u2069 was deleted."
        assert api.get(tenant, by=person).status_code == 403

    def test_a_tenant_with_a_hold_is_not_deleted(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        keeper = api.person()
        api.join(tenant, person, keeper, role="records")
        folder = api.folder(tenant, person, "Evidence")["id"]
        api.put(f"{tenant}/files/{folder}/hold", {"reason": "case 1"}, by=keeper)
        browser.open(f"{root}/settings/deletion")
        browser.submit(f"{root}/settings/deletion", name="Acme")
        assert browser.page.status_code == 400
        assert 'role="alert"' in browser.page.text
        assert api.get(tenant, by=person).status_code == 200

    def test_what_members_send_nevertheless_is_refused(
        self, api: Api, log_in: LogIn, root: str, tenant: str, person: Person
    ) -> None:
        bob = api.person()
        api.join(tenant, person, bob)
        browser = log_in(bob)
        browser.open(f"{root}/usage/")
        csrf = browser.forms["/console/logout"]["csrf"]
        before = api.get(tenant, by=person).json
        for path in ("name", "assurance", "transfer", "deletion"):
            form = {"csrf": csrf, "name": "Acme", "age": "900", "successor": bob.id}
            browser.request(f"{root}/settings/{path}", form)
            assert browser.page.status_code in (303, 404), path
        assert api.get(tenant, by=person).json == before
