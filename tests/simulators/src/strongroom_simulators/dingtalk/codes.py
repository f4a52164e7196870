"""One-time codes, valid for five minutes, for one app and one person."""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from strongroom_simulators.dingtalk.registry import Person, PlatformApp

LIFETIME: Final = 300


@dataclass(slots=True)
class Code:
    """A code; ``corp_id`` is the company that the person chose, if the app asked for one."""

    app: PlatformApp
    person: Person
    expires_at: float
    corp_id: str | None = None
    is_used: bool = False


class Codes:
    """The codes of one way to log in; those of another way are unknown to it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._codes: dict[str, Code] = {}

    def issue(self, app: PlatformApp, person: Person, corp_id: str | None = None) -> str:
        """Return a new code."""
        value = secrets.token_hex(16)
        self._codes[value] = Code(app, person, self._clock() + LIFETIME, corp_id)
        return value

    def spend(self, app: PlatformApp, value: str) -> Code | None:
        """Redeem a code; return ``None`` if it is unknown, used, expired, or another app's."""
        with self._lock:
            code = self._codes.get(value)
            if code is None or code.app is not app or code.is_used or self._clock() >= code.expires_at:
                return None
            code.is_used = True
            return code
