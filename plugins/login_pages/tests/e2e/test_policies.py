"""The login pages of a server that requires second factors, and a captcha for each login."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from tests.support.browsers import VirtualAuthenticator, needs_chromium
from tests.support.config import Table
from tests.support.login_pages import LOCALES, AuthenticatorApp, Inspection, Person, person_at
from tests.support.server import Server

from strongroom.testing.server import free_port

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def shared_changes() -> Table:
    port = free_port()
    return {
        "server": {"port": port, "public_url": f"http://localhost:{port}"},
        "plugins": {"enabled": ["storage_local", "factor_totp", "login_passkey", "login_pages"]},
        "captcha": {"provider": "proof_of_work", "max_number": 1000},
        "limits": {"login_failures_before_captcha": 0},
        "second_factors": {"required_for": ["all"]},
    }


@pytest.fixture(params=LOCALES)
def person(browser: Browser, shared_server: Server, request: pytest.FixtureRequest) -> Iterator[Person]:
    with person_at(browser, shared_server, request.param) as person:
        yield person


def log_in_with_captcha(person: Person) -> None:
    """Log in with the password; the browser solves the captcha of the second try."""
    person.log_in()
    person.sees("captcha-by-browser")
    person.log_in_again()


def test_an_app_is_set_up_during_the_login(person: Person) -> None:
    page, inspection = person.page, Inspection(person.page)
    log_in_with_captcha(person)
    person.has_heading("enrolment")
    inspection.inspect("enrolment")
    person.press("totp.add")
    app = AuthenticatorApp(page.locator("#totp-secret").get_attribute("data-text") or "")
    page.get_by_label(person.text("totp.field")).fill("000000")
    person.press("confirm")
    person.sees("code-wrong")
    page.get_by_label(person.text("totp.field")).fill(app.code())
    person.press("confirm")
    person.has_heading("security")
    person.log_out()
    log_in_with_captcha(person)
    person.has_heading("second-factor")
    assert inspection.faults == []


def test_a_passkey_is_added_during_the_login(person: Person) -> None:
    VirtualAuthenticator(person.page)
    log_in_with_captcha(person)
    person.press("passkey.add")
    person.press("passkey.create")
    person.has_heading("security")
    person.log_out()
    person.press("passkey.use")
    person.has_heading("security")
