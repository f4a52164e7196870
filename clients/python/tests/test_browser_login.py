"""Logins in the browser: Chromium returns them to the client, on a free port of this computer."""

import asyncio
import os
import queue
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect
from tests.support.browsers import needs_chromium

from strongroom.testing.browser import Browser as PlainBrowser
from strongroom.testing.server import PASSWORD, LiveServer, LiveUser
from strongroom_client import AsyncClient, BrowserLoginFailed, Client, loopback
from strongroom_client.cli import main
from strongroom_client.loopback import LoopbackRedirect

PROGRAM = Path(sys.executable).with_name("strongroom-client")
RETURNED = "You can close this page and return to the program."


def log_in(page: Page, url: str, user: LiveUser) -> None:
    page.goto(url)
    expect(page.get_by_text("A program on this computer will use your account.")).to_be_visible()
    page.locator("input[name=username]").fill(user.email)
    page.locator("input[name=password]").fill(PASSWORD)
    page.locator("input[name=password]").press("Enter")
    expect(page.get_by_text(RETURNED)).to_be_visible()


@pytest.fixture
def opened_by(server: LiveServer, alice: LiveUser) -> Callable[[str], None]:
    """Opens a page in a browser without scripts, and logs in."""

    def open_url(url: str) -> None:
        parts = urlsplit(url)
        browser = PlainBrowser(server)
        browser.open(f"{parts.path}?{parts.query}")
        reply = browser.submit("/account/login", username=alice.email, password=PASSWORD)
        assert httpx.get(reply.headers["location"]).text.count(RETURNED) == 1

    return open_url


def test_both_clients_log_in_by_the_browser(
    server: LiveServer, alice: LiveUser, opened_by: Callable[[str], None]
) -> None:
    with httpx.Client() as http, Client(server.url, http=http) as client:
        assert client.log_in_by_browser(opened_by).id == alice.id
        assert client.me().id == alice.id
        assert list(http.cookies) == []

    async def run() -> str:
        async with AsyncClient(server.url) as client:
            await client.log_in_by_browser(opened_by)
            return (await client.me()).id

    assert asyncio.run(run()) == alice.id


def test_a_login_that_does_not_come_back_ends(server: LiveServer) -> None:
    with Client(server.url) as client:
        with pytest.raises(BrowserLoginFailed, match="within 0 s"):
            client.log_in_by_browser(lambda _: None, timeout=0.01)
        with pytest.raises(BrowserLoginFailed, match="no browser"):
            client.log_in_by_browser(lambda _: False)

    async def run() -> None:
        async with AsyncClient(server.url) as client:
            opened = asyncio.Event()
            loop = asyncio.get_running_loop()
            login = asyncio.create_task(
                client.log_in_by_browser(lambda _: loop.call_soon_threadsafe(opened.set))
            )
            await opened.wait()
            login.cancel()
            await login

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())


def test_a_server_that_does_not_know_the_program_is_refused_before_the_browser_opens(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loopback, "PATH", "/unknown")
    with Client(server.url) as client, pytest.raises(BrowserLoginFailed, match="to this program"):
        client.log_in_by_browser(pytest.fail)


def test_a_path_that_is_no_url_is_answered_without_a_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with LoopbackRedirect() as redirect:
        address = urlsplit(redirect.query["returnUrl"])
        for path in ("http://[", "/[", "*"):
            with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
                connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
                assert connection.makefile("rb").readline().split()[1:2] == [b"404"], path
    assert capfd.readouterr().err == ""


def test_only_the_requested_answer_is_taken() -> None:
    with LoopbackRedirect() as redirect:
        url, state = redirect.query["returnUrl"], redirect.query["state"]
        refused = [
            "?code=x",
            f"?state={state}",
            f"?state={state}&code=",
            f"?state={state}x&code=x",
            "?state=%C3%A4&code=x",
        ]
        assert {httpx.get(url + query).status_code for query in refused} == {400}
        root = url.removesuffix("/strongroom-client")
        assert httpx.get(f"{root}/favicon.ico").status_code == 404
        assert (redirect.answered.is_set(), redirect.code) == (False, "")
        taken = httpx.get(f"{url}?state={state}&code=right", headers={"Accept-Language": "zh-CN"})
        assert "可以关闭本页面" in taken.text
        assert taken.headers["Cache-Control"] == "no-store"
        assert redirect.answered.wait(10)
        httpx.get(f"{url}?state={state}&code=second")
        assert redirect.code == "right"


def test_the_command_takes_one_way_to_log_in(server: LiveServer) -> None:
    result = CliRunner().invoke(main, ["login", server.url, "--web", "--key"])
    assert (result.exit_code, "--web excludes --key" in result.stderr) == (2, True)


# Last, because a running Chromium has the event loop of this thread.
@needs_chromium
def test_the_command_logs_in_by_the_browser(
    browser: Browser, server: LiveServer, alice: LiveUser, tmp_path: Path
) -> None:
    opened, program = tmp_path / "opened", tmp_path / "browser"
    os.mkfifo(opened)
    program.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    program.chmod(0o700)
    folder = {"STRONGROOM_CLIENT_DIR": str(tmp_path / "login")}
    environment = {**os.environ, **folder, "BROWSER": str(program)}
    command: list[str | Path] = [PROGRAM, "login", server.url, "--web"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        log_in(browser.new_page(), opened.read_text().strip(), alice)
        assert process.communicate()[0] == f"Logged in to {server.url}.\n"
    assert process.returncode == 0
    runner = CliRunner(env=folder)
    assert runner.invoke(main, ["tenants", "--create", "Web"]).exit_code == 0
    assert runner.invoke(main, ["logout"]).exit_code == 0


@needs_chromium
def test_the_browser_returns_to_an_address_of_ipv6(
    browser: Browser, server: LiveServer, alice: LiveUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listening(redirect: LoopbackRedirect) -> loopback._Listener:
        return loopback._Listener(redirect, socket.AF_INET6, "::1")

    monkeypatch.setattr(loopback, "_listening", listening)
    opened: queue.Queue[str] = queue.Queue()
    with Client(server.url) as client, ThreadPoolExecutor() as pool:
        login = pool.submit(client.log_in_by_browser, opened.put)
        url = opened.get()
        assert "%5B%3A%3A1%5D" in url
        log_in(browser.new_page(), url, alice)
        assert login.result().id == alice.id
        assert client.me().id == alice.id
