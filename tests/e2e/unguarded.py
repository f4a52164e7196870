"""A plugin for tests: takes guards away while a server runs, one at a time, so that races are lost.

Instead of its guard, each action does what looks as good: it looks first, and acts afterwards. Between
the two it waits for another who has looked as well.
"""

import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, delete, select, update

from strongroom.foundation.errors import CaptchaInvalid
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.verification.captchas import CaptchaAnswer, CaptchaService, captchas
from strongroom.identity.verification.codes import CodeService, Purpose, verification_codes
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.login import Credential, VerificationCode

API_VERSION = "2.0"

FOLDER = Path(__file__).parent / "without"
"""Holds a file for each guard that is taken away."""

WAIT_SECONDS = 60

_spend_code = CodeService.consume
_spend_captcha = CaptchaService.consume
_lock_user = CredentialService.lock_user
_release = CredentialService.release


@hookimpl
def register_captcha_providers() -> list[type[CaptchaProvider[Any]]]:
    CodeService.consume = spend_code  # type: ignore[method-assign]  # that is the point
    CaptchaService.consume = spend_captcha  # type: ignore[method-assign]
    CredentialService.lock_user = lock_user  # type: ignore[method-assign]
    CredentialService.release = release  # type: ignore[method-assign]
    return []


def is_kept(guard: str) -> bool:
    return not (FOLDER / guard).exists()


def meet() -> None:
    """Wait until another request is here as well, up to a time limit."""
    (FOLDER / f"arrived-{uuid4().hex}").touch()
    deadline = time.monotonic() + WAIT_SECONDS
    while len(list(FOLDER.glob("arrived-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.005)


def spend_code(
    self: CodeService,
    code: VerificationCode,
    recipient: Credential,
    purpose: Purpose,
    address: str | None = None,
    *,
    device: str | None = None,
) -> bool:
    if is_kept("code"):
        return _spend_code(self, code, recipient, purpose, address, device=device)
    columns = verification_codes.c
    is_open = (columns.id == code.id) & columns.consumed_at.is_(None)
    with self._database.read() as connection:
        found = connection.execute(select(columns.code_hash).where(is_open)).scalar()
    if found != self._hash(code.id, code.code):
        return False
    meet()
    with self._database.write() as connection:
        used = update(verification_codes).where(columns.id == code.id)
        connection.execute(used.values(consumed_at=self._clock.now()))
    return True


def spend_captcha(self: CaptchaService, answer: CaptchaAnswer, address: str | None) -> None:
    if is_kept("captcha"):
        _spend_captcha(self, answer, address)
        return
    with self._database.read() as connection:
        row = connection.execute(select(captchas).where(captchas.c.id == answer.id)).first()
    if row is None or not self.provider.verify(
        self._keys.unseal("captcha", row.sealed_state), answer.answer
    ):
        raise CaptchaInvalid
    meet()
    with self._database.write() as connection:
        connection.execute(delete(captchas).where(captchas.c.id == answer.id))


def lock_user(self: CredentialService, connection: Connection, user_id: str) -> None:
    if is_kept("turns"):
        _lock_user(self, connection, user_id)


def release(self: CredentialService, connection: Connection, user_id: str, kind: str) -> None:
    if not is_kept("turns"):
        meet()
    _release(self, connection, user_id, kind)
