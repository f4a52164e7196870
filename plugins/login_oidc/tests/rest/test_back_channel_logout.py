"""A provider ends logins by logout tokens; forged ones end nothing."""

import base64
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from tests.support.api import Answer, Api, Person, error_code

from strongroom.testing.clock import ManualClock
from strongroom.web.http import downloads
from strongroom_login_oidc.logout_token import EVENT, MAX_AGE

from ..hostile import CLIENT_ID, REMOVED, HostileProvider, Json, Reply, changed, hmac_signed, key, signed
from .browsers import People

LOGOUTS = "/api/v1/oidc-logouts"
ONCE = 16


@dataclass
class Forgery:
    """A logout token with changes: of its claims, its header, its signature, or its text."""

    name: str
    claims: Json = field(default_factory=dict)
    header: Json = field(default_factory=dict)
    signer: str = "ES256"
    forge: Callable[[str], str] = lambda token: token


def unsigned(token: str) -> str:
    """Return the token with ``alg: none``."""
    return ".".join([hmac_signed({"alg": "none"}, b"{}", b"").split(".")[0], token.split(".")[1], ""])


def by_public_key(token: str) -> str:
    """Return the claims, signed by HS256 with the public key as the secret."""
    payload = json.dumps(claims_of_token(token)).encode()
    return hmac_signed({"alg": "HS256", "kid": "RS256"}, payload, key("RS256").as_pem(private=False))


def claims_of_token(token: str) -> Json:
    """Return the claims without a check."""
    part = token.split(".")[1]
    claims: Json = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return claims


def tampered(token: str) -> str:
    """Return the token with the signature of other claims."""
    first, _, signature = token.split(".")
    other = hmac_signed({}, json.dumps({**claims_of_token(token), "sub": "eve"}).encode(), b"")
    return ".".join([first, other.split(".")[1], signature])


STRANGER: Final = key("ES256 of a stranger")

FORGED: Final = (
    Forgery("no iss", {"iss": REMOVED}),
    Forgery("iss of another provider", {"iss": "https://evil.example"}),
    Forgery("iss is a list", {"iss": ["https://evil.example"]}),
    Forgery("no aud", {"aud": REMOVED}),
    Forgery("aud of another client", {"aud": "another"}),
    Forgery("aud is a list without us", {"aud": ["another"]}),
    Forgery("aud of two clients without azp", {"aud": [CLIENT_ID, "another"]}),
    Forgery("azp of another client", {"azp": "another"}),
    Forgery("no iat", {"iat": REMOVED}),
    Forgery("iat in the future", {"iat": +61}),
    Forgery("iat too old", {"iat": -MAX_AGE - 1}),
    Forgery("iat is a text", {"iat": "now"}),
    Forgery("no exp", {"exp": REMOVED}),
    Forgery("exp in the past", {"exp": -61}),
    Forgery("exp is true", {"exp": True}),
    Forgery("no jti", {"jti": REMOVED}),
    Forgery("jti is empty", {"jti": ""}),
    Forgery("jti is a number", {"jti": 7}),
    Forgery("jti of 256 characters", {"jti": "x" * 256}),
    Forgery("no events", {"events": REMOVED}),
    Forgery("events is a list", {"events": [EVENT]}),
    Forgery("events names another event", {"events": {f"{EVENT}-other": {}}}),
    Forgery("the event is null", {"events": {EVENT: None}}),
    Forgery("the event is a text", {"events": {EVENT: ""}}),
    Forgery("a nonce", {"nonce": "n"}),
    Forgery("a nonce that is null", {"nonce": None}),
    Forgery("neither sub nor sid", {"sub": REMOVED, "sid": REMOVED}),
    Forgery("sub is empty", {"sub": ""}),
    Forgery("sub is a list", {"sub": ["ada"]}),
    Forgery("sid is a number", {"sid": 7}),
    Forgery("sid is empty, without sub", {"sub": REMOVED, "sid": ""}),
    Forgery("typ of an access token", header={"typ": "at+jwt"}),
    Forgery("typ of a security event", header={"typ": "secevent+jwt"}),
    Forgery("a critical extension", header={"crit": ["b64"], "b64": False}),
    Forgery("an unknown key", header={"kid": "another"}),
    Forgery("a key in the header", header={"kid": "x", "jwk": STRANGER.as_dict(private=False)}),
    Forgery("signed by a stranger", header={"kid": "ES256"}, signer="ES256 of a stranger"),
    Forgery("alg none", forge=unsigned),
    Forgery("alg HS256 by the public key", forge=by_public_key),
    Forgery("claims changed after the signature", forge=tampered),
    Forgery("no signature", forge=lambda token: token.rpartition(".")[0]),
    Forgery("two tokens", forge=lambda token: f"{token} {token}"),
    Forgery("empty", forge=lambda _: ""),
)  # fmt: skip


