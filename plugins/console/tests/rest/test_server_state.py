"""The state of the server: overview, health, storages, plugins, settings, limits, jobs and messages."""

import importlib
import re
import threading
from collections.abc import Callable

import pytest
from tests.support.api import Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.assembly.plugin_host.server import HostServer
from strongroom.content.storage.service import BlobService
from strongroom.foundation.config.describe import MASK
from strongroom.plugin_api.server import ServerFinding
from strongroom.plugin_api.storage import StorageUnavailable
from strongroom_console.server.titles import title_key

SECRET = "planted-secret"

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
SMTP = {"host": "localhost", "sender": "a@example.com", "username": "a", "password": f"{SECRET}-smtp"}
PROVIDER = {
    "issuer": "https://localhost:1",
    "client_id": "me",
    "client_secret": f"{SECRET}-oidc",
}
SECRETS: Table = merged(
    CONFIG,
    {
        "server": {"secret_key": f"{SECRET}-of-the-server-with-32-characters"},
        "plugins": {"enabled": ["storage_local", "login_pages", "login_oidc", "console"]},
        "login": {"methods": ["password", "oidc"], "oidc": {"providers": {"acme": PROVIDER}}},
        "tracing": {"authorization": f"Bearer {SECRET}-tracing"},
        "messages": {"email": ["console", "smtp"], "smtp": SMTP},
    },
)

PAGES = ("", "health/", "storages/", "plugins/", "settings/", "limits/", "jobs/", "messages/")
ROOT = "/console/server/"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def admin(api: Api) -> Person:
    return api.person(admin=True, name="Root")


@pytest.fixture
def browser(admin: Person, log_in: Callable[[Person], PageBrowser]) -> PageBrowser:
    return log_in(admin)


def storage(api: Api) -> object:
    return api.container.get(BlobService).storages["main"].backend


@pytest.mark.parametrize("page", PAGES)
def test_only_administrators_see_a_page(
    api: Api, browser: PageBrowser, log_in: Callable[[Person], PageBrowser], page: str
) -> None:
    assert browser.open(ROOT + page).status_code == 200
    assert browser.page.text.count("<h1") == 1
    other = log_in(api.person())
    assert other.open(ROOT + page).status_code == 404


@pytest.mark.parametrize("action", ["first-steps/dismiss", "health/audit", "storages/main/test"])
def test_only_administrators_change_something(
    api: Api, browser: PageBrowser, log_in: Callable[[Person], PageBrowser], action: str
) -> None:
    other = log_in(api.person())
    other.open("/console/")
    csrf = next(iter(other.forms.values()))["csrf"]
    assert other.request(ROOT + action, {"csrf": csrf}).status_code == 404
    assert browser.request(ROOT + action, {}).status_code == 400


@pytest.mark.config(SECRETS)
def test_no_page_shows_a_secret(browser: PageBrowser, api: Api) -> None:
    for page in PAGES:
        assert SECRET not in browser.open(ROOT + page).text
    settings = browser.open(f"{ROOT}settings/").text
    assert settings.count("&#34;...&#34;") >= 3
    assert "client_secret = &#34;...&#34;" in settings


@pytest.mark.config(SECRETS)
def test_each_secret_key_is_masked(browser: PageBrowser, api: Api) -> None:
    host = api.container.hosts.get("console")
    secret_keys = {
        ".".join((*section.path, item.name))
        for section in api.container.selection.all_sections(api.container.settings)
        for item in section.options_type.__dataclass_fields__.values()
        if item.metadata.get("secret")
    }
    assert {"server.secret_key", "database.url", "redis.url"} <= secret_keys
    with host.acting_as(api.person(admin=True).id):
        values = {item.key: item.value for item in host.server.settings()}
    assert {values[key] for key in secret_keys} <= {f'"{MASK}"', '""', "{}"}


