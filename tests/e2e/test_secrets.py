"""After the whole life of a user, no secret is in the server's logs, files or responses."""

import base64
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from tests.support.config import Table
from tests.support.distributions import install
from tests.support.http import Caller, Reply
from tests.support.mail import MailServer, code_in
from tests.support.server import serving, write_config
from tests.support.traces import dump, raw_files, stands_in

# The password goes to this very machine.
pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")

EMAIL = "alice@example.com"
OLD, CHANGED, RESET = "Planted1Registered+Zebra", "Planted2Changed+Walrus", "Planted3Reset+Ocelot"
WRONG, WEAK = "Planted4Wrong+Lemur", "plantedweaklynx"
CAPTCHA, SECRET_KEY = "planted-captcha-answer", "planted-server-key-0123456789abcdefghijklmnop"
SMTP_PASSWORD = "planted-smtp-password"
WRONG_CODE = "planted-wrong-code"
TOO_LARGE = 1024 * 1024
BROKEN = (500, 503)  # depends on the kind of database

FIXED: Table = {"captcha": {"provider": "fixed", "answer": CAPTCHA}}
# Only the provider knows the digits of the image, so a derived provider records them.
IMAGE: Table = {"captcha": {"provider": "watched", "length": 8}}
WATCHED = f"""
import logging
from pathlib import Path
from strongroom.builtin.image_captcha import DigitsCaptcha
from strongroom.plugin_api import hookimpl
API_VERSION = "2.0"
class Watched(DigitsCaptcha):
    name = "watched"
    def issue(self):
        challenge = super().issue()
        logging.getLogger(__name__).warning("connecting with %s", {SMTP_PASSWORD!r})
        with Path(__file__).with_name("answers").open("a") as file:
            file.write(challenge.state + "\\n")
        return challenge
@hookimpl
def register_captcha_providers():
    return [Watched]
"""


def configured(mails: MailServer) -> Table:
    """Return the changes to the configuration; the mail is real, so that no outbox holds codes."""
    return {
        "server": {"secret_key": SECRET_KEY},
        # A used refresh token is refused at once.
        "tokens": {"refresh_reuse_seconds": 0},
        "plugins": {"enabled": ["storage_local", "watched"]},
        "limits": {
            "code_per_device": ["1000/second"],
            "code_per_recipient": ["1000/second"],
            "code_per_address": ["1000/second"],
        },
        "logging": {"format": "json", "level": "info", "requests": True},
        "messages": {
            "email": ["smtp"],
            "smtp": {
                "host": "127.0.0.1",
                "port": mails.port,
                "sender": "Strongroom <no-reply@example.com>",
                "encryption": "none",
                "username": "strongroom",
                "password": SMTP_PASSWORD,
            },
        },
    }


@dataclass
class Life:
    """A user's requests, their secrets, and the refusals of the server."""

    caller: Caller
    mails: MailServer
    answers: Path
    secrets: list[str] = field(
        default_factory=lambda: [
            *(OLD, CHANGED, RESET, WRONG, WEAK),
            *(CAPTCHA, SECRET_KEY, SMTP_PASSWORD, WRONG_CODE),
        ]
    )
    refusals: list[Reply] = field(default_factory=list)

    def send(
        self,
        status: int | tuple[int, ...],
        method: str,
        path: str,
        body: Any = None,
        by: str | None = None,
        **headers: str,
    ) -> Any:
        """Send a request, and require its status."""
        content = body if body is None or isinstance(body, str) else json.dumps(body)
        caller = self.caller.bearing(by) if by else self.caller
        reply = caller.send_text(method, path, content, **headers)
        wanted = status if isinstance(status, tuple) else (status,)
        assert reply.status in wanted, (method, reply)
        if reply.status >= 400:
            self.refusals.append(reply)
        return reply.json

    def captcha(self) -> dict[str, str]:
        """Get a captcha with its answer."""
        issued = self.send(201, "POST", "/captchas", {})["id"]
        answer = self.answers.read_text().split()[-1] if self.answers.exists() else CAPTCHA
        self.secrets.append(answer)
        return {"id": issued, "answer": answer}

    def code(self, purpose: str) -> dict[str, str]:
        """Get a code by mail."""
        body = {"recipient": EMAIL, "purpose": purpose, "captcha": self.captcha()}
        arrived = len(self.mailed_codes())
        sent = self.send(201, "POST", "/verification-codes", body)
        code = code_in(self.mailed_codes, arrived + 1)
        self.secrets.append(code)
        return {"id": sent["id"], "code": code}

    def mailed_codes(self) -> list[str]:
        """Return the mails that bring codes; notices come at times of their own."""
        return [said for said in self.mails.texts(EMAIL) if "nter this code" in said]

    def log_in(self, password: str) -> tuple[str, str]:
        """Log in and return both tokens."""
        body = {"username": EMAIL, "password": password}
        return self._tokens(self.send(200, "POST", "/authorizations", body))

    def refresh(self, token: str) -> tuple[str, str]:
        """Spend a refresh token and return both new ones."""
        return self._tokens(self.send(200, "POST", "/authorizations/refresh", {"refreshToken": token}))

    def _tokens(self, issued: Any) -> tuple[str, str]:
        access, refresh = issued["accessToken"], issued["refreshToken"]
        # Without its signature an access token is worth nothing: that is the part to look for, too.
        self.secrets += [access, access.rpartition(".")[2], refresh]
        return access, refresh


