"""Operations on business files. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import BusinessFile, Done
from ..operations import UNSET, Content, Operation, Unset, segment


def delete_business_file(
    file_name: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Done]:
    """Delete a file and its variants; only its owner and server administrators may.

    It cannot be undone. Copies in caches of browsers and proxies may remain for a year.
    """
    return Operation(
        "DELETE",
        f"/api/v1/files/{segment(file_name)}",
        Done,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def download_business_file(
    file_name: str,
    *,
    width: int | None | Unset = UNSET,
    range_: str | Unset = UNSET,
    if_range: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    if_modified_since: str | Unset = UNSET,
    if_unmodified_since: str | Unset = UNSET,
    want_content_digest: str | Unset = UNSET,
) -> Operation[bytes]:
    """Download a file, ranges of it, or a picture scaled to a smaller width.

    The configuration of the file's profile decides whether a token is required.
    """
    return Operation(
        "GET",
        f"/api/v1/files/{segment(file_name)}",
        bytes,
        query={
            "width": width,
        },
        headers={
            "Range": range_,
            "If-Range": if_range,
            "If-Match": if_match,
            "If-None-Match": if_none_match,
            "If-Modified-Since": if_modified_since,
            "If-Unmodified-Since": if_unmodified_since,
            "Want-Content-Digest": want_content_digest,
        },
    )


def upload_avatar(
    *,
    content: Content,
    content_disposition: str | Unset = UNSET,
    content_digest: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[BusinessFile]:
    """Upload a logo; it is re-encoded without its metadata.

    Every logged-in user may. The response has a `url` with an unguessable name, under which the content
    never changes. The server's configuration limits the bytes and pixels of logos, and has the widths
    that downloads may choose.
    """
    return Operation(
        "POST",
        "/api/v1/files/avatars",
        BusinessFile,
        headers={
            "Content-Disposition": content_disposition,
            "Content-Digest": content_digest,
            "Idempotency-Key": idempotency_key,
        },
        content=content,
        media_type="application/octet-stream",
    )


def upload_business_file(
    *,
    content: Content,
    content_disposition: str | Unset = UNSET,
    content_digest: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[BusinessFile]:
    """Upload a file of any media type that the configuration allows.

    Every logged-in user may. The response has a `url` with an unguessable name, under which the content
    never changes. The media type is detected from the content, whatever the request says.
    """
    return Operation(
        "POST",
        "/api/v1/files",
        BusinessFile,
        headers={
            "Content-Disposition": content_disposition,
            "Content-Digest": content_digest,
            "Idempotency-Key": idempotency_key,
        },
        content=content,
        media_type="application/octet-stream",
    )


def upload_cover(
    *,
    content: Content,
    content_disposition: str | Unset = UNSET,
    content_digest: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[BusinessFile]:
    """Upload a cover; it is re-encoded without its metadata.

    Every logged-in user may. The response has a `url` with an unguessable name, under which the content
    never changes. The server's configuration limits the bytes and pixels of covers, and has the widths
    that downloads may choose.
    """
    return Operation(
        "POST",
        "/api/v1/files/covers",
        BusinessFile,
        headers={
            "Content-Disposition": content_disposition,
            "Content-Digest": content_digest,
            "Idempotency-Key": idempotency_key,
        },
        content=content,
        media_type="application/octet-stream",
    )


def upload_figure(
    *,
    content: Content,
    content_disposition: str | Unset = UNSET,
    content_digest: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[BusinessFile]:
    """Upload an illustration; it is re-encoded without its metadata.

    Every logged-in user may. The response has a `url` with an unguessable name, under which the content
    never changes. The server's configuration limits the bytes and pixels of illustrations, and has the
    widths that downloads may choose.
    """
    return Operation(
        "POST",
        "/api/v1/files/figures",
        BusinessFile,
        headers={
            "Content-Disposition": content_disposition,
            "Content-Digest": content_digest,
            "Idempotency-Key": idempotency_key,
        },
        content=content,
        media_type="application/octet-stream",
    )


def upload_photo(
    *,
    content: Content,
    content_disposition: str | Unset = UNSET,
    content_digest: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[BusinessFile]:
    """Upload a photo; it is re-encoded without its metadata.

    Every logged-in user may. The response has a `url` with an unguessable name, under which the content
    never changes. The server's configuration limits the bytes and pixels of photos, and has the widths
    that downloads may choose.
    """
    return Operation(
        "POST",
        "/api/v1/files/photos",
        BusinessFile,
        headers={
            "Content-Disposition": content_disposition,
            "Content-Digest": content_digest,
            "Idempotency-Key": idempotency_key,
        },
        content=content,
        media_type="application/octet-stream",
    )
