"""Captchas, which a hook of the program solves."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..api import verification
from ..concurrency import in_thread
from ..models import CaptchaAnswer, CaptchaRequest
from .session import Session

Captcha: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Shows a captcha, as `POST /captchas` returns it, and returns the user's answer."""


class Captchas:
    """Gets captchas.

    Args:
        session: sends the requests.
        hook: solves a captcha; without one, none is requested.
    """

    def __init__(self, session: Session, hook: Captcha | None) -> None:
        self._session = session
        self._hook = hook

    def solve(self) -> CaptchaAnswer | None:
        """Return the answer to a new captcha, or ``None`` without a hook."""
        if self._hook is None:
            return None
        operation = verification.create_captcha(body=CaptchaRequest())
        issued = self._session.send(operation, is_anonymous=True)
        return CaptchaAnswer(id=issued["id"], answer=in_thread(self._hook, issued))