def register(life: Life) -> None:
    """Register, at first wrongly."""
    user = {"name": "Alice", "email": EMAIL, "password": OLD}
    code = life.code("register")
    wrong = {"id": code["id"], "code": WRONG_CODE}
    life.send(400, "POST", "/users", {**user, "verificationCodes": [wrong]})
    life.send(400, "POST", "/users", {**user, "password": WEAK, "verificationCodes": [code]})
    life.send(201, "POST", "/users", {**user, "verificationCodes": [life.code("register")]})
    life.send(409, "POST", "/users", {**user, "verificationCodes": [life.code("register")]})


def use_tokens(life: Life) -> None:
    """Log in, refresh and log out, well and badly."""
    life.send(401, "POST", "/authorizations", {"username": EMAIL, "password": WRONG})
    access, refresh = life.log_in(OLD)
    life.send(401, "GET", "/users/me", by=access[:-4])
    access, _ = life.refresh(refresh)
    life.send(401, "POST", "/authorizations/refresh", {"refreshToken": refresh})
    life.send(401, "GET", "/users/me", by=access)
    access, _ = life.log_in(OLD)
    life.send(404, "GET", f"/no-such-place/{access}", by=access)
    life.send(404, "GET", f"/files/{access}", by=access)
    life.send(405, "PATCH", f"/authorizations/{access}", {}, by=access)
    life.send(200, "DELETE", f"/authorizations/{access}")
    life.send(401, "DELETE", "/authorizations/current", by=access)


def change_password(life: Life) -> None:
    """Change the password, at first wrongly."""
    access, _ = life.log_in(OLD)
    path = "/users/me/password"
    life.send(400, "PUT", path, {"oldPassword": WRONG, "newPassword": CHANGED}, by=access)
    life.send(400, "PUT", path, {"oldPassword": OLD, "newPassword": WEAK}, by=access)
    life.send(200, "PUT", path, {"oldPassword": OLD, "newPassword": CHANGED}, by=access)


def reset_password(life: Life) -> None:
    """Reset the password, at first wrongly, and log out."""
    path = f"/users/{EMAIL}/reset-password"
    code = life.code("reset-password")
    wrong = {"id": code["id"], "code": WRONG_CODE}
    life.send(400, "POST", path, {"verificationCode": wrong, "newPassword": RESET})
    life.send(200, "POST", path, {"verificationCode": code, "newPassword": RESET})
    access, _ = life.log_in(RESET)
    life.send(200, "DELETE", "/authorizations/current", by=access)


