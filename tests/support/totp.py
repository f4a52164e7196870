"""Codes of authenticator apps."""

import pyotp

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