def test_settings_jobs_and_limits_have_titles(browser: PageBrowser, api: Api) -> None:
    host = api.container.hosts.get("console")
    with host.acting_as(api.person(admin=True).id):
        settings, jobs = host.server.settings(), host.server.jobs()
    assert [item.key for item in settings if title_key("setting", item.key) is None] == []
    tables = {item.key.rpartition(".")[0] for item in settings}
    assert [table for table in sorted(tables) if title_key("section", table) is None] == []
    assert [job.name for job in jobs if title_key("job", job.name) is None] == []
    found = browser.open(f"{ROOT}settings/?q=brand+color").text
    assert re.search(r"Brand color <code[^>]*>primary</code>", found)
    assert "品牌色" in browser.open(f"{ROOT}settings/?q=品牌色", None, **{"Accept-Language": "zh"}).text


def test_the_settings_are_searched_and_filtered(browser: PageBrowser) -> None:
    page = browser.open(f"{ROOT}settings/?q=pages.name").text
    assert "[pages]" in page
    assert "[server]" not in page
    page = browser.open(f"{ROOT}settings/?changed=1").text
    assert ">enabled</code>" in page
    assert ">port</code>" not in page
    assert "Settings: 0" in browser.open(f"{ROOT}settings/?q=%3Cscript%3E").text
    assert "<script>" not in re.sub(r"<script[^>]+src", "", browser.page.text)


def test_the_first_steps_are_checked_and_hidden(api: Api, admin: Person, browser: PageBrowser) -> None:
    page = browser.open(ROOT).text
    assert "First steps" in page
    assert "1 of 5 done" in page
    api.tenant(admin)
    api.person()
    assert "3 of 5 done" in browser.open(ROOT).text
    assert "First steps" not in browser.submit(f"{ROOT}first-steps/dismiss").text


@pytest.mark.config(
    merged(CONFIG, {"pages": {"name": "Acme"}, "messages": {"email": ["smtp"], "sms": [], "smtp": SMTP}})
)
def test_the_first_steps_are_gone_once_all_are_done(
    api: Api, admin: Person, browser: PageBrowser
) -> None:
    assert "3 of 5 done" in browser.open(ROOT).text
    api.tenant(admin)
    api.person()
    assert "First steps" not in browser.open(ROOT).text


