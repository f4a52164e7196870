"""The page of a connected client: what it may do, what it did, and the way to end it."""

from dataclasses import replace

import pytest
from tests.support.agents import PLUGINS_WITH_LOGIN, Agent, Office
from tests.support.api import Api
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import RelyingParty, get_returned, logged_in

from strongroom_oidc_provider.consents.client_page import PAGE_SIZE

SCOPE = "openid files:read"

pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS_WITH_LOGIN}})),
]


@pytest.fixture
def office(api: Api) -> Office:
    return Office.made(api)


@pytest.fixture
def rp(api: Api) -> RelyingParty:
    resource = f"{api.container.hosts.get('mcp').public_url}/mcp"
    members = {"scopes": ["openid", "files:read", "files:write"], "resources": [resource]}
    return RelyingParty.register(api, trusted=False, name="Assistant", **members)


@pytest.fixture
def browser(api: Api, office: Office) -> PageBrowser:
    return logged_in(api, office.user)


def connect(api: Api, office: Office, rp: RelyingParty, browser: PageBrowser) -> Agent:
    """Return the client after the user has allowed it one folder."""
    resource = f"{api.container.hosts.get('mcp').public_url}/mcp"
    browser.open(rp.url(scope=SCOPE, resource=resource))
    browser.submit("/oauth2/decision", decision="allow", folder=f"{office.tenant_id}/{office.folder}")
    tokens = rp.exchange(get_returned(browser)["code"]).json
    return Agent(api, replace(office.user, token=tokens["access_token"]))


def test_the_page_says_what_the_client_may_do_and_did(
    api: Api, office: Office, rp: RelyingParty, browser: PageBrowser
) -> None:
    agent, file = connect(api, office, rp, browser), office.file("sales.txt", b"Sales")
    agent.tool("files_read", fileId=file["id"])
    agent.tool("files_read", fileId=office.other)
    assert f'href="/oauth2/consents/{rp.id}"' in browser.open("/oauth2/consents").text
    page = browser.open(f"/oauth2/consents/{rp.id}").text
    for text in ("Your files: read", "In this folder only", "Reports", "sales.txt"):
        assert text in page
    assert page.count("Read a file") == 2
    assert page.count("refused") == 1
    assert f'href="/oauth2/consents/{rp.id}/removal"' in page


def test_the_pages_stand_in_the_frame_of_the_account(
    api: Api, office: Office, rp: RelyingParty, browser: PageBrowser
) -> None:
    connect(api, office, rp, browser)
    entry = '<a href="/oauth2/consents" aria-current="page">'
    for path in ("", f"/{rp.id}", f"/{rp.id}/removal"):
        page = browser.open(f"/oauth2/consents{path}").text
        assert entry in page
        assert 'href="/account/devices"' in page
    assert 'href="/oauth2/consents"' in browser.open("/account/devices").text


def test_the_records_have_pages(
    api: Api, office: Office, rp: RelyingParty, browser: PageBrowser
) -> None:
    agent = connect(api, office, rp, browser)
    for _ in range(PAGE_SIZE):
        agent.tool("files_list")
    agent.tool("files_search", query="x")
    first = browser.open(f"/oauth2/consents/{rp.id}").text
    second = browser.open(f"/oauth2/consents/{rp.id}?page=2").text
    assert (first.count("Listed a folder"), second.count("Listed a folder")) == (PAGE_SIZE - 1, 1)
    assert "Searched for names" in first


def test_other_users_have_no_page_of_it(
    api: Api, office: Office, rp: RelyingParty, browser: PageBrowser
) -> None:
    connect(api, office, rp, browser)
    stranger = logged_in(api)
    stranger.open(f"/oauth2/consents/{rp.id}")
    assert "Assistant" not in stranger.page.text


def test_what_a_client_did_by_the_rest_api_has_its_words(
    api: Api, office: Office, browser: PageBrowser
) -> None:
    scopes = ["openid", "tenants:write"]
    rp = RelyingParty.register(api, trusted=False, name="Organizer", scopes=scopes)
    browser.open(rp.url(scope=" ".join(scopes), resource=api.container.hosts.get("mcp").public_url))
    browser.submit("/oauth2/decision", decision="allow")
    token = rp.exchange(get_returned(browser)["code"]).json["access_token"]
    client = replace(office.user, token=token)
    assert api.post("/api/v1/tenants", {"name": "Archive"}, by=client).status_code == 201
    page = browser.open(f"/oauth2/consents/{rp.id}").text
    assert "Created a space" in page
    assert "Did something else" not in page
