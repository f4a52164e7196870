"""The users of the server: who may see the pages, the search, new users, and changes of users."""

import json
import re
from dataclasses import replace

import pytest
from tests.support.api import Api, Person, error_code
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

CONFIG: Table = merged(
    FIXED_CAPTCHA,
    {"plugins": {"enabled": ["storage_local", "factor_totp", "login_pages", "console"]}},
)
HOSTILE = '<img src=x onerror="alert(1)">\u202etxt'
USERS = "/console/server/users/"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG), pytest.mark.usefixtures("tables")]


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(admin=True, name="Root")


@pytest.fixture
def other(api: Api) -> Person:
    return api.person(name=HOSTILE)


def change(browser: PageBrowser, user: Person, action: str, page: str = "", **fields: str) -> None:
    """Send a form of a page about a user."""
    browser.open(f"{USERS}{user.id}/{page}")
    path = browser.action(f"{USERS}{user.id}/{action}")
    browser.open(path, {**browser.forms[path], **fields})


def test_the_search_finds_names_and_contacts(api: Api, browser: PageBrowser, other: Person) -> None:
    api.person(name="Ben")
    page = browser.open(USERS)
    assert "Users found: 3" in page.text
    assert "&lt;img src=x" in page.text
    assert "<img src=x" not in page.text
    assert "Users found: 1" in browser.open(f"{USERS}?q=ben").text
    assert "Users found: 1" in browser.open(f"{USERS}?type=ADMIN").text
    assert "No user matches" in browser.open(f"{USERS}?status=suspended").text
    assert browser.open(f"{USERS}?sort=wrong&type=wrong&page=x").status_code == 200
    assert other.id in page.text


def test_a_new_user_gets_a_temporary_password(api: Api, browser: PageBrowser, person: Person) -> None:
    browser.open(f"{USERS}new")
    form = browser.forms[f"{USERS}new"]
    described = {"name": HOSTILE, "email": "anna@example.com", "emailVerified": "on", "locale": "zh"}
    page = browser.open(f"{USERS}new", {**form, **described, "access": "password"})
    assert page.status_code == 200
    password = re.search(r'<code class="secret" id="secret">([^<]+)', page.text)
    assert password
    assert "<img" not in page.text
    refused = api.log_in("anna@example.com", password.group(1))
    assert error_code(refused) == "error.password-change-required"
    logged_in = api.log_in("anna@example.com", password.group(1), newPassword="Correct2Horse").json
    user = api.get(f"/users/{logged_in['user']['id']}", by=person).json
    assert (user["type"], user["locale"], user["emailVerified"]) == ("USER", "zh", True)


def test_a_new_user_gets_a_link_or_a_message(api: Api, browser: PageBrowser) -> None:
    browser.open(f"{USERS}new")
    form = browser.forms[f"{USERS}new"]
    shown = browser.open(
        f"{USERS}new", {**form, "name": "A", "email": "a@example.com", "access": "link"}
    )
    assert 'class="secret" id="secret">http' in shown.text
    browser.open(f"{USERS}new", {**form, "name": "B", "email": "b@example.com", "access": "sent"})
    assert browser.message == "The account was created."
    assert "b@example.com" in str(api.outbox())


def test_a_wrong_form_keeps_what_was_typed(browser: PageBrowser, other: Person) -> None:
    browser.open(f"{USERS}new")
    form = browser.forms[f"{USERS}new"]
    page = browser.open(f"{USERS}new", {**form, "name": HOSTILE, "username": "e"})
    assert page.status_code == 400
    assert "&lt;img src=x" in page.text
    assert re.search(r'name="username"[^>]*aria-invalid="true"', page.text)
    page = browser.open(f"{USERS}new", {**form, "name": "B", "email": other.email})
    assert (page.status_code, "B" in page.text) == (400, True)
    assert browser.open(f"{USERS}new", {**form, "name": ""}).status_code == 400


