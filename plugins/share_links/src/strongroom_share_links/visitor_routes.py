"""The routes of visitors, who have the secret of a share and need no account."""

from typing import Any, Final

from marshmallow import Schema

from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import Access, Blueprint
from strongroom_share_links.errors import (
    FULL,
    LENGTH_REQUIRED,
    NAME_REQUIRED,
    NOT_SHOWN,
    PASSWORD_WRONG,
    TOO_LARGE,
    VISITOR_ERRORS,
)
from strongroom_share_links.models import READERS, RECEIVERS, SHOWN, Kind
from strongroom_share_links.proofs import HEADER, ISSUED, LIFETIME, SENT
from strongroom_share_links.schemas import (
    DescriptionSchema,
    DropPathQuery,
    DroppedSchema,
    DropQuery,
    IssuedProofSchema,
    ProofSchema,
    SharedBundleSchema,
    SharedFileSchema,
    SharedOrder,
)
from strongroom_share_links.sending import Sender
from strongroom_share_links.service import Shares
from strongroom_share_links.visits import Visit

Json = dict[str, Any]

ROOT: Final = "/api/v1/shares/<secret>"
PATH_PARAMETERS: Final = {"secret": "The secret of the share: the last segment of its link"}
_FILE: Final = f"{ROOT}/files/<file_id>"
_UPLOAD: Final = f"{ROOT}/uploads/<upload_id>"
_DROP_ERRORS: Final = (*VISITOR_ERRORS, NAME_REQUIRED, LENGTH_REQUIRED, TOO_LARGE, FULL)
_BYTES: Final = {"schema": {"type": "string", "format": "binary"}}
# Generators of clients treat only application/octet-stream as bytes.
_CONTENT: Final = {"application/octet-stream": _BYTES}
_ANY: Final = {**_CONTENT, "*/*": _BYTES}


def _download(media_type: str) -> Json:
    content = {**_CONTENT, media_type: _BYTES}
    ranges = {**content, "multipart/byteranges": _BYTES}
    return {
        "responses": {
            "200": {"description": "The content", "content": content},
            "206": {"description": "The requested range", "content": ranges},
            "304": {"description": "The visitor's copy is current"},
        }
    }


_DOWNLOAD: Final = _download("*/*")
_ARCHIVE: Final = _download("application/zip")
_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "The content, with the file name of this part",
                        }
                    },
                    "additionalProperties": False,
                }
            },
            **_CONTENT,
        },
    }
}
_TUS: Final = {
    "requestBody": {
        "description": "The bytes. tus clients send them as `application/offset+octet-stream`, "
        "which is the same.",
        "content": _CONTENT,
    }
}


def protect(response: Any) -> Any:
    """Keep a response with a secret in its URL out of caches, search engines and referrers."""
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


def make_visitor_routes(host: HostAPI, shares: Shares) -> list[Blueprint]:
    """Return the routes."""
    routes = host.blueprint(
        "visits",
        description="Share links and drop boxes, for their visitors.",
        parameters=PATH_PARAMETERS,
    )
    uploads = host.blueprint(
        "visitor-uploads",
        description="Resumable uploads into drop boxes.",
        parameters=PATH_PARAMETERS,
    )
    sender = Sender(host, shares)
    _add_description(routes, shares)
    _add_proofs(routes, host, shares)
    _add_lists(routes, host, shares)
    _add_downloads(routes, shares, sender)
    _add_bundles(routes, shares, sender)
    _add_drops(routes, shares)
    _add_uploads(uploads, host, shares)
    routes.after_request(protect)
    uploads.after_request(protect)
    uploads.after_request(host.uploads.finish)
    return [routes, uploads]


def _add_description(routes: Blueprint, shares: Shares) -> None:
    @routes.operation(
        "GET",
        ROOT,
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        returns=DescriptionSchema,
        errors=VISITOR_ERRORS,
    )
    def get_shared(secret: str) -> Json:
        """Get the description of a share; with a password, names and limits need the proof.

        No account is needed, unless the audience is limited. A secret that is wrong and a share that
        has ended are the same 404. The request counts as an opening once the password is proven.
        """
        visit = shares.visits.open(secret, needs_proof=False)
        if visit.is_proven:
            shares.openings.opened(visit.link)
        return describe(visit)


