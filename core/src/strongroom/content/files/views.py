"""Endpoints to create, upload, list, download and delete files and folders."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from functools import lru_cache

from strongroom.content.files.listing import FileListing
from strongroom.content.files.node_paths import NodePaths
from strongroom.content.files.node_responses import (
    CHANGE_ERRORS,
    NODE_LOCATION,
    cached_details,
    listed_nodes,
    node_details,
)
from strongroom.content.files.schemas import (
    DeletionQuery,
    FolderConflictQuery,
    ListQuery,
    NewFolderSchema,
    NodeQuery,
    NodeSchema,
    UploadQuery,
)
from strongroom.content.files.serializers import Json, serialize_node
from strongroom.content.files.service import FileService
from strongroom.content.nodes import operations
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.events import SENT, DownloadRecorder
from strongroom.content.nodes.models import Node
from strongroom.content.nodes.names import chosen_name, parse_path
from strongroom.content.nodes.node_cursors import CursorPaging, node_paging
from strongroom.content.nodes.node_filters import NodeFilter, NodeOrder
from strongroom.content.nodes.node_selection import NodeSelection
from strongroom.content.scanning.states import INSPECTION_ERRORS, UNREADABLE_ERRORS
from strongroom.content.storage.delivery import Delivery, Handover, InternalPath
from strongroom.content.storage.models import BlobLocation
from strongroom.content.tenants.views import requested_override
from strongroom.foundation import errors
from strongroom.foundation.caller import AnyCaller, Caller
from strongroom.foundation.database.paging import Paging
from strongroom.identity.accounts.views import PROOF_ERRORS, require_fresh_proof
from strongroom.plugin_api.files import BeforeSending
from strongroom.plugin_api.schemas import DoneSchema, collection_schema
from strongroom.plugin_api.storage import ByteStream
from strongroom.plugin_api.web import PROOF_PARAMETERS
from strongroom.web.http.access import Access, current_identity, own_id
from strongroom.web.http.caching import CACHE_CONTROL, PRIVATE_NO_STORE, PRIVATE_REVALIDATED
from strongroom.web.http.downloads import (
    DOWNLOAD_CONTENT,
    INLINE_TYPES,
    Content,
    check_sending,
    content_disposition,
    send_content,
)
from strongroom.web.http.header_descriptions import DOWNLOAD_REQUEST, DOWNLOAD_RESPONSE, UPLOAD_REQUEST
from strongroom.web.http.paging import paging
from strongroom.web.http.parsing import DONE
from strongroom.web.http.representations import JsonRepresentation
from strongroom.web.http.request import get_service, method
from strongroom.web.http.response import Response
from strongroom.web.http.routing import Blueprint
from strongroom.web.http.uploads import UPLOAD_BODY, receive_upload

Offer = Callable[[Callable[[], Mapping[str, str]]], Handover | None]
"""Returns the proxy path or store URL that serves a file with response headers, if there is one."""


def make_content(node: Node, open_: Callable[[int, int], ByteStream]) -> Content | None:
    """Return the downloadable content of a node, or ``None`` for a folder."""
    if node.content_type is None or node.checksum is None:
        return None
    return Content(
        name=node.name,
        content_type=node.content_type,
        size=node.size,
        checksum=node.checksum,
        modified_at=node.updated_at,
        open=open_,
    )


def handover_headers(content: Content) -> dict[str, str]:
    """Return the headers that the store must send with a file."""
    inline = content.content_type.partition(";")[0] in INLINE_TYPES
    return {
        "Content-Type": content.content_type,
        "Content-Disposition": content_disposition(content.name, inline=inline),
    }


def send_file(content: Content, offer: Offer, *, cache_control: str) -> Response:
    """Return the response to a download, handing the body over to the proxy or the store if possible.

    Conditions are evaluated here, because this process knows the entity tag; the proxy or the store
    applies ranges.

    Raises:
        PreconditionFailed: If-Match or If-Unmodified-Since does not match.
        RangeNotSatisfiable: the range lies outside the file.
    """
    handover = offer(lambda: handover_headers(content)) if method() == "GET" else None
    if handover is None:
        return send_content(content, cache_control=cache_control)
    # Evaluates conditions and builds the headers; the body is sent elsewhere.
    response = send_content(content._replace(open=nothing), cache_control=cache_control)
    if response.status_code >= 300:  # noqa: PLR2004  no body, such as 304
        return response
    response.close()
    if isinstance(handover, InternalPath):
        return _internal(response, handover.path)
    # A presigned URL grants access, so the redirect must not be cached.
    return Response((), 307, {"Location": handover.url, CACHE_CONTROL: PRIVATE_NO_STORE})


def send_download(
    caller: AnyCaller, tenant_id: str, file_id: str, before: BeforeSending | None = None
) -> Response:
    """Return the response with a tenant's file to the current request, and record the download.

    With ``before``, which may refuse the content, this process sends the content itself.

    Raises:
        TokenInvalid: the caller's login was revoked.
        Forbidden: the caller is not a member of the tenant, or may not read the node.
        NotFound: the tenant has no such node.
        NotAFile: the node is a folder.
        PreconditionFailed: If-Match or If-Unmodified-Since does not match.
        RangeNotSatisfiable: the range lies outside the file.
    """
    node, location = get_service(FileService).locate(caller, tenant_id, file_id)
    return send_node(caller, node, location, before)


def send_node(
    caller: AnyCaller,
    node: Node,
    location: BlobLocation | None,
    before: BeforeSending | None = None,
) -> Response:
    """Return the response with the content of a node that the caller may read; see above.

    Raises:
        NotAFile: the node is a folder.
        NotScannedYet, Quarantined: the content may not be read.
        PreconditionFailed: If-Match does not match.
        RangeNotSatisfiable: the range lies outside the file.
    """
    files = get_service(FileService)
    content = make_content(node, lambda start, length: files.open(node, start, length, location))
    if content is None or location is None:
        raise errors.NotAFile
    if before is None:
        delivery = get_service(Delivery)
        response = send_file(
            content, lambda headers: delivery.offer(location, headers), cache_control=PRIVATE_REVALIDATED
        )
    else:
        response = send_content(content, cache_control=PRIVATE_REVALIDATED)
    # HEAD requests and responses such as 304 are not downloads.
    if method() == "GET" and response.status_code in SENT:
        if before is not None:
            check_sending(response, before, content.size)
        get_service(DownloadRecorder).record(caller, node)
    return response


def _internal(response: Response, path: str) -> Response:
    """Return the response that makes nginx send the file; nginx applies the request's range itself."""
    headers = [item for item in response.headers if item[0] not in ("Content-Length", "Content-Range")]
    return Response(b"", 200, [*headers, ("X-Accel-Redirect", path)])


