"""The contract that every captcha provider holds to, and what this one promises beyond it."""

import pytest
from strongroom.testing.captcha import CaptchaProviderContract, Solve

from strongroom_captcha_drawer.options import DrawerOptions
from strongroom_captcha_drawer.provider import DrawerCaptcha


class TestDrawerCaptcha(CaptchaProviderContract):
    @pytest.fixture
    def provider(self) -> DrawerCaptcha:
        return DrawerCaptcha(DrawerOptions())

    @pytest.fixture
    def solve(self) -> Solve:
        return lambda challenge: str(challenge.payload["question"]).split()[-1][::-1]

    def test_blanks_and_case_do_not_matter(self, provider: DrawerCaptcha) -> None:
        assert provider.verify("ABC234", " abc 234 ")
