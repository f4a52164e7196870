"""Logins at a provider: the rules after them, the sentences of refusals, and connected accounts."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pyotp
import pytest
from tests.support.api import Api, Person, error_code
from tests.support.config import FIXED_CAPTCHA, Table, merged, write_api_config
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.platforms import FEW, NAVIGATION, choose, install_platforms, platforms_config

from strongroom.foundation.database.upgrade import upgrade
from strongroom.testing.clock import MINUTE

CONFIG = platforms_config(*FEW)

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def config(
    tmp_path: Path, database_url: str, config_changes: Table, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    install_platforms(tmp_path)
    yield write_api_config(tmp_path, database_url, merged(FIXED_CAPTCHA, config_changes))
    sys.modules.pop("acme_town", None)


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


class TestRules:
    """What a login demands after the first proof does not depend on the first proof."""

    def test_a_new_person_gets_an_account(self, browser: PageBrowser) -> None:
        choose(browser, "alpha", "ann")
        assert (browser.path, browser.is_logged_in) == ("/account/", True)

    def test_a_second_factor_is_asked_for(self, api: Api, browser: PageBrowser) -> None:
        person = connected(api, browser)
        begun = api.post("/users/me/factors", {"kind": "totp"}, by=person).json
        code = pyotp.TOTP(begun["shown"]["secret"]).now()
        route = f"/users/me/factors/{begun['id']}/confirmation"
        assert api.post(route, {"answer": code}, by=person).status_code == 201
        again = PageBrowser(api)
        choose(again, "alpha", "ann")
        assert again.path == "/account/challenge"
        assert not again.is_logged_in

    @pytest.mark.config(merged(CONFIG, {"second_factors": {"required_for": ["all"], "grace_days": 0}}))
    def test_a_required_factor_is_enrolled_first(self, browser: PageBrowser) -> None:
        choose(browser, "alpha", "ann")
        assert browser.path == "/account/enrolment"
        assert not browser.is_logged_in

    @pytest.mark.config(
        merged(
            CONFIG,
            {
                "users": {"require_terms": True},
                "pages": {"terms_url": "https://example.com/terms", "terms_version": "1"},
            },
        )
    )
    def test_a_new_person_accepts_the_terms_first(self, browser: PageBrowser) -> None:
        choose(browser, "alpha", "ann")
        assert browser.path == "/account/terms"
        assert not browser.is_logged_in

    @pytest.mark.config(merged(CONFIG, {"users": {"registration": "closed"}}))
    def test_a_closed_server_has_no_account_for_a_new_person(self, browser: PageBrowser) -> None:
        choose(browser, "alpha", "ann")
        assert browser.path == "/account/login"
        assert browser.message.startswith("There is no such account")

    def test_a_suspended_user_is_refused(self, api: Api, browser: PageBrowser) -> None:
        # A suspension also ends the codes of the pages, which have a table.
        upgrade(api.container.database.engine, api.container.selection.plugins.tables)
        person, root = connected(api, browser), api.person(admin=True)
        assert api.post(f"/users/{person.id}/suspension", by=root).status_code == 200
        again = PageBrowser(api)
        choose(again, "alpha", "ann")
        assert again.message == "This account is suspended."


SENTENCES = {
    "refuse": ("You cancelled at ", "您已在"),
    "outsider": ("Only members of the organisation can", "只有该组织的成员可以"),
    "stranger": ("This account cannot log in here.", "此账号不能在这里登录。"),
    "late": ("The login took too long", "登录超时"),
    "forged": ("The reply of the other platform could not be verified.", "无法验证对方平台的回应。"),
    "unavailable": ("This does not work right now.", "暂时无法使用。"),
    "misconfigured": ("This does not work right now.", "暂时无法使用。"),
}


class TestRefusals:
    @pytest.mark.parametrize("choice", SENTENCES)
    def test_each_is_a_sentence_on_the_login_page(self, api: Api, choice: str) -> None:
        for language, sentence in zip(("en", "zh"), SENTENCES[choice], strict=True):
            browser = PageBrowser(api, Accept_Language=language)
            choose(browser, "beta", choice)
            assert browser.path == "/account/login"
            assert browser.message.startswith(sentence)
            # All other ways are there.
            assert "begin?provider=alpha" in browser.page.text

    def test_a_state_of_another_browser_or_a_used_one_is_a_sentence(self, api: Api) -> None:
        victim, other = PageBrowser(api), PageBrowser(api)
        callback = answered(other)
        victim.open(callback, Accept=NAVIGATION)
        sentence = "The login took too long, or began in another browser. Start again."
        assert (victim.path, victim.message) == ("/account/login", sentence)
        other.open(callback, Accept=NAVIGATION)
        assert other.is_logged_in
        other.open(callback, Accept=NAVIGATION)
        assert (other.path, other.message) == ("/account/", sentence)

    def test_a_program_gets_the_error(self, api: Api) -> None:
        answer = api.get(answered(PageBrowser(api)))
        assert (answer.status_code, error_code(answer)) == (400, "error.state-invalid")


class TestConnecting:
    def test_each_provider_is_connected_and_removed_by_itself(
        self, api: Api, browser: PageBrowser
    ) -> None:
        person = connected(api, browser, "alpha")
        connect(api, browser, "beta")
        page = browser.open("/account/").text
        assert page.count("connected since") == 2
        assert page.count("/mark.svg") == 2
        remove(api, browser, "town_alpha")
        assert browser.message == "The account is no longer connected."
        assert values(api, person) == ["beta:ann"]
        assert 'aria-label="Connect Alpha"' in browser.open("/account/").text

    def test_the_rest_api_removes_those_of_one_provider(self, api: Api, browser: PageBrowser) -> None:
        person = connected(api, browser, "alpha")
        connect(api, browser, "beta")
        path = "/api/v1/users/me/town-ids"
        unknown = api.delete(f"{path}?provider=omega", by=person)
        assert error_code(unknown) == "error.town-provider-unknown"
        api.clock.advance(MINUTE)
        code = api.code(person.email, "unbind")
        header = {"X-Verification-Code": f"{code['id']}.{code['code']}"}
        assert api.delete(f"{path}?provider=beta", by=person, headers=header).status_code == 200
        assert values(api, person) == ["alpha:ann"]

    def test_an_account_of_another_user_stays_there(self, api: Api, browser: PageBrowser) -> None:
        connected(api, PageBrowser(api), "alpha")
        log_in(api, browser)
        connect(api, browser, "alpha")
        assert browser.message == "Another account has it already."

    def test_the_only_way_to_log_in_cannot_be_removed(self, browser: PageBrowser) -> None:
        choose(browser, "alpha", "ann")
        page = browser.open("/account/").text
        assert "Alpha is your only way to log in." in page
        assert "connections/town_alpha/removal" not in page

    @pytest.mark.parametrize("choice", ["outsider", "late", "unavailable"])
    def test_a_refusal_is_a_sentence_on_the_account_page(
        self, api: Api, browser: PageBrowser, choice: str
    ) -> None:
        log_in(api, browser)
        connect(api, browser, "alpha", choice)
        assert browser.path == "/account/"
        assert browser.message.startswith(SENTENCES[choice][0])

    def test_a_denial_returns_to_the_account(self, api: Api, browser: PageBrowser) -> None:
        log_in(api, browser)
        choose(browser, "alpha", "refuse", purpose="bind")
        assert (browser.path, browser.message) == ("/account/", "You have not connected the account.")


def log_in(api: Api, browser: PageBrowser) -> Person:
    person = api.person()
    browser.log_in(person.email)
    return person


def connected(api: Api, browser: PageBrowser, provider: str = "alpha") -> Person:
    """Return a user with a connected account."""
    person = log_in(api, browser)
    connect(api, browser, provider)
    assert browser.message == "The account was connected."
    return person


def connect(api: Api, browser: PageBrowser, provider: str, choice: str = "ann") -> None:
    choose(browser, provider, choice, purpose="bind")
    page = f"connections/town_{provider}"
    # A recipient gets a code a minute.
    api.clock.advance(MINUTE)
    browser.send(f"{page}/code", captchaAnswer="42")
    browser.send(page, heldCode=sent_code(api))


def remove(api: Api, browser: PageBrowser, connection: str) -> None:
    page = f"connections/{connection}/removal"
    api.clock.advance(MINUTE)
    browser.open(f"/account/{page}")
    browser.send(f"{page}/code", captchaAnswer="42")
    browser.send(page, heldCode=sent_code(api))


def sent_code(api: Api) -> str:
    """Return the newest code, after which notices may have been sent."""
    return str([message["code"] for message in api.outbox() if "code" in message][-1])


def values(api: Api, person: Person) -> list[str]:
    """Return the user's ids at providers."""
    bound = api.get("/users/me/credentials", by=person).json["data"]
    return [item["value"] for item in bound if item["kind"] == "town"]


def answered(browser: PageBrowser) -> str:
    """Return the path by which a platform sends a browser back."""
    location = browser.request("/api/v1/town-authorizations/begin?provider=alpha").headers["Location"]
    state = re.search(r"state=(\w+)", location)
    assert state
    return f"/api/v1/town-authorizations/callback/alpha?state={state[1]}&code=ann"
