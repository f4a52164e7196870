"""The modules of the plan ``oidcc-backchannel`` of the OpenID conformance suite, by name."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlencode

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from tests.support.api import Api, Json, Person
from tests.support.config import Table, lifted, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.receiver import Receiver, receiving, says
from tests.support.relying_party import CALLBACK, PLUGINS, RelyingParty, logged_in

from strongroom.plugin_api.events import SERVER
from strongroom.testing.outbound import forbidden_urls
from strongroom_oidc_provider.logout.backchannel import DELAYS, LogoutQueue
from strongroom_oidc_provider.logout.sender import LogoutSender

EVENT = "http://schemas.openid.net/event/backchannel-logout"

pytestmark = [on_sqlite]


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def config_changes(receiver: Receiver) -> Table:
    receiver.messages.clear()
    receiver.answers.clear()
    options = {"allow_hosts": [f"127.0.0.1:{receiver.port}"], "allow_http": True, "timeout_seconds": 30}
    return merged(lifted(), {"plugins": {"enabled": PLUGINS, "oidc_provider": options}})


@pytest.fixture
def rp(api: Api, receiver: Receiver) -> RelyingParty:
    return RelyingParty.register(api, backchannelLogoutUri=receiver.url())


@pytest.fixture
def person(api: Api) -> Person:
    return api.person()


@pytest.fixture
def browser(api: Api, rp: RelyingParty, person: Person) -> PageBrowser:
    return logged_in(api, person)


def deliver(api: Api) -> None:
    """Deliver all events, as the server does."""
    host = api.container.hosts.get("oidc_provider")
    for event in host.events.read(SERVER, 0, 1000):
        if event.type == "authorization.revoked":
            host.get_service(LogoutQueue).handle(event)


def send(api: Api) -> int:
    deliver(api)
    sender: LogoutSender = api.container.hosts.get("oidc_provider").get_service(LogoutSender)
    return sender.send_due()


def read_token(api: Api, receiver: Receiver) -> Json:
    message = receiver.messages[-1]
    assert message.headers["content-type"] == "application/x-www-form-urlencoded"
    (token,) = parse_qs(message.body.decode())["logout_token"]
    keys = KeySet.import_key_set(api.get("/.well-known/jwks.json").json)
    decoded = jwt.decode(token, keys, algorithms=["RS256"])
    assert decoded.header["typ"] == "logout+jwt"
    return dict(decoded.claims)


def test_oidcc_backchannel_logout_discovery_endpoint_verification(api: Api, rp: RelyingParty) -> None:
    document = api.get("/.well-known/openid-configuration").json
    assert document["backchannel_logout_supported"] is True
    assert document["backchannel_logout_session_supported"] is True
    assert "sid" in document["claims_supported"]


def test_oidcc_backchannel_rp_initiated_logout(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person, receiver: Receiver
) -> None:
    tokens = rp.tokens(browser)
    claims = rp.claims(tokens)
    browser.request(f"/oauth2/end-session?{urlencode({'id_token_hint': tokens['id_token']})}")
    assert send(api) == 1
    logout = read_token(api, receiver)
    assert logout["iss"] == claims["iss"]
    assert logout["aud"] in (rp.id, [rp.id])
    assert (logout["sub"], logout["sid"]) == (person.id, claims["sid"])
    assert logout["events"] == {EVENT: {}}
    assert {"jti", "iat", "exp"} <= logout.keys()
    assert "nonce" not in logout
    assert logout["exp"] - logout["iat"] <= 120
    assert send(api) == 0


def test_each_client_of_the_login_learns_of_it_once(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person, receiver: Receiver
) -> None:
    other = RelyingParty.register(api, backchannelLogoutUri=receiver.url("/other"))
    silent = RelyingParty.register(api)
    for client in (rp, rp, other, silent):
        client.tokens(browser)
    rp.tokens(logged_in(api))
    assert api.delete(f"/users/{person.id}/authorizations", by=person).status_code == 200
    assert send(api) == 2
    assert sorted(message.path for message in receiver.messages) == sorted(
        {receiver.url().partition(f":{receiver.port}")[2], "/other"}
    )


def test_a_suspension_is_a_logout(
    api: Api, rp: RelyingParty, browser: PageBrowser, person: Person, receiver: Receiver
) -> None:
    rp.tokens(browser)
    answer = api.post(f"/users/{person.id}/suspension", by=api.person(admin=True))
    assert answer.status_code == 200, answer.text
    assert send(api) == 1
    assert read_token(api, receiver)["sub"] == person.id


def test_failures_are_repeated_and_dropped_at_last(
    api: Api, rp: RelyingParty, browser: PageBrowser, receiver: Receiver
) -> None:
    path = receiver.url().partition(f":{receiver.port}")[2]
    receiver.answers[path] = says(503)
    tokens = rp.tokens(browser)
    browser.request(f"/oauth2/end-session?{urlencode({'id_token_hint': tokens['id_token']})}")
    for delay in DELAYS.delays:
        assert (send(api), send(api)) == (1, 0)
        api.clock.advance(round(delay * 1.2))
    assert send(api) == 1
    api.clock.advance(DELAYS.delays[-1] * 2)
    assert send(api) == 0
    assert len(receiver.messages) == len(DELAYS.delays) + 1


def test_a_claimed_logout_is_left_to_its_process(
    api: Api, rp: RelyingParty, browser: PageBrowser
) -> None:
    tokens = rp.tokens(browser)
    browser.request(f"/oauth2/end-session?{urlencode({'id_token_hint': tokens['id_token']})}")
    deliver(api)
    queue: LogoutQueue = api.container.hosts.get("oidc_provider").get_service(LogoutQueue)
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: queue.claim(8), range(8)))
    assert sum(map(len, claims)) == 1
    # A process that was killed has not sent it.
    api.clock.advance(61_000)
    assert len(queue.claim(8)) == 1


def test_private_addresses_are_refused(api: Api, rp: RelyingParty) -> None:
    root, body = api.person(admin=True), {"name": "Wiki", "redirectUris": [CALLBACK]}
    # Names are resolved when a logout is sent, and this server allows unencrypted URLs.
    urls = {item.url for item in forbidden_urls()} - {
        "https://hooks.example.org/",
        "http://example.org/",
    }
    for url in sorted(urls):
        refused = api.post("/api/v1/clients", {**body, "backchannelLogoutUri": url}, by=root)
        assert refused.status_code == 400, url
    assert len(urls) > 80


def test_the_uri_can_be_removed(api: Api, rp: RelyingParty) -> None:
    root = api.person(admin=True)
    path = f"/api/v1/clients/{rp.id}"
    client = api.get(path, by=root).json
    assert client["backchannelLogoutUri"].startswith("http://127.0.0.1:")
    changes = {"revision": client["revision"], "backchannelLogoutUri": None}
    assert api.patch(path, changes, by=root).json["backchannelLogoutUri"] is None
