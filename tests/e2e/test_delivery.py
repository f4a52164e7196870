"""Verification codes reach users through real senders, and are accepted."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from strongroom.testing.server import free_port
from strongroom_simulators.sms import SmsSimulator
from tests.support.config import FIXED_CAPTCHA, SMS_LOGIN, Table
from tests.support.databases import SqliteDatabases
from tests.support.http import Caller
from tests.support.mail import MailServer, code_in
from tests.support.server import serving, write_config
from tests.support.waiting import wait_until

EMAIL, MOBILE, PASSWORD = "alice@example.com", "13800138000", "Correct1Horse"

ZH_BIND = (
    "请输入以下验证码，将此邮箱地址绑定到您的账号：\n\n{code}\n\n"
    "请求来源：未知设备, 127.0.0.1\n\n"
    "验证码 5 分钟内有效，仅可使用一次，请勿告诉他人。如非本人操作，请忽略此邮件。"
)
TEXTS = {
    "en/register.txt": "Subject: Welcome to Acme\n\nYour code: $code. $$5 off, for $minutes minutes.\n",
    "zh/register.txt": "Subject: 欢迎\n\nAcme 验证码:$code\n\n请勿告诉他人。\n",
    ".hidden": "what an editor leaves behind",
}


@dataclass
class Site:
    """A server, and the messages of its senders."""

    caller: Caller
    mails: MailServer
    phones: SmsSimulator
    database_url: str

    def request_code(self, recipient: str, purpose: str, **headers: str) -> str:
        """Request a code and return its id."""
        captcha = {"id": self.caller.send("POST", "/captchas", {}).json["id"], "answer": "42"}
        body = {"recipient": recipient, "purpose": purpose, "captcha": captcha}
        reply = self.caller.send("POST", "/verification-codes", body, **headers)
        assert reply.status == 201, reply
        return str(reply.json["id"])

    def emailed(self, purpose: str) -> dict[str, str]:
        """Return a code that came by e-mail."""
        return {
            "id": self.request_code(EMAIL, purpose),
            "code": code_in(lambda: self.mails.texts(EMAIL)),
        }

    def texted(self, purpose: str) -> dict[str, str]:
        """Return a code that came by SMS."""
        return {"id": self.request_code(MOBILE, purpose), "code": code_in(self.shown_texts)}

    def shown_texts(self) -> list[str]:
        """Return the message on the phone."""
        deliveries = self.phones.gateway.deliveries
        return [item.text for item in deliveries if item.recipient == f"+86{MOBILE}"]

    def log_in(self, **proof: Any) -> int:
        """Log in with some proof and return the status."""
        return self.caller.send("POST", "/authorizations", proof).status

    def records(self) -> list[tuple[str, ...]]:
        """Return the channel, sender and outcome of each message."""
        engine = create_engine(self.database_url)
        with engine.connect() as connection:
            rows = connection.execute(text("SELECT channel, sender, outcome FROM sent_messages"))
            found = [tuple(row) for row in rows]
        engine.dispose()
        return found


@pytest.fixture
def sms_senders() -> list[str]:
    return ["aliyun_sms"]


@pytest.fixture
def texts() -> dict[str, str]:
    """Files of texts, by their names."""
    return {}


def messages(mails: MailServer, phones: SmsSimulator, sms_senders: list[str]) -> Table:
    """Return the configuration of senders; the plain HTTP gateway is unreachable."""
    template = "SMS_100000001"
    senders = {
        "smtp": {
            "host": "127.0.0.1",
            "port": mails.port,
            "sender": "Strongroom <no-reply@example.com>",
            "encryption": "none",
        },
        "aliyun_sms": {
            "access_key_id": "simulator",
            "access_key_secret": "simulator-secret",
            "sign_name": "Strongroom",
            "endpoint": phones.endpoint,
            "protocol": "http",
            "templates": {"login": template, "register": template},
        },
        "http_sms": {
            "url": f"http://127.0.0.1:{free_port()}/",
            "body": '{"to": "{recipient}", "text": "{text}"}',
        },
    }
    used = {name: senders[name] for name in ("smtp", "aliyun_sms", *sms_senders)}
    return {"email": ["smtp"], "sms": sms_senders, **used}


@pytest.fixture
def site(
    tmp_path: Path, sqlite_databases: SqliteDatabases, sms_senders: list[str], texts: dict[str, str]
) -> Iterator[Site]:
    folder = tmp_path / "texts"
    for name, content in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    with sqlite_databases.create() as url, MailServer().serving() as mails, SmsSimulator() as phones:
        changes: Table = {
            "plugins": {"enabled": ["storage_local", "login_sms", "sms_aliyun"]},
            "messages": messages(mails, phones, sms_senders),
        }
        if texts:
            changes["messages"]["templates_dir"] = str(folder)
        with serving(write_config(tmp_path, url, FIXED_CAPTCHA, SMS_LOGIN, changes)) as server:
            yield Site(Caller(server.url), mails, phones, url)


def test_a_code_that_comes_by_mail_registers_a_user(site: Site) -> None:
    codes = [site.emailed("register")]
    user = {"name": "Alice", "email": EMAIL, "password": PASSWORD, "verificationCodes": codes}
    assert site.caller.send("POST", "/users", user).status == 201
    assert site.log_in(username=EMAIL, password=PASSWORD) == 200


def test_the_subject_of_a_mail_has_its_purpose(site: Site) -> None:
    code = site.emailed("register")["code"]
    (mail,) = site.mails.arrived
    subject = f"{code} confirms your address for Strongroom"
    assert (mail.recipient, mail.subject) == (EMAIL, subject)
    assert mail.text.splitlines()[:3] == ["Enter this code to create your account:", "", code]
    assert mail.html.startswith("<!doctype html>")
    assert f">{code}</p>" in mail.html


def test_a_code_that_comes_by_sms_logs_in(site: Site) -> None:
    code = site.texted("login")
    assert site.log_in(username=MOBILE, verificationCode=code) == 200
    assert site.log_in(username=MOBILE, verificationCode=code) == 401


def test_a_code_that_comes_by_sms_registers_a_user(site: Site) -> None:
    codes = [site.texted("register")]
    user = {"name": "Alice", "mobile": MOBILE, "password": PASSWORD, "verificationCodes": codes}
    assert site.caller.send("POST", "/users", user).status == 201
    assert site.log_in(username=MOBILE, password=PASSWORD) == 200


class TestOwnTexts:
    """The deployer has put texts in the place of some of those that ship."""

    @pytest.fixture
    def texts(self) -> dict[str, str]:
        return TEXTS

    @pytest.mark.parametrize(
        ("language", "purpose", "subject", "text"),
        [
            ("en", "register", "Welcome to Acme", "Your code: {code}. $5 off, for 5 minutes."),
            ("zh-CN", "register", "欢迎", "Acme 验证码:{code}\n\n请勿告诉他人。"),
            (
                "zh",
                "bind",
                "{code} 是您在 Strongroom 的邮箱验证码",
                ZH_BIND,
            ),
        ],
    )
    def test_they_are_mailed_and_the_others_are_those_that_ship(
        self, site: Site, language: str, purpose: str, subject: str, text: str
    ) -> None:
        site.request_code(EMAIL, purpose, Accept_Language=language)
        code = code_in(lambda: site.mails.texts(EMAIL))
        (mail,) = site.mails.arrived
        assert mail.subject == subject.format(code=code)
        # Mail ends its lines in its own way.
        assert mail.text.splitlines() == text.format(code=code).splitlines()


class TestFailOver:
    """The first gateway cannot be reached."""

    @pytest.fixture
    def sms_senders(self) -> list[str]:
        return ["http_sms", "aliyun_sms"]

    def test_the_second_sender_delivers_once(self, site: Site) -> None:
        code = site.texted("login")
        assert site.log_in(username=MOBILE, verificationCode=code) == 200
        assert len(site.shown_texts()) == 1
        # Recorded after the gateway has answered.
        sent = [("sms", "aliyun_sms", "sent")]
        wait_until(lambda: site.records() == sent, seen=site.records)
