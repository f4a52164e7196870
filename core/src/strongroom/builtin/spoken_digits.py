"""Speaks digits over noise. Takes a hundredth of the time that the library needs for its noise."""

import os
import secrets
from typing import Final

from captcha.audio import WAVE_SAMPLE_RATE, AudioCaptcha

_SILENCE: Final = 128
_NOISE: Final = bytes(_SILENCE - 6 + value % 13 for value in range(256))
"""Maps random bytes to 8-bit samples close to silence."""


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
