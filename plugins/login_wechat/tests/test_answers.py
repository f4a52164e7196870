"""The contract about malformed answers of the platform, for a website."""

from collections.abc import Iterator

import pytest
from tests.support.live_answers import LiveAnswersOnEachDatabase
from tests.support.wechat import wechat

from strongroom_login_oauth.testing import PlatformHarness, ProviderAnswersContract

from .harness import WebsiteHarness


@pytest.fixture(scope="module")
def harness() -> Iterator[PlatformHarness]:
    with wechat() as platform:
        platform.join_account("site")
        yield WebsiteHarness(platform)


class TestAnswers(ProviderAnswersContract):
    pass


@pytest.mark.extended  # as in the plugin login_oauth, whose client all platforms share
class TestLiveAnswers(LiveAnswersOnEachDatabase):
    pass
