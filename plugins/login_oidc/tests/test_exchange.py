"""The token request: client authentications, and what the provider refuses."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from joserfc import jwt

from strongroom.plugin_api.login import LoginRejected, LoginUnavailable

from .clients import VERIFIER, logins
from .hostile import (
    CLIENT_ID,
    CLIENT_SECRET,
    REDIRECT_URI,
    HostileProvider,
    Reply,
    key,
    serving,
)


@pytest.fixture
def provider() -> Iterator[HostileProvider]:
    with serving(HostileProvider()) as provider:
        yield provider


def test_the_request_has_the_verifier_and_the_redirect_uri(provider: HostileProvider) -> None:
    with logins(provider, {}) as client:
        client.log_in()
    (form,) = provider.forms
    assert form["grant_type"] == "authorization_code"
    assert (form["code_verifier"], form["redirect_uri"]) == (VERIFIER, REDIRECT_URI)


def test_basic_has_the_parts_form_encoded(provider: HostileProvider) -> None:
    with logins(provider, {}) as client:
        client.log_in()
    assert provider.basic() == (CLIENT_ID, CLIENT_SECRET)
    assert "client_secret" not in provider.forms[0]


def test_post_has_the_secret_in_the_form(provider: HostileProvider) -> None:
    with logins(provider, {"token_auth": "client_secret_post"}) as client:
        client.log_in()
    assert (provider.forms[0]["client_id"], provider.forms[0]["client_secret"]) == (
        CLIENT_ID,
        CLIENT_SECRET,
    )
    assert provider.authorizations == [""]


def test_a_public_client_has_no_secret(provider: HostileProvider) -> None:
    with logins(provider, {"token_auth": "none", "client_secret": None}) as client:
        client.log_in()
    assert provider.forms[0]["client_id"] == CLIENT_ID
    assert "client_secret" not in provider.forms[0]
    assert provider.authorizations == [""]


@pytest.mark.parametrize("algorithm", ["RS256", "ES384"])
@pytest.mark.parametrize("encoding", ["pem", "jwk"])
def test_an_assertion_is_signed_by_the_key_in_the_file(
    provider: HostileProvider, tmp_path: Path, algorithm: str, encoding: str
) -> None:
    private, path = key(algorithm), tmp_path / "key"
    if encoding == "pem":
        path.write_bytes(private.as_pem(private=True))
    else:
        path.write_text(json.dumps(private.as_dict(private=True)), encoding="utf-8")
    options = {
        "token_auth": "private_key_jwt",
        "client_secret": None,
        "private_key_file": path,
        "private_key_id": algorithm,
    }
    with logins(provider, options) as client:
        client.log_in()
        client.log_in()
    assertions = [
        jwt.decode(form["client_assertion"], private, algorithms=[algorithm]) for form in provider.forms
    ]
    for assertion in assertions:
        claims = assertion.claims
        assert assertion.header["kid"] == algorithm
        assert (claims["iss"], claims["sub"]) == (CLIENT_ID, CLIENT_ID)
        assert claims["aud"] == f"{provider.url}/token"
        assert claims["exp"] - claims["iat"] == 60
    assert assertions[0].claims["jti"] != assertions[1].claims["jti"]


@pytest.mark.parametrize("content", [b"", b"no key", b'{"kty": "oct", "k": "AAAA"}'])
def test_a_file_without_a_private_key_is_an_error_of_the_configuration(
    provider: HostileProvider, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    options = {"token_auth": "private_key_jwt", "client_secret": None, "private_key_file": path}
    with (
        pytest.raises(ValueError, match="private_key_file: has no private key"),
        logins(provider, options),
    ):
        pytest.fail("the key is missing")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("invalid_grant", "error.oidc-code-invalid"),
        ("invalid_request", "error.oidc-answer-invalid"),
        ("<script>", "error.oidc-answer-invalid"),
    ],
)
def test_an_error_of_the_token_endpoint_is_a_refusal(
    provider: HostileProvider, error: str, code: str
) -> None:
    provider.replies["/token"] = Reply({"error": error}, 400)
    with logins(provider, {}) as client, pytest.raises(LoginRejected) as refusal:
        client.log_in()
    assert refusal.value.code == code
    assert CLIENT_SECRET not in str(refusal.value)


@pytest.mark.parametrize("error", ["invalid_client", "unauthorized_client"])
def test_a_refused_client_is_an_error_of_the_configuration(
    provider: HostileProvider, error: str
) -> None:
    provider.replies["/token"] = Reply({"error": error}, 401)
    with logins(provider, {}) as client, pytest.raises(LoginUnavailable) as failure:
        client.log_in()
    assert failure.value.misconfigured
    assert CLIENT_SECRET not in str(failure.value)


def test_a_code_is_sent_once_even_if_the_answer_is_lost(provider: HostileProvider) -> None:
    provider.replies["/token"] = Reply(b"{", headers={"Content-Length": "100"})
    with logins(provider, {}, read_timeout=0.5) as client, pytest.raises(LoginUnavailable):
        client.log_in()
    assert provider.requests.count("/token") == 1
