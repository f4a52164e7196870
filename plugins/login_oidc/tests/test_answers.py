"""The contract about garbage in place of the answers of a provider."""

from collections.abc import Iterator

import pytest

from strongroom.testing.clock import ManualClock
from strongroom_login_oauth.testing import Harness, ProviderAnswersContract

from .harness import ProviderHarness
from .hostile import HostileProvider, serving


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with serving(HostileProvider()) as provider:
        yield ProviderHarness(provider, lambda: ManualClock().now() / 1000)


class TestAnswers(ProviderAnswersContract):
    pass
