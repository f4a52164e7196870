"""One-time, short-lived codes for one app and one person."""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from strongroom_simulators.wechat.refusals import (
    CODE_EXPIRED,
    CODE_USED,
    INVALID_CODE,
    Refusal,
)
from strongroom_simulators.wechat.registry import Person, PlatformApp


@dataclass(frozen=True, slots=True)
class CodeKind:
    """Lifetime of a kind of code in seconds, and the errcodes for used and expired codes."""

    lifetime: int
    used: int
    expired: int


SCAN: Final = CodeKind(600, used=CODE_USED, expired=CODE_EXPIRED)
LOGIN: Final = CodeKind(300, used=INVALID_CODE, expired=INVALID_CODE)
PHONE: Final = CodeKind(300, used=INVALID_CODE, expired=INVALID_CODE)


@dataclass(slots=True)
class _Code:
    kind: CodeKind
    appid: str
    person: Person
    expires_at: float
    used: bool = False


class Codes:
    """All issued codes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._codes: dict[str, _Code] = {}

    def issue(self, kind: CodeKind, app: PlatformApp, person: Person) -> str:
        """Return a new code."""
        code = secrets.token_hex(16)
        self._codes[code] = _Code(kind, app.appid, person, self._clock() + kind.lifetime)
        return code

    def spend(self, kind: CodeKind, app: PlatformApp, code: str) -> Person:
        """Redeem a code and return its person.

        Raises:
            Refusal: the code is unknown, used, expired, or another app's.
        """
        with self._lock:
            found = self._codes.get(code)
            if found is None or found.kind is not kind or found.appid != app.appid:
                raise Refusal(INVALID_CODE)
            if found.used:
                raise Refusal(kind.used)
            if self._clock() >= found.expires_at:
                raise Refusal(kind.expired)
            found.used = True
            return found.person