def _add_proofs(routes: Blueprint, host: HostAPI, shares: Shares) -> None:
    @routes.operation(
        "POST",
        f"{ROOT}/proofs",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        body=ProofSchema,
        returns=IssuedProofSchema,
        response_headers=ISSUED,
        errors=(*VISITOR_ERRORS, PASSWORD_WRONG),
    )
    def prove_password(secret: str, body: Json) -> Any:
        """Prove the knowledge of the password. The proof is in `X-Share-Proof`, and in a cookie.

        A proof is valid for 15 minutes, until the password changes. After several wrong passwords a
        captcha is required.
        """
        visit = shares.visits.open(secret, needs_proof=False)
        proof = shares.proofs.issue(visit.link, body["password"], body["captcha"])
        ends_at = host.clock.now() + LIFETIME * 1000
        cookie = shares.cookies.set_cookie_header("share", visit.link.id, proof, LIFETIME)
        return {"expiresAt": ends_at}, {HEADER: proof, "Set-Cookie": cookie}


def _add_lists(routes: Blueprint, host: HostAPI, shares: Shares) -> None:
    list_query: type[Schema] = type("SharedFilesQuery", (host.paging_query, SharedOrder), {})

    def page(visit: Visit, folder_id: str, query: Json) -> Any:
        tenant_id = visit.link.tenant_id
        with shares.visits.acting(visit):
            if not visit.file.is_folder and folder_id == visit.file.id:
                listed = host.lists.page([visit.file], query, lambda file: (file.id,))
            else:
                listed = host.files.list(
                    tenant_id, folder_id, folders_first=query["foldersFirst"], query=query
                )
        return host.lists.collection(listed.map(_shown), query)

    @routes.operation(
        "GET",
        f"{ROOT}/files",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        query=list_query,
        returns=host.collection_schema(SharedFileSchema),
        errors=VISITOR_ERRORS,
    )
    def list_shared_files(secret: str, query: Json) -> Any:
        """List the files of a share by name, or the one file that it is of.

        Not for the kind `drop`. Folders can be opened by `listSharedFilesInFolder`.
        """
        visit = shares.visits.open(secret, SHOWN)
        return page(visit, visit.file.id, query)

    @routes.operation(
        "GET",
        f"{_FILE}/files",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        query=list_query,
        returns=host.collection_schema(SharedFileSchema),
        errors=VISITOR_ERRORS,
    )
    def list_shared_files_in_folder(secret: str, file_id: str, query: Json) -> Any:
        """List the files in a folder of a share by name.

        The folder is in the shared folder, at any depth. Not for the kind `drop`.
        """
        return page(shares.visits.open(secret, SHOWN), file_id, query)

    @routes.operation(
        "GET",
        _FILE,
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        returns=SharedFileSchema,
        errors=VISITOR_ERRORS,
    )
    def get_shared_file(secret: str, file_id: str) -> Json:
        """Get the details of a file or folder of a share.

        Not for the kind `drop`, and not for files outside the shared folder.
        """
        visit = shares.visits.open(secret, SHOWN)
        with shares.visits.acting(visit):
            return _shown(host.files.stat(visit.link.tenant_id, file_id))


