"""Endpoint to search for files and folders by name."""

from typing import Final

from strongroom.content.files.node_responses import listed_nodes
from strongroom.content.files.schemas import NodeSchema, SearchQuery
from strongroom.content.files.serializers import Json
from strongroom.content.nodes import operations
from strongroom.content.nodes.node_filters import NodeFilter, NodeOrder
from strongroom.extensions.search.service import FileSearch, NodeSearch
from strongroom.foundation.caller import Caller
from strongroom.foundation.errors import Forbidden, NotAFolder, NotFound
from strongroom.plugin_api.schemas import collection_schema
from strongroom.web.http.access import Access, own_id
from strongroom.web.http.paging import paging
from strongroom.web.http.request import get_service
from strongroom.web.http.response import Response
from strongroom.web.http.routing import Blueprint

blueprint: Final = Blueprint(
    "search", url_prefix="/api/v1/tenants/<tenant_id>", description="Search by name."
)


@blueprint.operation(
    "GET",
    "/search",
    access=Access.USER,
    rule=operations.LIST,
    verifies_login=True,
    query=SearchQuery,
    returns=collection_schema(NodeSchema),
    compress=True,
    errors=(Forbidden, NotFound, NotAFolder),
)
def search_files(tenant_id: str, query: Json, caller: Caller) -> Response:
    """Find the files and folders whose names contain a text, among those that the caller can see.

    Without a text, the other criteria find them, such as `modifiedAfter`. The most recently named
    1,000 are found, and sorted. Case and compatible characters, such as full-width letters, do not
    matter.
    """
    owner = query["owner"]
    wanted = NodeSearch(
        query["query"] or "",
        query["parentId"],
        NodeFilter(
            type=query["type"],
            content_type=query["contentType"],
            owner_id=None if owner is None else own_id(owner),
            modified_after=query["modifiedAfter"],
            min_size=query["minSize"],
        ),
        NodeOrder.parse(query["sort"], folders_first=query["foldersFirst"]),
    )
    page = get_service(FileSearch).search(caller, tenant_id, wanted, paging(query))
    return listed_nodes(page, query, caller, tenant_id)
