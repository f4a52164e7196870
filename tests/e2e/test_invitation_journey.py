"""From the e-mail with an invitation to the membership, in Chromium."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, expect

from strongroom.testing.server import PASSWORD
from tests.support.browser_pages import LOCALES, Visitor
from tests.support.browsers import needs_chromium
from tests.support.screens.registration import open_invitation
from tests.support.screens.stage import Stage, full_stage

pytestmark = [
    pytest.mark.extended,
    needs_chromium,
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with full_stage(tmp_path_factory.mktemp("server")) as stage:
        yield stage


@contextmanager
def visitor_at(browser: Browser, stage: Stage, language: str, *, has_scripts: bool) -> Iterator[Visitor]:
    """A new window; each message of its console is a fault."""
    context = browser.new_context(locale=LOCALES[language], java_script_enabled=has_scripts)
    page, faults = context.new_page(), list[str]()
    page.on("console", lambda message: faults.append(message.text))
    yield Visitor(page, stage.origin, language, stage, has_scripts)
    context.close()
    assert faults == []


def members_of(stage: Stage) -> set[str]:
    """Return the names of the members of the tenant."""
    route = f"/api/v1/tenants/{stage.tenant}/members?pageSize=100"
    members = stage.server.succeed("GET", route, by=stage.maker)["data"]
    return {member["user"]["$ref"] for member in members}


@pytest.mark.parametrize("has_scripts", [True, False], ids=["scripts", "no-scripts"])
@pytest.mark.parametrize("language", LOCALES)
def test_an_invited_person_registers_and_becomes_a_member(
    browser: Browser, stage: Stage, language: str, has_scripts: bool
) -> None:
    email = f"{uuid4().hex}@example.com"
    with visitor_at(browser, stage, language, has_scripts=has_scripts) as visitor:
        open_invitation(visitor, email)
        before = members_of(stage)
        visitor.press("[value=register]")
        # The address of the invitation is in the form, and cannot be another one.
        expect(visitor.page.locator("[name=username][readonly]")).to_have_value(email)
        visitor.fill(name="New", newPassword=PASSWORD)
        visitor.page.locator("[name=terms]").check()
        visitor.press("form[action$='/register'] button:not([type=button])")
        visitor.page.wait_for_url("**/account/**")
        expect(visitor.page.get_by_role("button", name=f"New {email}")).to_be_visible()
        assert len(members_of(stage) - before) == 1


def test_an_invited_user_logs_in_and_accepts(browser: Browser, stage: Stage) -> None:
    user = stage.new_user()
    with visitor_at(browser, stage, "en", has_scripts=True) as visitor:
        open_invitation(visitor, user.email)
        assert user.id not in members_of(stage)
        visitor.press("[value=login]")
        visitor.fill(username=user.email, password=PASSWORD)
        visitor.press("button[value=password]")
        visitor.page.wait_for_url("**/account/invitations/**")
        visitor.press("form[action$='/acceptance'] button")
        visitor.page.wait_for_url("**/account/invitations")
        assert user.id in members_of(stage)
