"""Grants: what users let clients do, as plugins begin, refresh, inspect and end them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from sqlalchemy import update
from tests.support.api import PASSWORD, Api, Json, Person, claims_of, error_code
from tests.support.config import Table, declared_config, merged
from tests.support.signing_plugin import signing_plugin

from strongroom.activity.audit.sealing import seal
from strongroom.activity.audit.service import records_after
from strongroom.clock import DAY
from strongroom.foundation.errors import StrongroomError, TokenInvalid
from strongroom.identity.sessions.models import authorizations
from strongroom.plugin_api.grants import GrantClient, GrantsAPI, GrantTerms, GrantTokens
from strongroom.plugin_api.web import ApiError
from strongroom.testing.clock import HOUR

WIKI = GrantClient("wiki", "Wiki")
SERVICE = GrantClient("backend", "Backend", is_public=False)
RESOURCE = "https://wiki.example"
OFFLINE = GrantTerms(("openid", "files:read", "tenants:read"), offline=True)
ONLINE = replace(OFFLINE, offline=False)
ME = "/users/me"
TENANTS = "/api/v1/tenants"

pytestmark = pytest.mark.both_databases


@pytest.fixture
def config_changes(tmp_path: Path, request: pytest.FixtureRequest) -> Table:
    return merged(signing_plugin(tmp_path), declared_config(request))


@pytest.fixture
def grants(api: Api) -> GrantsAPI:
    return api.container.hosts.get("signer").grants


@pytest.fixture
def alice(api: Api) -> Person:
    return api.person()


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


def refresh_token(tokens: GrantTokens) -> str:
    assert tokens.refresh_token is not None
    return tokens.refresh_token


class TestTokens:
    """The tokens of a grant, by their audience."""

    def test_a_token_for_this_server_states_its_limits(
        self, api: Api, grants: GrantsAPI, alice: Person
    ) -> None:
        tenant = api.tenant(alice)
        folder = api.folder(tenant, alice, "Letters")
        terms = GrantTerms(
            ("openid", "files:read"), tenant_id=tenant.rpartition("/")[2], file_id=folder["id"]
        )
        tokens = grants.begin(login_id(alice), WIKI, terms)
        claims = claims_of(tokens.access_token)
        assert claims["aud"] == [claims["iss"]]
        stated = (claims["client_id"], claims["scope"], claims["sub"])
        assert stated == ("wiki", "openid files:read", alice.id)
        detail = {"type": "folder", "tenantId": terms.tenant_id, "fileId": folder["id"]}
        assert claims["authorization_details"] == [detail]
        robot, other = client_of(alice, tokens), api.folder(tenant, alice, "Bills")
        assert opens(api, robot, f"{tenant}/files/{folder['id']}") == 200
        assert opens(api, robot, f"{tenant}/files/{other['id']}") == 403
        response = api.post(f"{tenant}/folders", {"name": "x"}, by=robot)
        assert error_code(response) == "error.insufficient-scope"
        another = api.tenant(alice)
        assert opens(api, robot, f"{another}/files/{folder['id']}") == 403

    def test_a_limit_is_one_that_a_key_can_have(self, grants: GrantsAPI, alice: Person) -> None:
        for terms in (
            replace(OFFLINE, tenant_id="0190a1b2-0000-7000-8000-000000000000"),
            GrantTerms(("users:read",), tenant_id="0190a1b2-0000-7000-8000-000000000000"),
        ):
            begin = partial_begin(grants, alice, terms)
            assert refused(begin) == "error.validation-failed"

    def test_a_token_for_another_service_opens_nothing_here(self, api: Api, grants: GrantsAPI) -> None:
        admin = api.person(admin=True)
        terms = replace(OFFLINE, audience=RESOURCE, scopes=("users:write",))
        tokens = grants.begin(login_id(admin), WIKI, terms)
        keys = KeySet.import_key_set(api.get("/.well-known/jwks.json").json)
        claims = jwt.decode(tokens.access_token, keys, algorithms=["RS256"]).claims
        assert (claims["aud"], claims["client_id"]) == (RESOURCE, "wiki")
        for path in (TENANTS, "/users", ME, f"{ME}/authorizations"):
            assert error_code(api.get(path, by=client_of(admin, tokens))) == "error.token-invalid"
        report = grants.inspect(tokens.access_token)
        assert report is not None
        assert (report.grant.user_id, report.scopes) == (admin.id, ("users:write",))
        assert report.issued_at == api.clock.now() // 1000 * 1000

    def test_the_server_as_a_stated_audience_is_this_server(
        self, grants: GrantsAPI, alice: Person
    ) -> None:
        issuer = claims_of(str(alice.token))["iss"]
        tokens = grants.begin(login_id(alice), WIKI, replace(OFFLINE, audience=issuer))
        assert claims_of(tokens.access_token)["aud"] == [issuer]

    def test_a_grant_states_how_the_user_has_logged_in(
        self, api: Api, grants: GrantsAPI, alice: Person
    ) -> None:
        login = claims_of(str(alice.token))
        api.clock.advance(HOUR // 4)
        tokens = grants.begin(login_id(alice), WIKI, OFFLINE)
        claims = claims_of(tokens.access_token)
        assert {name: claims[name] for name in ("auth_time", "acr", "amr")} == {
            name: login[name] for name in ("auth_time", "acr", "amr")
        }
        grant = tokens.grant
        assert (grant.login_id, grant.acr) == (login_id(alice), login["acr"])
        assert grants.of_user(alice.id) == [grant]

    @pytest.mark.parametrize(
        ("client", "terms"),
        [
            (replace(WIKI, id=""), OFFLINE),
            (replace(WIKI, id="x" * 513), OFFLINE),
            (replace(WIKI, id="strongroom"), OFFLINE),
            (WIKI, replace(OFFLINE, scopes=("a b",))),
            (WIKI, replace(OFFLINE, file_id="x")),
            (WIKI, replace(OFFLINE, audience=RESOURCE, tenant_id="x")),
        ],
    )
    def test_a_mistake_of_a_plugin_is_an_error(
        self, grants: GrantsAPI, alice: Person, client: GrantClient, terms: GrantTerms
    ) -> None:
        with pytest.raises(ValueError, match=r"client|scope|folder|tenant"):
            grants.begin(login_id(alice), client, terms)

    def test_a_grant_is_no_login_that_begins_another_one(self, grants: GrantsAPI, alice: Person) -> None:
        grant = grants.begin(login_id(alice), WIKI, OFFLINE).grant
        assert refused(lambda: grants.begin(grant.id, WIKI, OFFLINE)) == "error.token-invalid"

    def test_an_impersonated_user_lets_no_client_act(
        self, api: Api, grants: GrantsAPI, alice: Person
    ) -> None:
        admin = api.person(admin=True)
        body = {"reason": "Help", "minutes": 5}
        response = api.post(f"/users/{alice.id}/impersonation", body, by=admin)
        assert response.status_code == 201, response.text
        as_alice = replace(alice, token=response.json["accessToken"])
        begin = partial_begin(grants, as_alice, OFFLINE)
        assert refused(begin) == "error.impersonation-refused"


def partial_begin(grants: GrantsAPI, person: Person, terms: GrantTerms) -> Callable[[], GrantTokens]:
    return lambda: grants.begin(login_id(person), WIKI, terms)


class TestWall:
    """Neither a client nor this server takes the other's tokens."""

    @pytest.fixture
    def tokens(self, grants: GrantsAPI, alice: Person) -> GrantTokens:
        return grants.begin(login_id(alice), WIKI, OFFLINE)

    def test_a_refresh_token_of_a_client_is_none_of_a_login(
        self, api: Api, grants: GrantsAPI, tokens: GrantTokens
    ) -> None:
        body = {"refreshToken": tokens.refresh_token}
        assert error_code(api.post("/authorizations/refresh", body)) == "error.token-invalid"
        assert refresh_token(grants.refresh(refresh_token(tokens), "wiki"))

    def test_a_refresh_token_of_a_login_is_none_of_a_client(
        self, api: Api, grants: GrantsAPI, alice: Person
    ) -> None:
        token = api.log_in(alice.email).json["refreshToken"]
        assert refused(lambda: grants.refresh(token, "strongroom")) == "error.token-invalid"
        assert grants.inspect(token) is None
        assert not grants.revoke(token, "strongroom")
        assert api.post("/authorizations/refresh", {"refreshToken": token}).status_code == 200

    def test_the_logout_ignores_the_tokens_of_a_client(
        self, api: Api, grants: GrantsAPI, alice: Person, tokens: GrantTokens
    ) -> None:
        for token in (tokens.access_token, refresh_token(tokens)):
            assert api.post("/authorizations/revocation", data={"token": token}).status_code == 200
        for reference in (tokens.access_token, "current"):
            by = client_of(alice, tokens)
            assert api.delete(f"/authorizations/{reference}", by=by).status_code == 403
        assert api.delete(f"/authorizations/{tokens.access_token}").status_code == 404
        assert grants.inspect(tokens.access_token) is not None

    def test_a_login_is_no_grant(self, grants: GrantsAPI, alice: Person) -> None:
        assert grants.inspect(str(alice.token)) is None
        assert not grants.revoke(str(alice.token), "strongroom")
        assert grants.end(grant_id=login_id(alice)) == 0
        assert grants.inspect("") is grants.inspect("a.b.c") is grants.inspect("x" * 43) is None

    def test_the_token_of_another_client_is_refused_and_stays(
        self, grants: GrantsAPI, tokens: GrantTokens
    ) -> None:
        token = refresh_token(tokens)
        assert refused(lambda: grants.refresh(token, "other")) == "error.token-invalid"
        assert not grants.revoke(token, "other")
        assert not grants.revoke(tokens.access_token, "other")
        assert grants.refresh(token, "wiki").refresh_token != token

    def test_a_plugin_sees_its_own_grants_only(
        self, api: Api, grants: GrantsAPI, alice: Person, tokens: GrantTokens
    ) -> None:
        other = api.container.hosts.get("storage_local").grants
        token = refresh_token(tokens)
        assert other.inspect(token) is other.inspect(tokens.access_token) is None
        assert refused(lambda: other.refresh(token, "wiki")) == "error.token-invalid"
        assert not other.revoke(token, "wiki")
        assert other.end(client_id="wiki") == other.end(user_id=alice.id) == 0
        assert list(other.of_user(alice.id)) == []
        assert grants.inspect(token) is not None

    def test_a_page_begins_no_session_with_the_token_of_a_client(
        self, api: Api, tokens: GrantTokens
    ) -> None:
        browser = api.container.hosts.get("signer").browser
        with api.app.test_request_context("/"), pytest.raises(StrongroomError) as refusal:
            browser.begin_session(tokens.access_token)
        assert refusal.value.code == "error.token-invalid"


