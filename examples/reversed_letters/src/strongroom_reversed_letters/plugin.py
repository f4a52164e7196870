"""A captcha: letters to type in reverse order."""

import hmac
import secrets
from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.captcha import CaptchaChallenge, CaptchaProvider
from strongroom.plugin_api.forms import CaptchaWidget

API_VERSION = "2.0"

LETTERS: Final = "ABCDEFGHJKMNPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class ReversedLettersOptions:
    """The keys of ``[captcha]`` with ``provider = "reversed_letters"``."""

    length: int = option(6, minimum=4, maximum=12, help="The number of letters.")


class ReversedLetters(CaptchaProvider[ReversedLettersOptions]):
    """Shows letters, and accepts them in reverse order."""

    name = "reversed_letters"
    kind = "reversed-letters"
    options_type = ReversedLettersOptions
    widget = CaptchaWidget(
        label={
            "en": "Type these letters in reverse order: {letters}",
            "zh": "请倒序输入这些字母：{letters}",
        }
    )

    def issue(self) -> CaptchaChallenge:
        letters = secrets.SystemRandom().sample(LETTERS, self.options.length)
        return CaptchaChallenge({"letters": " ".join(letters)}, "".join(reversed(letters)))

    def verify(self, state: str, answer: str) -> bool:
        typed = "".join(answer.split()).upper()
        return hmac.compare_digest(state.encode(), typed.encode("utf-8", "replace"))


@hookimpl
def register_captcha_providers() -> list[type[CaptchaProvider[Any]]]:
    return [ReversedLetters]
