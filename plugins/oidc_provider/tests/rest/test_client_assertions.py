"""Clients of documents authenticate by signed assertions (RFC 7523)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey
from tests.support.api import Answer, Api, Json
from tests.support.client_documents import DocumentServer, Published, document_server
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import (
    PLUGINS,
    VERIFIER,
    RelyingParty,
    get_returned,
    logged_in,
    post_form,
)

TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
KEY = ECKey.generate_key("P-256", {"kid": "1", "alg": "ES256"})
CALLBACK = "https://agents.example.com/callback"

pytestmark = [on_sqlite, pytest.mark.config(merged(lifted(), {"plugins": {"enabled": PLUGINS}}))]


@pytest.fixture
def published(api: Api, tmp_path: Path) -> Iterator[DocumentServer]:
    with document_server(api, tmp_path) as server:
        yield server


@pytest.fixture
def rp(published: DocumentServer) -> RelyingParty:
    keys = KeySet([KEY]).as_dict(private=False)
    published.answer("/keys", Published(json.dumps(keys).encode()))
    return published.publish(
        "/agent",
        redirect_uris=[CALLBACK],
        token_endpoint_auth_method="private_key_jwt",
        jwks_uri=published.url("agents.example.com", "/keys"),
    )


@pytest.fixture
def code(api: Api, rp: RelyingParty) -> str:
    browser: PageBrowser = logged_in(api)
    browser.open(rp.url(scope="openid offline_access"))
    browser.submit("/oauth2/decision", decision="allow")
    returned: str = get_returned(browser)["code"]
    return returned


def make_assertion(rp: RelyingParty, key: Any = KEY, alg: str = "ES256", **changes: Any) -> str:
    now = rp.api.clock.now() // 1000
    issuer = rp.api.container.hosts.get("oidc_provider").public_url
    claims = {"iss": rp.id, "sub": rp.id, "aud": issuer, "exp": now + 60, "jti": "one", **changes}
    present = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode({"alg": alg, "kid": "1"}, present, key, algorithms=[alg])


def exchange(rp: RelyingParty, code: str, assertion: str, **form: str) -> Answer:
    proof = {"client_assertion_type": TYPE, "client_assertion": assertion}
    grant = {"grant_type": "authorization_code", "code": code, "redirect_uri": rp.uri}
    return post_form(rp.api, "/oauth2/token", {**grant, "code_verifier": VERIFIER, **proof, **form})


def test_an_assertion_is_for_one_use(rp: RelyingParty, code: str) -> None:
    assertion = make_assertion(rp)
    tokens: Json = exchange(rp, code, assertion).json
    assert rp.claims(tokens)["sub"]
    refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert exchange(rp, "", assertion, **refresh).json["error"] == "invalid_client"
    further = exchange(rp, "", make_assertion(rp, jti="two"), **refresh)
    assert further.status_code == 200, further.text


FORGED: list[dict[str, Any]] = [
    {"iss": "https://agents.example.com/other"},
    {"sub": "https://agents.example.com/other"},
    {"aud": "https://other.example.com"},
    {"aud": None},
    {"aud": []},
    {"exp": None},
    {"exp": 1},
    {"exp": 10**12},
    {"exp": "soon"},
    {"jti": None},
    {"jti": ""},
    {"jti": "x" * 256},
    {"jti": 7},
]


@pytest.mark.parametrize("changes", FORGED, ids=str)
def test_a_wrong_assertion_is_refused(rp: RelyingParty, code: str, changes: dict[str, Any]) -> None:
    answer = exchange(rp, code, make_assertion(rp, **changes))
    assert (answer.status_code, answer.json["error"]) == (401, "invalid_client")
    assert exchange(rp, code, make_assertion(rp)).status_code == 200


def test_another_key_or_way_is_refused(rp: RelyingParty, code: str) -> None:
    other = ECKey.generate_key("P-256", {"kid": "1"})
    public = OctKey.import_key("a secret that everyone knows, of 32 bytes")
    forged = [
        make_assertion(rp, other),
        make_assertion(rp, public, "HS256"),
        make_assertion(rp, RSAKey.generate_key(2048, {"kid": "1"}), "RS256"),
        make_assertion(rp)[:-4] + "AAAA",
        "a.b.c",
        "",
        "x" * 9000,
    ]
    for assertion in forged:
        assert exchange(rp, code, assertion).json["error"] == "invalid_client"
    assert exchange(rp, code, make_assertion(rp), client_id="other").status_code == 401
    assert exchange(rp, code, make_assertion(rp), client_secret="x").status_code == 401
    without = rp.send("/oauth2/token", grant_type="authorization_code", code=code, redirect_uri=rp.uri)
    assert without.json["error"] == "invalid_client"
    assert exchange(rp, code, make_assertion(rp)).status_code == 200


def test_registered_and_public_clients_have_no_assertions(
    api: Api, published: DocumentServer, rp: RelyingParty, code: str
) -> None:
    registered = RelyingParty.register(api, public=True)
    public = published.publish("/public")
    for client in (registered, public):
        answer = exchange(client, code, make_assertion(client))
        assert answer.json["error"] in ("invalid_client", "invalid_grant"), answer.text
        form = {"client_assertion_type": TYPE, "client_assertion": make_assertion(client)}
        secret = post_form(api, "/oauth2/introspect", {"token": "x", **form})
        assert secret.json["error"] == "invalid_client"
