"""Grants: what users let clients do, as plugins begin, refresh, inspect and end them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from tests.support.api import Api, Person, claims_of, error_code
from tests.support.config import Table, declared_config, merged
from tests.support.signing_plugin import signing_plugin

from strongroom.plugin_api.grants import GrantClient, GrantsAPI, GrantTerms, GrantTokens
from strongroom.plugin_api.web import ApiError

WIKI = GrantClient("wiki", "Wiki")
SERVICE = GrantClient("backend", "Backend", is_public=False)
RESOURCE = "https://wiki.example"
OFFLINE = GrantTerms(("openid", "files:read"), offline=True)
ME = "/users/me"
TENANTS = "/api/v1/tenants"


@pytest.fixture
def config_changes(tmp_path: Path, request: pytest.FixtureRequest) -> Table:
    return merged(signing_plugin(tmp_path), declared_config(request))


@pytest.fixture
def grants(api: Api) -> GrantsAPI:
    return api.container.hosts.get("signer").grants


def login_id(person: Person) -> str:
    """Return the id of the login of a person."""
    return str(claims_of(str(person.token))["jti"]).rpartition("-")[0]


def client_of(person: Person, tokens: GrantTokens) -> Person:
    """Return the person as a client with the tokens of a grant."""
    return replace(person, token=tokens.access_token)


def opens(api: Api, person: Person, path: str = TENANTS) -> int:
    return api.get(path, by=person).status_code


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(ApiError) as refusal:
        call()
    return str(refusal.value.code)


class TestTokens:
    """The tokens of a grant, by their audience."""

    def test_a_token_for_this_server_states_its_limits(self, api: Api, grants: GrantsAPI) -> None:
        person = api.person()
        tenant = api.tenant(person)
        folder = api.folder(tenant, person, "Letters")
        terms = replace(OFFLINE, tenant_id=tenant.rpartition("/")[2], file_id=folder["id"])
        tokens = grants.begin(login_id(person), WIKI, terms)
        claims = claims_of(tokens.access_token)
        assert claims["aud"] == [claims["iss"]]
        assert (claims["client_id"], claims["scope"], claims["sub"]) == (
            "wiki",
            "openid files:read",
            person.id,
        )
        detail = {"type": "folder", "tenantId": terms.tenant_id, "fileId": folder["id"]}
        assert claims["authorization_details"] == [detail]
        robot = client_of(person, tokens)
        assert opens(api, robot, f"{tenant}/files/{folder['id']}") == 200
        other = api.folder(tenant, person, "Bills")
        assert opens(api, robot, f"{tenant}/files/{other['id']}") == 403
        assert error_code(api.post(f"{tenant}/folders", {"name": "x"}, by=robot)) == (
            "error.insufficient-scope"
        )
        assert grants.inspect(tokens.access_token).grant == tokens.grant
        assert tokens.grant.login_id == login_id(person)

    def test_a_token_for_another_service_opens_nothing_here(self, api: Api, grants: GrantsAPI) -> None:
        person = api.person(admin=True)
        terms = replace(OFFLINE, audience=RESOURCE, scopes=("users:write",))
        tokens = grants.begin(login_id(person), WIKI, terms)
        keys = KeySet.import_key_set(api.get("/.well-known/jwks.json").json)
        claims = jwt.decode(tokens.access_token, keys, algorithms=["RS256"]).claims
        assert (claims["aud"], claims["client_id"]) == (RESOURCE, "wiki")
        for path in (TENANTS, "/users", ME, f"{ME}/authorizations"):
            assert error_code(api.get(path, by=client_of(person, tokens))) == "error.token-invalid"
        report = grants.inspect(tokens.access_token)
        assert report is not None
        assert (report.grant.user_id, report.scopes) == (person.id, ("users:write",))
        assert report.issued_at == api.clock.now()

    def test_the_server_as_a_stated_audience_is_this_server(self, api: Api, grants: GrantsAPI) -> None:
        person = api.person()
        issuer = claims_of(str(person.token))["iss"]
        tokens = grants.begin(login_id(person), WIKI, replace(OFFLINE, audience=issuer))
        assert claims_of(tokens.access_token)["aud"] == [issuer]

    def test_refresh(self, api: Api, grants: GrantsAPI) -> None:
        person = api.person()
        first = grants.begin(login_id(person), WIKI, OFFLINE)
        second = grants.refresh(first.refresh_token, "wiki", scopes=["openid"])
        assert second.refresh_token not in (None, first.refresh_token)
        assert grants.inspect(second.access_token).scopes == ("openid",)
        assert grants.inspect(first.refresh_token) is None
        assert grants.inspect(second.refresh_token).is_refresh_token
        assert grants.revoke(second.refresh_token, "wiki")
        assert opens(api, client_of(person, second)) == 401