def _add_downloads(routes: Blueprint, shares: Shares, sender: Sender) -> None:
    @routes.operation(
        "GET",
        f"{_FILE}/download",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        errors=VISITOR_ERRORS,
        document=_DOWNLOAD,
    )
    def download_shared_file(secret: str, file_id: str) -> Any:
        """Download a file of a share, or ranges of it.

        A download counts when its first bytes are sent. Its cookie continues it without counting again.
        """
        return sender.file(sender.open(secret, READERS), file_id)

    @routes.operation(
        "GET",
        f"{_FILE}/preview",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        errors=(*VISITOR_ERRORS, NOT_SHOWN),
        document={"responses": {"200": {"description": "A picture, or text", "content": _ANY}}},
    )
    def preview_shared_file(secret: str, file_id: str) -> Any:
        """Get a picture in a smaller size without metadata, or the beginning of a text.

        Pictures are scaled to 1,600 pixels, and texts have their first 64 KiB as plain text; other
        files are refused. With `maxDownloads`, it counts as a download.
        """
        return sender.preview(sender.open(secret, SHOWN), file_id)


def _add_bundles(routes: Blueprint, shares: Shares, sender: Sender) -> None:
    @routes.operation(
        "GET",
        f"{ROOT}/download",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        errors=VISITOR_ERRORS,
        document=_DOWNLOAD,
    )
    def download_shared(secret: str) -> Any:
        """Download the whole share: its file, or its folder as a ZIP archive.

        For the kinds `read` and `write`. It counts as a download, as `downloadSharedFile` does.
        """
        visit = sender.open(secret, READERS)
        if visit.file.is_folder:
            return sender.bundle(visit, [visit.file.id], None)
        return sender.file(visit, visit.file.id)

    @routes.operation(
        "POST",
        f"{ROOT}/multi-files-download",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        body=SharedBundleSchema,
        errors=VISITOR_ERRORS,
        document=_ARCHIVE,
    )
    def download_shared_files(secret: str, body: Json) -> Any:
        """Download files and folders of a share as one ZIP archive, or a range of it.

        For the kinds `read` and `write`. It counts as one download. `Content-Location` is the path of
        the archive, at which an interrupted download is resumed.
        """
        visit = sender.open(secret, READERS)
        return sender.bundle(visit, body["fileIds"] or [visit.file.id], body["name"])

    @routes.operation(
        "GET",
        f"{ROOT}/multi-files-download/<bundle_id>",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        errors=VISITOR_ERRORS,
        document=_ARCHIVE,
    )
    def download_shared_files_again(secret: str, bundle_id: str) -> Any:
        """Continue the download of an archive.

        The id is from `Content-Location` of the request that made the archive. With `Range` and
        `If-Range`, the rest is downloaded without being counted again.
        """
        return sender.bundle_again(sender.open(secret, READERS), bundle_id)


def _add_drops(routes: Blueprint, shares: Shares) -> None:
    @routes.operation(
        "POST",
        f"{ROOT}/files",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        query=DropPathQuery,
        returns=DroppedSchema,
        status=201,
        errors=_DROP_ERRORS,
        document=_BODY,
    )
    def drop_file(secret: str, query: Json) -> Json:
        """Upload a file into a share, as a form or as the raw body. It never replaces another one.

        For the kinds `drop` and `write`. A taken name gets a number. The maker owns the file, whose
        size counts in the tenant's quota and in the limits of the share.
        """
        visit = shares.visits.open(secret, RECEIVERS)
        return _received(shares, visit, visit.file.id, query)

    @routes.operation(
        "POST",
        f"{_FILE}/files",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        query=DropPathQuery,
        returns=DroppedSchema,
        status=201,
        errors=_DROP_ERRORS,
        document=_BODY,
    )
    def drop_file_into_folder(secret: str, file_id: str, query: Json) -> Json:
        """Upload a file into a folder of a share of the kind `write`.

        The folder is in the shared folder, at any depth. A taken name gets a number.
        """
        visit = shares.visits.open(secret, (Kind.WRITE,))
        return _received(shares, visit, file_id, query)


