"""The endpoints that clients call: their errors, rotation, revocation and introspection."""

import json
from base64 import b64encode, urlsafe_b64decode
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.api import Answer, Api, Json, Person
from tests.support.config import Table, lifted, merged
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import (
    PLUGINS,
    VERIFIER,
    RelyingParty,
    logged_in,
    post_form,
)

WIKI = "https://wiki.example.com/api"
RACERS = 32

CONFIG: Table = merged(lifted(), {"plugins": {"enabled": PLUGINS}})

pytestmark = pytest.mark.config(CONFIG)


@pytest.fixture
def rp(api: Api) -> RelyingParty:
    return RelyingParty.register(api, resources=[WIKI])


@pytest.fixture
def person(api: Api) -> Person:
    return api.person()


@pytest.fixture
def browser(api: Api, rp: RelyingParty, person: Person) -> PageBrowser:
    return logged_in(api, person)


def refusal(answer: Answer) -> tuple[int, str]:
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.status_code, answer.json["error"]


def bearer(tokens: Json) -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens['access_token']}"}


def basic(name: str, secret: str) -> dict[str, str]:
    return {"Authorization": f"Basic {b64encode(f'{name}:{secret}'.encode()).decode()}"}


@pytest.mark.parametrize("is_public", [True, False], ids=["public", "confidential"])
@pytest.mark.parametrize("resource", [WIKI, None], ids=["resource", "none"])
@pytest.mark.parametrize("is_offline", [True, False], ids=["offline", "online"])
@pytest.mark.parametrize("is_openid", [True, False], ids=["oidc", "oauth"])
def test_each_kind_of_client_gets_and_refreshes_tokens(
    api: Api,
    browser: PageBrowser,
    is_public: bool,
    resource: str | None,
    is_offline: bool,
    is_openid: bool,
) -> None:
    wiki_scopes = ["wiki:read", "openid", "profile", "offline_access"]
    rp = RelyingParty.register(api, public=is_public, resources=[WIKI], scopes=wiki_scopes)
    scopes = [("openid", is_openid), ("wiki:read", not is_openid), ("offline_access", is_offline)]
    scope = " ".join(name for name, is_requested in scopes if is_requested)
    code = rp.code(browser, scope=scope, resource=resource, nonce=None if not is_openid else "n")
    tokens = rp.exchange(code, resource=resource).json
    assert tokens["scope"] == scope
    assert ("id_token" in tokens) is is_openid
    claims = decode(tokens["access_token"])
    assert claims["aud"] in (resource or rp.id, [resource or rp.id])
    assert claims["client_id"] == rp.id
    renewed = rp.refresh(tokens["refresh_token"], resource=resource)
    assert renewed.status_code == 200, renewed.text
    assert decode(renewed.json["access_token"])["aud"] == claims["aud"]
    assert api.get("/users/me", headers=bearer(tokens)).status_code == 401


def decode(token: str) -> Json:
    body = token.split(".")[1]
    claims: Json = json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return claims


def test_the_resource_is_compared_without_case_of_the_host_and_final_slash(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    for resource in (f"{WIKI}/", WIKI.replace("wiki", "WIKI"), WIKI):
        tokens = rp.exchange(rp.code(browser, resource=resource), resource=WIKI)
        assert tokens.status_code == 200


@pytest.mark.parametrize(
    "resource",
    [
        "https://other.example.com/",
        f"{WIKI}/deeper",
        "https://wiki.example.com/API",
        f"{WIKI}#a",
        "wiki",
        "http://[",
    ],
)
def test_other_resources_are_refused(rp: RelyingParty, browser: PageBrowser, resource: str) -> None:
    returned = rp.authorize(browser, resource=resource)
    assert (returned["error"], returned["state"]) == ("invalid_target", "the state")


def test_the_request_for_tokens_may_not_name_another_resource(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    answer = rp.exchange(rp.code(browser, resource=WIKI), resource="https://other.example.com/")
    assert refusal(answer) == (400, "invalid_target")


def test_scopes_of_the_rest_api_make_tokens_for_it(
    api: Api, browser: PageBrowser, person: Person
) -> None:
    rp = RelyingParty.register(api, scopes=["openid", "tenants:read"])
    tokens = rp.tokens(browser, scope="openid tenants:read")
    assert api.get("/api/v1/tenants", headers=bearer(tokens)).status_code == 200
    assert api.get("/users/me/authorizations", headers=bearer(tokens)).status_code == 403
    assert rp.user_info(tokens["access_token"]).json == {"sub": person.id}


def test_only_the_scopes_of_the_client_are_granted(rp: RelyingParty, browser: PageBrowser) -> None:
    assert rp.tokens(browser, scope="openid files:write nonsense")["scope"] == "openid"
    assert rp.authorize(browser, scope="files:write nonsense")["error"] == "invalid_scope"
    assert rp.tokens(browser, scope=None)["scope"] == ""


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"grant_type": "password", "username": "a", "password": "b"}, "unsupported_grant_type"),
        ({"grant_type": "implicit"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unauthorized_client"),
        ({"grant_type": "k\u00f6de"}, "unsupported_grant_type"),
        ({}, "unsupported_grant_type"),
        ({"grant_type": "authorization_code"}, "invalid_request"),
        ({"grant_type": "authorization_code", "code": "unknown"}, "invalid_grant"),
        ({"grant_type": "refresh_token"}, "invalid_request"),
        ({"grant_type": "refresh_token", "refresh_token": "unknown"}, "invalid_grant"),
    ],
)
def test_errors_of_the_token_endpoint(rp: RelyingParty, form: dict[str, str], expected: str) -> None:
    assert refusal(rp.send("/oauth2/token", **form)) == (400, expected)


