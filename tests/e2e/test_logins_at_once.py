"""Logins at once, on two processes and on two nodes: right passwords pass, guesses stay limited."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from strongroom.assembly.container import build
from strongroom.foundation.caller import Origin
from strongroom.foundation.config import load
from strongroom.identity.accounts.registration import Registration, RegistrationService
from tests.support.campaign import campaign_size
from tests.support.config import Table, lifted
from tests.support.databases import PostgresqlDatabases
from tests.support.http import Caller, Reply, at_once
from tests.support.redis import RedisServer
from tests.support.server import Server, serving, serving_nodes, write_config

PASSWORD = "Correct1Horse"
FREE, FREE_PER_ADDRESS = 3, 30
LOGINS, COLLEAGUES, GUESSERS = 16, 50, 64
ROUNDS = campaign_size("GUESSING_ROUNDS", 2)

LIMITS: Table = {
    "limits": {
        **lifted("login_per_address", "captchas_per_address")["limits"],
        "login_failures_before_captcha": FREE,
        "login_failures_per_address_before_captcha": FREE_PER_ADDRESS,
    },
    # A hash takes long enough for logins to overlap.
    "passwords": {"bcrypt_cost": 9},
    # Each guesser has an address of its own, so that only the limit per name refuses it.
    "server": {"trusted_proxies": ["127.0.0.1/32"]},
}


class Site:
    """The processes that share the limits."""

    def __init__(self, *nodes: Server) -> None:
        self.callers = [Caller(node.url) for node in nodes]
        self._config = nodes[0].config

    def create_users(self, emails: Sequence[str]) -> None:
        """Create users in one process; a command for each one takes longer than all logins."""
        with closing(build(load(self._config, os.environ))) as container:
            for email in emails:
                user = Registration(name=email, password=PASSWORD, email=email)
                container.get(RegistrationService).create(user, Origin())

    def log_in(self, number: int, email: str, password: str, address: str) -> Reply:
        """Log in on one of the nodes, by number."""
        caller = self.callers[number % len(self.callers)]
        body = {"username": email, "password": password}
        return caller.send("POST", "/authorizations", body, X_Forwarded_For=address)


@contextmanager
def two_processes(folder: Path, _servers: PostgresqlDatabases) -> Iterator[Site]:
    changes: Table = {"server": {"workers": 2}}
    url = f"sqlite:///{folder / 'data.sqlite3'}"
    with serving(write_config(folder, url, LIMITS, changes)) as server:
        yield Site(server)


@contextmanager
def two_nodes(folder: Path, servers: PostgresqlDatabases) -> Iterator[Site]:
    servers.execute("CREATE DATABASE logins")
    with RedisServer.serving(folder) as redis:
        changes: Table = {"redis": {"url": redis.url}, "server": {"workers": 2}}
        with serving_nodes(folder, servers.url("logins"), LIMITS, changes) as nodes:
            yield Site(*nodes)
    servers.execute("DROP DATABASE logins WITH (FORCE)")


@pytest.fixture(scope="module", params=[two_processes, two_nodes])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    servers = request.getfixturevalue("postgresql_databases") if request.param is two_nodes else None
    with request.param(tmp_path_factory.mktemp("logins"), servers) as site:
        yield site


def test_right_passwords_of_one_user_at_once_all_pass(site: Site) -> None:
    site.create_users(["alice@example.com"])
    logins = [
        partial(site.log_in, number, "alice@example.com", PASSWORD, "192.0.2.1")
        for number in range(LOGINS)
    ]
    assert Counter(reply.status for reply in at_once(logins)) == {200: LOGINS}


def test_the_users_of_one_address_at_once_all_pass(site: Site) -> None:
    emails = [f"user{number}@example.com" for number in range(COLLEAGUES)]
    site.create_users(emails)
    logins = [
        partial(site.log_in, number, email, PASSWORD, "192.0.2.2") for number, email in enumerate(emails)
    ]
    assert Counter(reply.status for reply in at_once(logins)) == {200: COLLEAGUES}


def assert_evaluated(guesses: Sequence[Reply], limit: int) -> None:
    """Require that so many guesses were evaluated, and that the others need a captcha."""
    statuses = Counter(guess.status for guess in guesses)
    # On a busy machine, the hashes take longer than a login waits for them.
    assert statuses[401] == limit, statuses
    assert statuses.keys() <= {401, 400, 503}, statuses


def test_guessers_at_once_get_three_tries_of_a_name(site: Site) -> None:
    for round_ in range(ROUNDS):
        email = f"victim{round_}@example.com"
        guesses = [
            partial(site.log_in, number, email, f"Guess{number}Guess", f"198.51.{round_ % 100}.{number}")
            for number in range(GUESSERS)
        ]
        assert_evaluated(at_once(guesses), FREE)


def test_guessers_at_once_get_thirty_tries_from_an_address(site: Site) -> None:
    for round_ in range(ROUNDS):
        guesses = [
            partial(
                site.log_in,
                number,
                f"name{round_}-{number}@example.com",
                "Guess1Guess",
                f"203.0.{round_ % 100}.1",
            )
            for number in range(GUESSERS)
        ]
        assert_evaluated(at_once(guesses), FREE_PER_ADDRESS)