def test_what_needs_the_administrator_has_its_remedy(
    api: Api, browser: PageBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StorageUnavailable("<b>no route")

    monkeypatch.setattr(storage(api), "put", refuse)
    for page in ("", "health/"):
        text = browser.open(ROOT + page).text
        assert "start the store, or correct [storages.main]" in text
        assert "is unavailable: &lt;b&gt;no route" in text
    assert "start the store" in browser.open(f"{ROOT}health/?since=wrong").text
    monkeypatch.undo()
    api.clock.advance(1000)
    assert "start the store" in browser.open(f"{ROOT}health/").text
    assert "start the store" not in browser.open(f"{ROOT}health/?since={api.clock.now()}").text


def test_similar_findings_are_behind_a_disclosure(
    browser: PageBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    similar = [ServerFinding("pages.templates", "warning", f"{n} is old", f"copy {n}") for n in range(9)]
    for name in ("health", "overview"):
        module = importlib.import_module(f"strongroom_console.server.{name}")
        monkeypatch.setattr(module, "faults_in", lambda _: similar)
    for page in ("", "health/"):
        text = browser.open(ROOT + page).text
        assert "9 similar findings" in text
        assert "copy 8" in text.partition("<details>")[2]


def test_a_storage_that_hangs_does_not_hang_the_pages(
    api: Api, browser: PageBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr(HostServer, "patience", 0.2)
    monkeypatch.setattr(storage(api), "put", lambda *_, **__: release.wait(60))
    try:
        assert "does not respond" in browser.open(ROOT).text
        browser.open(f"{ROOT}storages/")
        assert "main: does not respond" in browser.submit(f"{ROOT}storages/main/test").text
        assert "does not respond" in browser.submit(f"{ROOT}storages/main/test").text
    finally:
        release.set()


def test_a_database_that_hangs_does_not_hang_the_counts(
    api: Api, browser: PageBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    monkeypatch.setattr(HostServer, "patience", 0.2)
    monkeypatch.setattr("strongroom.extensions.observability.totals.totals", lambda _: release.wait(60))
    monkeypatch.setattr(
        "strongroom.content.storage.stores.Inventory.holdings", lambda _: release.wait(60)
    )
    try:
        assert browser.open(ROOT).text.count("<dd>\u2013</dd>") == 3
        assert "The database did not respond in time." in browser.open(f"{ROOT}storages/").text
    finally:
        release.set()


def test_a_storage_is_tested(api: Api, browser: PageBrowser, admin: Person) -> None:
    api.upload(api.tenant(admin), admin, "a.txt", b"x" * 1500)
    assert "Files: 1, 1.5 KB." in browser.open(f"{ROOT}storages/").text
    browser.submit(f"{ROOT}storages/main/test")
    assert browser.message.startswith("main works: a test file was written")
    csrf = browser.forms[f"{ROOT}storages/main/test"]["csrf"]
    assert browser.open(f"{ROOT}storages/other/test", {"csrf": csrf}).status_code == 404


def test_the_audit_log_is_verified(browser: PageBrowser) -> None:
    browser.open(f"{ROOT}health/")
    browser.submit(f"{ROOT}health/audit")
    assert re.fullmatch(r"All records up to number \d+ are valid\.", browser.message)


def test_plugins_limits_jobs_and_messages_are_listed(api: Api, browser: PageBrowser) -> None:
    page = browser.open(f"{ROOT}plugins/").text
    assert "storage local" in page
    assert "register_blueprints" not in page
    assert (
        page.index("<strong>Console</strong> <code>console</code>")
        < page.index("webhooks 0")
        < page.index("Built in")
    )
    assert "login_per_address" in browser.open(f"{ROOT}limits/").text
    assert "core.prune" in browser.open(f"{ROOT}jobs/").text
    assert "every 1 d" in browser.page.text
    assert "No message" in browser.open(f"{ROOT}messages/").text
    person = api.person()
    api.request_code(person.email, "reset-password")
    page = browser.open(f"{ROOT}messages/?page=x").text
    assert "•••@" in page
    assert person.email not in page
    assert browser.open(f"{ROOT}messages/?page=999999999").status_code == 200


def test_the_messages_to_an_address_are_found(api: Api, browser: PageBrowser) -> None:
    person = api.person()
    api.request_code(person.email, "reset-password")
    assert browser.open(f"{ROOT}messages/?q={person.email.upper()}").text.count("•••@") == 1
    for text in ("%25", "r_erson", "nobody@example.com"):
        page = browser.open(f"{ROOT}messages/?q={text}").text
        assert "No message to this" in page
        assert "•••@" not in page


def test_units_are_in_the_language_of_the_page(api: Api, admin: Person) -> None:
    browser = PageBrowser(api, Accept_Language="zh-CN")
    browser.log_in(admin.email)
    assert "每小时 30 次" in browser.open(f"{ROOT}limits/").text
    assert "每 1 天" in browser.open(f"{ROOT}jobs/").text
    assert "每小时 30 次" in browser.open(f"{ROOT}settings/?q=code_per_address").text


def test_values_are_shown_in_words(browser: PageBrowser) -> None:
    page = " ".join(browser.open(f"{ROOT}settings/?q=files.max_file_bytes").text.split())
    assert re.search(r"<code>[0-9]{1,3}(,[0-9]{3})+</code>", page)
    assert ">Off</span>" in browser.open(f"{ROOT}settings/?q=server.http2").text
    assert ">Not set</span>" in browser.open(f"{ROOT}settings/?q=server.base_path").text


def test_the_pages_are_chinese(api: Api, admin: Person) -> None:
    browser = PageBrowser(api, Accept_Language="zh-CN")
    browser.log_in(admin.email)
    for page in PAGES:
        assert 'lang="zh' in browser.open(ROOT + page).text
