"""The sign-in in a real browser: codes, front ends, hostile names and impatient people."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.config import FIXED_CAPTCHA, SMS_LOGIN, Table, lifted, merged, read_toml
from tests.support.front_end import front_end
from tests.support.login_pages import LOCALES, PASSWORD, Inspection, Person, person_at
from tests.support.outbox import messages_in
from tests.support.server import Server

from strongroom.testing.server import free_port
from strongroom_login_pages.front_ends.codes import challenge_of

pytestmark = [
    needs_chromium,
    pytest.mark.extended,
]

FRONT_END_PORT = free_port()
CALLBACK = f"http://localhost:{FRONT_END_PORT}/callback"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
COPY = """text => {
    const area = Object.assign(document.createElement("textarea"), {value: text});
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
}"""
HOSTILE = '"><svg onload=alert(1)>{{7*7}}\u202e'


@pytest.fixture(scope="module")
def shared_changes() -> Table:
    port = free_port()
    return merged(
        SMS_LOGIN,
        FIXED_CAPTCHA,
        lifted(),
        {
            "server": {"port": port, "public_url": f"http://localhost:{port}"},
            "plugins": {
                "enabled": ["storage_local", "login_sms", "login_passkey", "login_pages"],
                "login_pages": {"return_urls": [CALLBACK]},
            },
        },
    )


@pytest.fixture(params=LOCALES)
def person(browser: Browser, shared_server: Server, request: pytest.FixtureRequest) -> Iterator[Person]:
    with person_at(browser, shared_server, request.param) as person:
        yield person


def request_code(person: Person, number: str) -> str:
    """Have a code sent from the login page that is open, and return it."""
    person.page.get_by_label(person.text("username")).fill(number)
    person.press("send-code-mobile")
    person.has_heading("code-request")
    person.page.locator("#captcha").fill("42")
    person.press("send-code")
    person.has_heading("code-entry")
    folder = read_toml(person.server.config)["server"]["data_dir"]
    code: str = messages_in(Path(folder))[-1]["code"]
    return code


def paste(page: Page, field: Locator, text: str) -> None:
    """Copy a text elsewhere, and paste it into a field."""
    page.evaluate(COPY, text)
    field.focus()
    page.keyboard.press("Control+V")


def test_a_code_leads_to_the_front_end(person: Person) -> None:
    # The browser applies the policy of the page to the redirect after its form, too.
    query = {"returnUrl": CALLBACK, "state": "s", "codeChallenge": challenge_of(VERIFIER)}
    with front_end(FRONT_END_PORT, {"/callback": "<!doctype html><title>Front end</title>"}):
        person.open(f"/login?{urlencode(query)}")
        code = request_code(person, "13800138000")
        expect(person.page.get_by_label(person.text("code"), exact=True)).to_be_focused()
        person.page.keyboard.type(f" {code[:3]} {code[3:]}")
        person.page.keyboard.press("Enter")
        person.page.wait_for_url(f"{CALLBACK}?**")
    assert parse_qs(urlsplit(person.page.url).query)["state"] == ["s"]


def test_the_pages_of_a_code_are_accessible(person: Person) -> None:
    inspection = Inspection(person.page)
    person.open("/login")
    person.page.get_by_label(person.text("username")).fill("alice")
    person.press("send-code-mobile")
    person.sees("recipient-invalid")
    inspection.inspect("no recipient")
    request_code(person, "13900139000")
    inspection.inspect("code")
    person.page.get_by_label(person.text("code"), exact=True).fill("x")
    person.press("log-in")
    person.sees("code-wrong")
    inspection.inspect("wrong code")
    person.page.get_by_role("link", name=person.text("send-again")).click()
    inspection.inspect("request")
    person.press("another-way")
    person.has_heading("log-in")
    person.log_in()
    person.open("/login")
    inspection.inspect("logged in")
    assert inspection.faults == []


def test_a_password_is_shown_on_demand_and_hidden_again(person: Person) -> None:
    person.open("/login")
    field = person.page.locator("#password")
    expect(field).to_have_attribute("type", "password")
    person.press("show-password")
    expect(field).to_have_attribute("type", "text")
    person.press("hide-password")
    expect(field).to_have_attribute("type", "password")


def test_a_code_that_is_pasted_with_words_is_sent(person: Person) -> None:
    person.open("/login")
    code = request_code(person, "13800138000")
    field = person.page.get_by_label(person.text("code"), exact=True)
    paste(person.page, field, f"{code[:3]} {code[3:]} is your code")
    person.has_heading("security")


def test_a_code_that_is_pasted_leads_to_the_password_of_a_reset(person: Person) -> None:
    person.open("/forgot")
    person.page.locator("#username").fill("13800138000")
    person.page.locator("#captcha").fill("42")
    person.page.locator("form[action$='/forgot'] button").click()
    person.has_heading("check-messages")
    paste(person.page, person.page.locator("#code"), "482 913")
    expect(person.page.locator("#code")).to_have_value("482913")
    expect(person.page.locator("#newPassword")).to_be_focused()


def test_a_double_click_logs_in_once(person: Person) -> None:
    person.open("/login")
    sent: list[str] = []
    person.page.on("request", lambda request: sent.append(request.method))
    person.page.get_by_label(person.text("username")).fill(person.email)
    person.page.get_by_label(person.text("password")).fill(PASSWORD)
    person.page.get_by_role("button", name=person.text("log-in"), exact=True).dblclick()
    person.has_heading("security")
    assert sent.count("POST") == 1


def test_a_hostile_name_runs_nothing(person: Person) -> None:
    dialogs: list[str] = []
    person.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    person.open("/login")
    person.page.get_by_label(person.text("username")).fill(HOSTILE)
    person.page.get_by_label(person.text("password")).fill(PASSWORD)
    person.press("log-in")
    person.sees("error.invalid-credentials")
    expect(person.page.get_by_label(person.text("username"))).to_have_value(HOSTILE)
    assert person.page.locator("svg[onload]").count() == 0
    assert dialogs == []
