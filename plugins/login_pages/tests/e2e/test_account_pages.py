"""Journeys through the account pages in Chromium, in both languages."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.support.browsers import needs_chromium
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.login_pages import LOCALES, PASSWORD, Inspection, Person, person_at
from tests.support.outbox import messages_in
from tests.support.server import Server

from strongroom.testing.server import free_port

pytestmark = [
    pytest.mark.extended,
    needs_chromium,
]

COPIED = {"en": "Copied", "zh": "已复制"}
NEW = "Another1Horse-Battery-Staple"


@pytest.fixture(scope="module")
def shared_changes() -> Table:
    port = free_port()
    changes: dict[str, Any] = {
        "server": {"port": port, "public_url": f"http://localhost:{port}"},
        "plugins": {"enabled": ["storage_local", "factor_totp", "login_passkey", "login_pages"]},
    }
    return merged(FIXED_CAPTCHA, changes)


@pytest.fixture(params=sorted(LOCALES))
def person(browser: Browser, shared_server: Server, request: pytest.FixtureRequest) -> Iterator[Person]:
    with person_at(browser, shared_server, request.param) as person:
        person.log_in()
        person.has_heading("security")
        yield person


@pytest.fixture
def inspection(person: Person) -> Iterator[Inspection]:
    inspection = Inspection(person.page)
    yield inspection
    assert inspection.faults == []


def fill(person: Person, key: str, text: str) -> None:
    person.page.get_by_label(person.text(key), exact=True).fill(text)


def follow(person: Person, key: str, **values: str) -> None:
    person.page.get_by_role("link", name=person.text(key, **values), exact=True).click()


def send_code(person: Person) -> None:
    person.page.locator("input[name=captchaAnswer]").fill("42")
    person.press("send-code")


def newest_code(person: Person) -> str:
    return str(messages_in(person.server.config.parent / "data")[-1]["code"])


def test_a_password_is_changed_with_a_hint_how_strong_it_is(
    person: Person, inspection: Inspection
) -> None:
    hint = person.page.locator("#newPassword-strength")
    person.open("/password")
    inspection.inspect("password")
    fill(person, "current-password", "Wrong1Horse")
    fill(person, "new-password", "Password1")
    expect(hint).to_have_text(person.text("strength-low"))
    fill(person, "new-password", NEW)
    expect(hint).to_have_text(person.text("strength-high"))
    person.press("set-password")
    person.sees("error.wrong-password")
    inspection.inspect("password with an error")
    fill(person, "current-password", PASSWORD)
    fill(person, "new-password", NEW)
    person.press("set-password")
    person.sees("password-changed")


def test_a_profile_and_an_address_are_changed(person: Person, inspection: Inspection) -> None:
    page = person.page
    person.open("/profile")
    fill(person, "name", "<b>Alice</b>")
    inspection.inspect("profile")
    person.press("save")
    person.sees("profile-saved")
    expect(page.locator(".me")).to_contain_text("<b>Alice</b>")
    follow(person, "replace-email")
    page.locator("input[name=address]").fill(f"new-{person.email}")
    inspection.inspect("new contact")
    send_code(person)
    page.locator("input[name=code]").fill("000000")
    person.press("confirm")
    person.sees("error.code-invalid")
    inspection.inspect("code to the new contact with an error")
    page.locator("input[name=code]").fill(newest_code(person))
    person.press("confirm")
    person.sees("contact-saved")


def test_devices_and_invitations_are_listed(person: Person, inspection: Inspection) -> None:
    person.open("/devices")
    expect(person.page.locator(".group-row")).to_contain_text(person.text("this-device"))
    inspection.inspect("devices")
    person.open("/devices/others")
    inspection.inspect("question")
    person.press("end-others")
    person.sees("others-ended")
    person.open("/invitations")
    inspection.inspect("invitations")


def test_a_key_is_created_copied_and_revoked(person: Person, inspection: Inspection) -> None:
    page = person.page
    person.open("/access-keys")
    inspection.inspect("access keys")
    person.press("new-key")
    fill(person, "name-of-key", "Backup")
    page.get_by_label(person.text("files:read")).check()
    person.press("create-key")
    key = page.locator("#secret").inner_text()
    inspection.inspect("new key")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    person.press("copy")
    page.locator("[data-copy].done").wait_for()
    expect(page.locator("body > [aria-live]")).to_have_text(
        COPIED[page.locator("html").get_attribute("lang") or ""]
    )
    assert page.evaluate("navigator.clipboard.readText()") == key
    person.open("/access-keys")
    inspection.inspect("one access key")
    follow(person, "revoke-named", name="Backup")
    person.press("revoke")
    person.sees("key-revoked")
