"""Fixtures that several modules of this folder share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import CONFIG
from tests.rest.test_authorization_matrix import World, make_world
from tests.support.both_ways import BothWays, both_ways
from tests.support.wechat import WeChat, wechat

from strongroom.testing.clock import ManualClock


@pytest.fixture
def platform() -> Iterator[WeChat]:
    """A simulated WeChat."""
    with wechat() as platform:
        yield platform


@pytest.fixture
def both(tmp_path: Path, database_url: str, clock: ManualClock) -> Iterator[BothWays]:
    """An application with the fast path, and one without it."""
    config = tmp_path / "strongroom.toml"
    config.write_text(CONFIG.format(folder=tmp_path, database_url=database_url))
    with both_ways(config, clock) as both:
        yield both


@pytest.fixture
def world(both: BothWays) -> World:
    """A tenant with each actor, at the application with the fast path."""
    return make_world(both.api)