def test_a_fault_stands_at_its_field_in_the_language_of_the_page(browser: PageBrowser) -> None:
    browser.open(f"{USERS}new?lang=zh")
    form = browser.forms[f"{USERS}new"]
    page = browser.open(f"{USERS}new", {**form, "name": "", "username": "e", "email": "x"})
    assert page.status_code == 400
    assert re.search(
        r'id="name"[^>]*aria-describedby="name-fault" aria-invalid="true" autofocus', page.text
    )
    assert '<p class="fault" id="name-fault">请填写此项。</p>' in page.text
    content = re.sub(r"<dialog.*?</dialog>", "", page.text, flags=re.DOTALL)
    assert content.count("autofocus") == 1
    page = browser.open(f"{USERS}new", {**form, "name": "A", "username": "e"})
    (fault,) = re.findall(r'<p class="fault" id="username-fault">([^<]+)', page.text)
    assert not fault.isascii()
    assert re.search(r'id="username"[^>]* value="e"[^>]* autofocus', page.text)


def test_the_profile_of_a_user_is_changed(
    api: Api, browser: PageBrowser, person: Person, other: Person
) -> None:
    change(browser, other, "profile", name="Ben", locale="zh", type="ADMIN", externalId="hr-17")
    assert browser.message == "The account was changed."
    user = api.get(f"/users/{other.id}", by=person).json
    described = (user["name"], user["locale"], user["type"], user["externalId"])
    assert described == ("Ben", "zh", "ADMIN", "hr-17")
    change(browser, other, "profile", name="", locale="zh", type="ADMIN", externalId="hr-17")
    assert browser.page.status_code == 400


def test_contacts_are_set_and_removed(api: Api, browser: PageBrowser, other: Person) -> None:
    change(browser, other, "contacts/username", value="benjamin")
    assert browser.message == "The contact was set."
    change(browser, other, "contacts/email", value="ben@example.com", verified="on")
    user = api.get(f"/users/{other.id}", by=other).json
    assert (user["username"], user["email"], user["emailVerified"]) == (
        "benjamin",
        "ben@example.com",
        True,
    )
    change(browser, other, "contacts/mobile", value="<b>1")
    assert browser.page.status_code == 400
    assert "&lt;b&gt;1" in browser.page.text
    change(browser, other, "contacts/username", value="")
    assert browser.message == "The contact was removed."
    assert browser.open(f"{USERS}{other.id}/contacts/wechat", {}).status_code in (400, 404)


def test_a_suspension_has_a_reason_and_an_end(api: Api, browser: PageBrowser, other: Person) -> None:
    change(browser, other, "suspension", reason=HOSTILE, until="2099-01-02T03:04")
    assert browser.message == "The account was suspended."
    assert "2099-01-02 03:04 UTC" in browser.page.text
    assert "<img" not in browser.page.text
    assert api.log_in(other.email).status_code == 403
    change(browser, other, "reinstatement")
    assert browser.message == "The account can be used again."
    assert api.log_in(other.email).status_code == 200
    change(browser, other, "suspension", until="tomorrow")
    assert 'role="alert"' in browser.page.text


def test_a_user_gets_a_new_password(api: Api, browser: PageBrowser, other: Person) -> None:
    change(browser, other, "temporary-password", "sessions")
    assert browser.page.headers["Cache-Control"] == "no-store"
    assert "This is shown only now." in browser.page.text
    change(browser, other, "links", "sessions", kind="reset", send="on")
    assert browser.message == "The link was sent."
    change(browser, other, "links", "sessions", kind="reset")
    assert 'class="secret" id="secret">http' in browser.page.text
    change(browser, other, "links", "sessions", kind="wrong")
    assert 'role="alert"' in browser.page.text


