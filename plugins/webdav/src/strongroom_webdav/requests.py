"""The request line, the headers and the body of a request."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit
from wsgiref.types import WSGIEnvironment
from xml.etree.ElementTree import Element

from strongroom.plugin_api.web import BODY_BYTES, REQUESTED_HOST
from strongroom_webdav.errors import DavError
from strongroom_webdav.xml_text import parse

Path = tuple[str, ...]
"""The names on the way from the list of tenants: the tenant first."""

INFINITY: Final = -1
"""The depth of everything below a collection."""

_DEPTHS: Final = {"0": 0, "1": 1, "infinity": INFINITY}
_SCHEMES: Final = {"http": "80", "https": "443"}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def split_path(path: str) -> Path:
    """Return the names of a decoded path, in Unicode normalization form C, because macOS sends form D.

    Raises:
        DavError: a name is invalid.
    """
    names = tuple(unicodedata.normalize("NFC", name) for name in path.split("/") if name)
    if any(name in (".", "..") or _CONTROL.search(name) for name in names):
        raise DavError(HTTPStatus.BAD_REQUEST, "The path has an invalid name.")
    return names


@dataclass
class DavRequest:
    """A request to the application.

    Args:
        environ: the WSGI environ, in which the host and the scheme are the server's public ones.
    """

    environ: WSGIEnvironment

    @property
    def method(self) -> str:
        """The HTTP method."""
        return str(self.environ["REQUEST_METHOD"])

    def header(self, name: str) -> str | None:
        """Return a header, or ``None``."""
        value: str | None = self.environ.get("HTTP_" + name.upper().replace("-", "_"))
        return value

    @property
    def root(self) -> str:
        """The path of the list of tenants, without a trailing slash, percent-encoded as it is."""
        return str(self.environ["SCRIPT_NAME"])

    @cached_property
    def path(self) -> Path:
        """The path of the request.

        Raises:
            DavError: it is invalid.
        """
        return split_path(_decode(self.environ["PATH_INFO"].encode("latin-1")))

    @property
    def is_of_collection(self) -> bool:
        """Whether the path ends with a slash, as a collection's does."""
        return str(self.environ["PATH_INFO"]).endswith("/")

    @property
    def depth(self) -> int:
        """The header Depth; :data:`INFINITY` without it.

        Raises:
            DavError: it is malformed.
        """
        depth = _DEPTHS.get((self.header("Depth") or "infinity").strip().lower())
        if depth is None:
            raise DavError(HTTPStatus.BAD_REQUEST, "Depth must be 0, 1 or infinity.")
        return depth

    @property
    def overwrites(self) -> bool:
        """The header Overwrite.

        Raises:
            DavError: it is malformed.
        """
        value = (self.header("Overwrite") or "T").strip().upper()
        if value not in ("T", "F"):
            raise DavError(HTTPStatus.BAD_REQUEST, "Overwrite must be T or F.")
        return value == "T"

    @cached_property
    def destination(self) -> Path:
        """The path of the header Destination.

        Raises:
            DavError: it is missing or malformed, or leads to another server.
        """
        sent = self.header("Destination")
        if not sent:
            raise DavError(HTTPStatus.BAD_REQUEST, "The header Destination is missing.")
        return self.find_path(sent)

    def find_path(self, url: str) -> Path:
        """Return the path that a URL in a header leads to: an absolute one, or an absolute path.

        Raises:
            DavError: it is malformed, or leads to another server or beyond the application.
        """
        try:
            parts = urlsplit(url.strip())
            is_here = self._is_here(parts)
        except ValueError as error:
            raise DavError(HTTPStatus.BAD_REQUEST, "A URL in a header is malformed.") from error
        if not is_here:
            raise DavError(HTTPStatus.BAD_GATEWAY, "The URL must have the host of the request.")
        if parts.query or not parts.path.isascii():
            raise DavError(HTTPStatus.BAD_REQUEST, "A URL in a header is malformed.")
        path = _decode(unquote_to_bytes(parts.path))
        if not f"{path}/".startswith(f"{self.root}/") or parts.scheme not in ("", *_SCHEMES):
            raise DavError(HTTPStatus.BAD_GATEWAY, f"The path must begin with {self.root}/.")
        return split_path(path[len(self.root) :])

    def _is_here(self, url: SplitResult) -> bool:
        """Return whether a URL in a header is on this server (RFC 4918, section 9.8.3).

        The client may know the server by another name than the public one. The scheme is then any,
        because a proxy may have ended TLS.

        Raises:
            ValueError: the port of the URL is malformed.
        """
        authority, requested = _authority(url), str(self.environ.get(REQUESTED_HOST, ""))
        public = urlsplit(f"{self.environ['wsgi.url_scheme']}://{self.environ['HTTP_HOST']}")
        if not url.netloc or (url.scheme.lower(), authority) == (public.scheme, _authority(public)):
            return True
        try:
            return bool(requested) and authority == _authority(urlsplit(f"{url.scheme}://{requested}"))
        except ValueError:
            # The header Host is malformed.
            return False

    @property
    def content_length(self) -> int | None:
        """The size of the body in bytes; ``None`` if it is chunked (RFC 9112, section 6.3)."""
        sent = str(self.environ.get("CONTENT_LENGTH") or "")
        if sent.isdecimal():
            return int(sent)
        is_old = str(self.environ.get("SERVER_PROTOCOL", "")).startswith("HTTP/1")
        return 0 if is_old and self.header("Transfer-Encoding") is None else None

    def read_xml(self) -> Element | None:
        """Return the root of the XML in the body, ``None`` without a body.

        Raises:
            DavError: it is malformed.
        """
        body = self.read_body()
        return parse(body) if body.strip() else None

    def read_body(self) -> bytes:
        """Return the body; the server has bounded its size.

        Raises:
            DavError: it has broken off.
        """
        source: Any = self.environ["wsgi.input"]
        try:
            body: bytes = source.read(BODY_BYTES + 1)
        except (ConnectionError, TimeoutError) as error:
            raise DavError(HTTPStatus.BAD_REQUEST, "The body is incomplete.") from error
        if len(body) < (self.content_length or 0):
            raise DavError(HTTPStatus.BAD_REQUEST, "The body is incomplete.")
        return body


def _decode(path: bytes) -> str:
    try:
        return path.decode()
    except UnicodeDecodeError as error:
        raise DavError(HTTPStatus.BAD_REQUEST, "The path must be in UTF-8.") from error


def _authority(parts: SplitResult) -> tuple[str | None, str]:
    """Return the host and the port of a URL."""
    port = str(parts.port or "") or _SCHEMES.get(parts.scheme.lower(), "")
    return parts.hostname, port
