"""People: ids, addresses, and how strongly a provider has proven them."""

from collections.abc import Iterator
from typing import Any

import pytest

from strongroom.plugin_api.login import MULTI_FACTOR, SINGLE_FACTOR, Credential, LoginRejected
from strongroom_login_oidc.people import make_credential
from strongroom_login_oidc.provider_settings import ClaimNames

from .clients import Logins, logins
from .hostile import HostileProvider, serving

ADA = "ada@example.com"


@pytest.fixture
def provider() -> Iterator[HostileProvider]:
    with serving(HostileProvider()) as provider:
        yield provider


@pytest.mark.parametrize(
    "subject", ["ada", "ADA", " ada", "ada ", "a:b:c", "auth0|1", "\u4e2d\u6587", "x" * 247]
)
def test_the_id_of_a_person_is_compared_as_it_is(provider: HostileProvider, subject: str) -> None:
    provider.claims["sub"] = subject
    with logins(provider, {}) as client:
        assert client.log_in().credential == Credential("oidc", f"company:{subject}")


def test_an_id_that_is_too_long_for_a_credential_has_its_hash() -> None:
    long = [make_credential("company", letter * 255).value for letter in "ab"]
    assert long[0] != long[1]
    assert all(len(value) < 255 for value in long)
    # No id that a provider issues is the hash of another one.
    assert make_credential("company", long[0].partition(":")[2]).value not in long


@pytest.mark.parametrize(
    ("claims", "options", "address"),
    [
        ({"email": ADA, "email_verified": True}, {"trust_email": True}, ADA),
        ({"email": ADA, "email_verified": "true"}, {"trust_email": True}, ADA),
        ({"email": "Ada@Example.com", "email_verified": True}, {"trust_email": True}, ADA),
        ({"email": ADA, "email_verified": True}, {}, None),
        ({"email": ADA, "email_verified": False}, {"trust_email": True}, None),
        ({"email": ADA}, {"trust_email": True}, None),
        ({"email": ADA, "email_verified": 1}, {"trust_email": True}, None),
        ({"email": ADA, "email_verified": "TRUE"}, {"trust_email": True}, None),
        ({"email": ADA, "email_verified": "yes"}, {"trust_email": True}, None),
        ({"email": ADA, "email_verified": [True]}, {"trust_email": True}, None),
        ({"email": [ADA], "email_verified": True}, {"trust_email": True}, None),
        ({"email": f" {ADA}", "email_verified": True}, {"trust_email": True}, None),
        ({"email": f"{ADA}.", "email_verified": True}, {"trust_email": True}, None),
        ({"email": f"{ADA},eve@example.com", "email_verified": True}, {"trust_email": True}, None),
        ({"email": f"<{ADA}>", "email_verified": True}, {"trust_email": True}, None),
        ({"email": f"eve@evil.example\0{ADA}", "email_verified": True}, {"trust_email": True}, None),
        ({"email": "\uff41da@example.com", "email_verified": True}, {"trust_email": True}, None),
        ({"email": "ada@\uff45xample.com", "email_verified": True}, {"trust_email": True}, None),
        ({"email": "ad\u0430@example.com", "email_verified": True}, {"trust_email": True}, None),
    ],
)
def test_an_address_links_only_if_trusted_and_verified(
    provider: HostileProvider, claims: dict[str, Any], options: dict[str, Any], address: str | None
) -> None:
    provider.claims.update(claims)
    with logins(provider, options) as client:
        further = client.log_in().further
    assert further == (() if address is None else (Credential("email", address),))


