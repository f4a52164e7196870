"""Authorization codes: for one app, one person and one use, for five minutes."""

import hashlib
import re
import secrets
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from strongroom_simulators.feishu.refusals import (
    CODE_EXPIRED,
    CODE_OF_ANOTHER_APP,
    CODE_USED,
    PKCE_FAILED,
    REDIRECT_MISMATCH,
    UNKNOWN_CODE,
    TokenRefusal,
)
from strongroom_simulators.feishu.registry import Person, PlatformApp

LIFETIME: Final = 300
"""Seconds."""

_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")


@dataclass(frozen=True, slots=True)
class Challenge:
    """A code challenge and its method, ``S256`` or ``plain`` (RFC 7636)."""

    value: str
    method: str = "plain"

    def accepts(self, verifier: str) -> bool:
        """Return whether the verifier belongs to this challenge."""
        if not _VERIFIER.fullmatch(verifier):
            return False
        if self.method == "plain":
            return verifier == self.value
        digest = hashlib.sha256(verifier.encode()).digest()
        return urlsafe_b64encode(digest).rstrip(b"=").decode() == self.value


@dataclass(slots=True)
class Code:
    """What an authorization code stands for."""

    app: PlatformApp
    person: Person
    redirect_uri: str
    scope: str
    challenge: Challenge | None
    expires_at: float
    is_used: bool = False


class Codes:
    """All issued codes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._codes: dict[str, Code] = {}

    def issue(
        self,
        app: PlatformApp,
        person: Person,
        *,
        redirect_uri: str,
        scope: str = "",
        challenge: Challenge | None = None,
    ) -> str:
        """Return a new code."""
        value = secrets.token_hex(16)
        expires_at = self._clock() + LIFETIME
        self._codes[value] = Code(app, person, redirect_uri, scope, challenge, expires_at)
        return value

    def spend(
        self, app: PlatformApp, value: str, *, redirect_uri: str, verifier: str, strict: bool
    ) -> Code:
        """Redeem a code.

        Args:
            strict: whether a verifier without a challenge is refused, as by version 3.

        Raises:
            TokenRefusal: the code is unknown, used, expired or another app's, or does not belong to the
                redirect URI or the verifier.
        """
        with self._lock:
            code = self._codes.get(value)
            if code is None:
                raise TokenRefusal(UNKNOWN_CODE)
            if code.app is not app:
                raise TokenRefusal(CODE_OF_ANOTHER_APP)
            if code.is_used:
                raise TokenRefusal(CODE_USED)
            if self._clock() >= code.expires_at:
                raise TokenRefusal(CODE_EXPIRED)
            _check(code, redirect_uri, verifier, strict=strict)
            code.is_used = True
            return code


def _check(code: Code, redirect_uri: str, verifier: str, *, strict: bool) -> None:
    if redirect_uri != code.redirect_uri:
        raise TokenRefusal(REDIRECT_MISMATCH)
    if code.challenge is None:
        if verifier and strict:
            raise TokenRefusal(PKCE_FAILED)
    elif not code.challenge.accepts(verifier):
        raise TokenRefusal(PKCE_FAILED)
