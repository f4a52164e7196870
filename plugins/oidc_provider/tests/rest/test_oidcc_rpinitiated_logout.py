"""The modules of the plan ``oidcc-rp-initiated-logout`` of the OpenID conformance suite, by name."""

from urllib.parse import urlencode

import pytest
from tests.support.api import Api, Person, error_code
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import PLUGINS, RelyingParty, get_returned, logged_in

AFTER = "https://wiki.example.com/after"
CONFIRMATION = "/oauth2/logout"

pytestmark = [on_sqlite, pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS}}))]


@pytest.fixture
def rp(api: Api) -> RelyingParty:
    uris = [AFTER, f"{AFTER}?from=strongroom"]
    return RelyingParty.register(api, name="The Wiki", postLogoutRedirectUris=uris)


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Ada Lovelace")


@pytest.fixture
def browser(api: Api, rp: RelyingParty, person: Person) -> PageBrowser:
    return logged_in(api, person)


@pytest.fixture
def hint(rp: RelyingParty, browser: PageBrowser) -> str:
    token: str = rp.tokens(browser)["id_token"]
    return token


def log_out(browser: PageBrowser, **parameters: str) -> str:
    """Request the logout; return where the browser goes on to, if anywhere."""
    location: str = browser.request(f"/oauth2/end-session?{urlencode(parameters)}").headers.get(
        "Location", ""
    )
    return location


def assert_asked(browser: PageBrowser) -> None:
    assert browser.page.status_code == 200
    assert "Do you want to log out?" in browser.page.text
    assert "Ada Lovelace" in browser.page.text
    page = browser.page
    assert browser.is_logged_in
    browser.page = page


def test_oidcc_rp_initiated_logout_discovery_endpoint_verification(api: Api, rp: RelyingParty) -> None:
    document = api.get("/.well-known/openid-configuration").json
    assert document["end_session_endpoint"] == f"{document['issuer']}/oauth2/end-session"


def test_oidcc_rp_initiated_logout(api: Api, rp: RelyingParty, browser: PageBrowser, hint: str) -> None:
    api.clock.advance(3600_000)
    location = log_out(browser, id_token_hint=hint, post_logout_redirect_uri=AFTER, state="a b")
    assert location == f"{AFTER}?state=a+b"
    assert not browser.is_logged_in
    assert rp.authorize(browser, prompt="none")["error"] == "login_required"


def test_oidcc_rp_initiated_logout_bad_post_logout_redirect_uri(
    rp: RelyingParty, browser: PageBrowser, hint: str
) -> None:
    for uri in (f"{AFTER}/", f"{AFTER}?", f"{AFTER}#a", "https://evil.test/", rp.uri, ""):
        assert log_out(browser, id_token_hint=hint, post_logout_redirect_uri=uri) == ""
        assert browser.page.status_code == 400
        assert "refresh" not in browser.page.text
    twice = f"/oauth2/end-session?id_token_hint={hint}&" + "&".join(
        urlencode({"post_logout_redirect_uri": AFTER}) for _ in range(2)
    )
    assert browser.request(twice).status_code == 400
    assert browser.is_logged_in


@pytest.mark.parametrize("kind", ["signature", "text", "access_token"])
def test_oidcc_rp_initiated_logout_modified_id_token_hint(
    rp: RelyingParty, browser: PageBrowser, hint: str, kind: str
) -> None:
    head, body, signature = hint.split(".")
    forged = {
        "signature": f"{head}.{body}.{signature[::-1]}",
        "text": "a.b.c",
        "access_token": rp.tokens(browser)["access_token"],
    }
    log_out(browser, id_token_hint=forged[kind], post_logout_redirect_uri=AFTER)
    assert_asked(browser)
    browser.submit(CONFIRMATION)
    assert "You are logged out" in browser.page.text
    assert "refresh" not in browser.page.text


def test_oidcc_rp_initiated_logout_bad_id_token_hint(
    api: Api, rp: RelyingParty, browser: PageBrowser, hint: str
) -> None:
    other = RelyingParty.register(api, name="Other")
    foreign = other.tokens(browser)["id_token"]
    assert log_out(browser, id_token_hint=foreign, post_logout_redirect_uri=AFTER) == ""
    assert browser.page.status_code == 400
    assert log_out(browser, id_token_hint=foreign, client_id=rp.id) == ""
    assert browser.page.status_code == 400
    assert browser.is_logged_in


def test_oidcc_rp_initiated_logout_no_id_token_hint(rp: RelyingParty, browser: PageBrowser) -> None:
    log_out(browser, post_logout_redirect_uri=AFTER, state="s")
    assert_asked(browser)
    browser.submit(CONFIRMATION)
    assert "You are logged out" in browser.page.text
    assert not browser.is_logged_in


