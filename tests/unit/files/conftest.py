import pytest
from tests.support.api import Api
from tests.support.databases import leave_out_the_disk

from strongroom.content.nodes import child_counts


@pytest.fixture
def hurried(api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    """The API on a database that need not survive the machine, which changes how long runs are."""
    monkeypatch.setattr(child_counts, "SPLIT_ABOVE", child_counts.SPLIT_ABOVE)
    leave_out_the_disk(api.container.database, monkeypatch)
    return api
