"""ListObjectsV2."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from strongroom_simulators.oss.buckets import Bucket, StoredObject
from strongroom_simulators.oss.errors import invalid_argument
from strongroom_simulators.oss.request import Request
from strongroom_simulators.oss.response import Element, Response, document, iso_time

LARGEST_PAGE = 1000
BEHIND_EVERYTHING = "\U0010ffff"


@dataclass(slots=True)
class Page:
    """One page of a listing; the next one starts after ``last``."""

    objects: list[StoredObject] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    last: str = ""
    truncated: bool = False

    def __len__(self) -> int:
        return len(self.objects) + len(self.folders)


def list_objects(bucket: Bucket, request: Request) -> Response:
    """ListObjectsV2."""
    parameters = request.parameters
    size = _page_size(parameters.get("max-keys", "100"))
    token = parameters.get("continuation-token")
    after = _decode_token(token) if token is not None else parameters.get("start-after", "")
    page = _collect(bucket, parameters.get("prefix", ""), parameters.get("delimiter", ""), after, size)
    return document("ListBucketResult", _render(bucket, page, parameters, size))


def _collect(bucket: Bucket, prefix: str, delimiter: str, after: str, size: int) -> Page:
    page = Page()
    for stored in bucket.scan(prefix, after):
        if page.folders and stored.key.startswith(page.folders[-1]):
            continue
        if len(page) == size:
            page.truncated = True
            break
        rest = stored.key[len(prefix) :]
        if delimiter and delimiter in rest:
            folder = prefix + rest.partition(delimiter)[0] + delimiter
            page.folders.append(folder)
            page.last = folder + BEHIND_EVERYTHING
        else:
            page.objects.append(stored)
            page.last = stored.key
    return page


def _render(bucket: Bucket, page: Page, parameters: Mapping[str, str], size: int) -> list[Element]:
    encoded = parameters.get("encoding-type") == "url"

    def text(value: str) -> str:
        return quote(value, safe="") if encoded else value

    content: list[Element] = [
        ("Name", bucket.name),
        ("Prefix", text(parameters.get("prefix", ""))),
        ("MaxKeys", size),
        ("Delimiter", text(parameters.get("delimiter", ""))),
        ("KeyCount", len(page)),
        ("IsTruncated", str(page.truncated).lower()),
    ]
    if encoded:
        content.append(("EncodingType", "url"))
    if page.truncated:
        content.append(("NextContinuationToken", text(_encode_token(page.last))))
    content += [("Contents", _describe(stored, text(stored.key))) for stored in page.objects]
    content += [("CommonPrefixes", [("Prefix", text(folder))]) for folder in page.folders]
    return content


def _describe(stored: StoredObject, key: str) -> list[Element]:
    return [
        ("Key", key),
        ("LastModified", iso_time(stored.modified_at)),
        ("ETag", f'"{stored.blob.etag}"'),
        ("Type", stored.kind),
        ("Size", stored.blob.size),
        ("StorageClass", "Standard"),
    ]


def _page_size(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= LARGEST_PAGE:
        raise invalid_argument("max-keys must be an integer between 1 and 1000.", MaxKeys=text)
    return int(text)


def _encode_token(last: str) -> str:
    return base64.b64encode(last.encode()).decode()


def _decode_token(token: str) -> str:
    try:
        return base64.b64decode(token, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise invalid_argument("The continuation token provided is incorrect.") from None
