"""A captcha of digits, as an image and, for blind users, as speech."""

import base64
import hmac
import os
import secrets
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.captcha import CaptchaChallenge, CaptchaProvider
from strongroom.plugin_api.forms import CaptchaWidget

if TYPE_CHECKING:
    from captcha.audio import AudioCaptcha
    from captcha.image import ImageCaptcha

_SILENCE: Final = 128
_NOISE: Final = bytes(_SILENCE - 6 + value % 13 for value in range(256))
"""Maps random bytes to 8-bit samples close to silence."""


API_VERSION = "2.0"

DIGITS: Final = "0123456789"


@dataclass(frozen=True, slots=True)
class ImageCaptchaOptions:
    """The keys of ``[captcha]`` with ``provider = "image"``."""

    length: int = option(6, minimum=4, maximum=8, help="The number of digits.", advanced=True)
    audio: bool = option(
        True, help="Whether the challenge includes the digits as speech.", advanced=True
    )


class DigitsCaptcha(CaptchaProvider[ImageCaptchaOptions]):
    """Generates images and speech of digits. Imports their libraries on first use."""

    name = "image"
    kind = "image"
    options_type = ImageCaptchaOptions
    widget = CaptchaWidget(
        label={"en": "The characters in the picture", "zh": "图中的字符"},
        policy={"img-src": "data:", "media-src": "data:"},
    )

    def issue(self) -> CaptchaChallenge:
        digits = "".join(secrets.choice(DIGITS) for _ in range(self.options.length))
        payload = {"image": self._picture(digits)}
        if self.options.audio:
            payload["audio"] = _data_uri("audio/wav", bytes(_speaker().generate(digits)))
        return CaptchaChallenge(payload=payload, state=digits)

    def verify(self, state: str, answer: str) -> bool:
        # Users type blanks between digits. "replace" avoids an error for lone surrogates.
        return hmac.compare_digest(state.encode(), "".join(answer.split()).encode("utf-8", "replace"))

    def _picture(self, digits: str) -> str:
        return _data_uri("image/png", self._painter.generate(digits).getvalue())

    @cached_property
    def _painter(self) -> "ImageCaptcha":
        from captcha.image import ImageCaptcha

        return ImageCaptcha(width=40 * self.options.length, height=80)


@cache
def _speaker() -> "AudioCaptcha":
    """Return the speaker. Its library is imported on first use, because that takes long."""
    from captcha.audio import WAVE_SAMPLE_RATE, AudioCaptcha

    class SpokenDigits(AudioCaptcha):
        """Speaks with the library's voices, with pauses of a third to two thirds of a second."""

        def __init__(self) -> None:
            super().__init__()
            # Load the voices now: on a lazy load, a second thread would see a partial set.
            self.load()

        def create_wave_body(self, chars: str) -> bytearray:
            body = bytearray()
            for char in chars:
                body += self._pause()
                body += self._twist_pick(char)
            return body + self._pause()

        def _pause(self) -> bytes:
            third = WAVE_SAMPLE_RATE // 3
            return os.urandom(third + secrets.randbelow(third)).translate(_NOISE)

    return SpokenDigits()


def _data_uri(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


@hookimpl
def register_captcha_providers() -> list[type[CaptchaProvider[Any]]]:
    return [DigitsCaptcha]
