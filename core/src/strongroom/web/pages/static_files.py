"""Static files of pages: scripts, styles, pictures and fonts of plugins and of the server's design.

The path of a file contains the digest of all files of its owner, so browsers may cache it for a year,
and modules may import each other by relative paths. Texts contain no secret, so they are compressed for
clients that accept it, once per process.
"""

import gzip
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from typing import Final, Protocol
from wsgiref.types import StartResponse, WSGIEnvironment

from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.wrappers import Response

from strongroom.web.http.caching import CACHE_CONTROL, REVALIDATED, immutable
from strongroom.web.http.content_coding import GZIP, VARY, is_coded
from strongroom.web.pages.compact_files import compact_file

STATIC_PREFIX: Final = "/static"

TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".ico": "image/vnd.microsoft.icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
"""The media types of static files by their suffixes. HTML is missing: pages are rendered."""

PICTURES: Final = frozenset({".gif", ".ico", ".jpg", ".png", ".svg", ".webp"})
"""The suffixes of pictures."""

_COMPRESSED: Final = frozenset({".css", ".js", ".json", ".map", ".mjs", ".svg", ".txt"})
# Also of a picture that is opened as a page of its own.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
_METHODS: Final = ("GET", "HEAD")


class Readable(Protocol):
    """A file that can be read, such as one of a package."""

    def read_bytes(self) -> bytes:
        """Return its content."""


@dataclass(frozen=True, slots=True)
class StaticContent:
    """A file in memory."""

    content: bytes

    def read_bytes(self) -> bytes:
        """Return its content."""
        return self.content


class StaticFolder:
    """The static files of one owner, by their names such as ``icons/mark.svg``."""

    def __init__(self, files: Mapping[str, Readable]) -> None:
        self._files = files
        self._compressed: dict[str, bytes] = {}
        self.digest = self._digest_of_all()

    @classmethod
    def of_package(cls, package: str, folder: str, *, is_compact: bool = False) -> "StaticFolder":
        """Return the files in a folder of a package.

        Args:
            is_compact: send scripts and style sheets without comments and indentation.

        Raises:
            ValueError: there is no such folder, it is empty, or a file has an unknown type; one line.
        """
        members = dict(_walk(files(package) / folder))
        if not members:
            raise ValueError(f"its package has no files in the folder {folder!r}")
        for name in members:
            if PurePosixPath(name).suffix not in TYPES:
                raise ValueError(f"the static file {name!r} must end in one of {', '.join(TYPES)}")
        return cls(_compact(members) if is_compact else members)

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def conditional_response(self, name: str, environ: WSGIEnvironment, digest: str = "") -> Response:
        """Return the response to a request for a file: 304 if the client has it in the same coding.

        Args:
            digest: the digest in the path; another version's, such as during an upgrade, is no
                error, but not cached.

        Raises:
            NotFound: there is no such file.
        """
        return self._response(name, environ, digest).make_conditional(environ)

    def _response(self, name: str, environ: WSGIEnvironment, digest: str = "") -> Response:
        if name not in self._files:
            raise NotFound
        suffix = PurePosixPath(name).suffix
        response = Response(self._files[name].read_bytes(), content_type=TYPES[suffix])
        response.set_etag(f"{self.digest}-{sha256(name.encode()).hexdigest()[:8]}")
        is_current = digest == self.digest
        response.headers[CACHE_CONTROL] = immutable(is_public=True) if is_current else REVALIDATED
        response.headers["Content-Security-Policy"] = _POLICY
        if suffix in _COMPRESSED:
            self._compress(response, name, environ)
        return response

    def _compress(self, response: Response, name: str, environ: WSGIEnvironment) -> None:
        response.headers.add(*VARY)
        if not is_coded(environ, len(response.data)):
            return
        if name not in self._compressed:
            self._compressed[name] = gzip.compress(response.data, mtime=0)
        response.data = self._compressed[name]
        response.content_encoding = GZIP
        # A strong tag, so each coding has its own (RFC 9110, section 8.8.3.3).
        response.set_etag(f"{response.get_etag()[0]}-{GZIP}")

    def _digest_of_all(self) -> str:
        digest = sha256()
        for name, file in sorted(self._files.items()):
            digest.update(sha256(name.encode()).digest() + sha256(file.read_bytes()).digest())
        return digest.hexdigest()[:16]


def _compact(members: Mapping[str, Readable]) -> Mapping[str, Readable]:
    return {name: StaticContent(compact_file(name, file.read_bytes())) for name, file in members.items()}


def _walk(folder: Traversable, path: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield the files of a folder and its subfolders by their paths in it."""
    for item in folder.iterdir() if folder.is_dir() else ():
        if item.is_dir():
            yield from _walk(item, f"{path}{item.name}/")
        else:
            yield f"{path}{item.name}", item


@dataclass(slots=True, eq=False, repr=False)
class StaticFilesApplication:
    """The WSGI application that serves all static files.

    Args:
        folders: the folders by their owners: names of plugins, and the design's.
    """

    _folders: Mapping[str, StaticFolder]

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] not in _METHODS:
            raise MethodNotAllowed(_METHODS)
        owner, digest, name = _parts(environ["PATH_INFO"])
        if owner not in self._folders:
            raise NotFound
        response = self._folders[owner].conditional_response(name, environ, digest)
        return response(environ, start_response)


def _parts(path: str) -> tuple[str, str, str]:
    """Return the owner, the digest and the file of a path; a file may be in a subfolder."""
    _, owner, digest, name = (*path.split("/", 3), "", "", "")[:4]
    return owner, digest, name


def static_path(owner: str, folder: StaticFolder, name: str) -> str:
    """Return the path of a file, without the base path of the server."""
    return f"{STATIC_PREFIX}/{owner}/{folder.digest}/{name}"