def _add_uploads(routes: Blueprint, host: HostAPI, shares: Shares) -> None:
    errors = (*_DROP_ERRORS, *host.uploads.errors)

    def location(secret: str, upload_id: str) -> str:
        return f"{host.public_url}/api/v1/shares/{secret}/uploads/{upload_id}"

    @routes.operation("OPTIONS", f"{ROOT}/uploads", access=Access.PUBLIC, status=204)
    def describe_visitor_uploads(secret: str) -> Any:  # noqa: ARG001  the same for all shares
        """Get the supported tus version, extensions and limits, as headers.

        The response is the same for all shares. `Tus-Max-Size` is in bytes.
        """
        return host.uploads.describe()

    @routes.operation(
        "POST",
        f"{ROOT}/uploads",
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        query=DropQuery,
        status=201,
        errors=errors,
        document=_TUS,
    )
    def create_visitor_upload(secret: str, query: Json) -> Any:
        """Create a resumable upload (tus 1.0) into a share.

        For the kinds `drop` and `write`, for files that are too large for one request. `Location` is
        the path of the upload; `Upload-Metadata` must contain `filename`. Few uploads of a visitor may
        be open, and one without progress for an hour ends.
        """
        visit = shares.visits.open(secret, RECEIVERS)
        return shares.drops.begin(
            visit, visit.file.id, query["uploadedBy"], lambda upload_id: location(secret, upload_id)
        )

    @routes.operation(
        "GET",
        _UPLOAD,
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        errors=errors,
    )
    def get_visitor_upload(secret: str, upload_id: str) -> Any:
        """Get the state of an upload, as headers; tus clients use HEAD.

        `Upload-Offset` is where to continue.
        """
        return shares.drops.state(_continued(shares, secret), upload_id)

    @routes.operation(
        "PATCH",
        _UPLOAD,
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        status=204,
        errors=errors,
        document=_TUS,
    )
    def append_to_visitor_upload(secret: str, upload_id: str) -> Any:
        """Append to an upload at `Upload-Offset`; the last byte creates the file.

        What arrives before an interruption is stored, unless `Upload-Checksum` is sent.
        """
        return shares.drops.append(_continued(shares, secret), upload_id)

    @routes.operation(
        "DELETE",
        _UPLOAD,
        access=Access.OPTIONAL,
        limit=shares.visits.count,
        request_headers=SENT,
        status=204,
        errors=errors,
    )
    def terminate_visitor_upload(secret: str, upload_id: str) -> Any:
        """Delete an upload.

        Its share of the limits is free again. A file that was created from it remains.
        """
        return shares.drops.terminate(_continued(shares, secret), upload_id)


def _continued(shares: Shares, secret: str) -> Visit:
    # The upload has its room since it was created, also if no other file has any.
    return shares.visits.open(secret, RECEIVERS, continues=True)


def describe(visit: Visit) -> Json:
    """Return what a visitor may know: hardly anything before the proof, and no URL at any time."""
    link = visit.link
    known: Json = {
        "id": link.id,
        "kind": link.kind,
        "needsPassword": link.password_hash is not None,
        "expired": False,
    }
    if not visit.is_proven:
        return known
    known |= {"label": link.label, "expiresAt": link.expires_at}
    if visit.kind in SHOWN:
        left = None if link.max_downloads is None else link.max_downloads - link.downloads
        shown = _shown(visit.file)
        known |= {"fileId": shown.pop("id"), **shown, "remainingDownloads": left}
    if visit.kind in RECEIVERS:
        files = None if link.max_files is None else link.max_files - link.dropped_files
        size = None if link.max_bytes is None else link.max_bytes - link.dropped_bytes
        known |= {"drop": link, "remainingFiles": files, "remainingBytes": size}
    return known


def _shown(file: FileInfo) -> Json:
    return {
        "id": file.id,
        "name": file.name,
        "type": "folder" if file.is_folder else "file",
        "size": file.size,
        "contentType": file.content_type,
        "updatedAt": file.updated_at,
    }


def _received(shares: Shares, visit: Visit, folder_id: str, query: Json) -> Json:
    file = shares.drops.receive(visit, folder_id, query["uploadedBy"], query["relativePath"])
    # Nothing can be done with the id of a file that the visitor may not see.
    shown = {"id": file.id} if visit.is_shown else {}
    return {"name": file.name, "size": file.size, **shown}
