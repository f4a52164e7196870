"""A server that logs in by a simulated WeCom."""

from collections.abc import Iterator

import pytest
from tests.support.api import Api
from tests.support.config import Table
from tests.support.wecom import Logins, WeCom, wecom

ROOT = "https://127.0.0.1"


@pytest.fixture
def platform() -> Iterator[WeCom]:
    with wecom() as platform:
        yield platform


@pytest.fixture
def config_changes(platform: WeCom) -> Table:
    return platform.config(ROOT)


@pytest.fixture
def logins(api: Api, platform: WeCom) -> Logins:
    return Logins(api, platform)
