"""Endpoints that rename, move and copy files and folders, and replace the content of files."""

from strongroom.content.files.copying import Copy, CopyingService
from strongroom.content.files.moving import Move, MovingService
from strongroom.content.files.node_responses import (
    CHANGE_ERRORS,
    NODE_LOCATION,
)
from strongroom.content.files.replacing import ReplacingService
from strongroom.content.files.schemas import (
    CopySchema,
    DirectorySchema,
    FileConflictQuery,
    NodeSchema,
    RenameSchema,
)
from strongroom.content.files.serializers import Json, serialize_node
from strongroom.content.files.service import FileService
from strongroom.content.nodes import operations
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.scanning.states import INSPECTION_ERRORS
from strongroom.foundation import errors
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.header_descriptions import UPLOAD_REQUEST
from strongroom.web.http.request import get_service
from strongroom.web.http.routing import Blueprint
from strongroom.web.http.uploads import UPLOAD_BODY, receive_upload

blueprint = Blueprint(
    "file changes",
    url_prefix="/api/v1/tenants/<tenant_id>/files/<file_id>",
    description="Rename, move, copy and replace files and folders.",
)


@blueprint.operation(
    "PATCH",
    "",
    access=Access.USER,
    rule=operations.RENAME,
    body=RenameSchema,
    query=FileConflictQuery,
    returns=NodeSchema,
    errors=(*CHANGE_ERRORS, errors.NameConflict, errors.FileHeld),
)
def rename_file(tenant_id: str, file_id: str, body: Json, query: Json, revision: int | None) -> Json:
    """Rename a file or folder.

    The caller needs the permission `write`. Id, content and grants stay. With `onConflict=replace`, a
    file that has the name goes to the trash, which needs `manage` on it.
    """
    view = get_service(MovingService).rename(
        current_identity(), tenant_id, file_id, body["name"], revision, OnConflict(query["onConflict"])
    )
    return serialize_node(view)


@blueprint.operation(
    "PUT",
    "/directory",
    access=Access.USER,
    rule=operations.RENAME,
    also={operations.MOVE: "`parentId` is another folder"},
    body=DirectorySchema,
    query=FileConflictQuery,
    returns=NodeSchema,
    errors=(
        *CHANGE_ERRORS,
        errors.NameConflict,
        errors.NotAFolder,
        errors.MoveIntoItself,
        errors.FileHeld,
    ),
)
def move_file(tenant_id: str, file_id: str, body: Json, query: Json, revision: int | None) -> Json:
    """Move a file, or a folder with its content, into another folder or to the top level.

    With the `parentId` that the node has, it is renamed as by `PATCH`, which needs only `write`. A move
    needs `manage`, and of an access key the scope `files:share`.

    Grants on the folders it leaves no longer apply to it; grants on the node and on its content remain.
    The response's `permission` is the caller's permission after the move: `none` if the caller can no
    longer see the node.
    """
    move = Move(body["parentId"], body["name"], OnConflict(query["onConflict"]))
    moving = get_service(MovingService)
    return serialize_node(moving.move(current_identity(), tenant_id, file_id, move, revision))


@blueprint.operation(
    "POST",
    "/copies",
    access=Access.USER,
    rule=operations.COPY,
    body=CopySchema,
    query=FileConflictQuery,
    returns=NodeSchema,
    status=201,
    location=NODE_LOCATION,
    errors=(
        errors.Forbidden,
        errors.NotFound,
        errors.FileLocked,
        errors.NameConflict,
        errors.NotAFolder,
        errors.MoveIntoItself,
        errors.TooManyNodes,
        errors.FileHeld,
        errors.UnsupportedMediaType,
        errors.StorageFull,
    ),
)
def copy_file(tenant_id: str, file_id: str, body: Json, query: Json) -> Json:
    """Copy a file, or a folder with up to 1,000 files and folders, into a folder or to the top level.

    The caller owns the copies. Grants are not copied. No bytes are copied, but the copies count in the
    quota of the tenant.
    """
    request = Copy(body["parentId"], body["name"], OnConflict(query["onConflict"]))
    view = get_service(CopyingService).copy(current_identity(), tenant_id, file_id, request)
    return serialize_node(view)


@blueprint.operation(
    "PUT",
    "/content",
    access=Access.USER,
    rule=operations.REPLACE,
    returns=NodeSchema,
    errors=(
        *CHANGE_ERRORS,
        errors.NotAFile,
        errors.ValidationFailed,
        errors.LengthRequired,
        errors.UnsupportedMediaType,
        errors.UploadIncomplete,
        errors.DigestMismatch,
        *INSPECTION_ERRORS,
        errors.PayloadTooLarge,
        errors.StorageFull,
    ),
    document={"requestBody": UPLOAD_BODY},
    request_headers=UPLOAD_REQUEST,
)
def replace_content(tenant_id: str, file_id: str, revision: int | None) -> Json:
    """Replace the content of a file, sent as for an upload. The name in the upload is ignored.

    The caller needs the permission `write`. Id and grants stay, and the former content becomes a
    version if the tenant keeps versions. Send `If-Match` with the `ETag` that you know, so that no
    concurrent change is lost.
    """
    files = get_service(FileService)
    # The default only satisfies the parser, because the file keeps its own name.
    incoming = receive_upload(files.max_file_bytes, default_name="content")
    replacing = get_service(ReplacingService)
    view = replacing.replace_content(current_identity(), tenant_id, file_id, incoming, revision)
    return serialize_node(view)
