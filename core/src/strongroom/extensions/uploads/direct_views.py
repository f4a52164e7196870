"""Endpoints to start and complete direct uploads."""

from typing import Any

from marshmallow import Schema, fields, validate

from strongroom.content.files.node_responses import NODE_LOCATION
from strongroom.content.files.schemas import FileConflictQuery, NodeSchema, node_name, relative_path
from strongroom.content.files.serializers import serialize_node
from strongroom.content.nodes import operations
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.names import chosen_name, parse_path
from strongroom.content.scanning.states import INSPECTION_ERRORS
from strongroom.extensions.uploads.direct import DirectUploads, DirectUploadToken
from strongroom.foundation import errors
from strongroom.plugin_api.schemas import Timestamp
from strongroom.plugin_api.web import Location
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.parsing import identifier
from strongroom.web.http.request import get_service
from strongroom.web.http.routing import Blueprint


class NewDirectUploadSchema(Schema):
    """A file to be uploaded directly to the store."""

    name = node_name(
        required=True,
        metadata={
            "description": "Name of the file, unless `relativePath` has folders and so another name"
        },
    )
    size = fields.Integer(
        required=True,
        strict=True,
        validate=validate.Range(min=0),
        metadata={"description": "Exact number of bytes that will be sent"},
    )
    checksum = fields.String(
        required=True,
        validate=validate.Regexp(r"sha256:[0-9a-f]{64}\Z"),
        metadata={"description": "sha256: and 64 hexadecimal digits"},
    )
    parentId = identifier(
        load_default=None, allow_none=True, metadata={"description": "The folder; null: the top level"}
    )
    relativePath = relative_path(allow_none=True)


class DirectUploadSchema(Schema):
    """The presigned request to the store, to be sent with exactly these headers and then completed."""

    uploadId = fields.String(
        required=True, metadata={"description": "For the request that completes the upload"}
    )
    method = fields.String(
        required=True, metadata={"description": "Method of the request to the store, such as `PUT`"}
    )
    url = fields.String(
        required=True, metadata={"description": "Presigned URL of the store; send no token to it"}
    )
    headers = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        required=True,
        metadata={"description": "Headers to send with the content, unchanged"},
    )
    expiresAt = Timestamp(
        required=True, metadata={"description": "Until when it can be sent and completed"}
    )


blueprint = Blueprint(
    "direct_uploads",
    url_prefix="/api/v1/tenants/<tenant_id>/direct-uploads",
    description="Uploads that clients send directly to the store.",
)

Json = dict[str, Any]


@blueprint.operation(
    "POST",
    "",
    access=Access.USER,
    rule=operations.CREATE,
    body=NewDirectUploadSchema,
    query=FileConflictQuery,
    returns=DirectUploadSchema,
    status=201,
    location=Location("direct_uploads.complete_direct_upload", {"upload_id": "uploadId"}),
    errors=(
        errors.ValidationFailed,
        errors.Forbidden,
        errors.NotFound,
        errors.NotAFolder,
        errors.NameConflict,
        errors.FileLocked,
        errors.PayloadTooLarge,
        errors.StorageFull,
        errors.TooManyRequests,
        errors.NotImplementedHere,
    ),
)
def begin_direct_upload(tenant_id: str, body: Json, query: Json) -> Json:
    """Get a presigned request that stores a file. Complete the upload after sending it.

    The caller needs the permission `write` on the folder. The size is reserved in the quota until
    `expiresAt`, and the server limits the open uploads of a user. It is 501 if the store has no
    presigned requests.
    """
    path = body["relativePath"]
    folders, last = parse_path(path) if path else ((), None)
    parameters = DirectUploadToken(
        tenant_id,
        body["parentId"],
        chosen_name(folders, last, body["name"]),
        body["size"],
        body["checksum"].removeprefix("sha256:"),
        OnConflict(query["onConflict"]),
        folders,
    )
    upload = get_service(DirectUploads).begin(current_identity(), parameters)
    return {
        "uploadId": upload.upload_id,
        "method": upload.request.method,
        "url": upload.request.url,
        "headers": dict(upload.request.headers),
        "expiresAt": upload.expires_at,
    }


@blueprint.operation(
    "POST",
    "/<upload_id>/complete",
    access=Access.USER,
    rule=operations.CONTINUE_UPLOAD,
    returns=NodeSchema,
    status=201,
    location=NODE_LOCATION,
    errors=(
        errors.Forbidden,
        errors.NotFound,
        errors.NotAFolder,
        errors.NameConflict,
        errors.FileLocked,
        errors.UploadIncomplete,
        errors.DigestMismatch,
        errors.UnsupportedMediaType,
        *INSPECTION_ERRORS,
        errors.StorageFull,
    ),
)
def complete_direct_upload(tenant_id: str, upload_id: str) -> Json:
    """Create the file if the stored content matches the declared size and checksum. Idempotent.

    Only the user who began it may. If the store has not received the content yet, it is refused and can
    be repeated; wrong content ends the upload. Repeated requests return the same file.
    """
    return serialize_node(get_service(DirectUploads).complete(current_identity(), tenant_id, upload_id))
