import pytest
from tests.support.api import Api

from strongroom.content.nodes import child_counts


@pytest.fixture
def hurried(api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    """The API for a campaign that changes how long runs are."""
    monkeypatch.setattr(child_counts, "SPLIT_ABOVE", child_counts.SPLIT_ABOVE)
    return api
