"""Clients that describe themselves by a document (Client ID Metadata Documents)."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import func, select
from tests.support.api import Api, Person
from tests.support.client_documents import (
    DocumentServer,
    Published,
    document_server,
    get_fetcher,
)
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import PLUGINS, RelyingParty, get_returned, logged_in

from strongroom.plugin_api.outbound import OutboundClient
from strongroom.testing.outbound import forbidden_urls, listening
from strongroom_oidc_provider.documents.fetching import MAX_BYTES, MAX_CACHED
from strongroom_oidc_provider.models import metadata

DECISION = "/oauth2/decision"
STARTS = int(os.environ.get("STRONGROOM_TEST_UNCONFIRMED_STARTS", "300"))
STARTS_OF_ONE = 10
PARKED = "__Secure-oidc-request"
"""The cookie of a request that waits."""
BOTH = ["http://127.0.0.1/callback", "http://localhost/callback"]
NATIVE = {"grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"]}
AGENTS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "Claude Code": (
        "claude.ai",
        "/oauth/claude-code-client-metadata",
        {"redirect_uris": BOTH[::-1], "token_endpoint_auth_method": "none", **NATIVE},
        "http://localhost:{port}/callback",
    ),
    "Visual Studio Code": (
        "vscode.dev",
        "/oauth/client-metadata.json",
        {
            "redirect_uris": ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
            "grant_types": [
                "authorization_code",
                "refresh_token",
                "urn:ietf:params:oauth:grant-type:device_code",
            ],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
        },
        "http://127.0.0.1:{port}/",
    ),
    "Codex": (
        "chatgpt.com",
        "/oauth/codex/client.json",
        {"redirect_uris": BOTH, "token_endpoint_auth_method": "none", **NATIVE},
        "http://127.0.0.1:{port}/callback",
    ),
    "opencode": (
        "opencode.ai",
        "/oauth/opencode/client.json",
        {
            "client_uri": "https://opencode.ai",
            "logo_uri": "https://opencode.ai/web-app-manifest-512x512.png",
            "application_type": "native",
            "redirect_uris": BOTH,
            "token_endpoint_auth_method": "none",
            "token_endpoint_auth_methods_supported": ["none"],
            **NATIVE,
        },
        "http://127.0.0.1:{port}/callback",
    ),
    "Goose": (
        "goose-docs.ai",
        "/oauth/client-metadata.json",
        {
            "redirect_uris": ["http://127.0.0.1/oauth_callback", "http://localhost/oauth_callback"],
            "token_endpoint_auth_method": "none",
        },
        "http://localhost:{port}/oauth_callback",
    ),
}

CONFIG = merged(lifted(), {"plugins": {"enabled": PLUGINS}})
pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def options(**values: Any) -> pytest.MarkDecorator:
    unlimited = ["1000000/minute"]
    limits = {"client_documents_per_address": unlimited, "requests_per_address": unlimited}
    section = {"plugins": {"oidc_provider": {**limits, **values}}}
    return pytest.mark.config(merged(CONFIG, section))


@pytest.fixture
def published(api: Api, tmp_path: Path) -> Iterator[DocumentServer]:
    with document_server(api, tmp_path) as server:
        yield server


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Ada Lovelace")


@pytest.fixture
def browser(published: DocumentServer, api: Api, person: Person) -> PageBrowser:
    return logged_in(api, person)


def count_rows(api: Api) -> int:
    counts = (select(func.count()).select_from(table) for table in metadata.sorted_tables)
    with api.container.database.engine.connect() as connection:
        return sum(connection.execute(count).scalar_one() for count in counts)


def refused(browser: PageBrowser, rp: RelyingParty, **changes: str | None) -> str:
    page = browser.open(rp.url(**changes))
    assert page.status_code == 400, page.text
    assert "Location" not in page.headers
    return page.text


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("port", [1024, 49152, 65535])
def test_desktop_agents_log_in_with_any_port(
    published: DocumentServer, browser: PageBrowser, agent: str, port: int
) -> None:
    host, path, members, uri = AGENTS[agent]
    rp = published.publish(path, host, client_name=agent, **members)
    rp.uri = uri.format(port=port)
    page = browser.open(rp.url(scope="openid offline_access"))
    assert f"Log in to {host}" in page.text
    assert agent in page.text
    browser.submit(DECISION, decision="allow")
    tokens = rp.exchange(get_returned(browser)["code"]).json
    assert rp.claims(tokens)["aud"] in (rp.id, [rp.id])
    again = rp.refresh(tokens["refresh_token"])
    assert again.status_code == 200, again.text
    assert again.json["refresh_token"] != tokens["refresh_token"]


def test_the_page_shows_the_host_and_warns_of_programs_of_the_device(
    published: DocumentServer, browser: PageBrowser
) -> None:
    local = published.publish("/local", client_name="Your bank\N{RIGHT SINGLE QUOTATION MARK}s app")
    page = browser.open(local.url())
    heading = page.text.partition("<h1")[2].partition("</h1>")[0]
    assert "agents.example.com" in heading
    assert "Your bank" not in heading
    assert "Any program on this device" in page.text
    web = published.publish("/web", redirect_uris=["https://agents.example.com/callback"])
    assert "Any program on this device" not in browser.open(web.url()).text


def test_consents_and_grants_name_the_host_and_end_by_the_page(
    api: Api, published: DocumentServer, browser: PageBrowser, person: Person
) -> None:
    rp = published.publish("/agent")
    browser.open(rp.url(scope="openid offline_access"))
    browser.submit(DECISION, decision="allow")
    tokens = rp.exchange(get_returned(browser)["code"]).json
    (consent,) = api.get("/api/v1/users/me/consents", by=person).json["data"]
    assert consent["clientId"] == rp.id
    assert consent["clientName"] == "agents.example.com (Acme Agent)"
    assert consent["id"] != rp.id
    assert len(consent["id"]) == 36
    assert rp.authorize(browser, prompt="none").keys() >= {"code"}
    path = f"/oauth2/consents/{consent['id']}/removal"
    assert f'href="{path}"' in browser.open("/oauth2/consents").text
    assert f'href="{path}"' in browser.open(path.removesuffix("/removal")).text
    browser.open(path)
    browser.open(path, browser.forms[""])
    assert api.get("/api/v1/users/me/consents", by=person).json["data"] == []
    assert rp.refresh(tokens["refresh_token"]).status_code == 400
    assert rp.authorize(browser, prompt="none")["error"] == "consent_required"
    other = api.delete(f"/api/v1/users/me/consents/{quote('https://x', safe='')}", by=person)
    assert other.status_code == 404


FAULTS: list[dict[str, Any]] = [
    {"client_id": None},
    {"client_id": "https://agents.example.com/other"},
    {"client_id": 1},
    {"client_name": None},
    {"client_name": ""},
    {"client_name": "a\u202eb"},
    {"client_name": ["a"]},
    {"redirect_uris": None},
    {"redirect_uris": []},
    {"redirect_uris": "http://127.0.0.1/callback"},
    {"redirect_uris": ["http://192.168.0.1/callback"]},
    {"redirect_uris": ["javascript:alert(1)"]},
    {"redirect_uris": ["http://127.0.0.1/a"] * 51},
    {"token_endpoint_auth_method": "client_secret_basic"},
    {"token_endpoint_auth_method": "client_secret_post"},
    {"token_endpoint_auth_method": ["none"]},
    {"token_endpoint_auth_method": "private_key_jwt"},
    {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://evil.example/keys"},
    {"client_secret": "x"},
    {"grant_types": ["implicit"]},
    {"grant_types": "authorization_code"},
    {"response_types": ["token"]},
]


@pytest.mark.parametrize("members", FAULTS, ids=lambda members: json.dumps(members)[:60])
def test_an_invalid_document_is_refused(
    published: DocumentServer, browser: PageBrowser, members: dict[str, Any]
) -> None:
    rp = published.publish("/agent", **members)
    rp.uri = "http://127.0.0.1/callback"
    assert "<code" in refused(browser, rp)


JSON = {"Content-Type": "application/json"}
ANSWERS = {
    "no JSON": Published(b"<html>"),
    "a list": Published(b"[]"),
    "deep": Published(b"[" * MAX_BYTES),
    "long": Published(b'{"client_name": "' + b"x" * MAX_BYTES + b'"}'),
    "endless": Published(b" " * 500_000),
    "another type": Published(b"{}", 200, {"Content-Type": "text/html"}),
    "no type": Published(b"{}", 200, {}),
    "absent": Published(b"{}", 404, JSON),
    "a redirect": Published(b"{}", 302, {"Location": "https://agents.example.com/agent", **JSON}),
    "a failure": Published(b"{}", 500, JSON),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_unacceptable_answer_is_refused_once_a_minute(
    api: Api, published: DocumentServer, browser: PageBrowser, answer: str
) -> None:
    rp = RelyingParty(api, published.answer("/agent", ANSWERS[answer]), None)
    refused(browser, rp)
    refused(browser, rp)
    assert published.requests == ["/agent"]
    published.publish("/agent")
    rp.uri = "http://127.0.0.1/callback"
    api.clock.advance(61_000)
    assert browser.open(rp.url()).status_code == 200


@pytest.mark.parametrize(
    "client_id",
    [
        "https://agents.example.com",
        "https://agents.example.com/a#b",
        "https://agents.example.com/a/../b",
        "https://agents.example.com/./b",
        "https://agents.example.com/%2e%2e/b",
        "https://user@agents.example.com/a",
        "https://user:secret@agents.example.com/a",
        "https://AGENTS.example.com/a",
        "https://agents.example.com/a b",
        "https://agents.example.com\\a",
        "https://agents.example.com/" + "a" * 255,
        "http://agents.example.com/a",
        "HTTPS://agents.example.com/a",
        "//agents.example.com/a",
        "https:///a",
    ],
)
def test_an_unacceptable_id_is_not_fetched(
    api: Api, published: DocumentServer, browser: PageBrowser, client_id: str
) -> None:
    with listening() as canary:
        refused(browser, RelyingParty(api, client_id, None))
    assert canary.seen == []
    assert published.requests == []


@pytest.mark.parametrize("path", ["/a/../b", "/./b", "/b/..", "/%2e%2e/b", "/%2E/b"])
def test_a_path_with_dot_segments_is_not_fetched(
    api: Api, published: DocumentServer, browser: PageBrowser, path: str
) -> None:
    refused(browser, published.publish(path))
    assert published.requests == []


def test_a_document_of_this_server_is_none(
    api: Api, published: DocumentServer, browser: PageBrowser
) -> None:
    host = api.container.hosts.get("oidc_provider").public_url.partition("//")[2].partition(":")[0]
    with listening() as canary:
        text = refused(browser, RelyingParty(api, f"https://{host}/share/agent.json", None))
    assert "another server" in text
    assert canary.seen == []


@options()
def test_forbidden_addresses_are_never_called(
    api: Api, published: DocumentServer, browser: PageBrowser
) -> None:
    """Literals, ambiguous forms, and names that lead to private addresses, also for the second time."""
    tried = [item for item in forbidden_urls() if "\0" not in item.url]
    assert len(tried) >= 80
    fetcher = get_fetcher(api)
    with listening() as canary:
        for item in tried:
            fetcher.outbound = OutboundClient(resolver=item.resolve)
            url = item.url + "agent" if item.url.endswith("/") else item.url
            refused(browser, RelyingParty(api, url, None))
            form = {"grant_type": "authorization_code", "code": "x", "client_id": url}
            assert RelyingParty(api, url, None).send("/oauth2/token", **form).status_code in (400, 401)
    assert canary.seen == []
    assert count_rows(api) == 1


def test_a_name_that_leads_elsewhere_later_is_refused(
    api: Api, published: DocumentServer, browser: PageBrowser
) -> None:
    """DNS rebinding: the second resolution is checked like the first, and none is used unchecked."""
    answers = [["8.8.8.8", "127.0.0.1"], ["127.0.0.1"]]
    get_fetcher(api).outbound = OutboundClient(resolver=lambda _name, _port: answers.pop(0))
    with listening() as canary:
        for _ in range(2):
            refused(browser, RelyingParty(api, "https://agents.example.com/agent", None))
            api.clock.advance(61_000)
    assert canary.seen == []
    assert answers == []


@options()
def test_unconfirmed_starts_store_nothing(
    api: Api, published: DocumentServer, browser: PageBrowser
) -> None:
    before = count_rows(api)
    for number in range(STARTS):
        rp = published.publish(f"/agents/{number // STARTS_OF_ONE}")
        page = browser.open(rp.url()) if number % 2 else PageBrowser(api).request(rp.url())
        assert page.status_code in (200, 303), page.text
        # A jar of all these cookies would be searched at each request.
        browser.forget(PARKED)
    assert count_rows(api) == before
    documents = -(-STARTS // STARTS_OF_ONE)
    assert len(get_fetcher(api)._outcomes) == min(documents, MAX_CACHED)


@options(client_documents_per_address=["2/minute"])
def test_an_address_has_few_documents_fetched(published: DocumentServer, browser: PageBrowser) -> None:
    for number in range(4):
        browser.open(published.publish(f"/agents/{number}").url())
        browser.open(published.publish("/agents/0").url())
    assert browser.page.status_code == 200
    assert browser.open(published.publish("/agents/9").url()).status_code == 429
    assert published.requests == ["/agents/0", "/agents/1"]


@pytest.mark.parametrize(
    ("control", "fresh", "stale"),
    [
        (None, 3_599, 3_601),
        ("max-age=600", 599, 601),
        ("max-age=999999", 86_399, 86_401),
        ("no-store", 59, 61),
    ],
)
def test_documents_are_remembered_by_their_headers(
    api: Api,
    published: DocumentServer,
    browser: PageBrowser,
    control: str | None,
    fresh: int,
    stale: int,
) -> None:
    rp = published.publish("/agent")
    headers = {**JSON, **({"Cache-Control": control} if control else {})}
    published.answer("/agent", Published(published.server.answers["/agent"].body, 200, headers))
    lookup = get_fetcher(api)
    with api.app.test_request_context():
        lookup.get(rp.id)
        api.clock.advance(fresh * 1000)
        lookup.get(rp.id)
        assert published.requests == ["/agent"]
        api.clock.advance((stale - fresh) * 1000)
        lookup.get(rp.id)
    assert published.requests == ["/agent"] * 2


def test_a_failure_of_the_server_ends_no_login_within_a_day(
    api: Api, published: DocumentServer, browser: PageBrowser
) -> None:
    rp = published.publish("/agent")
    assert browser.open(rp.url()).status_code == 200
    published.answer("/agent", ANSWERS["a failure"])
    api.clock.advance(2 * 3_600_000)
    assert browser.open(rp.url()).status_code in (200, 303)
    api.clock.advance(23 * 3_600_000)
    assert "try again later" in refused(browser, rp).lower()


def test_other_redirect_uris_are_refused(published: DocumentServer, browser: PageBrowser) -> None:
    rp = published.publish(
        "/agent", redirect_uris=["http://127.0.0.1:8080/callback", "https://a.example/b"]
    )
    for uri in (
        "http://127.0.0.1:8080/other",
        "http://127.0.0.1:80/callback/",
        "http://localhost:8080/callback",
        "http://[::1]:8080/callback",
        "http://127.0.0.1:80@evil.example/callback",
        "http://127.0.0.1.evil.example/callback",
        "https://127.0.0.1/callback",
        "https://a.example:444/b",
        "https://a.example/b?x=1",
        "http://127.0.0.1/callback#x",
    ):
        refused(browser, rp, redirect_uri=uri)


@options(client_documents="off")
def test_the_operator_accepts_none(api: Api, published: DocumentServer, browser: PageBrowser) -> None:
    refused(browser, published.publish("/agent"))
    assert published.requests == []
    for name in ("openid-configuration", "oauth-authorization-server"):
        document = api.get(f"/.well-known/{name}").json
        assert "client_id_metadata_document_supported" not in document
        assert "private_key_jwt" not in document["token_endpoint_auth_methods_supported"]


@options(client_documents="hosts", client_document_hosts=["claude.ai"])
def test_the_operator_accepts_some_hosts(published: DocumentServer, browser: PageBrowser) -> None:
    refused(browser, published.publish("/agent"))
    assert published.requests == []
    assert browser.open(published.publish("/agent", "claude.ai").url()).status_code == 200


def test_discovery_names_the_support(api: Api, published: DocumentServer) -> None:
    for name in ("openid-configuration", "oauth-authorization-server"):
        document = api.get(f"/.well-known/{name}").json
        assert document["client_id_metadata_document_supported"] is True
        assert {"none", "private_key_jwt"} <= set(document["token_endpoint_auth_methods_supported"])


def test_the_scopes_and_resources_are_those_of_the_configuration(
    api: Api, published: DocumentServer, browser: PageBrowser
) -> None:
    rp = published.publish("/agent")
    assert "Your files: read" in browser.open(rp.url(scope="openid files:read")).text
    assert "audit" not in browser.open(rp.url(scope="openid audit:read")).text.partition("<form")[0]
    root = api.container.hosts.get("oidc_provider").public_url
    assert browser.open(rp.url(resource=f"{root}/mcp")).status_code == 200
    assert rp.authorize(browser, resource=f"{root}/other")["error"] == "invalid_target"
