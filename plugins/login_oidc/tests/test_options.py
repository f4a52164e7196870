"""Options: accepted and refused values."""

from typing import Any

import pytest

from strongroom_login_oidc.options import OIDCOptions, ProviderOptions

CLIENT: dict[str, Any] = {"client_id": "us", "client_secret": "a secret"}


def test_an_issuer_and_a_client_are_enough() -> None:
    options = ProviderOptions(issuer="https://id.example", **CLIENT)
    assert options.scopes == ("openid", "email", "profile")
    assert not options.trust_email


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"issuer": None}, "issuer: is required without a preset"),
        ({"issuer": "id.example"}, "issuer: must be a URL"),
        ({"issuer": "https://id.example?x=1"}, "issuer: must be a URL"),
        ({"issuer": "https://id.example#x"}, "issuer: must be a URL"),
        ({"issuer": "https:///realms"}, "issuer: must be a URL"),
        ({"client_secret": None}, "client_secret: is required"),
        ({"token_auth": "none"}, "client_secret: is sent nowhere"),
        ({"token_auth": "private_key_jwt"}, "private_key_file: is required"),
        ({"scopes": ("email",)}, "scopes: must contain openid"),
        ({"algorithms": ("HS256",)}, "algorithms: must be of"),
        ({"algorithms": ("none",)}, "algorithms: must be of"),
        ({"allowed_domains": ("Example.com",)}, "allowed_domains: must be like"),
        ({"allowed_domains": ("\uff45xample.com",)}, "allowed_domains: must be like"),
        ({"allowed_domains": ("@example.com",)}, "allowed_domains: must be like"),
    ],
)
def test_a_wrong_provider_is_refused_with_a_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        ProviderOptions(**{"issuer": "https://id.example", **CLIENT, **changes})


@pytest.mark.parametrize("name", ["", "Google", "a:b", "x" * 33, "a b"])
def test_a_provider_has_a_plain_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"^providers: .* lowercase letters"):
        OIDCOptions(providers={name: ProviderOptions(issuer="https://id.example", **CLIENT)})


@pytest.mark.parametrize("issuer", ["http://id.example", "http://10.0.0.1", "http://127.0.0.1:9000"])
def test_an_issuer_is_https(issuer: str) -> None:
    with pytest.raises(ValueError, match=r"^providers: company.issuer must begin with https"):
        OIDCOptions(providers={"company": ProviderOptions(issuer=issuer, **CLIENT)})


def test_an_issuer_on_this_machine_needs_no_tls_in_development() -> None:
    provider = ProviderOptions(issuer="http://127.0.0.1:9000", **CLIENT)
    options = OIDCOptions(providers={"company": provider}, allow_insecure_loopback=True)
    assert options.allows_url("http://127.0.0.1:9000/token")
    remote = ProviderOptions(issuer="http://id.example", **CLIENT)
    with pytest.raises(ValueError, match="must begin with https"):
        OIDCOptions(providers={"company": remote}, allow_insecure_loopback=True)
