"""The pages of directories: what an administrator does, from the connection to the removal."""

import json
import re
from collections.abc import Iterator

import pytest

from strongroom.testing.browser import Browser
from strongroom.testing.server import LiveServer, LiveUser, live_server

SCIM_USER = "urn:ietf:params:scim:schemas:core:2.0:User"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    plugins = ["scim", "login_pages", "console"]
    with live_server(tmp_path_factory.mktemp("server"), plugins=plugins) as server:
        yield server


def open_as(server: LiveServer, user: LiveUser, path: str) -> Browser:
    browser = Browser(server)
    browser.open(path)
    browser.log_in(user)
    return browser


def copied(browser: Browser, name: str) -> str:
    """Return the value of a field to copy."""
    match = re.search(rf'id="{name}"[^>]*>\s*([^<\s]+)', browser.page.text)
    match = match or re.search(rf'id="{name}"[^>]*value="([^"]+)"', browser.page.text)
    assert match, browser.page.text
    return match[1]


def send(server: LiveServer, browser: Browser, key: str, **members: object) -> int:
    path = copied(browser, "scim-address").removeprefix(server.url)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/scim+json"}
    body = json.dumps({"schemas": [SCIM_USER], **members}).encode()
    return server.request("POST", f"{path}/Users", headers=headers, body=body).status


@pytest.mark.parametrize("is_of_server", [False, True], ids=["space", "server"])
def test_an_administrator_connects_watches_changes_and_removes(
    server: LiveServer, is_of_server: bool
) -> None:
    user = server.user(admin=is_of_server)
    area = "/directories/" if is_of_server else f"/directories/of/{server.tenant(user)}/"
    browser = open_as(server, user, area)
    created = browser.submit(area, name="Okta <1>", mayWrite="on")
    assert created.status == 200, created.text
    assert created.headers["cache-control"] == "no-store"
    key, ann = copied(browser, "scim-key"), f"ann@{user.id}.example"
    assert send(server, browser, key, userName=ann) == 201
    assert send(server, browser, key, userName=ann, externalId="2") == 409
    listed = browser.open(area).text
    assert key not in listed
    assert "Okta &lt;1&gt;" in listed
    assert "Errors: 1" in listed
    (here,) = set(re.findall(rf'href="({area}[0-9a-f-]{{36}}/)"', listed))
    page = browser.open(here).text
    assert ann in page
    assert "Someone else has this" in page
    account = re.search(r'<option value="([0-9a-f-]{36})"[^>]*selected', page)
    assert account, page
    refused = browser.submit(f"{here}settings", name="", accountId=account[1])
    assert refused.status == 400
    changed = browser.submit(f"{here}settings", name="Okta 2", accountId=account[1])
    assert "The changes are saved." in changed.text
    another = browser.submit(f"{here}keys")
    assert copied(browser, "scim-key") != key, another.text
    # It may only read now.
    assert send(server, browser, key, userName="ben@acme.example") == 403
    browser.open(f"{here}removal")
    # The window of the search has a form without an address, which this field tells apart.
    csrf = browser.forms["/directories/logout"]["csrf"]
    assert "The directory is removed." in browser.submit(f"{here}removal", csrf=csrf).text
    assert browser.open(here).status == 404


def test_a_name_that_is_refused_leaves_no_account(server: LiveServer) -> None:
    user = server.user()
    tenant = server.tenant(user)
    area = f"/directories/of/{tenant}/"
    browser = open_as(server, user, area)
    refused = browser.submit(area, name=" ", mayWrite="on")
    assert refused.status == 400
    wrong = browser.submit(area, name="Okta", mayWrite="on", successorId="unknown")
    assert wrong.status in (200, 400)
    path = f"/api/v1/tenants/{tenant}"
    assert server.succeed("GET", f"{path}/service-accounts", by=user)["data"] == []
    assert server.succeed("GET", f"{path}/directories", by=user)["data"] == []


def test_the_pages_are_the_administrators(server: LiveServer) -> None:
    owner, member, root = server.user(), server.user(), server.user(admin=True)
    tenant = server.tenant(owner)
    server.join(tenant, owner, member)
    area = f"/directories/of/{tenant}/"
    browser = open_as(server, owner, area)
    browser.submit(area, name="Okta", mayWrite="on")
    (here,) = set(re.findall(rf"{area}[0-9a-f-]{{36}}/", browser.page.text))
    for person in (member, server.user(), root):
        other = open_as(server, person, "/account/")
        for path in (area, here, f"{here}removal"):
            assert other.open(path).status in (403, 404), path
    other = open_as(server, owner, "/account/")
    assert other.open("/directories/").status == 404
    # A directory of one space is not found in another one.
    another = f"/directories/of/{server.tenant(owner)}/"
    assert browser.open(here.replace(area, another)).status == 404
