"""Endpoint to search for files and folders by name."""

from typing import Final

from strongroom.errors import Forbidden, NotAFolder, NotFound
from strongroom.files.node_filters import NodeFilter, NodeOrder
from strongroom.files.node_responses import listed_nodes
from strongroom.files.schemas import NodeSchema, SearchQuery
from strongroom.files.search import FileSearch, NodeSearch
from strongroom.files.serializers import Json
from strongroom.http.access import Access, own_id
from strongroom.http.pages import collection_of, paging
from strongroom.http.request import get_service
from strongroom.http.response import Response
from strongroom.http.routing import Blueprint
from strongroom.identity import Caller
from strongroom.plugin_api.authentication import Scope

blueprint: Final = Blueprint(
    "search", __name__, url_prefix="/api/v1/tenants/<tenant_id>", description="Search by name."
)


@blueprint.operation(
    "GET",
    "/search",
    access=Access.USER,
    scope=Scope.FILES_READ,
    verifies_login=True,
    query=SearchQuery,
    returns=collection_of(NodeSchema),
    errors=(Forbidden, NotFound, NotAFolder),
)
def search_files(tenant_id: str, query: Json, caller: Caller) -> Response:
    """Find the files and folders whose names contain a text, among those that the caller can see.

    The most recently named 1,000 are found, and sorted. Case and compatible characters, such as
    full-width letters, do not matter.
    """
    owner = query["owner"]
    wanted = NodeSearch(
        query["query"],
        query["parentId"],
        NodeFilter(
            type=query["type"],
            content_type=query["contentType"],
            owner_id=None if owner is None else own_id(owner),
            modified_after=query["modifiedAfter"],
            min_size=query["minSize"],
        ),
        NodeOrder.parse(query["sort"]),
    )
    page = get_service(FileSearch).search(caller, tenant_id, wanted, paging(query))
    return listed_nodes(page, query, caller, tenant_id)