@pytest.mark.parametrize("path", ["/oauth2/token", "/oauth2/revoke", "/oauth2/introspect"])
def test_wrong_clients_are_unauthorized(api: Api, rp: RelyingParty, path: str) -> None:
    form = {"grant_type": "refresh_token", "refresh_token": "x", "token": "x"}
    for headers in (
        basic(rp.id, "wrong"),
        basic("unknown", "wrong"),
        basic(rp.id, ""),
        {"Authorization": "Basic not base64"},
        {"Authorization": f"Basic {b64encode(bytes([0xFF, 0xFE])).decode()}"},
    ):
        answer = post_form(api, path, form, headers)
        assert refusal(answer) == (401, "invalid_client")
        assert answer.headers["WWW-Authenticate"].startswith("Basic ")
    for fields in (
        {},
        {"client_id": rp.id},
        {"client_id": rp.id, "client_secret": "wrong"},
        {"client_id": "unknown"},
        {"client_id": "unknown", "client_secret": "wrong"},
    ):
        assert refusal(post_form(api, path, {**form, **fields})) == (401, "invalid_client")


def test_two_ways_of_authentication_are_refused(api: Api, rp: RelyingParty) -> None:
    form = {"grant_type": "refresh_token", "refresh_token": "x", "client_secret": rp.secret or ""}
    answer = post_form(api, "/oauth2/token", form, basic(rp.id, rp.secret or ""))
    assert refusal(answer) == (400, "invalid_request")


def test_a_public_client_needs_no_secret_and_may_not_introspect(api: Api, browser: PageBrowser) -> None:
    rp = RelyingParty.register(api, public=True)
    token = rp.tokens(browser)["access_token"]
    assert refusal(rp.send("/oauth2/introspect", token=token)) == (401, "invalid_client")


def test_a_repeated_parameter_is_refused(api: Api, rp: RelyingParty) -> None:
    body = "grant_type=refresh_token&refresh_token=x&refresh_token=y"
    headers = basic(rp.id, rp.secret or "")
    kind = "application/x-www-form-urlencoded"
    client = api.app.test_client()
    answer = Answer(client.post("/oauth2/token", data=body, headers=headers, content_type=kind))
    assert refusal(answer) == (400, "invalid_request")


