"""Codes of authenticator apps, and users who have one."""

import re
from types import SimpleNamespace
from typing import Any

import pyotp
import pytest

from strongroom.testing.clock import ManualClock
from strongroom_factor_totp import plugin
from tests.support.api import Answer, Api, Json, Person

STEP_SECONDS = 30
LONGEST_STEPS = 40
"""The steps of a test; a code is right up to one step early or late."""


def wrong_code(secret: str, now: float) -> str:
    """Return a code of six digits that is wrong during a test.

    Args:
        secret: the secret of the app.
        now: the time in seconds.
    """
    now_step = int(now) // STEP_SECONDS
    codes = pyotp.TOTP(secret)
    right = {codes.generate_otp(now_step + steps) for steps in range(-1, LONGEST_STEPS)}
    return next(code for digit in "0123456789" if (code := digit * 6) not in right)


class App:
    """An authenticator app with one account."""

    def __init__(self, api: Api, person: Person) -> None:
        self._clock = api.clock
        begun = api.post("/users/me/factors", {"kind": "totp", "name": "Phone"}, by=person)
        assert begun.status_code == 201, begun.text
        self.enrolment = begun.json
        self.secret = begun.json["shown"]["secret"]

    def code(self, steps: int = 0) -> str:
        """Return the code of now, or of some steps later."""
        return pyotp.TOTP(self.secret).generate_otp(self._clock.now() // 30_000 + steps)

    def wrong_code(self) -> str:
        """Return a code that is wrong for the next minutes."""
        return wrong_code(self.secret, self._clock.now() / 1000)

    def next_code(self) -> str:
        """Return a code that was not used yet."""
        self._clock.advance(30_000)
        return self.code()


def use_clock(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server check codes by the clock of the test."""
    monkeypatch.setattr(plugin, "time", SimpleNamespace(time=lambda: clock.now() / 1000))


def enrol(api: Api, person: Person) -> App:
    """Enrol an app for a person."""
    app = App(api, person)
    path = f"/users/me/factors/{app.enrolment['id']}/confirmation"
    confirmed = api.post(path, {"answer": app.code()}, by=person)
    assert confirmed.status_code == 201, confirmed.text
    return app


def meet(api: Api, challenge: Json, **answers: Any) -> Answer:
    """Answer a challenge."""
    return api.post("/authorizations", {"challenge": {"id": challenge["id"], **answers}})


def secret_of(page: str) -> str:
    """Return the secret that a page shows to people who enter it by hand."""
    (secret,) = re.findall('<code class="secret"[^>]*>((?:[A-Z2-7]{4} )+[A-Z2-7]{4})</code>', page)
    return str(secret).replace(" ", "")
