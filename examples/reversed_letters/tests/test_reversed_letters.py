"""The captcha fulfils the contract of captcha providers."""

import pytest
from strongroom_reversed_letters.plugin import ReversedLetters, ReversedLettersOptions

from strongroom.testing.captcha import CaptchaProviderContract, Solve


class TestReversedLetters(CaptchaProviderContract):
    @pytest.fixture
    def provider(self) -> ReversedLetters:
        return ReversedLetters(ReversedLettersOptions())

    @pytest.fixture
    def solve(self) -> Solve:
        return lambda challenge: str(challenge.payload["letters"]).replace(" ", "")[::-1]
