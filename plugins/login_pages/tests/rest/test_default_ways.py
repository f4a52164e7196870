"""What the pages of a server without a configuration offer: what it can deliver."""

import pytest
from tests.support.api import Api
from tests.support.config import Table, declared_config
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

DEFAULTS: Table = {"plugins": None, "login": None, "messages": None}

pytestmark = on_sqlite


@pytest.fixture
def config_changes(request: pytest.FixtureRequest) -> Table:
    return {**DEFAULTS, **declared_config(request)}


@pytest.fixture
def browser(api: Api) -> PageBrowser:
    return PageBrowser(api)


def test_people_log_in_by_passkey_and_by_a_code_that_is_mailed_but_not_by_sms(
    api: Api, browser: PageBrowser
) -> None:
    page = browser.open("/account/login").text
    assert ("Use a passkey" in page, "E-mail me a code" in page, "Text me a code" in page) == (
        True,
        True,
        False,
    )
    page = browser.open("/account/register").text
    assert (">E-mail address<" in page, "mobile" in page) == (True, False)
    # Clients may still use SMS, which a development server prints.
    assert api.code("13800138000", "login")["id"]


def test_the_account_offers_factors_but_no_number_that_cannot_be_proven(
    api: Api, browser: PageBrowser
) -> None:
    browser.log_in(api.person().email)
    page = browser.open("/account/").text
    assert ("Add a passkey" in page, "Set up an app" in page) == (True, True)
    page = browser.open("/account/profile").text
    assert ("/contacts/email" in page, "/contacts/mobile" in page) == (True, False)


@pytest.mark.config({"messages": {"sms": ["console"]}})
def test_a_sender_of_sms_that_the_configuration_names_is_offered(browser: PageBrowser) -> None:
    assert "Send me a code" in browser.open("/account/login").text
    assert "mobile" in browser.open("/account/register").text
