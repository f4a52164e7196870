"""Fixtures of the tests that speak HTTP to more than the server."""

from collections.abc import Iterator

import pytest
from tests.support.wechat import WeChat, wechat


@pytest.fixture
def platform() -> Iterator[WeChat]:
    """A simulated WeChat."""
    with wechat() as platform:
        yield platform
