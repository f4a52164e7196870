"""The endpoint that changes many files and folders."""

from collections.abc import Callable, Mapping
from typing import Final

from strongroom.content.files.copying import Copy
from strongroom.content.files.grants import GrantRequest, GroupGrantRequest
from strongroom.content.files.moving import Move
from strongroom.content.files.serializers import Json, serialize_node
from strongroom.content.nodes import operations
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.models import Permission
from strongroom.extensions.batches.schemas import BatchOperation, BatchResultsSchema, FilesBatchSchema
from strongroom.extensions.batches.service import (
    BatchItem,
    BatchResult,
    BatchService,
    Change,
    Deletion,
    GroupRevocation,
    Revocation,
)
from strongroom.extensions.trash.service import RestoreRequest
from strongroom.foundation import errors
from strongroom.foundation.errors import Translate, error_member
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.input_bounds import LARGEST_BYTES
from strongroom.web.http.languages import response_locale, translator
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "files_batches",
    url_prefix="/api/v1/tenants/<tenant_id>/files-batches",
    description="Changes of many files and folders.",
)


@blueprint.operation(
    "POST",
    "",
    access=Access.USER,
    rule=operations.BATCH,
    # Its scope is the least of the items' scopes.
    also={
        operations.MOVE: "`operation` is `move`, and `parentId` is another folder",
        operations.DELETE: "`operation` is `trash`",
        operations.RESTORE: "`operation` is `restore`",
        operations.GRANT: "`operation` is `grant`",
        operations.REVOKE: "`operation` is `revoke`",
        operations.RENAME: "`operation` is `move`, and `parentId` is its folder",
        operations.COPY: "`operation` is `copy`",
    },
    body=FilesBatchSchema,
    max_body=LARGEST_BYTES,
    returns=BatchResultsSchema,
    errors=(
        errors.Forbidden,
        errors.NotFound,
        errors.NameConflict,
        errors.FileLocked,
        errors.NotAFolder,
        errors.NotAMember,
        errors.MoveIntoItself,
        errors.ParentGone,
        errors.RevisionConflict,
        errors.TooManyNodes,
        errors.FileHeld,
        errors.FileRetained,
        errors.FileHeld,
        errors.UnsupportedMediaType,
        errors.StorageFull,
    ),
)
def change_files(tenant_id: str, body: Json) -> Json:
    """Move, copy, trash, restore or share up to 1,000 files and folders.

    The items are applied in order, each as by its own request. An atomic batch applies all of them or
    none, and responds with the error of the first item that fails; otherwise each has its own result.
    A batch copies up to 1,000 files and folders.
    """
    items = [_item(item) for item in body["items"]]
    service = get_service(BatchService)
    apply = service.apply_all if body["atomic"] else service.apply_each
    results = apply(current_identity(), tenant_id, items, origin())
    is_complete = not any(result.error for result in results)
    translate = str if is_complete else translator(response_locale())
    return {"results": [_serialize(result, translate) for result in results]}


def _move(item: Json) -> Change:
    return Move(item["parentId"], item.get("name"), _on_conflict(item))


def _copy(item: Json) -> Change:
    return Copy(item["parentId"], item.get("name"), _on_conflict(item))


def _delete(_: Json) -> Change:
    return Deletion()


def _restore(item: Json) -> Change:
    return RestoreRequest(
        _on_conflict(item), to_former_parent="parentId" not in item, parent_id=item.get("parentId")
    )


def _grant(item: Json) -> Change:
    permission, expires_at = Permission[item["permission"].upper()], item.get("expiresAt")
    if "groupId" in item:
        return GroupGrantRequest(item["groupId"], permission, expires_at)
    return GrantRequest(item["ownerId"], permission, expires_at)


def _revoke(item: Json) -> Change:
    return GroupRevocation(item["groupId"]) if "groupId" in item else Revocation(item["ownerId"])


_CHANGES: Final[Mapping[str, Callable[[Json], Change]]] = {
    BatchOperation.MOVE: _move,
    BatchOperation.COPY: _copy,
    BatchOperation.TRASH: _delete,
    BatchOperation.RESTORE: _restore,
    BatchOperation.GRANT: _grant,
    BatchOperation.REVOKE: _revoke,
}


def _item(item: Json) -> BatchItem:
    return BatchItem(item["fileId"], _CHANGES[item["operation"]](item), item.get("revision"))


def _on_conflict(item: Json) -> OnConflict:
    return OnConflict(item.get("onConflict", OnConflict.FAIL.value))


def _serialize(result: BatchResult, translate: Translate) -> Json:
    return {
        "fileId": result.node_id,
        "status": result.status,
        "file": serialize_node(result.view) if result.view else None,
        "error": error_member(result.error, translate) if result.error else None,
    }
