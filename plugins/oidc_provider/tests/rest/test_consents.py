"""Users decide what clients get, and withdraw it."""

import tomllib
from importlib.resources import files

import pytest
from tests.support.api import PASSWORD, Api, Person, error_code
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import PLUGINS, RelyingParty, get_returned, logged_in

from strongroom_oidc_provider.models import metadata

MESSAGES = files("strongroom_oidc_provider").joinpath("messages")
TEXTS = {
    language: tomllib.loads(MESSAGES.joinpath(f"{language}.toml").read_text("utf-8"))
    for language in ("en", "zh")
}
DECISION = "/oauth2/decision"

pytestmark = [on_sqlite, pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS}}))]


@pytest.fixture
def rp(api: Api) -> RelyingParty:
    return RelyingParty.register(api, trusted=False, name="The Wiki")


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Ada Lovelace")


@pytest.fixture
def browser(api: Api, rp: RelyingParty, person: Person) -> PageBrowser:
    return logged_in(api, person)


def decide(browser: PageBrowser, decision: str) -> None:
    browser.submit(DECISION, decision=decision)


def consents(api: Api, person: Person) -> list[dict[str, object]]:
    answer = api.get("/api/v1/users/me/consents", by=person)
    assert answer.status_code == 200, answer.text
    data: list[dict[str, object]] = answer.json["data"]
    return data


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_the_page_names_the_client_the_host_the_user_and_the_scopes(
    api: Api, rp: RelyingParty, person: Person, language: str
) -> None:
    browser = PageBrowser(api, Accept_Language=language)
    browser.log_in(person.email)
    page = browser.open(rp.url(scope="openid email offline_access", prompt="consent"))
    texts = TEXTS[language]
    for text in (
        texts["consent-title"].format(name="The Wiki"),
        "<bdi>wiki.example.com</bdi>",
        texts["consent-user"].format(name="Ada Lovelace"),
        texts["scope-email"],
        texts["scope-offline_access"],
    ):
        assert text in page.text
    assert texts["scope-profile"] not in page.text
    policy = page.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert page.headers["Referrer-Policy"] == "no-referrer"


def test_a_user_without_a_name_is_named_by_the_address(api: Api, rp: RelyingParty) -> None:
    nameless = api.person(name="")
    page = logged_in(api, nameless).open(rp.url(scope="openid"))
    assert TEXTS["en"]["consent-user"].format(name=nameless.email) in page.text


