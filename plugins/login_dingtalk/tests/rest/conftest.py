"""A simulated platform for each module, with the sample people for each test."""

from collections.abc import Iterator

import pytest
from tests.support.api import Api
from tests.support.config import Table, declared_config, merged
from tests.support.dingtalk import DingTalk, DingTalkLogins, dingtalk


@pytest.fixture
def platform() -> Iterator[DingTalk]:
    with dingtalk() as platform:
        yield platform


@pytest.fixture
def config_changes(platform: DingTalk, request: pytest.FixtureRequest) -> Table:
    return merged(platform.config(), declared_config(request))


@pytest.fixture
def logins(api: Api, platform: DingTalk) -> DingTalkLogins:
    return DingTalkLogins(api, platform)
