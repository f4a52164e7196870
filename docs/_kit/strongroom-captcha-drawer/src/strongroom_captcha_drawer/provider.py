"""The captcha: a puzzle, and whether an answer solves it."""

import hmac
import secrets

from strongroom.plugin_api.captcha import CaptchaChallenge, CaptchaProvider

from strongroom_captcha_drawer.options import DrawerOptions

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""No character looks like another."""


class DrawerCaptcha(CaptchaProvider[DrawerOptions]):
    """Asks for a word backwards.

    A puzzle to begin with: a program solves it at once. That it expires and is good once is the
    core's affair; ``state`` comes back to ``verify`` as ``issue`` has made it.
    """

    name = "drawer"
    kind = "question"
    options_type = DrawerOptions

    def issue(self) -> CaptchaChallenge:
        word = "".join(secrets.SystemRandom().sample(ALPHABET, self.options.length))
        question = f"Write this backwards: {word}"
        return CaptchaChallenge(payload={"question": question}, state=word[::-1])

    def verify(self, state: str, answer: str) -> bool:
        given = "".join(answer.split()).upper()
        return hmac.compare_digest(state.encode(), given.encode("utf-8", "replace"))
