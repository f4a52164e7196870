"""Captchas, which a hook of the program solves."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..api import verification
from ..concurrency import async_in_thread
from ..models import CaptchaAnswer, CaptchaRequest
from .session import AsyncSession

Captcha: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Shows a captcha, as `POST /captchas` returns it, and returns the user's answer."""


class AsyncCaptchas:
    """Gets captchas.

    Args:
        session: sends the requests.
        hook: solves a captcha; without one, none is requested.
    """

    def __init__(self, session: AsyncSession, hook: Captcha | None) -> None:
        self._session = session
        self._hook = hook

    async def solve(self) -> CaptchaAnswer | None:
        """Return the answer to a new captcha, or ``None`` without a hook."""
        if self._hook is None:
            return None
        operation = verification.create_captcha(body=CaptchaRequest())
        issued = await self._session.send(operation, is_anonymous=True)
        return CaptchaAnswer(id=issued["id"], answer=await async_in_thread(self._hook, issued))