def nothing(_start: int, _length: int) -> ByteStream:
    """Open an empty stream: the proxy or the store sends the body."""
    chunks: Iterator[bytes] = iter(())
    return nullcontext(chunks)


blueprint = Blueprint(
    "files",
    url_prefix="/api/v1/tenants/<tenant_id>",
    description="Files and folders.",
    parameters={"owner_id": "Id of the user whose view of the files is listed; `me` is the caller"},
)

_CREATE_ERRORS = (
    errors.Forbidden,
    errors.NotFound,
    errors.NotAFolder,
    errors.NameConflict,
    errors.FileLocked,
)
_UPLOAD_ERRORS = (
    *_CREATE_ERRORS,
    errors.ValidationFailed,
    errors.LengthRequired,
    errors.UploadIncomplete,
    errors.DigestMismatch,
    errors.PayloadTooLarge,
    errors.UnsupportedMediaType,
    *INSPECTION_ERRORS,
    errors.StorageFull,
)
DOWNLOAD_DOCUMENT: Json = {
    "responses": {
        "200": {
            "description": "The content",
            "content": DOWNLOAD_CONTENT,
        },
        "206": {
            "description": "The requested range",
            "content": DOWNLOAD_CONTENT,
        },
        "304": {"description": "The client's copy is current"},
        "307": {"description": "Redirect to the store, if configured"},
    }
}


@blueprint.operation(
    "POST",
    "/folders",
    access=Access.USER,
    rule=operations.CREATE,
    body=NewFolderSchema,
    query=FolderConflictQuery,
    returns=NodeSchema,
    status=201,
    location=NODE_LOCATION,
    errors=_CREATE_ERRORS,
)
def create_folder(tenant_id: str, body: Json, query: Json) -> Json:
    """Create a folder at the top level of a tenant.

    All members of the tenant may; the caller owns the folder. Other members, except administrators, see
    it only by grants.
    """
    return _create_folder(tenant_id, None, body, query)


