"""The documents of a provider: kept, fetched again, and used while it is down."""

import time
from collections.abc import Iterator

import pytest

from strongroom.plugin_api.login import LoginRejected, LoginUnavailable

from .clients import Logins, logins
from .hostile import NOW, REMOVED, HostileProvider, Json, Reply, key, serving

DISCOVERY = "/.well-known/openid-configuration"
DAY = 24 * 60 * 60


@pytest.fixture
def provider() -> Iterator[HostileProvider]:
    with serving(HostileProvider()) as provider:
        yield provider


@pytest.fixture
def client(provider: HostileProvider) -> Iterator[Logins]:
    with logins(provider, {}, read_timeout=1.0) as client:
        yield client


def test_discovery_and_keys_are_fetched_once_a_day(provider: HostileProvider, client: Logins) -> None:
    for _ in range(3):
        client.log_in()
    assert (provider.requests.count(DISCOVERY), provider.requests.count("/keys")) == (1, 1)
    client.now = provider.now = NOW + DAY
    client.log_in()
    assert (provider.requests.count(DISCOVERY), provider.requests.count("/keys")) == (2, 2)


def test_a_new_key_of_the_provider_is_fetched(provider: HostileProvider, client: Logins) -> None:
    client.log_in()
    provider.signer = key("ES256 of tomorrow")
    provider.published.append(provider.signer)
    client.now = provider.now = NOW + 60
    client.log_in()
    assert provider.requests.count("/keys") == 2


def test_unknown_keys_are_looked_for_once_a_minute(provider: HostileProvider, client: Logins) -> None:
    provider.signer = key("ES256 of a stranger")
    for seconds in (0, 1, 59, 60, 61, 119):
        client.now = provider.now = NOW + seconds
        with pytest.raises(LoginRejected):
            client.log_in()
    assert provider.requests.count("/keys") == 2


def test_a_key_that_the_provider_has_withdrawn_counts_for_a_day(
    provider: HostileProvider, client: Logins
) -> None:
    client.log_in()
    provider.published = [key("RS256")]
    client.log_in()
    client.now = provider.now = NOW + DAY
    with pytest.raises(LoginRejected):
        client.log_in()


def test_old_documents_count_while_the_provider_is_down(
    provider: HostileProvider, client: Logins
) -> None:
    client.log_in()
    client.now = provider.now = NOW + 3 * DAY
    provider.replies = {path: Reply(b"", 503) for path in (DISCOVERY, "/keys")}
    for _ in range(3):
        assert client.log_in().credential.value == "company:ada"
    assert (provider.requests.count(DISCOVERY), provider.requests.count("/keys")) == (2, 2)
    client.now = provider.now = NOW + 3 * DAY + 60
    provider.replies = {}
    client.log_in()
    assert (provider.requests.count(DISCOVERY), provider.requests.count("/keys")) == (3, 3)


def test_a_provider_that_is_down_is_not_waited_for_by_each_login(
    provider: HostileProvider, client: Logins
) -> None:
    provider.replies = {DISCOVERY: Reply(b"", 503)}
    redirect = client.confirm()
    for seconds in (0, 1, 4):
        client.now = NOW + seconds
        with pytest.raises(LoginUnavailable):
            client.finish(redirect)
    assert provider.requests == [DISCOVERY]
    client.now = NOW + 5
    provider.replies = {}
    assert client.finish(redirect).credential.value == "company:ada"


def test_a_token_without_kid_is_verified_by_the_only_key(
    provider: HostileProvider, client: Logins
) -> None:
    provider.header = {"kid": REMOVED}
    provider.published = [key("ES256")]
    client.log_in()


@pytest.mark.parametrize(
    "unfit",
    [
        {"use": "enc"},
        {"alg": "ES512"},
        {"key_ops": ["encrypt"]},
        {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
    ],
    ids=["use", "alg", "key_ops", "kty"],
)
def test_a_key_for_something_else_is_not_mistaken_for_the_key_of_its_kid(
    provider: HostileProvider, client: Logins, unfit: Json
) -> None:
    honest = {
        name: value
        for name, value in key("ES256").as_dict(private=False).items()
        if name not in ("use", "alg", "key_ops")
    }
    provider.key_set = lambda: {"keys": [{**honest, **unfit}, honest]}
    assert client.log_in().credential.value == "company:ada"


def test_the_log_has_the_check_that_refused_an_answer(
    provider: HostileProvider, client: Logins, caplog: pytest.LogCaptureFixture
) -> None:
    provider.claims["aud"] = "another"
    with pytest.raises(LoginRejected):
        client.log_in()
    (record,) = [item for item in caplog.records if item.name.startswith("strongroom_login_oidc")]
    assert record.getMessage() == (
        "the answer of the provider company was refused: the token is for another client"
    )


class TestDoctor:
    def test_a_provider_with_valid_documents_has_no_fault(
        self, provider: HostileProvider, client: Logins
    ) -> None:
        client.now = time.time()
        assert list(client.method.faults()) == []

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ({"issuer": "https://evil.example"}, "the discovery document is one of another issuer"),
            ({"jwks_uri": "http://evil.example/"}, "jwks_uri of the discovery document must be"),
        ],
    )
    def test_an_invalid_discovery_document_is_a_fault(
        self, provider: HostileProvider, client: Logins, change: Json, fault: str
    ) -> None:
        client.now = time.time()
        provider.discovery = change
        (line,) = client.method.faults()
        assert line.startswith(f"provider company: {fault}")

    def test_a_provider_that_is_down_is_a_fault(self, provider: HostileProvider, client: Logins) -> None:
        provider.replies = {DISCOVERY: Reply(b"", 503)}
        assert list(client.method.faults()) == [
            "provider company: the discovery document has status 503"
        ]

    def test_a_wrong_issuer_url_is_a_fault(self, provider: HostileProvider, client: Logins) -> None:
        provider.replies = {DISCOVERY: Reply(b"", 404)}
        assert "has no discovery document; its URL is perhaps wrong" in next(
            iter(client.method.faults())
        )

    @pytest.mark.parametrize("seconds", [-100, 100])
    def test_clocks_that_differ_too_much_are_a_fault(self, client: Logins, seconds: int) -> None:
        client.now = time.time() + seconds
        (line,) = client.method.faults()
        assert line.startswith("provider company: the clocks differ by ")
