"""What may happen once happens once, whatever the number of processes and of attempts at one moment."""

import os
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import Caller, at_once
from tests.support.outbox import messages_in
from tests.support.server import Server, serving, write_config

WAYS = 32
GUESSERS = 64
ROUNDS = int(os.environ.get("STRONGROOM_TEST_RACE_ROUNDS", "3"))
PASSWORD = "Correct1Horse"

UNLIMITED = """
code_per_device = ["100000/second"]
code_per_recipient = ["100000/second"]
code_per_address = ["100000/second"]
[captcha]
provider = "fixed"
answer = "42"
"""


class Site:
    """A server with two processes, and what tests do with it."""

    def __init__(self, server: Server, data_dir: Path) -> None:
        self.server = server
        self.caller = Caller(server.url)
        self._data_dir = data_dir

    def captcha(self) -> dict[str, str]:
        return {"id": self.caller.send("POST", "/captchas", {}).json["id"], "answer": "42"}

    def code(self, recipient: str, purpose: str) -> dict[str, str]:
        body = {"recipient": recipient, "purpose": purpose, "captcha": self.captcha()}
        reply = self.caller.send("POST", "/verification-codes", body)
        assert reply.status == 201, reply
        return {"id": reply.json["id"], "code": messages_in(self._data_dir)[-1]["code"]}

    def log_in(self, username: str, password: str = PASSWORD) -> Caller:
        body = {"username": username, "password": password}
        return self.caller.bearing(self.caller.send("POST", "/authorizations", body).json["accessToken"])


@pytest.fixture
def login_failures() -> int:
    return 1000


@pytest.fixture
def site(tmp_path: Path, database_url: str, login_failures: int) -> Iterator[Site]:
    config = write_config(tmp_path, database_url, UNLIMITED)
    text = config.read_text()
    for old, new in (
        ('enabled = ["storage_local"]', 'enabled = ["storage_local", "login_sms"]'),
        ('methods = ["password"]', 'methods = ["password", "sms"]'),
        ("login_failures_before_captcha = 1000", f"login_failures_before_captcha = {login_failures}"),
    ):
        assert old in text
        text = text.replace(old, new)
    config.write_text(text)
    with serving(config) as server:
        yield Site(server, tmp_path / "data")


def statuses(send: Any, body: Any) -> Counter[int]:
    """Send one body many times at one moment, and count the answers."""
    return Counter(reply.status for reply in at_once([partial(send, body)] * WAYS))


def test_one_code_logs_in_once(site: Site) -> None:
    for number in range(ROUNDS):
        mobile = f"1380013800{number}"
        body = {"username": mobile, "verificationCode": site.code(mobile, "login")}
        send = partial(site.caller.send, "POST", "/authorizations")
        assert statuses(send, body) == {200: 1, 401: WAYS - 1}


def test_one_captcha_sends_one_code(site: Site) -> None:
    for _ in range(ROUNDS):
        body = {"recipient": "a@example.com", "purpose": "login", "captcha": site.captcha()}
        send = partial(site.caller.send, "POST", "/verification-codes")
        assert statuses(send, body) == {201: 1, 400: WAYS - 1}


def test_one_code_resets_one_password(site: Site) -> None:
    site.server.create_user("alice@example.com")
    for number in range(ROUNDS):
        code = site.code("alice@example.com", "reset-password")
        body = {"verificationCode": code, "newPassword": f"Another{number}Battery"}
        send = partial(site.caller.send, "POST", "/users/alice@example.com/reset-password")
        assert statuses(send, body) == {200: 1, 400: WAYS - 1}


def test_one_code_registers_one_user(site: Site) -> None:
    for number in range(ROUNDS):
        email = f"bob{number}@example.com"
        codes = [site.code(email, "register")]
        body = {"name": "Bob", "email": email, "password": PASSWORD, "verificationCodes": codes}
        assert statuses(partial(site.caller.send, "POST", "/users"), body) == {201: 1, 400: WAYS - 1}


def test_unbinding_both_at_one_moment_leaves_one(site: Site) -> None:
    for number in range(ROUNDS):
        email, mobile = f"carol{number}@example.com", f"1390013900{number}"
        site.server.create_user(email, PASSWORD, "--mobile", mobile)
        carol = site.log_in(email)
        codes = {kind: site.code(email, "unbind") for kind in ("emails", "mobiles")}
        replies = at_once(
            [
                partial(
                    carol.send,
                    "DELETE",
                    f"/users/me/{kind}",
                    X_Verification_Code=f"{code['id']}.{code['code']}",
                )
                for kind, code in codes.items()
            ]
        )
        # The slower finds that it is the last, or that its code went with the address.
        assert sorted(reply.status for reply in replies) in ([200, 409], [200, 400])
        left = carol.send("GET", "/users/me/credentials").json["credentials"]
        assert len(left) == 1


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
