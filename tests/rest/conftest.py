"""Fixtures that several modules of this folder share."""

from collections.abc import Iterator

import pytest
from tests.rest.test_authorization_matrix import World, make_world
from tests.support.api import Api
from tests.support.wechat import WeChat, wechat


@pytest.fixture
def platform() -> Iterator[WeChat]:
    """A simulated WeChat."""
    with wechat() as platform:
        yield platform


@pytest.fixture
def world(api: Api) -> World:
    """A tenant with each actor."""
    return make_world(api)
