"""The modules of the plan ``oidcc-basic`` of the OpenID conformance suite, each by its name.

The suite itself needs containers. The clients use PKCE, which this provider requires of all of them.
"""

import hashlib
from base64 import urlsafe_b64encode
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from joserfc import jws, jwt
from joserfc.jwk import KeySet
from tests.support.api import Answer, Api, Json, Person
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import (
    CALLBACK,
    PLUGINS,
    VERIFIER,
    RelyingParty,
    get_returned,
    logged_in,
    post_form,
)

pytestmark = [on_sqlite, pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS}}))]


@pytest.fixture
def rp(api: Api) -> RelyingParty:
    return RelyingParty.register(api)


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Ada Lovelace")


@pytest.fixture
def browser(api: Api, rp: RelyingParty, person: Person) -> PageBrowser:
    return logged_in(api, person)


def has_loggedin_claims(rp: RelyingParty, tokens: Json, person: Person) -> Json:
    claims = rp.claims(tokens)
    digest = hashlib.sha256(tokens["access_token"].encode()).digest()[:16]
    assert claims["iss"] == rp.api.container.hosts.get("oidc_provider").public_url
    assert claims["sub"] == person.id
    assert claims["at_hash"] == urlsafe_b64encode(digest).rstrip(b"=").decode()
    assert claims["iat"] <= claims["exp"]
    assert {"auth_time", "acr", "amr"} <= claims.keys()
    return claims


def test_oidcc_server(rp: RelyingParty, browser: PageBrowser, person: Person) -> None:
    returned = rp.authorize(browser)
    assert returned.keys() == {"code", "state", "iss"}
    assert returned["state"] == "the state"
    answer = rp.exchange(returned["code"])
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json["token_type"] == "Bearer"
    assert answer.json["expires_in"] > 0
    assert has_loggedin_claims(rp, answer.json, person)["nonce"] == "the nonce"


def test_oidcc_response_type_missing(rp: RelyingParty, browser: PageBrowser) -> None:
    returned = rp.authorize(browser, response_type=None)
    assert returned["error"] in ("invalid_request", "unsupported_response_type")
    assert returned["state"] == "the state"