class TestRefresh:
    """Refresh tokens are bound to their client; those of public clients rotate."""

    def test_a_public_client_gets_the_next_one(self, api: Api, grants: GrantsAPI, alice: Person) -> None:
        first = grants.begin(login_id(alice), WIKI, OFFLINE)
        api.clock.advance(HOUR)
        assert opens(api, client_of(alice, first)) == 401
        second = grants.refresh(refresh_token(first), "wiki", scopes=["tenants:read"])
        assert second.refresh_token != first.refresh_token
        assert opens(api, client_of(alice, second)) == 200
        report = grants.inspect(second.access_token)
        assert report is not None
        assert report.scopes == ("tenants:read",)
        third = grants.refresh(refresh_token(second), "wiki")
        assert claims_of(third.access_token)["scope"] == " ".join(OFFLINE.scopes)

    def test_scopes_only_shrink(self, grants: GrantsAPI, alice: Person) -> None:
        token = refresh_token(grants.begin(login_id(alice), WIKI, OFFLINE))
        more = ["files:write"]
        refusal = refused(lambda: grants.refresh(token, "wiki", scopes=more))
        assert refusal == "error.validation-failed"
        assert refresh_token(grants.refresh(token, "wiki"))

    @pytest.mark.config({"tokens": {"refresh_reuse_seconds": 0}})
    def test_a_second_use_ends_the_grant(self, api: Api, grants: GrantsAPI, alice: Person) -> None:
        first = grants.begin(login_id(alice), WIKI, OFFLINE)
        second = grants.refresh(refresh_token(first), "wiki")
        stolen = refresh_token(first)
        assert refused(lambda: grants.refresh(stolen, "wiki")) == "error.token-invalid"
        assert opens(api, client_of(alice, second)) == 401
        assert grants.inspect(refresh_token(second)) is None
        assert opens(api, alice) == 200

    @pytest.mark.config({"tokens": {"refresh_reuse_seconds": 0}})
    def test_of_many_at_once_one_succeeds(self, grants: GrantsAPI, alice: Person) -> None:
        token = refresh_token(grants.begin(login_id(alice), WIKI, OFFLINE))
        assert len(refresh_at_once(grants, token)) == 1

    def test_of_many_at_once_all_get_the_same_one_within_seconds(
        self, grants: GrantsAPI, alice: Person
    ) -> None:
        token = refresh_token(grants.begin(login_id(alice), WIKI, OFFLINE))
        assert len({refresh_token(tokens) for tokens in refresh_at_once(grants, token)}) == 1

    def test_the_token_of_a_confidential_client_stays(
        self, api: Api, grants: GrantsAPI, alice: Person
    ) -> None:
        tokens = grants.begin(login_id(alice), SERVICE, OFFLINE)
        lifetime = api.container.settings.tokens.refresh_lifetime_seconds * 1000
        for _ in range(2):
            api.clock.advance(lifetime - 1000)
            again = grants.refresh(refresh_token(tokens), "backend")
            assert again.refresh_token == tokens.refresh_token
        api.clock.advance(lifetime)
        token = refresh_token(tokens)
        assert refused(lambda: grants.refresh(token, "backend")) == "error.token-invalid"

    def test_one_without_a_refresh_token_ends_with_its_access_token(
        self, api: Api, grants: GrantsAPI, alice: Person
    ) -> None:
        tokens = grants.begin(login_id(alice), WIKI, replace(OFFLINE, refreshable=False))
        assert tokens.refresh_token is None
        assert tokens.grant.expires_at - tokens.expires_at < 1000
        api.clock.advance(HOUR)
        assert list(grants.of_user(alice.id)) == []