@blueprint.operation(
    "POST",
    "/files/<parent_id>/folders",
    access=Access.USER,
    rule=operations.CREATE,
    body=NewFolderSchema,
    query=FolderConflictQuery,
    returns=NodeSchema,
    status=201,
    location=NODE_LOCATION,
    errors=_CREATE_ERRORS,
)
def create_folder_in_folder(tenant_id: str, parent_id: str, body: Json, query: Json) -> Json:
    """Create a folder in a folder.

    The caller needs the permission `write` on the parent folder, and owns the new one. Grants on the
    parent folder apply to it.
    """
    return _create_folder(tenant_id, parent_id, body, query)


@blueprint.operation(
    "POST",
    "/files",
    access=Access.USER,
    rule=operations.CREATE,
    verifies_login=True,
    query=UploadQuery,
    returns=NodeSchema,
    status=201,
    location=NODE_LOCATION,
    errors=_UPLOAD_ERRORS,
    document={"requestBody": UPLOAD_BODY},
    request_headers=UPLOAD_REQUEST,
)
def upload_file(tenant_id: str, query: Json, caller: Caller) -> Json:
    """Upload a file to the top level of a tenant, as a form or as the raw body.

    With `relativePath`, such as the `webkitRelativePath` of a browser, the missing folders of the path
    are created together with the file.
    """
    return _upload(caller, tenant_id, None, query)


@blueprint.operation(
    "POST",
    "/files/<parent_id>/files",
    access=Access.USER,
    rule=operations.CREATE,
    verifies_login=True,
    query=UploadQuery,
    returns=NodeSchema,
    status=201,
    location=NODE_LOCATION,
    errors=_UPLOAD_ERRORS,
    document={"requestBody": UPLOAD_BODY},
    request_headers=UPLOAD_REQUEST,
)
def upload_file_into_folder(tenant_id: str, parent_id: str, query: Json, caller: Caller) -> Json:
    """Upload a file into a folder, as a form or as the raw body.

    The caller needs the permission `write` on the folder, and owns the file. With `relativePath`, the
    missing folders of the path are created together with it. The file is stored durably when the
    response arrives.
    """
    return _upload(caller, tenant_id, parent_id, query)