def send_nonsense(life: Life) -> None:
    """Send what cannot be understood, with secrets in it."""
    login = {"username": EMAIL, "password": RESET}
    life.send(400, "POST", "/authorizations", json.dumps(login)[:-1])
    life.send(413, "POST", "/authorizations", {**login, "more": "x" * TOO_LARGE})
    life.send(400, "POST", "/authorizations", {**login, "secondPassword": RESET})
    life.send(400, "POST", "/authorizations", {"username": [RESET], "password": {"a": RESET}})
    captcha = life.captcha()
    captcha["answer"] += "!"
    body = {"recipient": EMAIL, "purpose": CAPTCHA, "captcha": captcha}
    life.send(400, "POST", "/verification-codes", body)
    life.send(400, "POST", "/verification-codes", {**body, "purpose": "register"})


def break_down(life: Life, database_url: str, tokens: tuple[str, str]) -> None:
    """Drop tables, so that unexpected errors are logged with all their details."""
    code = life.code("reset-password")
    tables = ("credentials", "verification_codes", "authorizations", "refresh_tokens")
    engine = create_engine(database_url)
    with engine.begin() as connection:
        known = [name for name in tables if engine.dialect.has_table(connection, name)]
        for name in known:
            connection.execute(text(f"ALTER TABLE {name} RENAME TO {name}_away"))
    access, refresh = tokens
    life.send(BROKEN, "POST", "/authorizations", {"username": EMAIL, "password": RESET})
    life.send(BROKEN, "POST", "/authorizations/refresh", {"refreshToken": refresh})
    life.send(BROKEN, "GET", "/users/me", by=access)
    life.send(BROKEN, "DELETE", f"/authorizations/{access}")
    body = {"verificationCode": code, "newPassword": RESET}
    life.send(BROKEN, "POST", f"/users/{EMAIL}/reset-password", body)
    engine.dispose()


@dataclass
class Remains:
    """The traces of a stopped server."""

    secrets: list[str]
    places: dict[str, str]


@pytest.fixture
def captcha() -> Table:
    return FIXED


@pytest.fixture
def remains(
    tmp_path: Path, database_url: str, captcha: Table, monkeypatch: pytest.MonkeyPatch
) -> Remains:
    output, site = tmp_path / "output", tmp_path / "site"
    site.mkdir()
    install(site, "watched", WATCHED)
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
    with MailServer(SMTP_PASSWORD).serving() as mails:
        config = write_config(tmp_path, database_url, configured(mails), captcha)
        with serving(config, output) as server:
            life = Life(Caller(server.url), mails, site / "answers")
            for act in (register, use_tokens, change_password, reset_password, send_nonsense):
                act(life)
            tokens = life.log_in(RESET)
            # One that is still open stands in its table.
            life.captcha()
            places = raw_files(database_url, "running") | dump(database_url)
            break_down(life, database_url, tokens)
    places |= raw_files(database_url, "stopped")
    places["output"] = output.read_text()
    places |= {f"refusal {i}": json.dumps(reply.json) for i, reply in enumerate(life.refusals)}
    # Headers are answers as well.
    places["headers"] = json.dumps([reply.headers for reply in life.refusals])
    return Remains(life.secrets, places)


@pytest.mark.parametrize("captcha", [FIXED, IMAGE], ids=["fixed", "image"])
def test_no_secret_stands_in_output_tables_or_refusals(remains: Remains) -> None:
    found = [
        (secret, name)
        for name, place in remains.places.items()
        for secret in remains.secrets
        if stands_in(secret, place)
    ]
    assert found == []


def test_the_searched_files_contain_known_values(remains: Remains) -> None:
    # Otherwise nothing would be found however much stood there.
    assert EMAIL in remains.places["credentials"]
    assert "strongroom: serving" in remains.places["output"]
    assert "error.malformed-request" in "".join(remains.places.values())
    assert len(remains.secrets) > 20


@pytest.mark.parametrize("captcha", [IMAGE], ids=["image"])
def test_the_answer_of_an_open_captcha_is_sealed(remains: Remains) -> None:
    answers = [secret for secret in remains.secrets if re.fullmatch("[0-9]{8}", secret)]
    (sealed,) = [line for line in remains.places["captchas"].splitlines() if line.startswith("eyJ")]
    header = json.loads(base64.urlsafe_b64decode(sealed.split(".")[0] + "=="))
    assert header == {"alg": "dir", "enc": "A256GCM"}
    assert answers
    assert not any(stands_in(answer, sealed) for answer in answers)