def test_an_accepted_consent_is_remembered(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    browser.open(rp.url(scope="openid email"))
    decide(browser, "allow")
    assert browser.page.status_code == 200
    returned = get_returned(browser)
    assert (returned["state"], "iss" in returned) == ("the state", True)
    assert rp.exchange(returned["code"]).status_code == 200
    assert "code" in rp.authorize(browser, scope="openid email", prompt="none")
    assert "code" in rp.authorize(browser, scope="openid", prompt="none")
    further = rp.authorize(browser, scope="openid email phone", prompt="none")
    assert further["error"] == "consent_required"
    (consent,) = consents(api, person)
    assert (consent["clientId"], consent["scopes"]) == (rp.id, ["email", "openid"])
    assert consent["lastUsedAt"] is not None
    root = api.person(admin=True)
    record = api.get("/audit-events?action=oidc_provider.consent-give", by=root).json["data"][0]
    assert record["target"] == {"type": "client", "id": rp.id}
    assert record["actor"]["$ref"] == person.id


def test_a_refused_one_is_an_error_for_the_client(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    browser.open(rp.url())
    decide(browser, "refuse")
    returned = get_returned(browser)
    assert (returned["error"], returned["state"]) == ("access_denied", "the state")
    assert "iss" in returned
    assert consents(api, person) == []


def test_a_withdrawn_one_ends_the_grants(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    browser.open(rp.url(scope="openid offline_access"))
    decide(browser, "allow")
    tokens = rp.exchange(get_returned(browser)["code"]).json
    stranger, path = api.person(), f"/api/v1/users/{person.id}/consents"
    assert api.delete(f"{path}/{rp.id}", by=stranger).status_code in (403, 404)
    assert rp.user_info(tokens["access_token"]).status_code == 200
    assert api.delete(f"{path}/{rp.id}", by=person).json == {"success": True}
    assert rp.user_info(tokens["access_token"]).status_code == 401
    assert rp.refresh(tokens["refresh_token"]).status_code == 400
    again = api.delete(f"{path}/{rp.id}", by=person)
    assert error_code(again) == "error.consent-not-found"
    assert rp.authorize(browser, prompt="none")["error"] == "consent_required"
    root = api.person(admin=True)
    record = api.get("/audit-events?action=oidc_provider.consent-withdraw", by=root).json["data"][0]
    assert record["target"]["id"] == rp.id


def test_the_page_of_consents_withdraws(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    assert TEXTS["en"]["no-consents"] in browser.open("/oauth2/consents").text
    browser.open(rp.url())
    decide(browser, "allow")
    path = f"/oauth2/consents/{rp.id}/removal"
    assert path in browser.open("/oauth2/consents").text
    browser.open(path)
    browser.open(path, browser.forms[""])
    assert browser.message == TEXTS["en"]["withdrawn"]
    assert consents(api, person) == []


def test_another_site_cannot_decide(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    browser.open(rp.url())
    form = {**browser.forms[DECISION], "decision": "allow", "csrf": "wrong"}
    refused = browser.request(DECISION, form)
    assert refused.status_code == 400
    assert TEXTS["en"]["form-refused"] in refused.text
    assert consents(api, person) == []
    browser.open(rp.url())
    forged = {**browser.forms[DECISION], "decision": "allow", "request": "forged"}
    assert TEXTS["en"]["expired"] in browser.request(DECISION, forged).text


def test_the_way_leads_over_the_login(api: Api, rp: RelyingParty, person: Person) -> None:
    browser = PageBrowser(api)
    browser.open(rp.url(state="x" * 1500))
    assert browser.path == "/account/login"
    browser.send("login", username=person.email, password=PASSWORD)
    if browser.path.endswith("/login"):
        pytest.fail(browser.page.text)
    decide(browser, "allow")
    assert get_returned(browser)["state"] == "x" * 1500


def test_a_request_ends_after_an_hour(
    api: Api, rp: RelyingParty, person: Person, browser: PageBrowser
) -> None:
    browser.open(rp.url())
    form = {**browser.forms[DECISION], "decision": "allow"}
    api.clock.advance(3600_000)
    browser.open("/account/")
    browser.log_in(person.email)
    browser.open("/account/")
    form["csrf"] = next(fields["csrf"] for fields in browser.forms.values() if "csrf" in fields)
    assert TEXTS["en"]["expired"] in browser.request(DECISION, form).text


def test_a_request_of_another_browser_is_unknown(api: Api, rp: RelyingParty) -> None:
    path = PageBrowser(api).request(rp.url()).headers["Location"]
    assert TEXTS["en"]["expired"] in PageBrowser(api).open(path).text


def test_a_request_that_is_too_long_for_a_cookie_is_refused(
    api: Api, rp: RelyingParty, browser: PageBrowser
) -> None:
    assert rp.authorize(browser, state="x" * 4000)["error"] == "invalid_request"


def test_another_account_may_be_used(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    other = api.person()
    browser.open(rp.url(prompt="select_account"))
    decide(browser, "switch")
    assert browser.path == "/account/login"
    browser.send("login", username=other.email, password=PASSWORD)
    decide(browser, "allow")
    tokens = rp.exchange(get_returned(browser)["code"]).json
    assert rp.claims(tokens)["sub"] == other.id


def test_a_trusted_client_needs_no_consent(api: Api, browser: PageBrowser) -> None:
    trusted = RelyingParty.register(api)
    assert "code" in trusted.authorize(browser)


def test_a_deleted_user_leaves_no_code_and_no_consent(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    browser.open(rp.url())
    decide(browser, "allow")
    root = api.person(admin=True)
    assert api.delete(f"/users/{person.id}", by=root).status_code == 200
    with api.container.hosts.get("oidc_provider").database.read() as tx:
        for name in ("codes", "consents"):
            assert tx.all(metadata.tables[f"oidc_provider_{name}"].select()) == []


def test_a_suspended_user_has_no_code_but_keeps_the_consent(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    browser.open(rp.url())
    decide(browser, "allow")
    root = api.person(admin=True)
    assert api.post(f"/users/{person.id}/suspension", {}, by=root).status_code == 200
    with api.container.hosts.get("oidc_provider").database.read() as tx:
        assert tx.all(metadata.tables["oidc_provider_codes"].select()) == []
        assert len(tx.all(metadata.tables["oidc_provider_consents"].select())) == 1
