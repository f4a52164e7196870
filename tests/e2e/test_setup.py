"""The link that makes the first administrator: printed, opened, raced for."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers import CHROMIUM, chromium
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.databases import on_sqlite
from tests.support.http import Caller, at_once
from tests.support.server import Server, serving

EMAIL, PASSWORD = "root@example.com", "Correct1Horse"
WAYS = 32
LINK = re.compile(r"http://127\.0\.0\.1:\d+/setup#([\w-]{43})\b")


def tokens_said(config: Path) -> list[str]:
    """Return the tokens of the links that the server has printed."""
    return LINK.findall(config.with_suffix(".log").read_text())


def body_of(token: str, email: str = EMAIL) -> dict[str, str]:
    return {"token": token, "email": email, "password": PASSWORD}


def test_of_many_who_redeem_at_one_moment_one_wins(server: Server) -> None:
    caller = Caller(server.url)
    (token,) = tokens_said(server.config)
    bodies = [body_of(token, f"root{number}@example.com") for number in range(WAYS)]
    replies = at_once([partial(caller.send, "POST", "/setup", body) for body in bodies])
    assert Counter(reply.status for reply in replies) == {201: 1, 400: WAYS - 1}


def test_of_two_links_made_at_one_moment_one_is_good(server: Server) -> None:
    command = partial(server.command, "users", "invite-admin", "--json")
    links = [json.loads(said)["url"] for said in at_once([command] * 2)]
    bodies = [body_of(link.partition("#")[2], f"root{n}@example.com") for n, link in enumerate(links)]
    replies = at_once([partial(Caller(server.url).send, "POST", "/setup", body) for body in bodies])
    assert sorted(reply.status for reply in replies) == [201, 400]


@on_sqlite
def test_the_command_prints_a_link_until_there_is_an_administrator(server_config: Path) -> None:
    command = ("--config", str(server_config), "users", "invite-admin")
    older, newer = (run_command(*command).stdout.strip() for _ in range(2))
    assert older != newer
    with serving(server_config) as server:
        assert tokens_said(server_config)[0] not in (older, newer)
        void = Caller(server.url).send("POST", "/setup", body_of(newer.partition("#")[2]))
        assert void.json["error"]["code"] == "error.setup-link-invalid"
        link = server.command("users", "invite-admin").strip()
        assert LINK.fullmatch(link)
        made = Caller(server.url).send("POST", "/setup", body_of(link.partition("#")[2]))
        assert (made.status, made.json["type"]) == (201, "ADMIN")
    refused = run_command(*command)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "there is an administrator already" in refused.stderr


@on_sqlite
def test_a_server_with_an_administrator_prints_none(server_config: Path) -> None:
    run_command(
        *("--config", str(server_config), "users", "create", "--admin"),
        *("--email", EMAIL, "--password-stdin"),
        stdin=PASSWORD,
    )
    with serving(server_config):
        assert tokens_said(server_config) == []


@pytest.fixture
def page() -> Iterator[Page]:
    if not CHROMIUM.exists():
        pytest.skip(f"there is no browser at {CHROMIUM}")
    with chromium() as browser:
        yield browser.new_page()


def submit(page: Page, password: str) -> None:
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_label("Name").fill("Root")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Become the administrator").click()


@on_sqlite
def test_a_browser_opens_the_link_once(server: Server, page: Page) -> None:
    page_errors: list[str] = []
    page.on("pageerror", lambda error: page_errors.append(str(error)))
    (token,) = tokens_said(server.config)
    page.goto(f"{server.url}/setup#{token}")
    assert page.url == f"{server.url}/setup"
    submit(page, "tooweak")
    expect(page.locator(".strength")).to_contain_text("Easy to guess")
    expect(page.locator("#password-fault")).to_contain_text("8 characters")
    expect(page.get_by_label("Password")).to_be_focused()
    submit(page, PASSWORD)
    expect(page.get_by_role("status")).to_be_visible()
    expect(page.locator("form")).to_be_hidden()
    expect(page.get_by_role("status").get_by_role("link")).to_be_visible()
    caller = Caller(server.url)
    login = caller.send("POST", "/authorizations", {"username": EMAIL, "password": PASSWORD})
    assert login.json["user"]["type"] == "ADMIN"
    page.goto("about:blank")
    page.goto(f"{server.url}/setup#{token}")
    expect(page.locator("#invalid")).to_be_visible()
    expect(page.locator("form")).to_have_count(0)
    assert page_errors == []


@on_sqlite
@pytest.mark.config({"plugins": {"enabled": ["storage_local", "login_pages"]}})
def test_a_browser_is_logged_in_afterwards(server: Server, page: Page) -> None:
    (token,) = tokens_said(server.config)
    page.goto(f"{server.url}/setup#{token}")
    submit(page, PASSWORD)
    page.wait_for_url(f"{server.url}/account/")
    page.locator(".me").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    page.goto("about:blank")
    page.goto(f"{server.url}/setup#{token}")
    expect(page.locator("form")).to_have_count(0)
    page.locator("#invalid").get_by_role("link").click()
    page.wait_for_url(f"{server.url}/account/login")


@on_sqlite
@pytest.mark.parametrize(
    ("link", "title"),
    [("/setup", "Become the administrator"), ("/setup#unknown", "This link no longer works")],
)
def test_without_a_good_link_the_page_has_the_command_for_a_new_one(
    server: Server, page: Page, link: str, title: str
) -> None:
    page.goto(f"{server.url}{link}")
    expect(page.get_by_role("heading")).to_have_text(title)
    expect(page.locator("#command")).to_have_text("strongroom users invite-admin")
    expect(page.locator("form")).to_be_hidden()


@on_sqlite
def test_the_log_of_requests_contains_no_token(server_config: Path) -> None:
    change_config(server_config, {"logging": {"format": "json", "level": "info", "requests": True}})
    with serving(server_config) as server:
        link = server.command("users", "invite-admin").strip()
        token = link.partition("#")[2]
        for _ in range(2):
            Caller(server.url).send("POST", "/setup", body_of(token))
    said = server_config.with_suffix(".log").read_text()
    assert '"/setup"' in said
    assert token not in said
