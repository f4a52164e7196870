"""A simulator a test, and backends that talk to it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from strongroom_storage_oss.backend import OssBackend
from strongroom_storage_oss.options import OssOptions
from strongroom_storage_oss.simulator import OssSimulator

MakeBackend = Callable[..., OssBackend]


@pytest.fixture
def simulator() -> Iterator[OssSimulator]:
    with OssSimulator(["files"]) as server:
        yield server


@pytest.fixture
def options(simulator: OssSimulator) -> OssOptions:
    return OssOptions(
        bucket="files",
        region=simulator.region,
        access_key_id=simulator.account.access_key_id,
        access_key_secret=simulator.account.access_key_secret,
        endpoint=simulator.endpoint,
        retries=0,
    )


@pytest.fixture
def make_backend(options: OssOptions) -> Iterator[MakeBackend]:
    made: list[OssBackend] = []

    def make(**changes: Any) -> OssBackend:
        made.append(OssBackend(replace(options, **changes)))
        return made[-1]

    yield make
    for backend in made:
        backend.close()


@pytest.fixture
def backend(make_backend: MakeBackend) -> OssBackend:
    return make_backend()
