"""Shares for logged-in users open from the session of the browser, and only from pages of the server."""

import io
import re
from typing import Any

import pytest
from tests.support.api import PASSWORD as USER_PASSWORD
from tests.support.api import Answer, Api, Person, error_code
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.shares import ALL_KINDS, PASSWORD, PLUGINS, Shared, Visitor

from strongroom.testing.clock import HOUR

pytestmark = [
    on_sqlite,
    pytest.mark.config(
        {
            "plugins": {"enabled": [*PLUGINS, "login_pages"], "share_links": {"kinds": ALL_KINDS}},
            "server": {"public_url": "http://localhost"},
        }
    ),
]

OWN = {"Sec-Fetch-Site": "same-origin"}
SITES = ("cross-site", "same-site", "none")
AUDIENCES = ("logged-in", "members")
HTML = {"Accept": "text/html"}


@pytest.fixture
def shared(api: Api) -> Shared:
    return Shared.made(api)


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


def page_of(visitor: Visitor) -> str:
    return f"/s/{visitor.secret}/"


def login_of(reply: Answer) -> str:
    """Return the path of the login that a page offers."""
    match = re.search(r'<a class="button primary" href="(/account/login[^"]*)"', reply.text)
    assert match is not None, reply.text
    return match[1].replace("&amp;", "&")


def opened(browser: PageBrowser, person: Person, visitor: Visitor) -> Answer:
    """Open a share by the link to the login on its page."""
    offered = browser.open(page_of(visitor), None, **HTML)
    assert offered.status_code == 401, offered.text
    browser.open(login_of(offered))
    return browser.send("login", username=person.email, password=USER_PASSWORD)


@pytest.mark.parametrize("audience", AUDIENCES)
def test_the_page_leads_to_the_login_and_back(
    shared: Shared, browser: PageBrowser, audience: str
) -> None:
    page = opened(browser, shared.admin, shared.share(audience=audience))
    assert (page.status_code, "note.txt" in page.text) == (200, True)


def test_an_open_session_needs_no_further_login(shared: Shared, browser: PageBrowser) -> None:
    browser.log_in(shared.admin.email)
    visitor = shared.share(audience={"userIds": [shared.admin.id]})
    assert "note.txt" in browser.open(page_of(visitor), None, **HTML).text
    assert browser.open(f"{page_of(visitor)}note.txt").data == b"0123456789" * 10


def test_a_user_outside_the_audience_gets_nothing(shared: Shared, browser: PageBrowser) -> None:
    browser.log_in(shared.api.person().email)
    for audience in ("members", {"userIds": [shared.admin.id]}):
        reply = browser.open(page_of(shared.share(audience=audience)), None, **HTML)
        assert (reply.status_code, "note.txt" in reply.text) == (404, False)


def test_a_session_that_has_ended_opens_nothing(shared: Shared, browser: PageBrowser) -> None:
    visitor = shared.share(audience="members")
    opened(browser, shared.admin, visitor)
    shared.api.clock.advance(HOUR * 24 * 400)
    assert browser.open(page_of(visitor), None, **HTML).status_code in (401, 404)


def test_downloads_of_the_page_need_no_token(shared: Shared, browser: PageBrowser) -> None:
    visitor = shared.share(audience="logged-in")
    opened(browser, shared.admin, visitor)
    for path in ("/download", f"/files/{shared.file}/download", f"/files/{shared.picture}/preview"):
        assert browser.open(visitor.root + path, None, **OWN).status_code == 200, path


@pytest.mark.parametrize("site", SITES)
def test_other_sites_reach_no_route_of_the_api_with_the_session(
    shared: Shared, browser: PageBrowser, site: str
) -> None:
    visitor = shared.share(audience="logged-in")
    browser.log_in(shared.admin.email)
    for path in ("", "/files", "/download", f"/files/{shared.file}/download"):
        reply = browser.open(visitor.root + path, None, **{"Sec-Fetch-Site": site})
        assert (reply.status_code, error_code(reply)) == (401, "error.share-login-required"), path


