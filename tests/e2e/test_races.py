"""Single-use actions succeed once, with any number of processes and concurrent attempts."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.races import (
    Site,
    log_in_by_one_code,
    racing,
    refresh_by_one_token,
    register_by_one_code,
    reset_by_one_code,
    send_by_one_captcha,
    unbind_both,
)
from tests.support.campaign import campaign_size
from tests.support.http import at_once

pytestmark = pytest.mark.extended

WAYS = 32
GUESSERS = 64
ROUNDS = campaign_size("RACE_ROUNDS", 3)


@pytest.fixture
def login_failures() -> int:
    return 1000


@pytest.fixture
def site(tmp_path: Path, database_url: str, login_failures: int) -> Iterator[Site]:
    with racing(tmp_path, database_url, login_failures=login_failures) as site:
        yield site


def test_one_code_logs_in_once(site: Site) -> None:
    for number in range(ROUNDS):
        assert log_in_by_one_code(site, number, WAYS) == {200: 1, 401: WAYS - 1}


def test_one_captcha_sends_one_code(site: Site) -> None:
    for number in range(ROUNDS):
        assert send_by_one_captcha(site, number, WAYS) == {201: 1, 400: WAYS - 1}


def test_one_code_resets_one_password(site: Site) -> None:
    site.server.create_user("dave@example.com")
    for number in range(ROUNDS):
        assert reset_by_one_code(site, number, WAYS) == {200: 1, 400: WAYS - 1}


def test_one_code_registers_one_user(site: Site) -> None:
    for number in range(ROUNDS):
        assert register_by_one_code(site, number, WAYS) == {201: 1, 400: WAYS - 1}


def test_one_refresh_token_is_spent_once(site: Site) -> None:
    site.server.create_user("alice@example.com")
    for number in range(ROUNDS):
        assert refresh_by_one_token(site, number, WAYS) == {200: 1, 401: WAYS - 1}


def test_unbinding_both_at_one_moment_leaves_one(site: Site) -> None:
    for number in range(ROUNDS):
        answers, left = unbind_both(site, number)
        # The slower finds that it is the last, or that its code went with the address.
        assert answers in ([200, 409], [200, 400])
        assert left == 1


class TestGuessing:
    """Parallel guessers."""

    @pytest.fixture
    def login_failures(self) -> int:
        return 3

    def test_sixty_four_guessers_get_three_tries(self, site: Site) -> None:
        site.server.create_user("alice@example.com")
        bodies = [
            {"username": "alice@example.com", "password": f"Guess{n}Guess"} for n in range(GUESSERS)
        ]
        replies = at_once(
            [partial(site.caller.send, "POST", "/authorizations", body) for body in bodies]
        )
        assert Counter(reply.status for reply in replies) == {401: 3, 400: GUESSERS - 3}
