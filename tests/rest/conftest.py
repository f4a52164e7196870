"""Fixtures that several modules of this folder share."""

import os
from collections.abc import Iterator

import pytest
from tests.support.actors import World, make_world
from tests.support.api import Api
from tests.support.databases import never_sync
from tests.support.wechat import Logins, WeChat, wechat


@pytest.fixture(scope="module", autouse=True)
def without_disk() -> Iterator[None]:
    """Never wait for the disk; tests/e2e/test_power_loss.py tests what survives a loss of power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(os, "fdatasync", lambda _: None)
        never_sync(patch)
        yield


@pytest.fixture
def platform() -> Iterator[WeChat]:
    """A simulated WeChat."""
    with wechat() as platform:
        yield platform


@pytest.fixture
def logins(api: Api, platform: WeChat) -> Logins:
    """Users of WeChat who log in."""
    return Logins(api, platform)


@pytest.fixture
def world(api: Api) -> World:
    """A tenant with each actor."""
    return make_world(api)
