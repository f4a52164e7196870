"""Operations on bundles. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Bundle
from ..operations import UNSET, Operation, Unset, segment


def download_files(
    tenant_id: str,
    *,
    body: Bundle,
    range_: str | Unset = UNSET,
    if_range: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    if_modified_since: str | Unset = UNSET,
    if_unmodified_since: str | Unset = UNSET,
    want_content_digest: str | Unset = UNSET,
) -> Operation[bytes]:
    """Download several files, and whole folders, as one ZIP archive, or a range of it.

    Files in quarantine are left out of folders. A file that is not scanned yet refuses the request.

    `Content-Location` is the URL of the archive: an interrupted download can be resumed there by GET
    with Range and If-Range until the bundle expires. This POST accepts Range, too.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/multi-files-download",
        bytes,
        headers={
            "Range": range_,
            "If-Range": if_range,
            "If-Match": if_match,
            "If-None-Match": if_none_match,
            "If-Modified-Since": if_modified_since,
            "If-Unmodified-Since": if_unmodified_since,
            "Want-Content-Digest": want_content_digest,
        },
        body=body,
    )


def download_files_again(
    tenant_id: str,
    bundle_id: str,
    *,
    range_: str | Unset = UNSET,
    if_range: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    if_modified_since: str | Unset = UNSET,
    if_unmodified_since: str | Unset = UNSET,
    want_content_digest: str | Unset = UNSET,
) -> Operation[bytes]:
    """Download a previously requested archive, or a range of it.

    Only the user who requested it may, until the bundle expires, with the permission `read` on all its
    files. It has the same bytes and the same `ETag` unless a file has changed, so `Range` and
    `If-Range` resume it.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/multi-files-download/{segment(bundle_id)}",
        bytes,
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
