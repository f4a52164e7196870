"""Operations on search. Written by clients/python/generate_client.py from the OpenAPI document."""

import datetime

from ..models import (
    NodeCollection,
    SearchFilesIncludeType0,
    SearchFilesSort,
    SearchFilesTypeType0,
)
from ..operations import UNSET, Operation, Unset, segment


def search_files(
    tenant_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    query: None | str | Unset = UNSET,
    type_: None | SearchFilesTypeType0 | Unset = UNSET,
    parent_id: None | str | Unset = UNSET,
    owner: None | str | Unset = UNSET,
    content_type: None | str | Unset = UNSET,
    modified_after: datetime.datetime | None | Unset = UNSET,
    min_size: int | None | Unset = UNSET,
    sort: SearchFilesSort | Unset = UNSET,
    folders_first: bool | Unset = UNSET,
    include: None | SearchFilesIncludeType0 | Unset = UNSET,
) -> Operation[NodeCollection]:
    """Find the files and folders whose names contain a text, among those that the caller can see.

    Without a text, the other criteria find them, such as `modifiedAfter`. The most recently named
    1,000 are found, and sorted. Case and compatible characters, such as full-width letters, do not
    matter.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/search",
        NodeCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "query": query,
            "type": type_,
            "parentId": parent_id,
            "owner": owner,
            "contentType": content_type,
            "modifiedAfter": modified_after,
            "minSize": min_size,
            "sort": sort,
            "foldersFirst": folders_first,
            "include": include,
        },
    )
