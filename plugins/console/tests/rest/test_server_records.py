"""Imports, spaces, service accounts, logins, the audit log and the quarantine of the server."""

import csv
import io
import json
import re

import pytest
from sqlalchemy import update
from tests.support.api import PASSWORD, Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.activity.audit.service import FAILURE, AuditEvent, AuditService
from strongroom.extensions.user_imports.worker import ImportWorker
from strongroom.foundation.database.upgrade import upgrade
from strongroom.identity.users.models import users
from strongroom.testing.clock import MINUTE

PLUGINS = ("storage_local", "login_pages", "console")
CONFIG: Table = merged(FIXED_CAPTCHA, {"plugins": {"enabled": list(PLUGINS)}})
HOSTILE = '<img src=x onerror="alert(1)">\u202etxt'
ROOT = "/console/server"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG), pytest.mark.usefixtures("tables")]


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(admin=True, name="Root")


def send(browser: PageBrowser, page: str, action: str, **fields: object) -> None:
    """Send a form of a page."""
    browser.open(ROOT + page)
    target = browser.action(ROOT + action)
    browser.open(target, {**browser.forms[target], **fields})  # type: ignore[dict-item]


def upload(browser: PageBrowser, *lines: object, **options: str) -> str:
    """Import lines, and return the path of the page of the import."""
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    file = (io.BytesIO(content), "users.ndjson")
    send(browser, "/imports/", "/imports/", file=file, **{"onConflict": "fail", **options})
    return browser.path


def test_a_file_of_users_is_imported(api: Api, browser: PageBrowser) -> None:
    job = upload(browser, {"name": "Anna", "email": "anna@example.com"}, {"name": "B", "email": HOSTILE})
    assert browser.message == "The file was received."
    assert "Waiting" in browser.page.text
    api.container.get(ImportWorker).run_due()
    page = browser.open(job)
    assert "Finished" in page.text
    assert "Refused lines" in page.text
    assert "<img" not in page.text
    errors = browser.open(f"{job}errors")
    assert [json.loads(line)["line"] for line in errors.text.splitlines()] == [2]
    assert "attachment" in errors.headers["Content-Disposition"]
    assert "Finished" in browser.open(f"{ROOT}/imports/").text


def test_a_dry_run_changes_nothing(api: Api, browser: PageBrowser, person: Person) -> None:
    job = upload(browser, {"name": "Anna", "email": "anna@example.com"}, dryRun="on")
    api.container.get(ImportWorker).run_due()
    assert "check only" in browser.open(job).text
    assert api.get("/users?q=anna", by=person).json["data"] == []


def test_an_import_is_cancelled_or_refused(browser: PageBrowser) -> None:
    job = upload(browser, {"name": "Anna", "email": "anna@example.com"})
    action = job.removeprefix(ROOT)
    send(browser, action, f"{action}cancellation")
    assert "Cancelled" in browser.page.text
    upload(browser, {"name": "Anna"}, onConflict="wrong")
    assert 'role="alert"' in browser.page.text
    assert browser.open(f"{ROOT}/imports/nowhere/").status_code == 404


def test_users_are_exported(api: Api, browser: PageBrowser) -> None:
    api.person(name=HOSTILE)
    send(browser, "/imports/", "/imports/export")
    lines = [json.loads(line) for line in browser.page.text.splitlines()]
    assert [line["name"] for line in lines] == [HOSTILE]


def test_a_space_gets_a_quota_and_is_deleted(api: Api, browser: PageBrowser, person: Person) -> None:
    tenant = api.tenant(api.person(), HOSTILE)
    page = browser.open(f"{ROOT}/tenants/")
    assert "&lt;img src=x" in page.text
    here = f"/tenants/{tenant.rpartition('/')[2]}/"
    send(browser, f"{here}?page=1", f"{here}quota?page=1", quota="1.5", unit="GB")
    assert browser.message == "The quota was saved."
    assert api.get(f"{tenant}/usage", by=person).json["quotaBytes"] == 1_500_000_000
    for wrong in ("-1", "1e999999", "x"):
        send(browser, f"{here}?page=1", f"{here}quota?page=1", quota=wrong, unit="GB")
        assert 'role="alert"' in browser.page.text
    send(browser, f"{here}deletion?page=1", f"{here}deletion?page=1")
    assert browser.message == "The space was deleted."
    assert browser.open(f"{ROOT}{here}").status_code == 404