def test_programs_without_a_token_are_refused(shared: Shared, browser: PageBrowser) -> None:
    visitor = shared.share(audience="logged-in")
    browser.log_in(shared.admin.email)
    reply = browser.open(f"{visitor.root}/files", None, **{"Sec-Fetch-Site": ""})
    assert error_code(reply) == "error.share-login-required"


def drop(browser: PageBrowser, path: str, **headers: str) -> Answer:
    form: Any = {"file": (io.BytesIO(b"x"), "sent.txt")}
    return browser.open(path, form, **headers)


def test_a_form_of_the_page_drops_a_file(shared: Shared, browser: PageBrowser) -> None:
    visitor = shared.share(kind="drop", audience="members")
    page = opened(browser, shared.admin, visitor)
    action = re.search(r'enctype="multipart/form-data" action="([^"]+)"', page.text)
    assert action is not None
    reply = drop(browser, action[1].replace("&amp;", "&"), **HTML)
    assert "The file has arrived." in reply.text


@pytest.mark.parametrize("site", ["same-origin", *SITES])
def test_a_form_of_another_page_drops_nothing(shared: Shared, browser: PageBrowser, site: str) -> None:
    visitor = shared.share(kind="drop", audience="members", drop={"maxFiles": 5})
    opened(browser, shared.admin, visitor)
    for path in ("drop", "drop?csrf=guessed"):
        reply = drop(browser, page_of(visitor) + path, **{"Sec-Fetch-Site": site}, **HTML)
        assert reply.status_code == 400, reply.text
    sent = {"Sec-Fetch-Site": site, "X-CSRF": "guessed"}
    assert drop(browser, f"{visitor.root}/files", **sent).status_code in (400, 401)
    assert visitor.share["drop"]["maxFiles"] == 5
    described = Visitor(shared.api, visitor.share, person=shared.admin).get().json
    assert described["remainingFiles"] == 5


def test_the_script_of_the_page_uploads_with_the_secret(shared: Shared, browser: PageBrowser) -> None:
    visitor = shared.share(kind="drop", audience="members")
    secret = re.search(r'data-csrf="([^"]+)"', opened(browser, shared.admin, visitor).text)
    assert secret is not None
    tus = {"Tus-Resumable": "1.0.0", "Upload-Length": "1", "Upload-Metadata": "filename YS50eHQ="}
    sent = {**tus, **OWN, "X-CSRF": secret[1]}
    assert browser.open(f"{visitor.root}/uploads", {}, **sent).status_code == 201


def test_the_form_of_a_password_needs_the_secret_of_the_session(
    shared: Shared, browser: PageBrowser
) -> None:
    visitor = shared.share(audience="members", password=PASSWORD)
    opened(browser, shared.admin, visitor)
    path = f"/s/{visitor.secret}"
    secret = browser.forms[path]["csrf"]
    assert browser.open(path, {"password": PASSWORD}, **HTML).status_code == 400
    assert "note.txt" in browser.open(path, {"password": PASSWORD, "csrf": secret}, **HTML).text


def test_a_tenant_that_demands_recent_logins_opens_no_share_from_a_session_either(
    shared: Shared, browser: PageBrowser
) -> None:
    visitor = shared.share(audience="members")
    opened(browser, shared.admin, visitor)
    demand = {"assurance": {"maxAgeSeconds": 600}}
    assert shared.api.patch(shared.tenant, demand, by=shared.admin).status_code == 200
    reply = browser.open(page_of(visitor), None, **HTML)
    assert (reply.status_code, "note.txt" in reply.text) == (404, False)


def test_an_opening_is_recorded_as_one_by_a_token_is(shared: Shared, browser: PageBrowser) -> None:
    visitor = shared.share(audience="members", maxDownloads=1)
    opened(browser, shared.admin, visitor)
    # A retry belongs to the download, until twice the size was sent.
    for status in (200, 200, 404):
        assert browser.open(f"{page_of(visitor)}note.txt", None, **HTML).status_code == status
    path = f"{shared.tenant}/shares/{visitor.share['id']}/openings"
    records = shared.api.get(path, by=shared.maker).json["data"]
    assert {item["what"] for item in records} == {"open", "download"}
