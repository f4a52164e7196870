"""Presets log in at their platforms, and refuse what the platforms and forgers send otherwise."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from strongroom.plugin_api.login import LoginRejected, LoginUnavailable
from strongroom_login_oidc.presets import PRESETS
from strongroom_simulators.oidc_providers import agree, refuse
from strongroom_simulators.oidc_providers.samples import STAFF_TENANT

from .clients import VERIFIER
from .preset_logins import SiteOf, oidc, preset_sites

OAUTH2 = ("github", "gitee", "qq")
WITH_ID_TOKENS = sorted(set(PRESETS) - set(OAUTH2))
WITH_PKCE = sorted(set(PRESETS) - {"apple", "gitee", "qq"})


@pytest.fixture(scope="module")
def site_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteOf]:
    with preset_sites(tmp_path_factory.mktemp("keys")) as site_of:
        yield site_of


SUBJECTS = {
    "microsoft": f"{STAFF_TENANT}:00000000-0000-0000-0000-000000001001",
    "qq": "UID_1001",
}


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_person_logs_in(preset: str, site_of: SiteOf) -> None:
    verified = site_of(preset).log_in("lin")
    assert verified.credential == oidc(f"{preset}:{SUBJECTS.get(preset, '1001')}")
    assert verified.further == ()
    assert verified.display_name == "林 小雨"
    assert verified.may_register


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_request_has_the_parameters_of_the_platform(preset: str, site_of: SiteOf) -> None:
    own = site_of(preset)
    query = parse_qs(urlsplit(own.url(own.method())).query)
    assert query["code_challenge_method"] == ["S256"]
    assert query["state"] == ["state"]
    scope = {"github": "read:user user:email", "gitee": "user_info emails", "qq": "get_user_info"}
    usual = "openid email name" if preset == "apple" else "openid email profile"
    assert query["scope"] == [scope.get(preset, usual)]
    assert query.get("response_mode") == (["form_post"] if preset == "apple" else None)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_person_who_refuses_is_not_logged_in(preset: str, site_of: SiteOf) -> None:
    own = site_of(preset)
    method = own.method()
    with pytest.raises(LoginRejected) as rejected:
        own.finish(method, refuse(own.url(method)))
    assert rejected.value.code == "error.oidc-access-denied"


WRONG_CODES = ["unknown", "used", "expired", "redirect"]


@pytest.mark.parametrize("wrong", WRONG_CODES)
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_wrong_code_is_refused(preset: str, wrong: str, site_of: SiteOf) -> None:
    own = site_of(preset)
    method = own.method()
    redirect = agree(own.url(method), "lin")
    if wrong == "unknown":
        redirect["code"] = "unknown"
    if wrong == "used":
        own.finish(method, redirect)
    if wrong == "expired":
        own.clock.advance(own.platform.code_lifetime)
    state = {"redirect_uri": "https://other.example/callback"} if wrong == "redirect" else {}
    # These two say that the redirect URI of the app is wrong, which the operator corrects.
    is_operators = wrong == "redirect" and preset in ("github", "qq")
    expected = LoginUnavailable if is_operators else LoginRejected
    with pytest.raises(expected) as refusal:
        own.finish(method, redirect, **state)
    code = getattr(refusal.value, "code", None)
    assert code in ((None,) if is_operators else ("error.oidc-code-invalid", "error.oidc-code-used"))


@pytest.mark.parametrize("preset", WITH_PKCE)
def test_a_code_of_another_login_is_refused_by_pkce(preset: str, site_of: SiteOf) -> None:
    own = site_of(preset)
    method = own.method()
    with pytest.raises(LoginRejected) as rejected:
        own.finish(method, agree(own.url(method), "lin"), code_verifier="w" * 43)
    assert rejected.value.code == "error.oidc-code-invalid"


@pytest.mark.parametrize("preset", WITH_ID_TOKENS)
def test_an_id_token_of_another_login_is_refused_by_its_nonce(preset: str, site_of: SiteOf) -> None:
    own = site_of(preset)
    method = own.method()
    with pytest.raises(LoginRejected) as rejected:
        own.finish(method, agree(own.url(method), "lin"), nonce="other")
    assert rejected.value.code == "error.oidc-answer-invalid"


FORGED: dict[str, dict[str, Any]] = {
    "issuer": {"iss": "https://issuer.example"},
    "client": {"aud": "other-client"},
    "clients": {"aud": ["sample-client", "other-client"], "azp": "other-client"},
    "expired": {"exp": 1_000_000_000},
    "future": {"iat": 4_000_000_000},
    "hash": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
    "no subject": {"sub": None},
    "number": {"sub": 1001},
    "NUL": {"sub": "1001\0"},
    "empty": {"sub": ""},
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("preset", WITH_ID_TOKENS)
def test_a_forged_claim_is_refused(preset: str, forged: str, site_of: SiteOf) -> None:
    own = site_of(preset)
    lin = own.platform.people["lin"]
    own.add(replace(lin, id="forged", claims={**lin.claims, **FORGED[forged]}))
    with pytest.raises(LoginRejected) as rejected:
        own.log_in("forged")
    assert rejected.value.code == "error.oidc-answer-invalid"


@pytest.mark.parametrize("preset", WITH_ID_TOKENS)
def test_a_token_that_another_key_has_signed_is_refused(preset: str, site_of: SiteOf) -> None:
    own = site_of(preset)
    published = own.platform.keys.published()["keys"][0]
    algorithm = "RS256"
    key = RSAKey.generate_key(2048)

    def sign(claims: dict[str, object]) -> str:
        header = {"alg": algorithm, "kid": published["kid"]}
        return jwt.encode(header, dict(claims), key)

    own.platform.keys.sign, kept = sign, own.platform.keys.sign
    try:
        with pytest.raises(LoginRejected) as rejected:
            own.log_in("lin")
    finally:
        own.platform.keys.sign = kept
    assert rejected.value.code == "error.oidc-answer-invalid"


@pytest.mark.parametrize("preset", ["google", "microsoft", "logto"])
def test_a_rotated_key_is_fetched_once_more(preset: str, site_of: SiteOf) -> None:
    own = site_of(preset)
    method = own.method()
    own.finish(method, agree(own.url(method), "lin"))
    own.platform.keys.rotate()
    own.clock.advance(61)
    assert own.finish(method, agree(own.url(method), "lin")).credential.kind == "oidc"


@pytest.mark.parametrize("preset", sorted(set(PRESETS) - {"apple"}))
def test_a_wrong_secret_is_the_operators_to_correct(preset: str, site_of: SiteOf) -> None:
    with pytest.raises(LoginUnavailable) as unavailable:
        site_of(preset).log_in("lin", client_secret="wrong")
    assert unavailable.value.misconfigured
    assert "wrong" not in str(unavailable.value)


@pytest.mark.parametrize("answer", [b"", b"null", b"[]", b"<html>", b'{"access_token": 1}', b"{}"])
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_garbage_in_place_of_tokens_logs_no_person_in(
    preset: str, answer: bytes, site_of: SiteOf
) -> None:
    own = site_of(preset)
    json_type = {"Content-Type": "application/json"}
    own.platform.failures.plan_answer(own.platform.token_path, answer, headers=json_type)
    with pytest.raises((LoginRejected, LoginUnavailable)):
        own.log_in("lin")


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_platform_that_is_down_is_unavailable(preset: str, site_of: SiteOf) -> None:
    own = site_of(preset)
    own.platform.failures.plan_answer(own.platform.token_path, b"busy", status=503)
    with pytest.raises(LoginUnavailable) as unavailable:
        own.log_in("lin")
    assert not unavailable.value.misconfigured


def test_no_secret_is_logged(site_of: SiteOf, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    for preset in PRESETS:
        own = site_of(preset)
        own.log_in("lin")
        secret = str(own.section.get("client_secret", "-----BEGIN"))
        assert secret not in caplog.text
        assert VERIFIER not in caplog.text