def test_a_service_account_gets_keys(api: Api, browser: PageBrowser) -> None:
    send(browser, "/service-accounts/", "/service-accounts/", name=HOSTILE)
    assert browser.message == "The service account was created."
    here = browser.path.removeprefix(ROOT)
    send(browser, here, f"{here}keys", name="Sync", scopes=["users:read"])
    key = re.search(r'class="secret" id="secret">([^<]+)', browser.page.text)
    assert key
    assert api.get("/users", by=Person("", "", key.group(1))).status_code == 200
    assert key.group(1) not in browser.open(ROOT + here).text
    send(browser, here, f"{here}keys", name="Sync", addresses="nonsense")
    assert browser.page.status_code == 400
    action = next(path for path in browser.forms if path.endswith("/revocation"))
    browser.open(action, browser.forms[action])
    assert browser.message == "The key was revoked."
    assert api.get("/users", by=Person("", "", key.group(1))).status_code == 401
    send(browser, here, f"{here}name", name="Sync of HR")
    assert "Sync of HR" in browser.page.text
    send(browser, f"{here}deletion", f"{here}deletion")
    assert browser.message == "The service account was deleted."
    send(browser, "/service-accounts/", "/service-accounts/", name="")
    assert browser.page.status_code == 400


def test_service_accounts_are_found_by_name_and_deleted_from_the_list(
    api: Api, browser: PageBrowser
) -> None:
    for name in ("Sync", "Backup"):
        send(browser, "/service-accounts/", "/service-accounts/", name=name)
    page = browser.open(f"{ROOT}/service-accounts/?q=back").text
    assert "Backup" in page
    assert ">Sync<" not in page
    (path,) = re.findall(r'href="([^"]+/deletion)" data-asks', page)
    assert "Backup" in browser.open(path).text
    assert "Nothing matches." in browser.open(f"{ROOT}/service-accounts/?q=nothing").text


def test_a_fresh_proof_leads_back_to_the_form(api: Api, browser: PageBrowser) -> None:
    send(browser, "/service-accounts/", "/service-accounts/", name="Sync")
    here = browser.path.removeprefix(ROOT)
    api.clock.advance(20 * MINUTE)
    send(browser, here, f"{here}keys", name="Sync", scopes=["users:read"])
    assert browser.path == "/account/step-up"
    browser.send("step-up", password=PASSWORD)
    assert browser.path == ROOT + here
    assert browser.message == "Confirmed. Now send the form again."
    send(browser, here, f"{here}keys", name="Sync", scopes=["users:read"])
    assert 'class="secret" id="secret">' in browser.page.text


def test_logins_are_listed(browser: PageBrowser) -> None:
    page = browser.open(f"{ROOT}/logins/")
    assert "<strong>Password</strong> <code>password</code>" in page.text
    assert "No provider is configured." in page.text


def test_the_audit_log_is_searched_by_users_and_addresses(
    api: Api, browser: PageBrowser, person: Person
) -> None:
    ann, anna = (api.person(name=name) for name in ("Ann Adams", "Anna Adams"))
    page = browser.open(f"{ROOT}/audit/?q={ann.email}").text
    assert "Done by: Ann Adams" in page
    assert "Anna Adams" not in page
    assert f"?targetId={ann.id}&amp;targetType=user" in page
    page = browser.open(f"{ROOT}/audit/?q=adams").text
    assert f"?actorId={ann.id}" in page
    assert f"?actorId={anna.id}" in page
    assert page.count("<details>") == 0
    assert browser.open(f"{ROOT}/audit/?q=127.0.0.1").text.count("<summary>") > 1
    assert "No record matches" in browser.open(f"{ROOT}/audit/?q=nobody at all").text
    assert not browser.open(f"{ROOT}/audit/export?format=ndjson&q=nobody at all").text
    assert ann.id in browser.open(f"{ROOT}/audit/export?format=ndjson&q={ann.id}").text
    assert person.id not in browser.open(f"{ROOT}/audit/export?format=ndjson&q={ann.id}").text


def words_of(browser: PageBrowser, action: str) -> str:
    """Return what the audit log shows of the records of an action."""
    page = browser.open(f"{ROOT}/audit/?action={action}").text
    return " ".join(re.sub("<[^>]*>", "", page).split())


def test_a_grant_is_a_sentence_with_the_user_and_the_space(
    api: Api, browser: PageBrowser, person: Person
) -> None:
    reader, tenant = api.person(name="Bo"), api.tenant(person, "Acme")
    folder = api.folder(tenant, person, "Plans")["id"]
    api.join(tenant, person, reader)
    grant = {"ownerId": reader.id, "permission": "read"}
    assert api.post(f"{tenant}/files/{folder}/owners", grant, by=person).status_code in (200, 201)
    assert "Root gave Bo access to a file of Acme" in words_of(browser, "grant.put")