@dataclass
class Desk:
    """A provider that sends logout tokens."""

    api: Api
    provider: HostileProvider
    count: int = 0

    def token(self, forgery: Forgery | None = None, **claims: Any) -> str:
        """Return a new logout token of the session ``s1``, with changes."""
        self.count += 1
        forged, now = forgery or Forgery("honest"), self.provider.now
        honest = {
            "iss": self.provider.url,
            "sub": "ada",
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 120,
            "jti": f"logout-{self.count}",
            "events": {EVENT: {}},
            "sid": "s1",
        }
        made = changed(honest, {**forged.claims, **claims})
        for name in ("iat", "exp"):
            value = made.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value < 10**9:
                made[name] = now + value
        signer = key(forged.signer)
        header = changed({"alg": signer.alg, "kid": signer.kid, "typ": "logout+jwt"}, forged.header)
        return forged.forge(signed(header, json.dumps(made).encode(), signer))

    def send(self, token: str | None, provider: str = "company") -> Answer:
        """Send a token."""
        form = {} if token is None else {"logout_token": token}
        client = self.api.app.test_client()
        answer = Answer(client.post(f"{LOGOUTS}/{provider}", data=form))
        assert answer.headers["Cache-Control"] == "no-store"
        return answer


@pytest.fixture
def desk(api: Api, provider: HostileProvider) -> Desk:
    return Desk(api, provider)


def log_in(people: People, provider: HostileProvider, name: str = "company", **claims: Any) -> Person:
    provider.claims.update(claims)
    issued = people.log_in(name)
    assert issued.status_code == 200, issued.text
    return Person(issued.json["user"]["id"], "", issued.json["accessToken"])


def alive(api: Api, *logins: Person) -> list[bool]:
    return [api.get("/users/me", by=login).status_code == 200 for login in logins]


@pytest.mark.both_databases
def test_a_session_ends_and_no_other(
    api: Api, people: People, provider: HostileProvider, desk: Desk
) -> None:
    first = log_in(people, provider, sid="s1")
    second = log_in(people, provider, sid="s2")
    eve = log_in(people, provider, sub="eve", sid="s1")
    assert desk.send(desk.token()).status_code == 200
    assert alive(api, first, second, eve) == [False, True, True]
    assert desk.send(desk.token(sid=REMOVED)).status_code == 200
    assert alive(api, second, eve) == [False, True]


def test_a_token_without_sub_ends_the_session_at_this_provider_only(
    api: Api, people: People, provider: HostileProvider, desk: Desk
) -> None:
    here = log_in(people, provider, sid="s1")
    elsewhere = log_in(people, provider, "profile", sid="s1")
    assert desk.send(desk.token(sub=REMOVED)).status_code == 200
    assert alive(api, here, elsewhere) == [False, True]


def test_a_login_without_sid_ends_with_any_session_of_its_person(
    api: Api, people: People, provider: HostileProvider, desk: Desk
) -> None:
    login = log_in(people, provider)
    assert desk.send(desk.token(sid="s9")).status_code == 200
    assert alive(api, login) == [False]