def test_sessions_end(api: Api, browser: PageBrowser, other: Person) -> None:
    page = browser.open(f"{USERS}{other.id}/sessions")
    action = next(path for path in browser.forms if re.search(r"/sessions/[^/]+/end$", path))
    browser.open(action, browser.forms[action])
    assert browser.message == "The device was logged out."
    assert api.get("/users/me", by=other).status_code == 401
    again = replace(other, token=api.log_in(other.email).json["accessToken"])
    change(browser, other, "sessions/end", "sessions")
    assert browser.message == "Logged out everywhere."
    assert api.get("/users/me", by=again).status_code == 401
    assert page.status_code == 200


def test_second_factors_and_keys_are_listed(api: Api, browser: PageBrowser, other: Person) -> None:
    body = {"name": HOSTILE, "scopes": ["files:read"], "currentPassword": "Correct1Horse"}
    proof = {"heldCode": api.code(other.email, "bind")}
    created = api.post(f"/users/{other.id}/access-keys", {**body, **proof}, by=other)
    assert created.status_code == 201, created.text
    page = browser.open(f"{USERS}{other.id}/keys")
    assert "&lt;img src=x" in page.text
    change(browser, other, f"keys/{created.json['id']}/revocation", "keys")
    assert browser.message == "The key was revoked."
    assert "Two-step verification is off." in browser.open(f"{USERS}{other.id}/sessions").text


def test_metadata_is_edited_as_text(api: Api, browser: PageBrowser, other: Person) -> None:
    text = json.dumps({"a": {"b": 1, "c": 2}, "d": "</textarea><script>"})
    change(browser, other, "metadata/server-metadata", "metadata", text=text)
    assert browser.message == "The data was saved."
    assert "</textarea><script>" not in browser.page.text
    path = browser.action(f"{USERS}{other.id}/metadata/server-metadata")
    form = browser.forms[path]
    api.patch(f"/users/{other.id}/metadata", {"own": 1}, by=other)
    browser.open(path, {**form, "text": '{"a": {"b": 1, "x": []}}'})
    admin = api.person(admin=True)
    stored = api.get(f"/users/{other.id}/server-metadata", by=admin).json
    assert stored == {"a": {"b": 1, "x": []}}
    for wrong in ("{", "[]", "NaN", "[" * 100_000, '{"a": NaN}'):
        page = browser.open(path, {**form, "text": wrong})
        assert page.status_code == 400
        assert "This is not a JSON object" in page.text
    page = browser.open(path, {**form, "text": json.dumps({"a": "x" * 17_000})})
    assert page.status_code == 400


def test_metadata_is_edited_as_rows(api: Api, browser: PageBrowser, other: Person) -> None:
    admin = api.person(admin=True)
    api.patch(f"/users/{other.id}/server-metadata", {"plan": "basic", "seats": 5}, by=admin)
    browser.open(f"{USERS}{other.id}/metadata")
    path = browser.action(f"{USERS}{other.id}/metadata/server-metadata/rows")
    form = browser.forms[path]
    rows = {"key": ["plan", "seats", "note"], "value": ["pro", "", "5"]}
    browser.open(path, {**form, **rows})
    assert browser.message == "The data was saved."
    stored = api.get(f"/users/{other.id}/server-metadata", by=admin).json
    assert stored == {"plan": "pro", "note": 5}
    page = browser.open(path, {**form, "key": ["a", "a"], "value": ["kept <b>", "2"]})
    assert page.status_code == 400
    faulty = re.search(
        r'<input name="key" value="a"[^>]* aria-invalid="true"[^>]*>\s*<p class="fault"[^>]*>([^<]+)',
        page.text,
    )
    assert faulty
    assert faulty.group(1) == "Two rows have the same key."
    assert page.text.count('aria-invalid="true"') == 1
    assert "<title>Error: " in page.text
    assert 'value="kept &lt;b&gt;"' in page.text


