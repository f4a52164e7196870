"""A page in a section of the console opens for those who see the section, without a check of its own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.api import Api, Person
from tests.support.config import Table, write_api_config
from tests.support.databases import on_sqlite
from tests.support.distributions import install
from tests.support.page_browser import PageBrowser

PLUGIN = """
from flask import Blueprint
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.pages import ConsoleSection, SpaceSection
from strongroom.plugin_api.visits import PageApplication
from strongroom.plugin_api.web import MountedApplication

API_VERSION = "2.0"
ADMIN, RECORDS = frozenset({"admin"}), frozenset({"admin", "records"})
pages = Blueprint("drawer", __name__)

@pages.get("/")
@pages.get("/<path:rest>")
def show(rest=""):
    return "shown"

@hookimpl
def register_wsgi_applications(host):
    application = PageApplication(host, "/drawer")
    application.register_blueprint(pages)
    return [MountedApplication("/drawer", application.wsgi_app)]

@hookimpl
def register_console_sections():
    return [ConsoleSection("/drawer/all/", {"en": "All"})]

@hookimpl
def register_space_sections():
    return [
        SpaceSection("/drawer/all/{tenant}/", {"en": "Admin"}, roles=ADMIN),
        SpaceSection("/drawer/of/{tenant}/records", {"en": "Records"}, roles=RECORDS),
        SpaceSection("/drawer/of/{tenant}/lost", {"en": "Lost"}, route="/api/v1/lost"),
        SpaceSection("/drawer/of/{tenant}", {"en": "Members"}),
        SpaceSection("/drawer/{tenant}", {"en": "First"}, roles=ADMIN),
    ]
"""
CONFIG: Table = {"plugins": {"enabled": ["storage_local", "login_pages", "drawer"]}}
PATHS = (
    "/drawer/",
    "/drawer/all/",
    "/drawer/all/TENANT/",
    "/drawer/all/TENANT/below/it",
    "/drawer/of/TENANT",
    "/drawer/of/TENANT/records",
    "/drawer/of/TENANT/records/1",
    "/drawer/of/TENANT/recordings",
    "/drawer/of/TENANT/lost",
    "/drawer/TENANT",
)

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def config(
    tmp_path: Path, database_url: str, config_changes: Table, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    module = install(tmp_path, "drawer", PLUGIN)
    yield write_api_config(tmp_path, database_url, config_changes)
    sys.modules.pop(module, None)


def logged_in(api: Api, person: Person) -> PageBrowser:
    browser = PageBrowser(api)
    browser.open("/account/login")
    browser.log_in(person.email)
    browser.open("/account/")
    return browser


def opened(api: Api, person: Person, tenant_id: str) -> set[str]:
    """Return the paths that open for a person."""
    browser = logged_in(api, person)
    answers = {path: browser.open(path.replace("TENANT", tenant_id)) for path in PATHS}
    assert {answer.status_code for answer in answers.values()} <= {200, 404}
    return {path for path, answer in answers.items() if answer.text == "shown"}


def test_each_page_opens_for_those_who_see_its_section(api: Api) -> None:
    administrator, records, member, stranger = (api.person() for _ in range(4))
    tenant = api.tenant(administrator)
    tenant_id = tenant.rpartition("/")[2]
    api.join(tenant, administrator, records, "records")
    api.join(tenant, administrator, member)
    for_all = {"/drawer/", "/drawer/of/TENANT", "/drawer/of/TENANT/recordings"}
    for_records = {"/drawer/of/TENANT/records", "/drawer/of/TENANT/records/1"}
    for_admins = {"/drawer/all/TENANT/", "/drawer/all/TENANT/below/it", "/drawer/TENANT"}
    assert opened(api, administrator, tenant_id) == for_all | for_records | for_admins
    assert opened(api, records, tenant_id) == for_all | for_records
    # Pages for all members read the tenant, which refuses others.
    assert opened(api, member, tenant_id) == opened(api, stranger, tenant_id) == for_all
    assert opened(api, api.person(admin=True), tenant_id) == for_all | {"/drawer/all/"}


def test_people_log_out_by_a_path_that_a_section_could_have(api: Api) -> None:
    browser = logged_in(api, api.person())
    secret = next(iter(browser.forms.values()))["csrf"]
    # The path fits "/drawer/{tenant}".
    assert browser.request("/drawer/logout", {"csrf": secret}).status_code == 303
    assert not browser.is_logged_in