def refresh_at_once(grants: GrantsAPI, token: str) -> list[GrantTokens]:
    """Return the tokens that 32 refreshes at once get."""

    def refresh(_: int) -> GrantTokens | None:
        try:
            return grants.refresh(token, "wiki")
        except TokenInvalid:
            return None

    with ThreadPoolExecutor(16) as pool:
        return [tokens for tokens in pool.map(refresh, range(32)) if tokens is not None]


class TestEnd:
    """Everything that ends logins ends grants, at once."""

    @pytest.fixture
    def tokens(self, grants: GrantsAPI, alice: Person) -> GrantTokens:
        return grants.begin(login_id(alice), WIKI, OFFLINE)

    def suspend(self, api: Api, alice: Person) -> Any:
        return api.post(f"/users/{alice.id}/suspension", by=api.person(admin=True))

    def delete(self, api: Api, alice: Person) -> Any:
        return api.delete(f"/users/{alice.id}", by=api.person(admin=True))

    def log_out_everywhere(self, api: Api, alice: Person) -> Any:
        return api.delete(f"{ME}/authorizations", by=alice)

    def end_in_the_list(self, api: Api, alice: Person) -> Any:
        logins = api.get(f"{ME}/authorizations", by=alice).json["data"]
        (grant,) = [login for login in logins if login["clientId"] == "wiki"]
        assert (grant["clientName"], grant["method"]) == ("Wiki", "client")
        return api.delete(f"/authorizations/{grant['id']}", by=alice)

    def change_password(self, api: Api, alice: Person) -> Any:
        body: Json = {"oldPassword": PASSWORD, "newPassword": "Another1Horse"}
        return api.put(f"{ME}/password", body, by=alice)

    @pytest.mark.parametrize(
        "deed",
        ["suspend", "delete", "log_out_everywhere", "end_in_the_list", "change_password"],
    )
    def test_it_ends(
        self, api: Api, grants: GrantsAPI, alice: Person, tokens: GrantTokens, deed: str
    ) -> None:
        assert opens(api, client_of(alice, tokens)) == 200
        response = getattr(self, deed)(api, alice)
        assert response.status_code < 300, response.text
        assert opens(api, client_of(alice, tokens)) == 401
        token = refresh_token(tokens)
        assert refused(lambda: grants.refresh(token, "wiki")) == "error.token-invalid"
        assert grants.inspect(token) is grants.inspect(tokens.access_token) is None
        assert list(grants.of_user(alice.id)) == []

    def test_the_end_of_the_login_ends_what_is_not_offline(
        self, api: Api, grants: GrantsAPI, alice: Person, tokens: GrantTokens
    ) -> None:
        online = grants.begin(login_id(alice), WIKI, ONLINE)
        assert opens(api, client_of(alice, online)) == 200
        assert api.delete("/authorizations/current", by=alice).status_code == 200
        assert opens(api, client_of(alice, online)) == 401
        token = refresh_token(online)
        assert refused(lambda: grants.refresh(token, "wiki")) == "error.token-invalid"
        assert opens(api, client_of(alice, tokens)) == 200
        assert refresh_token(grants.refresh(refresh_token(tokens), "wiki"))

    def test_a_login_that_expires_ends_what_is_not_offline(
        self, api: Api, grants: GrantsAPI, alice: Person
    ) -> None:
        lifetime = api.container.settings.tokens.refresh_lifetime_seconds * 1000
        api.clock.advance(lifetime - HOUR)
        alice = replace(alice, token=api.log_in(alice.email).json["accessToken"])
        api.clock.advance(lifetime - HOUR // 4)
        online = grants.begin(login_id(alice), WIKI, ONLINE)
        assert online.expires_at <= api.clock.now() + HOUR // 4
        api.clock.advance(HOUR // 4)
        assert opens(api, client_of(alice, online)) == 401
        token = refresh_token(online)
        assert refused(lambda: grants.refresh(token, "wiki")) == "error.token-invalid"
        assert refused(partial_begin(grants, alice, ONLINE)) == "error.token-invalid"

    def test_a_login_that_a_server_of_the_version_before_has_ended_renews_none(
        self, api: Api, grants: GrantsAPI, alice: Person
    ) -> None:
        online = grants.begin(login_id(alice), WIKI, ONLINE)
        with api.container.database.write() as connection:
            ended = update(authorizations).where(authorizations.c.id == login_id(alice))
            connection.execute(ended.values(revoked_at=api.clock.now()))
        token = refresh_token(online)
        assert refused(lambda: grants.refresh(token, "wiki")) == "error.token-invalid"

    def test_a_membership_that_ends_ends_the_grants_of_its_tenant(
        self, api: Api, grants: GrantsAPI, alice: Person, tokens: GrantTokens
    ) -> None:
        admin = api.person()
        tenant = api.tenant(admin)
        api.join(tenant, admin, alice)
        terms = replace(OFFLINE, scopes=("tenants:read",), tenant_id=tenant.rpartition("/")[2])
        limited = grants.begin(login_id(alice), WIKI, terms)
        assert opens(api, client_of(alice, limited), tenant) == 200
        assert api.delete(f"{tenant}/members/{alice.id}", by=admin).status_code == 200
        assert opens(api, client_of(alice, limited), tenant) == 401
        assert opens(api, client_of(alice, tokens)) == 200

    @pytest.mark.parametrize("criterion", ["grant_id", "user_id", "client_id"])
    def test_a_plugin_ends_the_grants_of_a_criterion(
        self, api: Api, grants: GrantsAPI, alice: Person, tokens: GrantTokens, criterion: str
    ) -> None:
        bob = api.person()
        other = grants.begin(login_id(bob), SERVICE, OFFLINE)
        values = {"grant_id": tokens.grant.id, "user_id": alice.id, "client_id": "wiki"}
        assert grants.end(**{criterion: values[criterion]}) == 1
        assert opens(api, client_of(alice, tokens)) == 401
        assert opens(api, client_of(bob, other)) == 200
        assert opens(api, alice) == 200
        with pytest.raises(ValueError, match="needs a grant"):
            grants.end()

    def test_a_client_ends_its_grant(
        self, api: Api, grants: GrantsAPI, alice: Person, tokens: GrantTokens
    ) -> None:
        assert grants.revoke(tokens.access_token, "wiki")
        assert grants.revoke(refresh_token(tokens), "wiki")
        assert opens(api, client_of(alice, tokens)) == 401

    def test_a_second_process_knows_at_once(
        self, config: Path, api: Api, grants: GrantsAPI, alice: Person, tokens: GrantTokens
    ) -> None:
        online = grants.begin(login_id(alice), SERVICE, ONLINE)
        with Api.running(config, api.clock) as second:
            assert opens(second, client_of(alice, tokens)) == 200
            assert opens(second, client_of(alice, online)) == 200
            assert grants.end(client_id="wiki") == 1
            assert opens(second, client_of(alice, tokens)) == 401
            self.suspend(api, alice)
            assert opens(second, client_of(alice, online)) == 401

    def test_a_suspended_user_begins_none(self, api: Api, grants: GrantsAPI, alice: Person) -> None:
        self.suspend(api, alice)
        assert refused(partial_begin(grants, alice, OFFLINE)) == "error.user-suspended"

    def test_an_ended_login_begins_none(self, api: Api, grants: GrantsAPI, alice: Person) -> None:
        self.log_out_everywhere(api, alice)
        assert refused(partial_begin(grants, alice, OFFLINE)) == "error.token-invalid"

    def test_what_a_client_has_shared_ends_with_its_grant(
        self, api: Api, grants: GrantsAPI, alice: Person
    ) -> None:
        tenant = api.tenant(alice)
        folder = api.folder(tenant, alice, "Letters")
        terms = GrantTerms(("files:share",), offline=True)
        tokens = grants.begin(login_id(alice), WIKI, terms)
        robot, bob = client_of(alice, tokens), api.person()
        api.join(tenant, alice, bob)
        body = {"ownerId": bob.id, "permission": "read"}
        path = f"{tenant}/files/{folder['id']}"
        assert api.post(f"{path}/owners", body, by=robot).status_code == 201
        assert opens(api, bob, path) == 200
        until = tokens.grant.expires_at - api.clock.now()
        assert until < 31 * DAY
        api.clock.advance(until)
        bob = replace(bob, token=api.log_in(bob.email).json["accessToken"])
        assert opens(api, bob, path) == 403


class TestRecords:
    """The audit log names the client, of its grant and of what it does."""

    def test_begin_use_and_end(self, api: Api, grants: GrantsAPI, alice: Person) -> None:
        terms = GrantTerms(("tenants:write",), offline=True)
        tokens = grants.begin(login_id(alice), WIKI, terms)
        api.tenant(client_of(alice, tokens))
        grants.end(user_id=alice.id, client_id="wiki")
        seal(api.container.database)
        with api.container.database.read() as connection:
            by_action = {record.action: record for record in records_after(connection, 0, 1000)}
        begun = by_action["authorization.grant"]
        assert (begun.actor_id, begun.target_id) == (alice.id, tokens.grant.id)
        assert begun.details == {
            "clientId": "wiki",
            "clientName": "Wiki",
            "scopes": "tenants:write",
            "plugin": "signer",
        }
        assert by_action["tenant.create"].details["client"] == "wiki"
        assert by_action["authorization.withdraw"].details["clientId"] == "wiki"


class TestServiceAccounts:
    """A service account is its own client."""

    @pytest.fixture
    def account(self, api: Api) -> str:
        admin = api.person(admin=True)
        response = api.post("/api/v1/service-accounts", {"name": "Robot"}, by=admin)
        assert response.status_code == 201, response.text
        return str(response.json["id"])

    def test_it_acts_within_the_scopes_of_the_server(
        self, api: Api, grants: GrantsAPI, account: str
    ) -> None:
        terms = GrantTerms(("users:read",), refreshable=False)
        tokens = grants.begin_as(account, SERVICE, terms)
        assert tokens.refresh_token is tokens.grant.login_id is None
        robot = Person(account, "", tokens.access_token)
        assert opens(api, robot, "/users") == 200
        refusal = refused(lambda: grants.begin_as(account, SERVICE, GrantTerms(("files:read",))))
        assert refusal == "error.validation-failed"

    def test_a_user_is_none(self, grants: GrantsAPI, alice: Person) -> None:
        for user_id in (alice.id, "0190a1b2-0000-7000-8000-000000000000"):
            begin = lambda user_id=user_id: grants.begin_as(user_id, SERVICE, OFFLINE)  # noqa: E731
            assert refused(begin) == "error.not-found"
