"""All pages of sorted and filtered lists, compared with sorting in Python."""

import json
from typing import Any

import pytest
from tests.support.api import Api
from tests.support.upload_fixtures import IncomingBytes

from strongroom.content.files.listing import FileListing
from strongroom.content.files.service import FileService
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.node_filters import SORTS, NodeFilter, NodeOrder, SortKey
from strongroom.content.nodes.node_selection import NodeSelection
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database.paging import Paging

NODES = 11
KEYS = {
    SortKey.NAME: lambda node: (sort_key(node["name"]), node["id"]),
    SortKey.UPDATED_AT: lambda node: (node["updatedAt"], sort_key(node["name"]), node["id"]),
    SortKey.SIZE: lambda node: (node["size"], sort_key(node["name"]), node["id"]),
    SortKey.TYPE: lambda node: (node["type"], sort_key(node["name"]), node["id"]),
}


def in_order(nodes: list[Any], order: NodeOrder) -> list[Any]:
    nodes = sorted(nodes, key=KEYS[order.key], reverse=order.descending)
    return sorted(nodes, key=lambda node: order.folders_first and node["type"] == "file")


@pytest.mark.parametrize("at_top", [False, True])
def test_pages_of_all_sizes_follow_each_other(
    api: Api, at_top: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The names are divided into several runs.
    monkeypatch.setattr("strongroom.content.nodes.child_counts.SPLIT_ABOVE", 4)
    services = api.container
    admin, member = (Identity(api.person().id, "USER", "login") for _ in range(2))
    tenant = services.get(TenantService).create(admin, "Acme", Origin()).id
    services.get(TenantService).put_member(admin, tenant, member.user_id, Role.MEMBER, Origin())
    user = member if at_top else admin
    folder = (
        services.get(FileService).create_folder(admin, tenant, None, "folder", OnConflict.FAIL).node.id
    )
    parent = None if at_top else folder
    for number in range(NODES):
        name = f"{number * 7 % NODES} {'é' * (number % 2)}"
        if number % 3:
            content = IncomingBytes(name, b"x" * (number % 4))
            services.get(FileService).upload(user, tenant, parent, content, OnConflict.FAIL)
        else:
            services.get(FileService).create_folder(user, tenant, parent, name, OnConflict.FAIL)
        api.clock.advance(number % 2)

    def page(wanted: NodeSelection | None, paging: Paging) -> Any:
        if at_top:
            return services.get(FileListing).top_level(user, tenant, user.user_id, paging, wanted)
        return services.get(FileListing).inside(user, tenant, user.user_id, folder, paging, wanted)

    everything = [json.loads(record) for record in page(None, Paging(1, 50)).records]
    for sort in SORTS:
        for kind, folders_first in ((None, False), (None, True), ("file", False), ("folder", True)):
            order = NodeOrder.parse(sort, folders_first=folders_first)
            wanted = NodeSelection(filter=NodeFilter(type=kind), order=order)
            expected = in_order([node for node in everything if kind in (None, node["type"])], order)
            for size in (1, 3, 4, len(expected), 20):
                pages = [
                    page(None if wanted.is_usual else wanted, Paging(number, size))
                    for number in range(1, len(expected) // size + 3)
                ]
                found = [json.loads(record)["id"] for each in pages for record in each.records]
                assert found == [node["id"] for node in expected], (wanted, size)
                assert {each.total for each in pages} == {len(expected)}
                assert [each.paging.number for each in pages] == [*range(1, len(pages) + 1)]
                assert all(each.included for each in pages if each.records)