def test_a_warning_is_a_sentence(api: Api, browser: PageBrowser) -> None:
    with api.container.database.write() as connection:
        event = AuditEvent("refresh-token.reuse", FAILURE)
        api.container.get(AuditService).record(connection, event)
    assert "A stolen login was stopped" in words_of(browser, "refresh-token.reuse")


@pytest.mark.config(merged(CONFIG, {"plugins": {"enabled": [*PLUGINS, "webhooks"]}}))
def test_what_another_plugin_has_recorded_is_a_sentence(
    api: Api, browser: PageBrowser, person: Person
) -> None:
    upgrade(api.container.database.engine, api.container.selection.plugins.tables)
    tenant = api.tenant(person, "Acme").rpartition("/")[2]
    body = {"url": "https://hooks.example.com/", "eventTypes": ["file.*"], "tenantId": tenant}
    created = api.post("/api/v1/webhook-endpoints", body, by=person)
    assert created.status_code == 201, created.text
    words = words_of(browser, "webhooks.endpoint-create")
    assert "Root created a webhook of Acme" in words
    # The name of the action among the filters.
    assert "… created a webhook of …" in words


def test_the_audit_log_is_filtered_and_exported(api: Api, browser: PageBrowser, person: Person) -> None:
    api.person(name=HOSTILE)
    send(browser, "/service-accounts/", "/service-accounts/", name="=1+1")
    page = browser.open(f"{ROOT}/audit/?action=login&actorId={person.id}&since=2020-01-01T00:00")
    assert "Records found: 2" in page.text
    assert browser.open(f"{ROOT}/audit/?outcome=failure").text.count("<details>") == 0
    assert browser.open(f"{ROOT}/audit/?until=2020-01-01T00:00").text.count("<details>") == 0
    assert browser.open(f"{ROOT}/audit/?since=wrong").status_code == 400
    assert "<img" not in browser.open(f"{ROOT}/audit/").text
    exported = browser.open(f"{ROOT}/audit/export?format=csv&action=login")
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    assert {row["action"] for row in rows} == {"login"}
    assert rows[0]["actorName"] in ("Root", "'" + HOSTILE, HOSTILE)
    lines = browser.open(f"{ROOT}/audit/export?format=ndjson").text.splitlines()
    assert json.loads(lines[-1])["id"] == "1"


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe62", " =", "\t="]
)
def test_a_cell_is_no_formula(api: Api, browser: PageBrowser, start: str) -> None:
    person = api.person()
    # Of the version before, too, which accepted control characters.
    with api.container.database.write() as connection:
        named = update(users).where(users.c.id == person.id)
        connection.execute(named.values(name=f"{start}cmd()"))
    api.log_in(person.email)
    rows = csv.DictReader(io.StringIO(browser.open(f"{ROOT}/audit/export?format=csv").text))
    assert f"'{start}cmd()" in {row["actorName"] for row in rows}


def test_the_chain_is_verified(browser: PageBrowser) -> None:
    browser.open(f"{ROOT}/audit/chain")
    assert browser.message.startswith("All records up to")


PAGES = (
    "imports/",
    "imports/x/",
    "imports/x/errors",
    "tenants/",
    "tenants/x/",
    "tenants/x/deletion",
    "service-accounts/",
    "service-accounts/x/",
    "service-accounts/x/deletion",
    "logins/",
    "audit/",
    "audit/chain",
    "audit/export",
    "quarantine/",
    "quarantine/x/release",
    "quarantine/x/deletion",
)
FORMS = (
    "imports/",
    "imports/export",
    "imports/x/cancellation",
    "tenants/x/quota",
    "tenants/x/deletion",
    "service-accounts/",
    "service-accounts/x/name",
    "service-accounts/x/keys",
    "service-accounts/x/keys/y/revocation",
    "service-accounts/x/deletion",
    "quarantine/x/release",
    "quarantine/x/deletion",
)


def test_others_reach_nothing(api: Api) -> None:
    browser = PageBrowser(api)
    browser.log_in(api.person().email)
    browser.open("/console/")
    form = browser.forms["/console/logout"]
    statuses = {path: browser.open(f"{ROOT}/{path}").status_code for path in PAGES}
    assert statuses == dict.fromkeys(PAGES, 404)
    statuses = {path: browser.open(f"{ROOT}/{path}", form).status_code for path in FORMS}
    assert statuses == dict.fromkeys(FORMS, 404)


def test_a_form_without_the_secret_is_refused(browser: PageBrowser) -> None:
    statuses = {path: browser.open(f"{ROOT}/{path}", {"csrf": "wrong"}).status_code for path in FORMS}
    assert statuses == dict.fromkeys(FORMS, 400)
