"""Uploads that clients send to the store by themselves."""

from typing import Any

from strongroom.direct_uploads.schemas import (
    DirectUploadSchema,
    NewDirectUploadSchema,
)
from strongroom.direct_uploads.service import DirectUploads, DirectUploadToken
from strongroom.errors import (
    DigestMismatch,
    Forbidden,
    NameConflict,
    NotAFolder,
    NotFound,
    NotImplementedHere,
    PayloadTooLarge,
    StorageFull,
    TooManyRequests,
    UnsupportedMediaType,
    UploadIncomplete,
    ValidationFailed,
)
from strongroom.files.filing import OnConflict
from strongroom.files.schemas import FileConflictQuery, NodeSchema
from strongroom.files.serializers import NODE_LOCATION, serialize_node
from strongroom.web.blueprint import Blueprint
from strongroom.web.components import use
from strongroom.web.guard import Access, current_identity

blueprint = Blueprint(
    "direct_uploads",
    __name__,
    url_prefix="/api/v1/tenants/<tenant_id>/direct-uploads",
    description="Files that clients send to the store by themselves.",
)

Json = dict[str, Any]


@blueprint.operation(
    "POST",
    "",
    access=Access.USER,
    body=NewDirectUploadSchema,
    query=FileConflictQuery,
    returns=DirectUploadSchema,
    status=201,
    errors=(
        ValidationFailed,
        Forbidden,
        NotFound,
        NotAFolder,
        NameConflict,
        PayloadTooLarge,
        StorageFull,
        TooManyRequests,
        NotImplementedHere,
    ),
)
def begin_direct_upload(tenant_id: str, body: Json, query: Json) -> Json:
    """Get a signed request that stores a file; the upload is then to be completed."""
    announcement = DirectUploadToken(
        tenant_id,
        body["parentId"],
        body["name"],
        body["size"],
        body["checksum"].removeprefix("sha256:"),
        OnConflict(query["onConflict"]),
    )
    invitation = use(DirectUploads).begin(current_identity(), announcement)
    return {
        "uploadId": invitation.upload_id,
        "method": invitation.request.method,
        "url": invitation.request.url,
        "headers": dict(invitation.request.headers),
        "expiresAt": invitation.expires_at,
    }


@blueprint.operation(
    "POST",
    "/<upload_id>/complete",
    access=Access.USER,
    returns=NodeSchema,
    status=201,
    location=NODE_LOCATION,
    errors=(
        Forbidden,
        NotFound,
        NotAFolder,
        NameConflict,
        UploadIncomplete,
        DigestMismatch,
        UnsupportedMediaType,
        StorageFull,
    ),
)
def complete_direct_upload(tenant_id: str, upload_id: str) -> Json:
    """Make a file of what was sent to the store, if it is what was announced. May be repeated."""
    return serialize_node(use(DirectUploads).complete(current_identity(), tenant_id, upload_id))
