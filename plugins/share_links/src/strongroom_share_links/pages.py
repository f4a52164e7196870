"""The pages of shares for browsers, and for programs that read folders as HTML, such as rclone.

They need no script. Folders and files have their names in the path, so that downloads are saved under
their names; a small script makes uploads resumable.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote

from flask import Response, redirect, request

from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import Access, ApiError, Blueprint
from strongroom_share_links.errors import (
    KIND,
    LOGIN_REQUIRED,
    NAME_REQUIRED,
    PASSWORD_WRONG,
    TOO_LARGE,
    UNAVAILABLE,
)
from strongroom_share_links.maker_routes import path_of
from strongroom_share_links.models import READERS, RECEIVERS, SHOWN, Kind, Link
from strongroom_share_links.schemas import DropQuery, PageQuery
from strongroom_share_links.sending import PICTURES, Sender, has_preview
from strongroom_share_links.service import Shares
from strongroom_share_links.visitor_routes import protect
from strongroom_share_links.visits import Visit

Json = dict[str, Any]

_SCRIPT: Final = "/share-links/drop.js"
_AT_ONCE: Final = 200
_PER_PAGE: Final = 1000
_POLICY: Final = {"form-action": "'self'", "img-src": "'self'"}
_PASSWORD_POLICY: Final = {"form-action": "'self'", "img-src": "data:", "media-src": "data:"}
_HTML: Final = {"text/html": {"schema": {"type": "string"}}}
_ERROR: Final = {
    "description": "An error: a page, or JSON for clients that accept JSON rather than HTML",
    "content": {**_HTML, "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
_DOCUMENT: Final = {
    "responses": {
        "200": {"description": "The page", "content": _HTML},
        **{str(status): _ERROR for status in (401, 403, 404, 413, 415, 422, 429, 503, 507)},
    }
}
_FORM: Final = {
    **_DOCUMENT,
    "requestBody": {
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": {
                    "type": "object",
                    "properties": {
                        name: {"type": "string"} for name in ("password", "captcha", "captchaAnswer")
                    },
                }
            }
        }
    },
}

_TEXTS: Final = {
    kind.code: text
    for kind, text in (
        (UNAVAILABLE, "unavailable"),
        (LOGIN_REQUIRED, "login_required"),
        (KIND, "unavailable"),
        (PASSWORD_WRONG, "password_wrong"),
        (NAME_REQUIRED, "name_required"),
        (TOO_LARGE, "drop_full"),
    )
} | {
    "error.too-many-requests": "too_many",
    "error.captcha-required": "captcha_required",
    "error.captcha-invalid": "captcha_invalid",
    "error.unsupported-media-type": "type_refused",
    "error.payload-too-large": "too_large",
    "error.storage-full": "storage_full",
    "error.content-infected": "infected",
    "error.content-unscannable": "unscannable",
}
_CAPTCHA_FAULTS: Final = ("error.captcha-required", "error.captcha-invalid")
_PASSWORD_FAULTS: Final = (PASSWORD_WRONG.code, *_CAPTCHA_FAULTS, "error.unavailable")
_DROP_FAULTS: Final = {
    TOO_LARGE.code: "drop_full",
    UNAVAILABLE.code: "drop_closed",
    **{
        code: _TEXTS[code]
        for code in (
            NAME_REQUIRED.code,
            "error.unsupported-media-type",
            "error.payload-too-large",
            "error.storage-full",
            "error.content-infected",
            "error.content-unscannable",
            "error.too-many-requests",
        )
    },
}
"""The texts of refused uploads, by the codes of errors."""


class SharePages:
    """Renders the pages."""

    def __init__(self, host: HostAPI, shares: Shares) -> None:
        self._host = host
        self._shares = shares
        self._sender = Sender(host, shares)

    def count(self) -> Any:
        """Count the request against the limit of visitors; return the page of a refusal."""
        try:
            self._shares.visits.count()
        except ApiError as error:
            return self.failed(error)
        return None

    def get(self, secret: str, names: Sequence[str], query: Json, *, is_folder: bool) -> Any:
        """Return the page of a folder, the password page, or a file.

        Raises:
            ApiError: there is no such file, or the share cannot be opened.
        """
        is_download = bool(names) and not is_folder
        continues = is_download and self._shares.downloads.continues(secret)
        visit = self._shares.visits.open(secret, needs_proof=False, continues=continues)
        if not visit.is_proven:
            return self.password(visit, status=403 if names else 200)
        if visit.kind not in SHOWN:
            if names:
                raise ApiError(UNAVAILABLE)
            return self._share(visit, [], [], query)
        return self._shown(visit, names, query, is_folder=is_folder)

    def prove(self, secret: str, form: Mapping[str, str]) -> Any:
        """Check the password, and return to the page with the cookie of the proof."""
        visit = self._shares.visits.open(secret, needs_proof=False)
        try:
            proof = self._shares.proofs.issue(visit.link, form.get("password", ""), _captcha_of(form))
        except ApiError as error:
            if error.code not in _PASSWORD_FAULTS:
                raise
            return self._password_again(visit, error)
        response = redirect(self._root(visit), 303)
        self._shares.proofs.remember(response, visit.link, proof)
        return response

    def drop(self, secret: str, query: Json) -> Any:
        """Store the file of a form, and return to the page."""
        visit = self._shares.visits.open(secret, RECEIVERS)
        try:
            self._shares.drops.receive(visit, visit.file.id, query["uploadedBy"])
        except ApiError as error:
            if error.code == UNAVAILABLE.code:
                raise
            fault = _DROP_FAULTS.get(error.code, "drop_refused")
            return self._share(visit, [], [], query, status=error.status, fault=fault)
        name = quote(query["uploadedBy"] or "", safe="")
        return redirect(f"{self._root(visit)}?sent=true&uploadedBy={name}", 303)

    def password(
        self, visit: Visit, *, status: int, fault: str | None = None, captcha: Json | None = None
    ) -> Any:
        """Return the form for the password; it contains nothing else of the share."""
        return self._host.page(
            "password.html",
            status=status,
            policy=_PASSWORD_POLICY,
            action=path_of(self._host, f"/s/{visit.secret}"),
            fault=fault,
            captcha=captcha,
        )

    def _password_again(self, visit: Visit, error: ApiError) -> Any:
        """Return the form after a fault, with a captcha if one is required."""
        fault, captcha = _TEXTS.get(error.code, "failed"), None
        if error.code in _CAPTCHA_FAULTS:
            issued = self._host.rest("POST", "/captchas", {})
            captcha = issued.json if issued.error is None and _is_readable(issued.json) else None
            fault = fault if captcha else "too_many"
        return self.password(visit, status=error.status, fault=fault, captcha=captcha)

    def failed(self, error: ApiError) -> Any:
        """Return the page of an error."""
        if not accepts_html():
            raise error
        text = _TEXTS.get(error.code, "unavailable" if error.status in (403, 404) else "failed")
        status = UNAVAILABLE.status if text == "unavailable" else error.status
        return self._host.page("closed.html", status=status, policy=_POLICY, reason=text)

    def _shown(self, visit: Visit, names: Sequence[str], query: Json, *, is_folder: bool) -> Any:
        if not visit.file.is_folder:
            if not names:
                return self._share(visit, [], [visit.file], query)
            if is_folder or list(names) != [visit.file.name]:
                raise ApiError(UNAVAILABLE)
            return self._file(visit, visit.file)
        with self._shares.visits.acting(visit):
            tenant_id, path = visit.link.tenant_id, [visit.file.name, *names]
            file = self._host.files.resolve(tenant_id, path) if names else visit.file
            if file.is_folder and is_folder:
                listed, total = self._listed(tenant_id, file.id, query["page"])
                return self._share(visit, names, listed, query, total=total)
        if file.is_folder:
            return redirect(f"{self._path(visit, names)}/", 308)
        if is_folder:
            raise ApiError(UNAVAILABLE)
        return self._file(visit, file)

    def _file(self, visit: Visit, file: FileInfo) -> Any:
        if visit.kind not in READERS:
            return self._sender.preview(visit, file.id)
        return self._sender.file(visit, file.id)

    def _listed(self, tenant_id: str, folder_id: str, page: int) -> tuple[list[FileInfo], int]:
        first = (page - 1) * _PER_PAGE // _AT_ONCE + 1
        files: list[FileInfo] = []
        for number in range(first, first + _PER_PAGE // _AT_ONCE):
            part = self._host.files.list(tenant_id, folder_id, page=number, size=_AT_ONCE)
            files += part.items
            if part.next is None:
                return files, part.total
        return files, part.total

    def _share(
        self,
        visit: Visit,
        names: Sequence[str],
        listed: Sequence[FileInfo],
        query: Json,
        *,
        total: int = 0,
        status: int = 200,
        fault: str | None = None,
    ) -> Any:
        if not names and not fault:
            self._shares.openings.opened(visit.link)
        link, page = visit.link, query.get("page", 1)
        return self._host.page(
            "share.html",
            status=status,
            policy=_POLICY,
            root=self._root(visit),
            api=path_of(self._host, f"/api/v1/shares/{visit.secret}"),
            script=path_of(self._host, _SCRIPT),
            kind=visit.kind.value,
            title=self._title(visit, names),
            crumbs=self._crumbs(visit, names),
            rows=[self._row(visit, names, file) for file in listed],
            is_folder=visit.file.is_folder,
            is_drop=visit.kind in RECEIVERS and not names and not _is_full(link),
            is_full=visit.kind in RECEIVERS and not names and _is_full(link),
            refusals=_DROP_FAULTS,
            is_shown=visit.kind in SHOWN,
            can_download=visit.kind in READERS,
            expires=link.expires_at and _day(link.expires_at),
            downloads_left=None if link.max_downloads is None else link.max_downloads - link.downloads,
            require_name=link.require_name,
            allowed_types=link.allowed_types,
            uploaded_by=query.get("uploadedBy") or "",
            is_sent=query.get("sent", False),
            previous=page - 1 if page > 1 else None,
            following=page + 1 if page * _PER_PAGE < total else None,
            fault=fault,
        )

    def _title(self, visit: Visit, names: Sequence[str]) -> str:
        if names:
            return names[-1]
        return visit.link.label or (visit.file.name if visit.is_shown else "")

    def _crumbs(self, visit: Visit, names: Sequence[str]) -> list[Json]:
        if not names:
            return []
        root = {"name": visit.link.label or visit.file.name, "url": self._root(visit)}
        above = [
            {"name": name, "url": f"{self._path(visit, names[: index + 1])}/"}
            for index, name in enumerate(names[:-1])
        ]
        return [root, *above]

    def _row(self, visit: Visit, names: Sequence[str], file: FileInfo) -> Json:
        url = self._path(visit, [*names, file.name])
        is_open = file.is_folder or visit.kind in READERS or has_preview(file)
        essence = (file.content_type or "").partition(";")[0]
        picture = f"/api/v1/shares/{visit.secret}/files/{file.id}/preview"
        is_picture = visit.kind is Kind.PREVIEW and essence in PICTURES
        return {
            "name": file.name,
            "url": f"{url}/" if file.is_folder else url if is_open else None,
            "is_folder": file.is_folder,
            "size": "" if file.is_folder else _size(file.size),
            "day": _day(file.updated_at),
            "picture": path_of(self._host, picture) if is_picture else None,
        }

    def _root(self, visit: Visit) -> str:
        return path_of(self._host, f"/s/{visit.secret}/")

    def _path(self, visit: Visit, names: Sequence[str]) -> str:
        return self._root(visit) + "/".join(quote(name, safe="") for name in names)


def accepts_html() -> bool:
    """Return whether an error is a page: for all clients but those that accept JSON rather than HTML."""
    best = request.accept_mimetypes.best_match(("text/html", "application/json"), "text/html")
    return best == "text/html"


def _captcha_of(form: Mapping[str, str]) -> Json | None:
    if not form.get("captcha"):
        return None
    return {"id": form["captcha"], "answer": form.get("captchaAnswer", "")}


def _is_readable(captcha: Json) -> bool:
    """Return whether a person can answer a captcha without a script."""
    return any(captcha.get(name) for name in ("image", "audio", "question"))


def _is_full(link: Link) -> bool:
    return link.max_bytes is not None and link.dropped_bytes >= link.max_bytes


def make_pages(host: HostAPI, shares: Shares) -> list[Blueprint]:
    """Return the routes of the pages, if the options enable them."""
    if not shares.options.page:
        return []
    routes = host.blueprint("share-pages", description="Pages of share links, for browsers.")
    assets = host.blueprint("share-assets", description="The script of the pages of share links.")
    pages = SharePages(host, shares)
    _add_pages(routes, pages)
    _add_forms(routes, pages)
    _add_script(assets)
    routes.after_request(protect)
    return [routes, assets]


def _add_pages(routes: Blueprint, pages: SharePages) -> None:
    page: Any = {
        "access": Access.OPTIONAL,
        "limit": pages.count,
        "query": PageQuery,
        "document": _DOCUMENT,
    }

    def answer(secret: str, names: Sequence[str], query: Json, *, is_folder: bool) -> Any:
        try:
            return pages.get(secret, names, query, is_folder=is_folder)
        except ApiError as error:
            return pages.failed(error)

    @routes.operation("GET", "/s/<secret>", **page)
    def show_share(secret: str, query: Json) -> Any:
        """Show the page of a share."""
        return answer(secret, [], query, is_folder=True)

    @routes.operation("GET", "/s/<secret>/", **page)
    def show_share_folder(secret: str, query: Json) -> Any:
        """Show the page of a share; its links are relative to this path."""
        return answer(secret, [], query, is_folder=True)

    @routes.operation("GET", "/s/<secret>/<path:path>", **page)
    def show_shared_path(secret: str, path: str, query: Json) -> Any:
        """Show a folder of a share, or download a file of it, by its path."""
        names = [name for name in path.split("/") if name]
        return answer(secret, names, query, is_folder=path.endswith("/"))


def _add_forms(routes: Blueprint, pages: SharePages) -> None:
    @routes.operation("POST", "/s/<secret>", access=Access.OPTIONAL, limit=pages.count, document=_FORM)
    def open_share(secret: str) -> Any:
        """Open a share by the password in a form."""
        try:
            return pages.prove(secret, request.form)
        except ApiError as error:
            return pages.failed(error)

    @routes.operation(
        "POST",
        "/s/<secret>/drop",
        access=Access.OPTIONAL,
        limit=pages.count,
        query=DropQuery,
        document=_DOCUMENT,
    )
    def drop_file_by_form(secret: str, query: Json) -> Any:
        """Upload a file by a form, without a script."""
        try:
            return pages.drop(secret, query)
        except ApiError as error:
            return pages.failed(error)


def _add_script(routes: Blueprint) -> None:
    script = files(__package__).joinpath("assets", "drop.js").read_text("utf-8")
    document = {"responses": {"200": {"description": "The script"}}}

    @routes.operation("GET", _SCRIPT, access=Access.PUBLIC, document=document)
    def get_drop_script() -> Any:
        """Get the script that makes uploads of the pages resumable."""
        headers = {"Cache-Control": "no-cache"}
        return Response(script, content_type="text/javascript; charset=utf-8", headers=headers)


def _size(size: int) -> str:
    value, units = float(size), ["B", "KB", "MB", "GB", "TB", "PB"]
    while value >= 1000 and len(units) > 1:  # noqa: PLR2004  decimal units, as disks have them
        value, units = value / 1000, units[1:]
    return f"{value:.0f} {units[0]}" if units[0] == "B" or value >= 10 else f"{value:.1f} {units[0]}"  # noqa: PLR2004


def _day(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1000, UTC).date().isoformat()