@blueprint.operation(
    "GET",
    "/files/<file_id>",
    access=Access.USER,
    rule=operations.GET,
    verifies_login=True,
    query=NodeQuery,
    returns=NodeSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def get_file(tenant_id: str, file_id: str, query: Json, caller: Caller) -> JsonRepresentation:
    """Get the details of a file or folder.

    The caller needs the permission `read`. `ETag` and `revision` change with the name, the folder and
    the content.
    """
    if "path" in (query["include"] or ""):
        view, path = get_service(NodePaths).locate(caller, tenant_id, file_id)
        return node_details(view, query, path)
    files = get_service(FileService)
    if not query["include"]:
        # Hot: ADR 0076. Most nodes were read before in the same revision.
        details = cached_details(*files.get_version(caller, tenant_id, file_id))
        if details is not None:
            return details
    return node_details(files.get(caller, tenant_id, file_id), query)


@blueprint.operation(
    "GET",
    "/files/<file_id>/download",
    access=Access.USER,
    rule=operations.DOWNLOAD,
    verifies_login=True,
    errors=(
        errors.Forbidden,
        errors.NotFound,
        errors.NotAFile,
        *UNREADABLE_ERRORS,
        errors.PreconditionFailed,
        errors.RangeNotSatisfiable,
    ),
    document=DOWNLOAD_DOCUMENT,
    request_headers=DOWNLOAD_REQUEST,
    response_headers=(*DOWNLOAD_RESPONSE, "Location"),
)
def download_file(tenant_id: str, file_id: str, caller: Caller) -> Response:
    """Download a file or ranges of it; several ranges are sent as `multipart/byteranges`.

    The caller needs the permission `read`. `ETag` is made of the checksum, so a download can be resumed
    with `Range` and `If-Range`. Content in quarantine or not yet scanned is refused. With status 307,
    fetch `Location` without the token.
    """
    return send_download(caller, tenant_id, file_id)


@blueprint.operation(
    "DELETE",
    "/files/<file_id>",
    access=Access.USER,
    rule=operations.DELETE,
    also={operations.DELETE_PERMANENTLY: "`permanently=true` or `overrideReason`"},
    query=DeletionQuery,
    returns=DoneSchema,
    errors=(*CHANGE_ERRORS, errors.FileHeld, errors.FileRetained, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def delete_file(tenant_id: str, file_id: str, query: Json, revision: int | None) -> dict[str, bool]:
    """Delete a file, or a folder with its content.

    It goes to the trash, unless the server has none. With `permanently=true` it is removed at once; that
    requires a fresh proof: a code for `unbind`, the current password, or a login within the last 10
    minutes.
    """
    permanently = query["permanently"]
    if permanently:
        require_fresh_proof()
    get_service(FileService).delete(
        current_identity(),
        tenant_id,
        file_id,
        revision,
        permanently=permanently,
        override=requested_override(query, is_proven=permanently),
    )
    return DONE


@blueprint.operation(
    "GET",
    "/owners/<owner_id>/files",
    access=Access.USER,
    rule=operations.LIST,
    verifies_login=True,
    query=ListQuery,
    returns=collection_schema(NodeSchema),
    compress=True,
    errors=(errors.Forbidden,),
)
def list_files(tenant_id: str, owner_id: str, query: Json, caller: Caller) -> Response:
    """List a user's top-level files and folders: those without a parent folder that the user can see.

    `me` is the caller; only an administrator of the tenant may list the files of other users.
    """
    listing, owner_id = get_service(FileListing), own_id(owner_id)
    page = listing.top_level(caller, tenant_id, owner_id, _paging(query), _selection(query))
    return listed_nodes(page, query, caller, tenant_id)


@blueprint.operation(
    "GET",
    "/owners/<owner_id>/files/<parent_id>/files",
    access=Access.USER,
    rule=operations.LIST,
    verifies_login=True,
    query=ListQuery,
    returns=collection_schema(NodeSchema),
    compress=True,
    errors=(errors.Forbidden, errors.NotFound, errors.NotAFolder),
)
def list_files_in_folder(
    tenant_id: str, owner_id: str, parent_id: str, query: Json, caller: Caller
) -> Response:
    """List the files a user can access inside a folder.

    `me` is the caller; only an administrator of the tenant may list as another user. The nodes are
    those directly in the folder, sorted by name unless `sort` is given.
    """
    listing, owner_id = get_service(FileListing), own_id(owner_id)
    page = listing.inside(caller, tenant_id, owner_id, parent_id, _paging(query), _selection(query))
    return listed_nodes(page, query, caller, tenant_id)


def _paging(query: Json) -> Paging | CursorPaging:
    requested = paging(query)
    if requested.after is None:
        return requested
    return node_paging(requested, NodeOrder.parse(query["sort"], folders_first=query["foldersFirst"]))


def _selection(query: Json) -> NodeSelection | None:
    """Return the filter and the order of a list, ``None`` for all nodes by name."""
    owner = query["owner"]
    filter_ = (
        query["type"],
        query["contentType"],
        None if owner is None else own_id(owner),
        query["modifiedAfter"],
    )
    return _selected(query["q"], filter_, query["sort"], folders_first=query["foldersFirst"])


# Creating these objects takes longer than reading a short list.
@lru_cache(maxsize=256)
def _selected(
    text: str | None,
    filter_: tuple[str | None, str | None, str | None, int | None],
    sort: str,
    *,
    folders_first: bool,
) -> NodeSelection | None:
    order = NodeOrder.parse(sort, folders_first=folders_first)
    selection = NodeSelection(text, NodeFilter(*filter_), order)
    return None if selection.is_usual else selection


def _create_folder(tenant_id: str, parent_id: str | None, body: Json, query: Json) -> Json:
    view = get_service(FileService).create_folder(
        current_identity(), tenant_id, parent_id, body["name"], OnConflict(query["onConflict"])
    )
    return serialize_node(view)


def _upload(caller: Caller, tenant_id: str, parent_id: str | None, query: Json) -> Json:
    files, path = get_service(FileService), query["relativePath"]
    folders, name = parse_path(path) if path else ((), None)
    incoming = receive_upload(files.max_file_bytes, default_name=name)
    incoming.name = chosen_name(folders, name, incoming.name)
    rule = OnConflict(query["onConflict"])
    return serialize_node(files.upload(caller, tenant_id, parent_id, incoming, rule, folders))
