"""Floods of requests that would cost a password hash do not delay logins and short requests."""

import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from threading import Event
from typing import Any

import bcrypt
import pytest

from tests.support.campaign import campaign_size
from tests.support.config import lifted
from tests.support.http import Caller
from tests.support.server import Server

CONNECTIONS = 64
LOGINS = campaign_size("FLOOD_LOGINS", 3)
# When the floods were hashed, a login took as long as 40 to 120 hashes.
LOGIN_HASHES, SHORT_HASHES = 32, 12
COST = 12

CODE = {"id": "01a1fd35-41a4-7159-832d-f9df39268981", "code": "000000"}
FLOODS: dict[str, tuple[str, dict[str, Any]]] = {
    "resets": (
        "/users/alice@example.com/reset-password",
        {"verificationCode": CODE, "newPassword": "Another2Battery"},
    ),
    "registrations": (
        "/users",
        {
            "name": "Bot",
            "email": "bot@example.com",
            "password": "Another2Battery",
            "verificationCodes": [CODE],
        },
    ),
}


pytestmark = [
    pytest.mark.config(
        {
            **lifted("register_per_address", "reset_per_address", "unknown_codes_per_address"),
            "passwords": {"bcrypt_cost": COST},
        }
    ),
    pytest.mark.extended,
]


def hash_seconds() -> float:
    """Return the processor time of a hash on this machine."""
    began = time.thread_time()
    bcrypt.hashpw(b"Correct1Horse", bcrypt.gensalt(COST))
    return time.thread_time() - began


def seconds(caller: Caller, method: str, path: str, body: Any = None) -> float:
    """Return how long a request takes that must succeed."""
    began = time.monotonic()
    assert caller.send(method, path, body).status == 200
    return time.monotonic() - began


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_without_proofs_delays_no_login(shared_server: Server, flood: str) -> None:
    path, body = FLOODS[flood]
    caller, over = Caller(shared_server.url), Event()

    def attack() -> set[int]:
        statuses = set()
        while not over.is_set():
            statuses.add(caller.send("POST", path, body).status)
        return statuses

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        attacks = [pool.submit(attack) for _ in range(CONNECTIONS)]
        try:
            login = {"username": "alice@example.com", "password": "Correct1Horse"}
            logins = [seconds(caller, "POST", "/authorizations", login) for _ in range(LOGINS)]
            short = [seconds(caller, "GET", "/livez") for _ in range(LOGINS)]
        finally:
            over.set()
    assert set.union(*(attack.result() for attack in attacks)) == {400}
    # The middle one, because a busy machine may pause any of them.
    one = hash_seconds()
    assert median(logins) < LOGIN_HASHES * one, logins
    assert median(short) < SHORT_HASHES * one, short
