"""The modules of the plan ``oidcc-config`` of the OpenID conformance suite, each by its name."""

import pytest
from tests.support.api import Api, Json
from tests.support.databases import on_sqlite
from tests.support.relying_party import PLUGINS, RelyingParty

pytestmark = [on_sqlite, pytest.mark.config({"plugins": {"enabled": PLUGINS}})]


@pytest.fixture
def documents(api: Api) -> tuple[Json, Json]:
    RelyingParty.register(api)
    answers = [
        api.get(f"/.well-known/{name}")
        for name in ("openid-configuration", "oauth-authorization-server")
    ]
    for answer in answers:
        assert answer.status_code == 200
        assert answer.headers["Content-Type"].startswith("application/json")
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
    return answers[0].json, answers[1].json


def test_oidcc_discovery_endpoint_verification(api: Api, documents: tuple[Json, Json]) -> None:
    provider, server = documents
    assert provider["issuer"] == api.container.hosts.get("oidc_provider").public_url
    for name in ("authorization", "token", "userinfo", "revocation", "introspection"):
        assert provider[f"{name}_endpoint"].startswith(f"{provider['issuer']}/oauth2/")
    assert api.get(provider["jwks_uri"].removeprefix(provider["issuer"])).json["keys"]
    assert provider["response_types_supported"] == ["code"]
    assert provider["subject_types_supported"] == ["public"]
    assert provider["id_token_signing_alg_values_supported"] == ["RS256"]
    assert "openid" in provider["scopes_supported"]
    assert {"sub", "email", "auth_time"} <= {*provider["claims_supported"]}
    assert {"authorization_code", "refresh_token"} <= {*provider["grant_types_supported"]}
    methods = {"client_secret_basic", "client_secret_post", "private_key_jwt", "none"}
    assert methods == {*provider["token_endpoint_auth_methods_supported"]}
    for name in ("claims_parameter", "request_parameter", "request_uri_parameter"):
        assert provider[f"{name}_supported"] is False
    assert server.items() <= provider.items()


def test_both_documents_say_what_clients_require(documents: tuple[Json, Json]) -> None:
    for document in documents:
        assert document["code_challenge_methods_supported"] == ["S256"]
        assert document["authorization_response_iss_parameter_supported"] is True
        assert "offline_access" in document["scopes_supported"]
