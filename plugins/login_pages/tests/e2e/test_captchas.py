"""Captchas of pages in a real browser: with scripts, without them, and without HTTPS."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
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
        "limits": {"login_failures_before_captcha": 0},
    }


@pytest.fixture
def person(browser: Browser, shared_server: Server) -> Iterator[Person]:
    with person_at(browser, shared_server, "en") as person:
        person.page.set_default_timeout(8000)
        expect.set_options(timeout=8000)
        yield person


def test_a_login_needs_no_picture(person: Person) -> None:
    person.log_in()
    person.sees("captcha-by-browser")
    expect(person.page.locator("img.picture")).to_have_count(0)
    person.log_in_again()
    person.has_heading("security")


@pytest.mark.parametrize("path", ["/register", "/forgot"])
def test_a_code_needs_no_picture(person: Person, path: str) -> None:
    person.open(path)
    name = person.page.locator("#name")
    if name.count():
        name.fill("Alice")
    person.page.locator("#username").fill("bob@example.com")
    person.page.locator("main form button:visible").last.click()
    expect(person.page.locator("input[name=code]")).to_be_visible()


@pytest.mark.parametrize("path", ["/login", "/register", "/forgot"])
def test_without_scripts_the_form_leads_to_a_picture(
    browser: Browser, shared_server: Server, path: str
) -> None:
    with person_at(browser, shared_server, "en", java_script_enabled=False) as person:
        page = person.page
        person.open(path)
        fields = {"#name": "Alice", "#username": "carol@example.com", "#password": "wrong"}
        for field, value in fields.items():
            if page.locator(field).count():
                page.locator(field).fill(value)
        page.locator("main form button").first.click() if path == "/login" else None
        page.get_by_role("button", name="Use a picture").click()
        expect(page.locator("img.picture")).to_be_visible()
        expect(page.locator("#username")).to_have_value("carol@example.com")


def test_without_https_the_form_has_a_button_for_a_picture(person: Person) -> None:
    person.page.add_init_script("Object.defineProperty(crypto, 'subtle', {value: undefined})")
    person.open("/forgot")
    inspection = Inspection(person.page)
    inspection.inspect("captcha that the browser cannot solve")
    person.page.get_by_role("button", name="Use a picture").click()
    expect(person.page.locator("img.picture")).to_be_visible()
    assert inspection.faults == []
