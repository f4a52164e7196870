"""Groups of similar findings on the pages of the server."""

import pytest

from strongroom.plugin_api.server import ServerFinding
from strongroom_console.server.health import group_faults


@pytest.mark.parametrize(("count", "rows"), [(2, 2), (3, 1), (40, 1)])
def test_many_similar_findings_are_one_group(count: int, rows: int) -> None:
    similar = [
        ServerFinding("pages.templates", "warning", f"{n} is old", f"copy {n}") for n in range(count)
    ]
    other = ServerFinding("storages.main", "failed", "is full", "make room")
    groups = group_faults([other, *similar])
    assert groups[0] == [other]
    assert len(groups) == 1 + rows
    assert [item for group in groups[1:] for item in group] == similar
