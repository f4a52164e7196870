"""Races: what may happen once, done many times at one moment, and how that was answered."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.config import FIXED_CAPTCHA, SMS_LOGIN, lifted
from tests.support.http import Caller, Reply, at_once
from tests.support.outbox import messages_in
from tests.support.server import Server, serving, write_config

PASSWORD = "Correct1Horse"

UNLIMITED = lifted(
    "code_per_device",
    "code_per_recipient",
    "code_per_address",
    "login_per_address",
    "captchas_per_address",
    "register_per_address",
    "reset_per_address",
)


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

    def log_in(self, username: str, password: str = PASSWORD) -> Any:
        body = {"username": username, "password": password}
        return self.caller.send("POST", "/authorizations", body).json


@contextmanager
def racing(
    folder: Path, database_url: str, *, plugins: tuple[str, ...] = (), login_failures: int = 1000
) -> Iterator[Site]:
    """Serve by two processes, with SMS login and without limits."""
    enabled = {"plugins": {"enabled": ["storage_local", "login_sms", *plugins]}}
    failures = {"limits": {"login_failures_before_captcha": login_failures}}
    # A race has one winner only if a second use of a refresh token is refused at once.
    single_use = {"tokens": {"refresh_reuse_seconds": 0}}
    changes = (UNLIMITED, FIXED_CAPTCHA, SMS_LOGIN, enabled, failures, single_use)
    config = write_config(folder, database_url, *changes)
    with serving(config) as server:
        yield Site(server, folder / "data")


def statuses(send: Callable[[Any], Reply], body: Any, ways: int) -> Counter[int]:
    """Send one body many times at one moment, and count the answers."""
    return Counter(reply.status for reply in at_once([partial(send, body)] * ways))


def log_in_by_one_code(site: Site, number: int, ways: int) -> Counter[int]:
    mobile = f"138001{number:05}"
    body = {"username": mobile, "verificationCode": site.code(mobile, "login")}
    return statuses(partial(site.caller.send, "POST", "/authorizations"), body, ways)


def send_by_one_captcha(site: Site, number: int, ways: int) -> Counter[int]:
    body = {"recipient": "a@example.com", "purpose": "register", "captcha": site.captcha()}
    return statuses(partial(site.caller.send, "POST", "/verification-codes"), body, ways)


def reset_by_one_code(site: Site, number: int, ways: int) -> Counter[int]:
    """The password is dave's, who is there already."""
    code = site.code("dave@example.com", "reset-password")
    body = {"verificationCode": code, "newPassword": f"Another{number}Battery"}
    path = "/users/dave@example.com/reset-password"
    return statuses(partial(site.caller.send, "POST", path), body, ways)


def register_by_one_code(site: Site, number: int, ways: int) -> Counter[int]:
    email = f"bob{number}@example.com"
    codes = [site.code(email, "register")]
    body = {"name": "Bob", "email": email, "password": PASSWORD, "verificationCodes": codes}
    return statuses(partial(site.caller.send, "POST", "/users"), body, ways)


def refresh_by_one_token(site: Site, number: int, ways: int) -> Counter[int]:
    """The token is alice's, who is there already."""
    body = {"refreshToken": site.log_in("alice@example.com")["refreshToken"]}
    return statuses(partial(site.caller.send, "POST", "/authorizations/refresh"), body, ways)


def unbind_both(site: Site, number: int) -> tuple[list[int], int]:
    """Unbind address and number at one moment; return the answers, and how many of the two are left."""
    email, mobile = f"carol{number}@example.com", f"139001{number:05}"
    site.server.create_user(email, PASSWORD, "--mobile", mobile)
    carol = site.caller.bearing(site.log_in(email)["accessToken"])
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
    left = carol.send("GET", "/users/me/credentials").json["data"]
    return sorted(reply.status for reply in replies), len(left)
