"""What users do with their own account: registration, passwords, restored contacts, passkeys."""

import re
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from strongroom.testing.server import PASSWORD, LiveServer
from strongroom_client import Client, errors_by_code
from strongroom_client.models import NewUser, User, VerificationCode
from strongroom_simulators.passkeys.authenticator import SoftwareAuthenticator

NEW_PASSWORD = "Another2Horse"


def a_name() -> str:
    return f"u{secrets.token_hex(8)}"


def solve(captcha: Mapping[str, Any]) -> str:
    assert captcha["id"]
    return "42"


@pytest.fixture
def visitor(server: LiveServer) -> Iterator[Client]:
    """A client without a login."""
    with Client(server.url, captcha=solve) as client:
        yield client


def code_of(server: LiveServer, recipient: str) -> str:
    codes = [each["code"] for each in server.messages() if each.get("code") and recipient in str(each)]
    return codes[-1]


def registered(server: LiveServer, visitor: Client) -> User:
    """Register a user with an e-mail address, by the code that was sent to it."""
    email = f"{a_name()}@example.com"
    sent = visitor.accounts.send_code(email, "register")
    code = VerificationCode(id=sent.id, code=code_of(server, email))
    new = NewUser(name="Anna", email=email, password=PASSWORD, verification_codes=[code])
    return visitor.accounts.register(new)


def test_a_visitor_registers_with_a_code_or_a_captcha(server: LiveServer, visitor: Client) -> None:
    user = registered(server, visitor)
    assert user.email_verified
    assert visitor.log_in(str(user.email), PASSWORD).id == user.id
    named = NewUser(name="Ben", username=a_name(), password=PASSWORD)
    assert visitor.accounts.register(named).username == named.username
    with Client(server.url) as careless, pytest.raises(errors_by_code.CaptchaRequired):
        careless.accounts.register(NewUser(name="Ben", username=a_name(), password=PASSWORD))


def test_a_refused_code_is_not_requested_again_with_the_used_captcha(
    server: LiveServer, visitor: Client
) -> None:
    email = str(registered(server, visitor).email)
    with pytest.raises(errors_by_code.TooManyRequests) as raised:
        visitor.accounts.send_code(email, "reset-password")
    assert raised.value.retry_after


def test_a_forgotten_password_is_reset_with_a_code(
    server: LiveServer, visitor: Client, administrator: Client
) -> None:
    email = f"{a_name()}@example.com"
    administrator.users.create(NewUser(name="Anna", email=email, email_verified=True, password=PASSWORD))
    sent = visitor.accounts.send_code(email, "reset-password")
    wrong, right = (VerificationCode(id=sent.id, code=code) for code in ("x", code_of(server, email)))
    with pytest.raises(errors_by_code.CodeInvalid):
        visitor.accounts.reset_password(email, wrong, NEW_PASSWORD)
    visitor.accounts.reset_password(email, right, NEW_PASSWORD)
    with pytest.raises(errors_by_code.InvalidCredentials):
        visitor.log_in(email, PASSWORD)
    visitor.log_in(email, NEW_PASSWORD)


def test_the_link_in_the_notice_of_a_changed_contact_restores_it(
    server: LiveServer, visitor: Client, administrator: Client
) -> None:
    user = registered(server, visitor)
    email, other = str(user.email), f"{a_name()}@example.com"
    administrator.users.set_contact(user.id, "email", other)
    notices = [str(each) for each in server.messages() if email in str(each)]
    token = re.findall(r"/account/restore/([\w-]+)", " ".join(notices))[-1]
    preview = visitor.accounts.preview_restoration(token)
    assert (preview.kind, preview.former.partition("@")[2]) == ("email", "example.com")
    visitor.accounts.restore_contact(token, NEW_PASSWORD)
    visitor.log_in(email, NEW_PASSWORD)
    assert visitor.me().email == email
    with pytest.raises(errors_by_code.ContactLinkInvalid):
        visitor.accounts.restore_contact(token, NEW_PASSWORD)


def test_an_authenticator_of_the_program_has_passkeys(server: LiveServer, visitor: Client) -> None:
    user = registered(server, visitor)
    device = SoftwareAuthenticator(server.url.replace("127.0.0.1", "localhost"))
    visitor.log_in(str(user.email), PASSWORD)
    added = visitor.accounts.add_passkey(device.create, "Laptop")
    renamed = visitor.accounts.rename_passkey(added.id, "Desktop")
    assert [passkey.name for passkey in visitor.accounts.passkeys()] == [renamed.name] == ["Desktop"]
    visitor.log_out()
    assert visitor.log_in_by_passkey(device.get).id == user.id
    assert visitor.me().id == user.id
    visitor.accounts.remove_passkey(added.id)
    with pytest.raises(errors_by_code.InvalidCredentials):
        visitor.log_in_by_passkey(device.get)
