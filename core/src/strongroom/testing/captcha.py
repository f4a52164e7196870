"""Contract tests for captcha providers."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from strongroom.plugin_api.captcha import CaptchaChallenge, CaptchaProvider

Solve = Callable[[CaptchaChallenge], str]


class CaptchaProviderContract:
    """The contract of captcha providers. Provide the fixtures ``provider`` and ``solve``."""

    distinct = True
    """Whether the answer to one challenge is wrong for another."""

    @pytest.fixture
    def provider(self) -> CaptchaProvider[Any]:
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def solve(self) -> Solve:
        """A function that returns the right answer to a challenge."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    def test_the_right_answer_is_right(self, provider: CaptchaProvider[Any], solve: Solve) -> None:
        challenge = provider.issue()
        assert provider.verify(challenge.state, solve(challenge))

    @pytest.mark.parametrize(
        "answer",
        ["\0", "0", "null", "[]", "{}", "W10=", "e30=", "x" * 1024, "\ud800", "验证码", "=", "."],
    )
    def test_anything_else_is_wrong_and_breaks_nothing(
        self, provider: CaptchaProvider[Any], answer: str
    ) -> None:
        assert not provider.verify(provider.issue().state, answer)

    def test_a_puzzle_is_json_and_does_not_contain_its_answer(
        self, provider: CaptchaProvider[Any], solve: Solve
    ) -> None:
        challenge = provider.issue()
        shown = json.dumps(challenge.payload)
        assert solve(challenge) not in shown
        assert not challenge.state or challenge.state not in shown
        assert not challenge.state or challenge.state not in repr(challenge)

    def test_the_answer_to_another_puzzle_is_wrong(
        self, provider: CaptchaProvider[Any], solve: Solve
    ) -> None:
        if not self.distinct:
            pytest.skip("all challenges have the same answer")
        first, second = provider.issue(), provider.issue()
        assert not provider.verify(first.state, solve(second))

    def test_threads_do_not_disturb_each_other(
        self, provider: CaptchaProvider[Any], solve: Solve
    ) -> None:
        def round_trip(_number: int) -> bool:
            challenge = provider.issue()
            return provider.verify(challenge.state, solve(challenge))

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(round_trip, range(16)))
