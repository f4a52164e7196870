"""The contract about malformed answers on a live server."""

import time
from collections.abc import Iterator

import pytest
from tests.support.live_answers import LiveAnswersOnEachDatabase

from strongroom_login_oauth.testing import (
    Harness,
)

from .harness import ProviderHarness
from .hostile import HostileProvider, serving


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with serving(HostileProvider()) as provider:
        yield ProviderHarness(provider, time.time)


class TestLiveAnswers(LiveAnswersOnEachDatabase):
    pass