def test_a_login_by_password_stays(
    api: Api, people: People, provider: HostileProvider, desk: Desk
) -> None:
    person = api.person()
    assert people.bind(person).status_code == 201
    login = log_in(people, provider, sid="s1")
    assert login.id == person.id
    assert desk.send(desk.token()).status_code == 200
    assert alive(api, login, person) == [False, True]


@pytest.mark.parametrize("forgery", FORGED, ids=lambda forgery: forgery.name)
def test_a_forged_token_ends_nothing(
    api: Api, people: People, provider: HostileProvider, desk: Desk, forgery: Forgery
) -> None:
    login = log_in(people, provider, sid="s1")
    refused = desk.send(desk.token(forgery))
    assert (refused.status_code, error_code(refused)) == (400, "error.oidc-logout-token-invalid")
    assert alive(api, login) == [True]
    assert desk.send(desk.token()).status_code == 200
    assert alive(api, login) == [False]


def test_an_id_token_is_no_logout_token(
    api: Api, people: People, provider: HostileProvider, desk: Desk
) -> None:
    tokens: list[str] = []

    def keep(token: str) -> str:
        tokens.append(token)
        return token

    provider.forge_token = keep
    login = log_in(people, provider, sid="s1")
    assert desk.send(tokens[0]).status_code == 400
    assert alive(api, login) == [True]


@pytest.mark.both_databases
def test_of_many_uses_of_one_token_at_once_one_counts(
    api: Api, people: People, provider: HostileProvider, desk: Desk, clock: ManualClock
) -> None:
    token = desk.token()
    with ThreadPoolExecutor(ONCE) as pool:
        statuses = [answer.status_code for answer in pool.map(lambda _: desk.send(token), range(ONCE))]
    assert sorted(statuses) == [200, *[400] * (ONCE - 1)]
    login = log_in(people, provider, sid="s1")
    for minutes in (1, 1, 8, 1):
        clock.advance(minutes * 60_000)
        assert desk.send(token).status_code == 400
    assert alive(api, login) == [True]


def test_a_token_counts_again_if_its_first_use_failed(
    api: Api,
    people: People,
    provider: HostileProvider,
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    login, token = log_in(people, provider, sid="s1"), desk.token()
    logins = type(api.container.hosts.get("login_oidc").logins)
    with monkeypatch.context() as patched:
        patched.setattr(logins, "end", lambda *_, **__: 1 / 0)
        assert desk.send(token).status_code == 500
    assert desk.send(token).status_code == 200
    assert alive(api, login) == [False]


def test_other_requests_are_refused(desk: Desk) -> None:
    unknown = desk.send(desk.token(), "nobody")
    assert (unknown.status_code, error_code(unknown)) == (404, "error.oidc-logout-provider-unknown")
    assert desk.send(None).status_code == 400
    twice = {"logout_token": [desk.token(), desk.token()]}
    answer = desk.api.app.test_client().post(f"{LOGOUTS}/company", data=twice)
    assert answer.status_code == 400


def test_a_token_is_not_refused_while_the_keys_cannot_be_fetched(
    desk: Desk, provider: HostileProvider
) -> None:
    provider.replies["/keys"] = Reply(b"", 503)
    refused = desk.send(desk.token())
    assert (refused.status_code, error_code(refused)) == (503, "error.oidc-unavailable")


def test_a_download_that_has_begun_ends(
    api: Api,
    people: People,
    provider: HostileProvider,
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(downloads, "WATCH_SECONDS", 0)
    login = log_in(people, provider, sid="s1")
    tenant = api.tenant(login)
    file = api.upload(tenant, login, "large.bin", os.urandom(4 * 1024 * 1024))["id"]
    headers = {"Authorization": f"Bearer {login.token}"}
    download = api.app.test_client().get(f"{tenant}/files/{file}/download", headers=headers)
    chunks = download.iter_encoded()
    received = len(next(chunks))
    assert desk.send(desk.token()).status_code == 200
    received += sum(map(len, chunks))
    download.close()
    assert received < int(download.headers["Content-Length"]) // 2
