"""A server in this process, with providers and a DNS server on loopback."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .spaces import Space, Spaces, running_spaces


@pytest.fixture
def spaces(tmp_path: Path, database_url: str) -> Iterator[Spaces]:
    with running_spaces(tmp_path, database_url) as spaces:
        yield spaces


@pytest.fixture
def space(spaces: Spaces) -> Space:
    """A space with a proven domain."""
    return spaces.create()