@pytest.mark.parametrize(
    ("email", "verified", "is_allowed"),
    [
        (ADA, True, True),
        ("ada@EXAMPLE.com", True, True),
        ("ada+tag@example.com", True, True),
        (ADA, False, False),
        (ADA, None, False),
        ("ada@sub.example.com", True, False),
        ("ada@example.com.evil.example", True, False),
        ("ada@evilexample.com", True, False),
        ("ada@example.com@evil.example", True, False),
        ("ada@evil.example@example.com", True, False),
        ("ada@example.com.", True, False),
        ("ada@example.com ", True, False),
        ("ada@\uff45xample.com", True, False),
        ("ada@example\u3002com", True, False),
        ("ada@ex\u0430mple.com", True, False),
        ("ada@xn--exmple-4nf.com", True, False),
        ("ada@exam\u00adple.com", True, False),
        ("ada@e\u017fample.com", True, False),
        ("ada", True, False),
        ("", True, False),
        (None, True, False),
    ],
)
def test_only_verified_addresses_of_an_allowed_domain_log_in(
    provider: HostileProvider, email: str | None, verified: object, is_allowed: bool
) -> None:
    provider.claims.update(email=email, email_verified=verified)
    with logins(provider, {"allowed_domains": ("example.com",)}) as client:
        if is_allowed:
            assert client.log_in().credential.value == "company:ada"
            return
        with pytest.raises(LoginRejected) as refusal:
            client.log_in()
    assert refusal.value.code == "error.oidc-email-not-allowed"


@pytest.mark.parametrize(
    ("claims", "options", "acr"),
    [
        ({"amr": ["pwd", "otp"], "acr": "2"}, {}, SINGLE_FACTOR),
        ({"amr": ["pwd", "mfa"]}, {"mfa_amr": ("mfa",)}, MULTI_FACTOR),
        ({"amr": ["pwd"]}, {"mfa_amr": ("mfa",)}, SINGLE_FACTOR),
        ({"amr": "mfa"}, {"mfa_amr": ("mfa",)}, SINGLE_FACTOR),
        ({"amr": [["mfa"], {}]}, {"mfa_amr": ("mfa",)}, SINGLE_FACTOR),
        ({"acr": "gold"}, {"mfa_acr": ("gold",)}, MULTI_FACTOR),
        ({"acr": "golden"}, {"mfa_acr": ("gold",)}, SINGLE_FACTOR),
        ({"acr": ["gold"]}, {"mfa_acr": ("gold",)}, SINGLE_FACTOR),
    ],
)
def test_two_factors_of_the_provider_count_only_where_configured(
    provider: HostileProvider, claims: dict[str, Any], options: dict[str, Any], acr: str
) -> None:
    provider.claims.update(claims)
    with logins(provider, options) as client:
        assert client.log_in().assurance.acr == acr


def test_claims_have_the_configured_names(provider: HostileProvider) -> None:
    provider.claims.update(nickname="Ada L.", mail=ADA, mail_ok=True)
    names = {"name": "nickname", "email": "mail", "email_verified": "mail_ok"}
    with logins(provider, {"claims": ClaimNames(**names), "trust_email": True}) as client:
        verified = client.log_in()
    assert (verified.display_name, verified.further) == ("Ada L.", (Credential("email", ADA),))


def test_an_address_of_userinfo_is_verified_by_userinfo_only(provider: HostileProvider) -> None:
    provider.claims["email_verified"] = True
    provider.userinfo.update(email=ADA, email_verified=False)
    with logins(provider, {"userinfo": True, "trust_email": True}) as client:
        assert client.log_in().further == ()
    del provider.claims["email_verified"]
    provider.userinfo["email_verified"] = True
    with logins(provider, {"userinfo": True, "trust_email": True}) as client:
        assert client.log_in().further == (Credential("email", ADA),)


def test_a_new_binding_releases_that_of_the_same_provider_only(provider: HostileProvider) -> None:
    held = [Credential("oidc", value) for value in ("company:a:1", "company:b", "other:a", "third:x")]
    method = Logins({"company": (provider, {})}).method
    assert set(method.replaced([*held, Credential("email", ADA)])) == set(held[:2])
    assert method.replaced(held[1:]) == []