def test_a_user_is_deleted_after_a_question(api: Api, browser: PageBrowser, other: Person) -> None:
    change(browser, other, "deletion", "deletion")
    assert browser.message == "The account was deleted."
    assert api.log_in(other.email).status_code == 401
    assert browser.open(f"{USERS}{other.id}/").status_code == 404


def test_the_own_account_has_no_forms_that_would_be_refused(
    browser: PageBrowser, person: Person
) -> None:
    page = browser.open(f"{USERS}{person.id}/")
    assert "This is your own account." in page.text
    assert f"{USERS}{person.id}/suspension" not in browser.forms


PAGES = ("", "new", "x/", "x/sessions", "x/activity", "x/keys", "x/metadata", "x/deletion")
FORMS = (
    "new",
    "{}/profile",
    "{}/suspension",
    "{}/reinstatement",
    "{}/contacts/email",
    "{}/temporary-password",
    "{}/links",
    "{}/impersonation",
    "{}/deletion",
    "{}/sessions/end",
    "{}/factors/reset",
    "{}/metadata/metadata",
    "{}/metadata/metadata/rows",
)


def test_others_reach_nothing(api: Api, other: Person) -> None:
    admin = api.person(admin=True, name="Root")
    browser = PageBrowser(api)
    browser.log_in(other.email)
    browser.open("/console/")
    form = browser.forms["/console/logout"]
    for path in PAGES:
        assert browser.open(f"{USERS}{path.replace('x', admin.id)}").status_code == 404
        assert "Root" not in browser.page.text
    for path in FORMS:
        assert browser.open(USERS + path.format(admin.id), form).status_code == 404
    assert api.get(f"/users/{admin.id}", by=admin).json["name"] == "Root"


def test_a_suspended_administrator_reaches_nothing(
    api: Api, browser: PageBrowser, person: Person
) -> None:
    browser.open(USERS)
    form = browser.forms["/console/logout"]
    api.post(f"/users/{person.id}/suspension", by=api.person(admin=True))
    browser.open(USERS)
    assert browser.path == "/account/login"
    browser.open(f"{USERS}new", {**form, "name": "A", "username": "abc"})
    assert browser.path == "/account/login"


def test_a_form_without_the_secret_changes_nothing(
    api: Api, browser: PageBrowser, other: Person
) -> None:
    for path in FORMS:
        assert browser.open(USERS + path.format(other.id), {"csrf": "wrong"}).status_code == 400
    assert api.get("/users/me", by=other).status_code == 200


def test_a_tab_shows_the_spaces_of_the_user(api: Api, browser: PageBrowser, other: Person) -> None:
    page = browser.open(f"{USERS}{other.id}/spaces")
    assert "Not a member of any space" in page.text
    tenant = api.tenant(other, HOSTILE).rpartition("/")[2]
    page = browser.open(f"{USERS}{other.id}/spaces")
    assert f"/console/server/tenants/{tenant}/" in page.text
    assert "<img src=x" not in page.text
    assert "0 B used, without a limit" in page.text


def test_pages_of_a_user_are_read_without_acting_for_the_user(
    api: Api, browser: PageBrowser, person: Person, other: Person
) -> None:
    page = browser.open(f"{USERS}{other.id}/").text
    tabs = set(re.findall(rf'href="({USERS}{other.id}/[\w/-]*)"', page))
    assert len(tabs) > 2
    for path in sorted(tabs):
        assert browser.open(path).status_code == 200
    browser.open(f"/console/find/results?q={other.id}")
    assert api.get("/audit-events?action=plugin.act-as", by=person).json["data"] == []


def test_the_pages_of_the_user_open_by_me(api: Api, browser: PageBrowser, person: Person) -> None:
    api.tenant(person, "Acme of Root")
    for page in ("", "spaces", "sessions", "keys", "activity", "metadata"):
        assert browser.open(f"{USERS}me/{page}").status_code == 200
    assert "Acme of Root" in browser.open(f"{USERS}me/spaces").text
    assert "logged in" in browser.open(f"{USERS}me/activity").text