def test_a_repeated_parameter_of_an_authorization_is_refused(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    assert "error=invalid_request" in browser.request(f"{rp.url()}&nonce=b").headers["Location"]
    for name, value in (("redirect_uri", rp.uri), ("client_id", rp.id)):
        answer = browser.request(f"{rp.url()}&{name}={value}")
        assert (answer.status_code, "Location" in answer.headers) == (400, False)


def test_the_code_is_of_one_client_and_one_redirect_uri(
    api: Api, rp: RelyingParty, browser: PageBrowser
) -> None:
    other = RelyingParty.register(api)
    code = rp.code(browser)
    assert refusal(other.exchange(code)) == (400, "invalid_grant")
    assert refusal(rp.exchange(code, redirect_uri="https://wiki.example.com/")) == (400, "invalid_grant")
    assert refusal(rp.exchange(code, redirect_uri=None)) == (400, "invalid_grant")
    assert rp.exchange(code).status_code == 200


def test_a_refresh_token_rotates_and_its_reuse_ends_the_grant(api: Api, browser: PageBrowser) -> None:
    rp = RelyingParty.register(api, public=True)
    first = rp.tokens(browser)
    second = rp.refresh(first["refresh_token"]).json
    assert second["refresh_token"] != first["refresh_token"]
    api.clock.advance(3600_000)
    assert refusal(rp.refresh(first["refresh_token"])) == (400, "invalid_grant")
    assert refusal(rp.refresh(second["refresh_token"])) == (400, "invalid_grant")


def test_scopes_of_a_refresh_may_only_shrink(rp: RelyingParty, browser: PageBrowser) -> None:
    tokens = rp.tokens(browser, scope="openid profile")
    assert refusal(rp.refresh(tokens["refresh_token"], scope="openid email")) == (400, "invalid_scope")
    narrowed = rp.refresh(tokens["refresh_token"], scope="openid").json
    assert narrowed["scope"] == "openid"
    assert rp.user_info(narrowed["access_token"]).json.keys() == {"sub"}
    widened = rp.refresh(narrowed["refresh_token"]).json
    assert widened["scope"] == "openid profile"


def test_the_logout_ends_an_online_grant_and_no_offline_one(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    online, offline = rp.tokens(browser), rp.tokens(browser, scope="openid offline_access")
    browser.open("/account/")
    browser.send("logout")
    assert refusal(rp.refresh(online["refresh_token"])) == (400, "invalid_grant")
    assert rp.user_info(online["access_token"]).status_code == 401
    assert rp.refresh(offline["refresh_token"]).status_code == 200


def test_revocation_ends_the_grant(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    other = RelyingParty.register(api)
    for kind in ("access_token", "refresh_token"):
        tokens = rp.tokens(browser)
        assert other.send("/oauth2/revoke", token=tokens[kind]).status_code == 200
        assert rp.user_info(tokens["access_token"]).status_code == 200
        answer = rp.send("/oauth2/revoke", token=tokens[kind], token_type_hint="nonsense")
        assert answer.status_code == 200
        assert rp.user_info(tokens["access_token"]).status_code == 401
    assert rp.send("/oauth2/revoke", token="unknown").status_code == 200
    assert refusal(rp.send("/oauth2/revoke")) == (400, "invalid_request")


def test_introspection_reports_the_state_of_a_token(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    tokens = rp.tokens(browser, resource=WIKI)
    report = rp.send("/oauth2/introspect", token=tokens["access_token"]).json
    assert report["active"] is True
    assert (report["sub"], report["client_id"], report["aud"]) == (person.id, rp.id, WIKI)
    assert report["scope"] == "openid"
    assert report["token_type"] == "Bearer"
    wiki, stranger = RelyingParty.register(api, resources=[WIKI]), RelyingParty.register(api)
    assert wiki.send("/oauth2/introspect", token=tokens["access_token"]).json["active"] is True
    assert wiki.send("/oauth2/introspect", token=tokens["refresh_token"]).json == {"active": False}
    assert stranger.send("/oauth2/introspect", token=tokens["access_token"]).json == {"active": False}
    assert rp.send("/oauth2/introspect", token=person.token).json == {"active": False}
    rp.send("/oauth2/revoke", token=tokens["access_token"])
    assert rp.send("/oauth2/introspect", token=tokens["access_token"]).json == {"active": False}


def test_user_information_needs_a_token_with_openid(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    bare = Answer(api.app.test_client().get("/oauth2/userinfo"))
    assert (bare.status_code, bare.headers["WWW-Authenticate"]) == (401, "Bearer")
    for token in (person.token or "", "unknown", rp.tokens(browser)["refresh_token"]):
        refused = rp.user_info(token)
        assert (refused.status_code, refused.json["error"]) == (401, "invalid_token")
        assert 'error="invalid_token"' in refused.headers["WWW-Authenticate"]
    plain = RelyingParty.register(api, scopes=["profile", "openid"])
    limited = plain.user_info(plain.tokens(browser, scope="profile")["access_token"])
    assert (limited.status_code, limited.json["error"]) == (403, "insufficient_scope")


def test_a_deleted_client_loses_its_grants(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    tokens, root = rp.tokens(browser), api.person(admin=True)
    assert api.delete(f"/api/v1/clients/{rp.id}", by=root).status_code == 200
    assert rp.user_info(tokens["access_token"]).status_code == 401


def test_a_suspended_user_has_no_tokens(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    code, tokens = rp.code(browser), rp.tokens(browser, scope="openid offline_access")
    root = api.person(admin=True)
    assert api.post(f"/users/{person.id}/suspension", {}, by=root).status_code in (200, 201)
    assert refusal(rp.exchange(code)) == (400, "invalid_grant")
    assert refusal(rp.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert rp.user_info(tokens["access_token"]).status_code == 401


@pytest.mark.both_databases
def test_32_uses_of_a_code_at_once_have_one_success_and_leave_no_grant(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    code = rp.code(browser)
    with ThreadPoolExecutor(RACERS) as pool:
        answers = list(pool.map(lambda _: rp.exchange(code, code_verifier=VERIFIER), range(RACERS)))
    (won,) = [answer for answer in answers if answer.status_code == 200]
    assert {refusal(answer) for answer in answers if answer is not won} == {(400, "invalid_grant")}
    assert rp.user_info(won.json["access_token"]).status_code == 401


@pytest.mark.both_databases
@pytest.mark.config(merged(CONFIG, {"tokens": {"refresh_reuse_seconds": 0}}))
def test_32_uses_of_a_refresh_token_at_once_have_one_success(api: Api, browser: PageBrowser) -> None:
    rp = RelyingParty.register(api, public=True)
    token = rp.tokens(browser)["refresh_token"]
    with ThreadPoolExecutor(RACERS) as pool:
        answers = list(pool.map(lambda _: rp.refresh(token), range(RACERS)))
    assert len([answer for answer in answers if answer.status_code == 200]) <= 1
    assert {answer.status_code for answer in answers} <= {200, 400}
