"""Runs the contract tests of the types of events."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.testing.events import EventTypesContract
from strongroom.testing.state import OpenedPlugin, opened_plugin


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "login_passkey") as opened:
        yield opened


class TestEventTypes(EventTypesContract):
    """The types of events."""
