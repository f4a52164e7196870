"""The WSGI application: folders as HTML pages, files as downloads."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qs, quote
from wsgiref.types import StartResponse, WSGIEnvironment

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError, ErrorKind

READ_ONLY: Final = ErrorKind(405, "error.browse-read-only", "Directory listings are read-only.")

_PAGE_SIZE: Final = 200
_UNAUTHORIZED: Final = 401


class DirectoryListing:
    """Serves the tenants, folders and files of the caller, and changes nothing."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            response = self._response(environ)
        except ApiError as error:
            response = self._error(error, environ)
        answer: Iterable[bytes] = response(environ, start_response)
        return answer

    def _response(self, environ: WSGIEnvironment) -> Any:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            raise ApiError(READ_ONLY)
        # Afterwards, host.files acts as the owner of the key, within the key's limits.
        self._host.authenticate(scope=Scope.FILES_READ, authenticators=("basic",))
        root = environ["SCRIPT_NAME"]
        tenant_id, *path = _names(environ["PATH_INFO"]) or [""]
        if not tenant_id:
            return self._tenants(root, _page_number(environ))
        if not path:
            return self._folder(root, tenant_id, None, [], _page_number(environ))
        found = self._host.files.resolve(tenant_id, path)
        if found.is_folder:
            return self._folder(root, tenant_id, found.id, path, _page_number(environ))
        return self._host.files.send(tenant_id, found.id)

    def _tenants(self, root: str, number: int) -> Any:
        page = self._host.tenants.list(page=number, size=_PAGE_SIZE)
        links = [{"name": tenant.name, "url": _url(root, tenant.id, [])} for tenant in page.items]
        return self._host.pages.render("tenants.html", links=links, following=page.next)

    def _folder(
        self, root: str, tenant_id: str, folder_id: str | None, path: Sequence[str], number: int
    ) -> Any:
        page = self._host.files.list(tenant_id, folder_id, page=number, size=_PAGE_SIZE)
        return self._host.pages.render(
            "folder.html",
            path="/".join(path),
            parent=_url(root, tenant_id, path[:-1]) if path else f"{root}/",
            # Folders are the first of the page.
            files=[
                _row(root, tenant_id, path, file)
                for file in sorted(page.items, key=lambda item: not item.is_folder)
            ],
            following=page.next,
        )

    def _error(self, error: ApiError, environ: WSGIEnvironment) -> Any:
        plain = self._host.error_response(error)
        if "text/html" not in environ.get("HTTP_ACCEPT", ""):
            return plain
        page = self._host.pages.render("error.html", status=error.status, code=error.code)
        if error.status == _UNAUTHORIZED:
            # The challenge makes a browser ask for the access key.
            page.headers["WWW-Authenticate"] = plain.headers["WWW-Authenticate"]
        return page


def _names(path: str) -> list[str]:
    """Return the names of a path. PEP 3333: the environ contains bytes as Latin-1."""
    decoded = path.encode("latin-1").decode(errors="replace")
    return [name for name in decoded.split("/") if name]


def _page_number(environ: WSGIEnvironment) -> int:
    text = parse_qs(environ.get("QUERY_STRING", "")).get("page", ["1"])[0]
    # More digits than these are no page of any folder.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 1  # noqa: PLR2004


def _url(root: str, tenant_id: str, path: Sequence[str]) -> str:
    names = [tenant_id, *path]
    return f"{root}/{'/'.join(quote(name, safe='') for name in names)}/"


def _row(root: str, tenant_id: str, path: Sequence[str], file: FileInfo) -> dict[str, Any]:
    url = _url(root, tenant_id, [*path, file.name])
    return {
        "name": file.name,
        "url": url if file.is_folder else url.removesuffix("/"),
        "is_folder": file.is_folder,
        "size": file.size,
        "modified": datetime.fromtimestamp(file.updated_at // 1000, tz=UTC).isoformat(),
    }
