"""Clients register themselves (RFC 7591)."""

import json
from typing import Any

import pytest
from tests.support.api import Answer, Api, Json
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.relying_party import PLUGINS, RelyingParty, get_returned, logged_in

from strongroom_oidc_provider.clients.registration import Registrations

URI = "https://agent.example.com/callback"
TOKEN = "an-initial-access-token-of-32-characters"
CONFIG = merged(lifted(), {"plugins": {"enabled": PLUGINS}})

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def options(**values: Any) -> pytest.MarkDecorator:
    section = {"registration": "open", "registrations_per_address": ["1000/hour"], **values}
    return pytest.mark.config(merged(CONFIG, {"plugins": {"oidc_provider": section}}))


@pytest.fixture(autouse=True)
def rp(api: Api) -> RelyingParty:
    return RelyingParty.register(api)


def register(api: Api, *, token: str | None = None, body: bytes | None = None, **members: Any) -> Answer:
    metadata = {"client_name": "Acme Agent", "redirect_uris": [URI], **members}
    present = {name: value for name, value in metadata.items() if value is not None}
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    data = json.dumps(present).encode() if body is None else body
    return Answer(api.app.test_client().post("/oauth2/register", data=data, headers=headers))


def clients(api: Api) -> list[Json]:
    data: list[Json] = api.get("/api/v1/clients", by=api.person(admin=True)).json["data"]
    return [client for client in data if client["selfRegistered"]]


def test_it_is_off_by_default(api: Api) -> None:
    answer = register(api)
    assert (answer.status_code, answer.json["error"]) == (403, "access_denied")
    assert clients(api) == []
    assert "registration_endpoint" not in api.get("/.well-known/oauth-authorization-server").json


@options(registration="token", registration_token=TOKEN)
def test_the_initial_access_token_is_required(api: Api) -> None:
    for token in (None, "", "other", TOKEN[:-1], TOKEN + "x", "\N{LATIN SMALL LETTER E WITH ACUTE}"):
        answer = register(api, token=token)
        assert (answer.status_code, answer.json["error"]) == (401, "invalid_token")
        assert "invalid_token" in answer.headers["WWW-Authenticate"]
    assert clients(api) == []
    assert register(api, token=TOKEN).status_code == 201
    endpoint = api.get("/.well-known/oauth-authorization-server").json["registration_endpoint"]
    assert endpoint.endswith("/oauth2/register")


@options()
def test_a_registered_client_logs_users_in_with_a_warning(api: Api) -> None:
    answer = register(
        api,
        application_type="native",
        redirect_uris=["http://127.0.0.1/callback"],
        grant_types=["authorization_code", "refresh_token"],
        token_endpoint_auth_method="none",
    )
    assert answer.status_code == 201, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    assert "client_secret" not in answer.json
    rp = RelyingParty(api, answer.json["client_id"], None, "http://127.0.0.1:49152/callback")
    browser = logged_in(api)
    assert "nothing proves its name" in browser.open(rp.url(scope="openid files:read")).text
    browser.submit("/oauth2/decision", decision="allow")
    tokens = rp.exchange(get_returned(browser)["code"]).json
    assert rp.refresh(tokens["refresh_token"]).status_code == 200
    assert rp.authorize(browser, scope="audit:read")["error"] == "invalid_scope"


@options()
def test_a_client_with_a_secret_authenticates(api: Api) -> None:
    registered = register(api, scope="openid email audit:read").json
    assert registered["scope"] == "openid email"
    assert registered["token_endpoint_auth_method"] == "client_secret_basic"
    assert registered["client_secret_expires_at"] == 0
    rp = RelyingParty(api, registered["client_id"], registered["client_secret"], URI)
    browser = logged_in(api)
    browser.open(rp.url())
    browser.submit("/oauth2/decision", decision="allow")
    assert rp.exchange(get_returned(browser)["code"]).status_code == 200
    (client,) = clients(api)
    assert (client["trusted"], client["name"]) == (False, "Acme Agent")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"body": b"{"}, "invalid_client_metadata"),
    ({"body": b"[]"}, "invalid_client_metadata"),
    ({"body": b""}, "invalid_client_metadata"),
    ({"body": b"[" * 60_000}, "invalid_client_metadata"),
    ({"software_statement": "a.b.c"}, "unapproved_software_statement"),
    ({"client_name": None}, "invalid_client_metadata"),
    ({"client_name": " "}, "invalid_client_metadata"),
    ({"client_name": "a\u202eb"}, "invalid_client_metadata"),
    ({"client_name": 1}, "invalid_client_metadata"),
    ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
    ({"token_endpoint_auth_method": ["none"]}, "invalid_client_metadata"),
    ({"grant_types": ["implicit"]}, "invalid_client_metadata"),
    ({"grant_types": ["authorization_code", "client_credentials"]}, "invalid_client_metadata"),
    ({"grant_types": [["authorization_code"], "authorization_code"]}, "invalid_client_metadata"),
    ({"response_types": ["code", "token"]}, "invalid_client_metadata"),
    ({"application_type": "other"}, "invalid_client_metadata"),
    ({"scope": ["openid"]}, "invalid_client_metadata"),
    ({"redirect_uris": None}, "invalid_redirect_uri"),
    ({"redirect_uris": []}, "invalid_redirect_uri"),
    ({"redirect_uris": [URI] * 11}, "invalid_redirect_uri"),
    ({"redirect_uris": [1]}, "invalid_redirect_uri"),
    ({"redirect_uris": ["https://*.example.com/"]}, "invalid_redirect_uri"),
    ({"redirect_uris": ["http://example.com/callback"]}, "invalid_redirect_uri"),
    ({"redirect_uris": [URI + "#a"]}, "invalid_redirect_uri"),
    ({"redirect_uris": ["http://127.0.0.1/callback"]}, "invalid_redirect_uri"),
    ({"application_type": "native"}, "invalid_redirect_uri"),
    ({"application_type": "native", "redirect_uris": ["com.example:/a"]}, "invalid_redirect_uri"),
]


@options()
@pytest.mark.parametrize(("members", "error"), REFUSED, ids=lambda value: str(value)[:50])
def test_a_wrong_registration_is_refused(api: Api, members: dict[str, Any], error: str) -> None:
    answer = register(api, **members)
    assert (answer.status_code, answer.json["error"]) == (400, error)
    assert answer.json["error_description"]
    assert clients(api) == []


@options(max_registrations=2, registrations_per_address=["4/hour"])
def test_registrations_have_a_maximum_and_a_rate(api: Api) -> None:
    assert [register(api).status_code for _ in range(5)] == [201, 201, 503, 503, 429]
    assert len(clients(api)) == 2
    # The clients of administrators have a maximum of their own.
    RelyingParty.register(api)


@options()
def test_a_client_without_a_consent_is_deleted_after_a_day(api: Api) -> None:
    used, unused = (register(api).json for _ in range(2))
    prune = api.container.hosts.get("oidc_provider").get_service(Registrations).prune
    browser = logged_in(api)
    browser.open(RelyingParty(api, used["client_id"], used["client_secret"], URI).url())
    browser.submit("/oauth2/decision", decision="allow")
    api.clock.advance(86_399_000)
    assert prune() == 0
    api.clock.advance(1_000)
    assert prune() == 1
    assert prune() == 0
    assert [client["id"] for client in clients(api)] == [used["client_id"]]
    gone = RelyingParty(api, unused["client_id"], unused["client_secret"], URI)
    assert browser.open(gone.url()).status_code == 400