def test_a_client_id_names_the_client_instead_of_a_hint(rp: RelyingParty, browser: PageBrowser) -> None:
    log_out(browser, client_id=rp.id, post_logout_redirect_uri=AFTER, state="s")
    assert_asked(browser)
    assert "The Wiki" in browser.page.text
    browser.submit(CONFIRMATION)
    assert get_returned(browser) == {"state": "s"}
    assert not browser.is_logged_in
    assert log_out(browser, client_id="unknown") == ""
    assert browser.page.status_code == 400


def test_oidcc_rp_initiated_logout_no_params(rp: RelyingParty, browser: PageBrowser) -> None:
    log_out(browser)
    assert_asked(browser)
    browser.submit(CONFIRMATION)
    assert not browser.is_logged_in
    assert "You are logged out" in browser.open("/oauth2/end-session").text


def test_oidcc_rp_initiated_logout_no_post_logout_redirect_uri(browser: PageBrowser, hint: str) -> None:
    assert log_out(browser, id_token_hint=hint, state="s") == ""
    assert "You are logged out" in browser.page.text
    assert not browser.is_logged_in


def test_oidcc_rp_initiated_logout_no_state(browser: PageBrowser, hint: str) -> None:
    assert log_out(browser, id_token_hint=hint, post_logout_redirect_uri=AFTER) == AFTER


def test_oidcc_rp_initiated_logout_only_state(rp: RelyingParty, browser: PageBrowser) -> None:
    log_out(browser, state="s")
    assert_asked(browser)


def test_oidcc_rp_initiated_logout_query_added_to_post_logout_redirect_uri(
    browser: PageBrowser, hint: str
) -> None:
    uri = f"{AFTER}?from=strongroom"
    assert log_out(browser, id_token_hint=hint, post_logout_redirect_uri=f"{AFTER}?foo=bar") == ""
    assert browser.page.status_code == 400
    location = log_out(browser, id_token_hint=hint, post_logout_redirect_uri=uri, state="s")
    assert location == f"{uri}&state=s"


def test_the_hint_of_another_user_is_no_confirmation(
    api: Api, rp: RelyingParty, browser: PageBrowser
) -> None:
    hint = rp.tokens(logged_in(api))["id_token"]
    assert log_out(browser, id_token_hint=hint, post_logout_redirect_uri=AFTER) == ""
    assert_asked(browser)


def test_a_form_of_another_site_leads_to_the_same_page(browser: PageBrowser, hint: str) -> None:
    form = {"id_token_hint": hint, "post_logout_redirect_uri": AFTER, "other": "x"}
    answer = browser.request("/oauth2/end-session", form, Sec_Fetch_Site="cross-site")
    assert answer.status_code == 303
    assert "other" not in answer.headers["Location"]
    assert browser.request(answer.headers["Location"]).headers["Location"] == AFTER


def test_the_menu_of_the_other_pages_logs_out(browser: PageBrowser) -> None:
    browser.open("/oauth2/consents")
    browser.submit(CONFIRMATION)
    assert "You are logged out" in browser.page.text
    assert not browser.is_logged_in


def test_the_confirmation_needs_the_form_of_the_page(rp: RelyingParty, browser: PageBrowser) -> None:
    log_out(browser, client_id=rp.id, post_logout_redirect_uri=AFTER)
    form = browser.forms[CONFIRMATION]
    refused = browser.request(CONFIRMATION, {"request": form["request"]}, Sec_Fetch_Site="cross-site")
    assert refused.status_code == 400
    assert browser.request(CONFIRMATION, {**form, "request": "forged"}).status_code == 400
    assert browser.is_logged_in


def test_uris_after_a_logout_follow_the_rules_of_redirect_uris(api: Api, rp: RelyingParty) -> None:
    root = api.person(admin=True)
    body = {"name": "Wiki", "redirectUris": [rp.uri], "postLogoutRedirectUris": ["http://evil.test/"]}
    refused = api.post("/api/v1/clients", body, by=root)
    assert error_code(refused) == "error.client-redirect-uri-refused"
    assert refused.json["error"]["details"][0]["field"] == "postLogoutRedirectUris.0"
    created = api.post("/api/v1/clients", {**body, "postLogoutRedirectUris": [AFTER]}, by=root).json
    assert created["postLogoutRedirectUris"] == [AFTER]
    changes = {"revision": created["revision"], "postLogoutRedirectUris": []}
    changed = api.patch(f"/api/v1/clients/{created['id']}", changes, by=root).json
    assert changed["postLogoutRedirectUris"] == []


def test_the_hint_of_a_former_login_is_no_confirmation(
    browser: PageBrowser, person: Person, hint: str
) -> None:
    log_out(browser, id_token_hint=hint)
    browser.log_in(person.email)
    assert log_out(browser, id_token_hint=hint, post_logout_redirect_uri=AFTER) == ""
    assert_asked(browser)