def test_oidcc_idtoken_signature(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    header = jws.extract_compact(rp.tokens(browser)["id_token"].encode()).headers()
    keys = api.get("/.well-known/jwks.json").json["keys"]
    (key,) = (each for each in keys if each["kid"] == header["kid"])
    assert (header["alg"], key["kty"], key["use"]) == ("RS256", "RSA", "sig")


def test_oidcc_idtoken_unsigned(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    provider = api.get("/.well-known/openid-configuration").json
    assert "none" not in provider["id_token_signing_alg_values_supported"]
    # A client cannot register that it accepts tokens without a signature, nor request one.
    tokens = rp.tokens(browser, id_token_signed_response_alg="none")
    assert jws.extract_compact(tokens["id_token"].encode()).headers()["alg"] == "RS256"


@pytest.mark.parametrize("response_type", ["token", "id_token", "code token", "none", "k\u00f6de", '"'])
def test_other_response_types_are_unsupported(
    rp: RelyingParty, browser: PageBrowser, response_type: str
) -> None:
    assert rp.authorize(browser, response_type=response_type)["error"] == "unsupported_response_type"


def test_oidcc_userinfo_get(rp: RelyingParty, browser: PageBrowser, person: Person) -> None:
    answer = rp.user_info(rp.tokens(browser)["access_token"])
    assert answer.json == {"sub": person.id}
    assert answer.headers["Content-Type"].startswith("application/json")


def test_oidcc_userinfo_post_header(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    token = rp.tokens(browser)["access_token"]
    answer = post_form(api, "/oauth2/userinfo", {}, {"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200


def test_oidcc_userinfo_post_body(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    answer = post_form(api, "/oauth2/userinfo", {"access_token": rp.tokens(browser)["access_token"]})
    assert answer.status_code == 200


def test_oidcc_ensure_request_without_nonce_succeeds_for_code_flow(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    assert "nonce" not in rp.claims(rp.tokens(browser, nonce=None))


def test_oidcc_scope_profile(rp: RelyingParty, browser: PageBrowser, person: Person) -> None:
    claims = rp.user_info(rp.tokens(browser, scope="openid profile")["access_token"]).json
    assert claims["name"] == "Ada Lovelace"
    assert isinstance(claims["updated_at"], int)
    assert "email" not in claims


def test_oidcc_scope_email(rp: RelyingParty, browser: PageBrowser, person: Person) -> None:
    claims = rp.user_info(rp.tokens(browser, scope="openid email")["access_token"]).json
    assert claims.keys() == {"sub", "email", "email_verified"}
    assert claims["email"] == person.email
    assert isinstance(claims["email_verified"], bool)


def test_oidcc_scope_address(rp: RelyingParty, browser: PageBrowser, person: Person) -> None:
    tokens = rp.tokens(browser, scope="openid address")
    assert tokens["scope"] == "openid"
    assert rp.user_info(tokens["access_token"]).json == {"sub": person.id}


def test_oidcc_scope_phone(api: Api, rp: RelyingParty) -> None:
    browser = logged_in(api, api.person(mobile="+8613800138000"))
    claims = rp.user_info(rp.tokens(browser, scope="openid phone")["access_token"]).json
    assert claims["phone_number"] == "+8613800138000"
    assert isinstance(claims["phone_number_verified"], bool)


def test_oidcc_scope_all(rp: RelyingParty, browser: PageBrowser) -> None:
    tokens = rp.tokens(browser, scope="openid profile email phone address")
    assert {"name", "email"} <= rp.user_info(tokens["access_token"]).json.keys()


def test_oidcc_ensure_other_scope_order_succeeds(rp: RelyingParty, browser: PageBrowser) -> None:
    assert "id_token" in rp.tokens(browser, scope="email openid")


def test_oidcc_alternate_happy_flow(rp: RelyingParty, browser: PageBrowser, person: Person) -> None:
    path, _, query = rp.url(scope="email openid").partition("?")
    browser.open(f"{path}?{urlencode([*reversed(parse_qsl(query))])}")
    tokens = rp.exchange(get_returned(browser)["code"]).json
    assert rp.user_info(tokens["access_token"]).json["email"] == person.email


def test_oidcc_display_page(rp: RelyingParty, browser: PageBrowser) -> None:
    assert "code" in rp.authorize(browser, display="page")


def test_oidcc_display_popup(rp: RelyingParty, browser: PageBrowser) -> None:
    assert "code" in rp.authorize(browser, display="popup")


def test_oidcc_prompt_login(api: Api, rp: RelyingParty, browser: PageBrowser, person: Person) -> None:
    first = rp.claims(rp.tokens(browser))
    api.clock.advance(2000)
    browser.open(rp.url(prompt="login"))
    assert browser.path.startswith("/account/")
    assert "code" not in browser.page.headers.get("Location", "")
    prove(browser, person)
    second = rp.claims(rp.exchange(get_returned(browser)["code"]).json)
    assert second["auth_time"] > first["auth_time"]
    assert second["sub"] == first["sub"]


def test_oidcc_prompt_none_not_logged_in(api: Api, rp: RelyingParty) -> None:
    returned = rp.authorize(PageBrowser(api), prompt="none")
    assert returned["error"] == "login_required"
    assert returned["state"] == "the state"
    assert "iss" in returned


def test_oidcc_prompt_none_logged_in(rp: RelyingParty, browser: PageBrowser) -> None:
    first, second = (rp.claims(rp.tokens(browser, prompt=prompt)) for prompt in (None, "none"))
    assert (first["sub"], first["auth_time"]) == (second["sub"], second["auth_time"])


def test_prompt_none_without_consent(api: Api, browser: PageBrowser) -> None:
    stranger = RelyingParty.register(api, trusted=False)
    assert stranger.authorize(browser, prompt="none")["error"] == "consent_required"


@pytest.mark.parametrize("prompt", ["none login", "create", "NONE"])
def test_other_prompts_are_invalid(rp: RelyingParty, browser: PageBrowser, prompt: str) -> None:
    assert rp.authorize(browser, prompt=prompt)["error"] == "invalid_request"


def test_oidcc_max_age_1(api: Api, rp: RelyingParty, browser: PageBrowser, person: Person) -> None:
    first = rp.claims(rp.tokens(browser))
    api.clock.advance(3000)
    assert rp.authorize(browser, prompt="none", max_age="1")["error"] == "login_required"
    browser.open(rp.url(max_age="1"))
    prove(browser, person)
    second = rp.claims(rp.exchange(get_returned(browser)["code"]).json)
    assert second["auth_time"] > first["auth_time"]


def test_oidcc_max_age_10000(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    first = rp.claims(rp.tokens(browser))
    api.clock.advance(3000)
    second = rp.claims(rp.tokens(browser, max_age="10000"))
    assert second["auth_time"] == first["auth_time"]


def test_oidcc_ensure_request_with_unknown_parameter_succeeds(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    assert "code" in rp.authorize(browser, extra="foobar")


def test_oidcc_id_token_hint(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    hint = rp.tokens(browser)["id_token"]
    api.clock.advance(7200_000)
    browser.open("/account/")
    assert "code" in rp.authorize(browser, prompt="none", id_token_hint=hint)


def test_the_id_token_of_another_user_is_no_login(
    api: Api, rp: RelyingParty, browser: PageBrowser
) -> None:
    hint = rp.tokens(logged_in(api))["id_token"]
    assert rp.authorize(browser, prompt="none", id_token_hint=hint)["error"] == "login_required"
    browser.open(rp.url(id_token_hint=hint))
    assert "Use another account" in browser.page.text


@pytest.mark.parametrize("kind", ["access_token", "foreign", "text"])
def test_other_texts_are_no_id_token_hint(
    api: Api, rp: RelyingParty, browser: PageBrowser, kind: str
) -> None:
    other = RelyingParty.register(api)
    hints = {
        "access_token": rp.tokens(browser)["access_token"],
        "foreign": other.tokens(browser)["id_token"],
        "text": "a.b.c",
    }
    assert rp.authorize(browser, id_token_hint=hints[kind])["error"] == "invalid_request"


def test_oidcc_login_hint(rp: RelyingParty, api: Api) -> None:
    browser = PageBrowser(api)
    assert "ada@example.com" in browser.open(rp.url(login_hint="ada@example.com")).text


def test_oidcc_ui_locales(rp: RelyingParty, browser: PageBrowser) -> None:
    assert "code" in rp.authorize(browser, ui_locales="se")


def test_oidcc_claims_locales(rp: RelyingParty, browser: PageBrowser) -> None:
    assert "code" in rp.authorize(browser, claims_locales="se")


def test_oidcc_ensure_request_with_acr_values_succeeds(rp: RelyingParty, browser: PageBrowser) -> None:
    assert "acr" in rp.claims(rp.tokens(browser, acr_values="1 2"))


def test_a_login_that_is_strong_enough_needs_no_page(rp: RelyingParty, browser: PageBrowser) -> None:
    claims = rp.claims(rp.tokens(browser, acr_values="unknown urn:strongroom:single phr"))
    assert claims["acr"] == "urn:strongroom:single"


def test_acr_values_lead_to_a_stronger_proof(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    api.clock.advance(60_000)
    browser.open(rp.url(acr_values="urn:strongroom:mfa"))
    assert browser.path.startswith("/account/")
    assert "code" not in browser.page.headers.get("Location", "")


def test_acr_values_are_voluntary_without_a_page(rp: RelyingParty, browser: PageBrowser) -> None:
    claims = rp.claims(rp.tokens(browser, acr_values="urn:strongroom:mfa", prompt="none"))
    assert claims["acr"] == "urn:strongroom:single"


def test_a_user_without_a_stronger_proof_logs_in_all_the_same(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    api.clock.advance(60_000)
    browser.open(rp.url(acr_values="urn:strongroom:mfa"))
    prove(browser, person)
    assert "code" in get_returned(browser)


def test_oidcc_codereuse(rp: RelyingParty, browser: PageBrowser) -> None:
    code = rp.code(browser)
    tokens = rp.exchange(code).json
    assert_refused(rp.exchange(code), "invalid_grant")
    assert rp.user_info(tokens["access_token"]).status_code == 401
    assert_refused(rp.refresh(tokens["refresh_token"]), "invalid_grant")


def test_oidcc_codereuse_30seconds(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    code = rp.code(browser)
    tokens = rp.exchange(code).json
    api.clock.advance(30_000)
    assert_refused(rp.exchange(code), "invalid_grant")
    assert rp.user_info(tokens["access_token"]).status_code == 401


def test_a_code_ends_after_60_seconds(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    early, late = rp.code(browser), rp.code(browser)
    api.clock.advance(59_000)
    assert rp.exchange(early).status_code == 200
    api.clock.advance(1000)
    assert_refused(rp.exchange(late), "invalid_grant")


def test_oidcc_ensure_registered_redirect_uri(rp: RelyingParty, browser: PageBrowser) -> None:
    for uri in (f"{CALLBACK}?foo=bar", f"{CALLBACK}/", "https://evil.test/", "k\u00f6", '"', None):
        answer = browser.request(rp.url(redirect_uri=uri))
        assert answer.status_code == 400
        assert "Location" not in answer.headers
        assert "refresh" not in answer.text


def test_oidcc_ensure_post_request_succeeds(
    rp: RelyingParty, browser: PageBrowser, person: Person
) -> None:
    parameters = dict(parse_qsl(urlsplit(rp.url()).query))
    answer = browser.request("/oauth2/authorize", parameters, Sec_Fetch_Site="cross-site")
    assert answer.status_code == 303
    browser.open(answer.headers["Location"])
    assert "code" in get_returned(browser)


def test_oidcc_server_client_secret_post(api: Api, rp: RelyingParty, browser: PageBrowser) -> None:
    assert rp.secret is not None
    form = {
        "grant_type": "authorization_code",
        "code": rp.code(browser),
        "redirect_uri": rp.uri,
        "code_verifier": VERIFIER,
        "client_id": rp.id,
        "client_secret": rp.secret,
    }
    assert post_form(api, "/oauth2/token", form).status_code == 200


def test_oidcc_request_uri_unsigned_supported_correctly_or_rejected_as_unsupported(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    returned = rp.authorize(browser, request_uri="https://wiki.example.com/request")
    assert returned["error"] == "request_uri_not_supported"


def test_oidcc_unsigned_request_object_supported_correctly_or_rejected_as_unsupported(
    rp: RelyingParty, browser: PageBrowser
) -> None:
    unsigned = "eyJhbGciOiJub25lIn0.eyJyZXNwb25zZV90eXBlIjoiY29kZSJ9."
    assert rp.authorize(browser, request=unsigned)["error"] == "request_not_supported"


def test_oidcc_claims_essential(rp: RelyingParty, browser: PageBrowser) -> None:
    assert "code" in rp.authorize(browser, claims='{"userinfo": {"name": {"essential": true}}}')


def test_oidcc_ensure_request_object_with_redirect_uri(rp: RelyingParty, browser: PageBrowser) -> None:
    forged = jwt.encode({"alg": "HS256"}, {"redirect_uri": "https://evil.test/"}, key_of_nobody())
    assert rp.authorize(browser, request=forged)["error"] == "request_not_supported"


def test_oidcc_refresh_token(api: Api, rp: RelyingParty, browser: PageBrowser, person: Person) -> None:
    first = rp.tokens(browser, scope="openid offline_access")
    api.clock.advance(1000)
    second = rp.refresh(first["refresh_token"]).json
    assert second["access_token"] != first["access_token"]
    before, after = rp.claims(first), has_loggedin_claims(rp, second, person)
    assert (after["sub"], after["auth_time"]) == (before["sub"], before["auth_time"])
    assert after["iat"] > before["iat"]
    other = RelyingParty.register(api)
    assert_refused(other.refresh(second["refresh_token"]), "invalid_grant")


def test_oidcc_ensure_request_with_valid_pkce_succeeds(rp: RelyingParty, browser: PageBrowser) -> None:
    assert rp.exchange(rp.code(browser), code_verifier=VERIFIER).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"code_challenge": "too short"},
    ],
)
def test_pkce_by_s256_is_required(
    rp: RelyingParty, browser: PageBrowser, changes: dict[str, Any]
) -> None:
    assert rp.authorize(browser, **changes)["error"] == "invalid_request"


@pytest.mark.parametrize("verifier", [None, "x" * 43, "too short"])
def test_a_wrong_verifier_is_refused_and_does_not_use_the_code_up(
    rp: RelyingParty, browser: PageBrowser, verifier: str | None
) -> None:
    code = rp.code(browser)
    assert rp.exchange(code, code_verifier=verifier).status_code == 400
    assert rp.exchange(code).status_code == 200


def assert_refused(answer: Answer, error: str, status: int = 400) -> None:
    assert (answer.status_code, answer.json["error"]) == (status, error), answer.text
    assert answer.headers["Cache-Control"] == "no-store"


def prove(browser: PageBrowser, person: Person) -> None:
    """Log in again, or prove the password, whatever the page requires."""
    from tests.support.api import PASSWORD

    path = browser.path
    fields = {"password": PASSWORD}
    if path.endswith("/login"):
        fields["username"] = person.email
    browser.submit(path, **fields)


def key_of_nobody() -> Any:
    from joserfc.jwk import OctKey

    return OctKey.import_key("a key that this server does not know, of 32 bytes")


def test_the_keys_are_public(api: Api, rp: RelyingParty) -> None:
    keys = KeySet.import_key_set(api.get("/.well-known/jwks.json").json)
    assert all(not key.is_private for key in keys)
