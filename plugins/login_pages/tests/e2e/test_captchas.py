"""Captchas of pages in a real browser, with all that a browser may refuse: scripts, workers, HTTPS."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Route, expect
from tests.support.browsers import needs_chromium
from tests.support.config import Table
from tests.support.login_pages import Inspection, Person, person_at
from tests.support.server import Server

from strongroom.testing.server import free_port

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def shared_changes() -> Table:
    port = free_port()
    return {
        "server": {"port": port, "public_url": f"http://localhost:{port}"},
        "plugins": {"enabled": ["storage_local", "login_email", "login_pages"]},
        "captcha": {"provider": "image"},
        "limits": {"login_failures_before_captcha": 0, "code_per_device": []},
    }


@pytest.fixture
def person(browser: Browser, shared_server: Server) -> Iterator[Person]:
    with person_at(browser, shared_server, "en") as person:
        yield person


def request_code(person: Person, path: str = "/forgot") -> None:
    """Fill in the form of a page that sends a code, and press its button."""
    person.open(path)
    fill(person)
    person.page.locator("main form button:visible").last.click()


def fill(person: Person) -> None:
    fields = {"#name": "Alice", "#username": person.email, "#password": "wrong"}
    for field, value in fields.items():
        if person.page.locator(field).count():
            person.page.locator(field).fill(value)


def has_code_entry(person: Person) -> None:
    expect(person.page.locator("input[name=code]")).to_be_visible()


def has_picture(person: Person) -> None:
    expect(person.page.locator("img.picture")).to_be_visible()


def test_a_login_needs_no_picture(person: Person) -> None:
    person.log_in()
    person.sees("captcha-by-browser")
    expect(person.page.locator("img.picture")).to_have_count(0)
    person.log_in_again("wrong")
    person.sees("error.invalid-credentials")
    person.log_in_again()
    person.has_heading("security")


@pytest.mark.parametrize("path", ["/register", "/forgot"])
def test_a_code_needs_no_picture(person: Person, path: str) -> None:
    request_code(person, path)
    has_code_entry(person)


@pytest.mark.parametrize(
    "missing",
    [
        "Object.defineProperty(crypto, 'subtle', {value: undefined})",
        "delete globalThis.Worker",
        "delete globalThis.requestIdleCallback",
    ],
)
def test_a_browser_without_a_feature_solves_it(person: Person, missing: str) -> None:
    person.page.add_init_script(missing)
    request_code(person)
    has_code_entry(person)


def test_a_page_whose_policy_refuses_workers_solves_it(browser: Browser, shared_server: Server) -> None:
    def refuse_workers(route: Route) -> None:
        response = route.fetch()
        policy = response.headers["content-security-policy"]
        headers = {**response.headers, "content-security-policy": f"{policy}; worker-src 'none'"}
        route.fulfill(response=response, headers=headers)

    reports = list[str]()
    with refusing_browser(browser, shared_server, reports) as person:
        person.page.route("**/account/forgot", refuse_workers)
        request_code(person)
        has_code_entry(person)
    assert any("worker" in report for report in reports)


def test_a_browser_that_loads_no_script_of_it_gets_a_picture(
    browser: Browser, shared_server: Server
) -> None:
    with refusing_browser(browser, shared_server, []) as person:
        person.page.route("**/proof_of_work*.js", lambda route: route.abort())
        request_code(person)
        has_picture(person)
        expect(person.page.locator("#username")).to_have_value(person.email)


@contextmanager
def refusing_browser(browser: Browser, server: Server, reports: list[str]) -> Iterator[Person]:
    """Open a window in which the browser reports what it refuses, which is no failure."""
    with person_at(browser, server, "en") as person:
        page = browser.new_context(locale="en-US").new_page()
        page.on("console", lambda message: reports.append(message.text))
        yield replace(person, page=page)
        page.context.close()


@pytest.mark.parametrize("path", ["/login", "/register", "/forgot"])
def test_without_scripts_the_form_leads_to_a_picture(
    browser: Browser, shared_server: Server, path: str
) -> None:
    with person_at(browser, shared_server, "en", java_script_enabled=False) as person:
        person.open(path)
        fill(person)
        if path == "/login":
            person.press("log-in")
            fill(person)
        person.page.get_by_role("button", name="Use a picture").click()
        has_picture(person)
        expect(person.page.locator("#username")).to_have_value(person.email)


def test_two_presses_send_one_form(person: Person) -> None:
    person.open("/forgot")
    fill(person)
    sent = list[str]()
    person.page.on("request", lambda sending: sent.append(sending.method))
    person.page.locator("main form button:visible").last.dblclick()
    has_code_entry(person)
    assert sent.count("POST") == 1


def test_each_tab_has_a_captcha_of_its_own(person: Person) -> None:
    person.open("/forgot")
    other = replace(person, page=person.page.context.new_page())
    other.open("/forgot")
    for address, tab in zip((person.email, "carol@example.com"), (person, other), strict=True):
        tab.page.locator("#username").fill(address)
        tab.page.locator("main form button:visible").last.click()
    for tab in (person, other):
        has_code_entry(tab)


def test_a_captcha_without_a_solution_leads_to_a_picture(person: Person) -> None:
    person.page.add_init_script("""
        const {parse} = JSON;
        JSON.parse = (text) => ({...parse(text), algorithm: "SHA-1"});
    """)
    person.open("/forgot")
    inspection = Inspection(person.page)
    inspection.inspect("captcha that the browser cannot solve")
    person.page.get_by_role("button", name="Use a picture").click()
    has_picture(person)
    assert inspection.faults == []
