"""The pages of shares for browsers, and for programs that read folders as HTML, such as rclone.

They need no script. Folders and files have their names in the path, so that downloads are saved under
their names; a small script makes uploads resumable.
"""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from flask import redirect, request
from werkzeug.datastructures import MultiDict

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.forms import PagePart
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.page_forms import SchemaForm
from strongroom.plugin_api.page_lists import PageLinks, page_links
from strongroom.plugin_api.rendering import ANY_SITE, PageCompression
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import ApiError
from strongroom_share_links.errors import (
    FULL,
    KIND,
    LOGIN_REQUIRED,
    NAME_REQUIRED,
    PASSWORD_WRONG,
    TOO_LARGE,
    UNAVAILABLE,
)
from strongroom_share_links.listing import PER_PAGE, Listing, is_viewed
from strongroom_share_links.models import READERS, RECEIVERS, SHOWN, Audience, Link
from strongroom_share_links.paths import path_of
from strongroom_share_links.sending import Sender
from strongroom_share_links.service import Shares
from strongroom_share_links.share_opener import OpenedShare
from strongroom_share_links.visit import DropForm, PasswordForm, ShareVisit

Json = dict[str, Any]

_TEXTS: Final = {
    kind.code: text
    for kind, text in (
        (UNAVAILABLE, "unavailable"),
        (LOGIN_REQUIRED, "login_required"),
        (KIND, "unavailable"),
        (PASSWORD_WRONG, "password_wrong"),
        (NAME_REQUIRED, "name_required"),
        (TOO_LARGE, "drop_full"),
        (FULL, "drop_closed"),
    )
} | {
    "error.form-refused": "form_refused",
    "error.too-many-requests": "too_many",
    "error.captcha-required": "captcha_required",
    "error.captcha-invalid": "captcha_invalid",
    "error.unsupported-media-type": "type_refused",
    "error.payload-too-large": "too_large",
    "error.storage-full": "storage_full",
    "error.file-locked": "locked",
    "error.content-infected": "infected",
    "error.content-unscannable": "unscannable",
}
_PURPOSE: Final = "password"
_CAPTCHA_FAULTS: Final = ("error.captcha-required", "error.captcha-invalid")
_OWN_TITLES: Final = ("unavailable", "login_required", "too_many")
_PASSWORD_FAULTS: Final = (PASSWORD_WRONG.code, *_CAPTCHA_FAULTS, "error.unavailable")
_DROP_FAULTS: Final = {
    TOO_LARGE.code: "drop_full",
    FULL.code: "drop_closed",
    UNAVAILABLE.code: "drop_closed",
    **{
        code: _TEXTS[code]
        for code in (
            NAME_REQUIRED.code,
            "error.unsupported-media-type",
            "error.payload-too-large",
            "error.storage-full",
            "error.file-locked",
            "error.content-infected",
            "error.content-unscannable",
            "error.too-many-requests",
        )
    },
}
"""The texts of refused uploads, by the codes of errors."""
_OF_DROP_BOXES: Final = ("drop_closed", "too_many")
"""The texts that are about no field of the form."""
_ACCEPTED_KINDS: Final = {
    "image/*": "pictures",
    "video/*": "videos",
    "audio/*": "audio",
    "text/*": "texts",
    "application/pdf": "pdf",
    "application/zip": "zip",
}
"""The kinds of files by the media types that a drop box accepts; pages show other types as they are."""
_PROBLEMS: Final = frozenset({*_TEXTS.values(), *_DROP_FAULTS.values(), "drop_refused", "failed"})


class SharePages:
    """Renders the pages."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host
        self._shares = host.get_service(Shares)
        self._sender = host.get_service(Sender)
        self._listing = Listing(host)

    def count(self) -> Any:
        """Count the request against the limit of visitors; return the page of a refusal."""
        try:
            self._shares.opener.count()
        except ApiError as error:
            return self.failed("", error)
        return None

    def get(self, secret: str, names: Sequence[str], query: Json, *, is_folder: bool) -> Any:
        """Return the page of a folder, the password page, or a file.

        Raises:
            ApiError: there is no such file, or the share cannot be opened.
        """
        is_download = bool(names) and not is_folder
        continues = is_download and self._shares.downloads.continues(secret)
        opened = self._shares.opener.open(secret, needs_proof=False, continues=continues)
        if not opened.is_proven:
            return self._password(opened, SchemaForm(PasswordForm()), status=403 if names else 200)
        if opened.kind not in SHOWN:
            if names:
                raise ApiError(UNAVAILABLE)
            return self._share(opened, [], [], query)
        return self._shown(opened, names, query, is_folder=is_folder)

    def prove(self, secret: str, fields: MultiDict[str, str]) -> Any:
        """Check the password, and return to the page with the cookie of the proof."""
        opened = self._shares.opener.open(secret, needs_proof=False)
        if fields.get("captchaKind") == "picture" and not fields.get("captchaAnswer"):
            return self._password_with_picture(opened, fields)
        form = SchemaForm(PasswordForm(), fields)
        if form.faults:
            return self._password(opened, form, captcha=self._next_captcha(fields))
        try:
            captcha = self._host.pages.forms.captcha_answer(fields, _PURPOSE)
            proof = self._shares.proofs.issue(opened.link, form.values["password"], captcha)
        except ApiError as error:
            if error.code not in _PASSWORD_FAULTS:
                raise
            return self._password_again(opened, form, error, self._next_captcha(fields, error))
        response = self._visit(opened).redirect("/")
        self._shares.proofs.remember(response, opened.link, proof)
        return response

    def drop(self, secret: str, query: Json) -> Any:
        """Store the file of a form, and return to the page."""
        opened = self._shares.opener.open(secret, RECEIVERS)
        try:
            self._shares.file_requests.receive(opened, opened.file.id, query["uploadedBy"])
        except ApiError as error:
            if error.code == UNAVAILABLE.code:
                raise
            fault = _DROP_FAULTS.get(error.code, "drop_refused")
            return self._share(opened, [], [], query, status=error.status, fault=fault)
        name = quote(query["uploadedBy"] or "", safe="")
        return self._visit(opened).redirect(f"/?uploadedBy={name}" if name else "/", "sent")

    def _visit(self, opened: OpenedShare) -> ShareVisit:
        return ShareVisit(self._host, opened.secret, self._csrf(opened), _PROBLEMS)

    def _password(self, opened: OpenedShare, form: SchemaForm, **values: Any) -> Any:
        """Return the form for the password; it contains nothing else of the share."""
        shown = {"error": None, "captcha": None, **values}
        return self._visit(opened).page("password.html", form=form, **shown)

    def _password_with_picture(self, opened: OpenedShare, fields: MultiDict[str, str]) -> Any:
        """Return the form with a picture, whose button needs no password."""
        form, captcha = SchemaForm(PasswordForm()), self._next_captcha(fields)
        fault = "captcha_required" if captcha else "too_many"
        return self._password(opened, form, status=400, error=fault, captcha=captcha)

    def _next_captcha(
        self, fields: MultiDict[str, str], error: ApiError | None = None
    ) -> PagePart | None:
        """Return the captcha that the next attempt needs, if it needs one; after one, all do."""
        needs_captcha = "captcha" in fields or (error and error.code in _CAPTCHA_FAULTS)
        return self._host.pages.forms.captcha(_PURPOSE) if needs_captcha else None

    def _password_again(
        self, opened: OpenedShare, form: SchemaForm, error: ApiError, captcha: PagePart | None
    ) -> Any:
        """Return the form after a fault, with the captcha that the next attempt needs."""
        fault = _TEXTS.get(error.code, "failed")
        if error.code == PASSWORD_WRONG.code:
            form.faults["password"] = fault
            return self._password(opened, form, status=error.status, captcha=captcha)
        if error.code in _CAPTCHA_FAULTS:
            automatic = "captcha_automatic" if captcha and captcha.is_automatic else fault
            fault = automatic if captcha else "too_many"
        return self._password(opened, form, status=error.status, error=fault, captcha=captcha)

    def failed(self, secret: str, error: ApiError) -> Any:
        """Return the page of an error, with a link to the login if that is what the share requires."""
        if not accepts_html():
            raise error
        text = _TEXTS.get(error.code, "unavailable" if error.status in (403, 404) else "failed")
        needs_login = error.code == LOGIN_REQUIRED.code
        login_path = self._host.browser.login_path(self._resumed(secret)) if needs_login else None
        return ShareVisit(self._host, secret).page(
            "closed.html",
            status=UNAVAILABLE.status if text == "unavailable" else error.status,
            title=f"{text}_title" if text in _OWN_TITLES else "failed_title",
            reason="no_login" if needs_login and not login_path else text,
            login_path=login_path,
        )

    def _resumed(self, secret: str) -> str:
        """Return the path of the page that the login leads back to."""
        if request.method == "GET":
            return quote(request.path)
        return path_of(self._host, f"/s/{secret}/")

    def _csrf(self, opened: OpenedShare) -> str:
        """Return the secret for forms of shares that need the session of the browser."""
        is_open = opened.link.audience == Audience.ANYONE
        return "" if is_open else self._shares.opener.sessions.csrf()

    def _shown(self, opened: OpenedShare, names: Sequence[str], query: Json, *, is_folder: bool) -> Any:
        if not opened.file.is_folder:
            if not names:
                return self._share(opened, [], [opened.file], query)
            if is_folder or list(names) != [opened.file.name]:
                raise ApiError(UNAVAILABLE)
            return self._file(opened, opened.file)
        with self._shares.opener.acting(opened):
            tenant_id, path = opened.link.tenant_id, [opened.file.name, *names]
            file = self._host.files.resolve(tenant_id, path) if names else opened.file
            if file.is_folder and is_folder:
                listed, total = self._listing.files(tenant_id, file.id, query["page"])
                if "view" in query:
                    return self._viewed(opened, names, listed, query)
                return self._share(opened, names, listed, query, total=total)
        if file.is_folder:
            return redirect(f"{self._listing.path(opened, names)}/", 308)
        if is_folder:
            raise ApiError(UNAVAILABLE)
        return self._file(opened, file)

    def _viewed(
        self, opened: OpenedShare, names: Sequence[str], listed: Sequence[FileInfo], query: Json
    ) -> Any:
        """Return the page that shows a file of a folder, with links to the ones before and after."""
        page, files = query["page"], [file for file in listed if is_viewed(opened, file)]
        place = next((at for at, file in enumerate(files) if file.name == query["view"]), None)
        if place is None:
            raise ApiError(UNAVAILABLE)
        around = [files[at] if 0 <= at < len(files) else None for at in (place - 1, place + 1)]
        previous, following = (
            self._listing.view(opened, names, file, page) if file else None for file in around
        )
        return self._visit(opened).page(
            "view.html",
            **self._content(opened, names, files[place]),
            back=self._listing.folder(opened, names, page),
            previous=previous,
            following=following,
            number=place + 1,
            count=len(files),
            can_download=opened.kind in READERS,
        )

    def _content(self, opened: OpenedShare, names: Sequence[str], file: FileInfo) -> Json:
        """Return a file, and the beginning of its text if it is one."""
        row = self._listing.row(opened, names, file)
        is_text = row["picture"] is None and is_viewed(opened, file)
        return {"file": row, "content": self._sender.text(opened, file) if is_text else None}

    def _file(self, opened: OpenedShare, file: FileInfo) -> Any:
        if opened.kind not in READERS:
            return self._sender.preview(opened, file.id)
        return self._sender.file(opened, file.id)

    def _share(
        self,
        opened: OpenedShare,
        names: Sequence[str],
        listed: Sequence[FileInfo],
        query: Json,
        *,
        total: int = 0,
        status: int = 200,
        fault: str | None = None,
    ) -> Any:
        if not names and not fault:
            self._shares.access_log.record_opening(opened.link)
        visit = self._visit(opened)
        form = SchemaForm(DropForm(), request.args)
        if fault and fault not in _OF_DROP_BOXES:
            form.faults["uploadedBy" if fault == "name_required" else "file"] = fault
        return visit.page(
            "share.html",
            status=status,
            compress=_coding(opened),
            **self._described(opened, names),
            **self._drop_box(opened, names, visit.csrf),
            **self._shown_files(opened, names, listed, query.get("page", 1)),
            total=total,
            links=_links(query.get("page", 1), total),
            form=form,
            error=fault if fault in _OF_DROP_BOXES else None,
        )

    def _shown_files(
        self, opened: OpenedShare, names: Sequence[str], listed: Sequence[FileInfo], page: int
    ) -> Json:
        """Return the files of a folder, or the only file with its content."""
        if opened.is_shown and not opened.file.is_folder:
            return {"rows": [], **self._content(opened, names, opened.file)}
        sizes = [file.size for file in listed if not file.is_folder]
        return {
            "rows": [self._listing.row(opened, names, file, page) for file in listed],
            "whole_size": size_text(sum(sizes)) if len(sizes) == len(listed) else "",
        }

    def _maker(self, opened: OpenedShare) -> Json | None:
        """Return the user who has made the share; ``None`` without a name."""
        user_id = opened.link.creator_id
        name = self._host.users.find_labels([user_id], "none").get(user_id)
        return {"id": user_id, "name": name} if name else None

    def _described(self, opened: OpenedShare, names: Sequence[str]) -> Json:
        link = opened.link
        left = None if link.max_downloads is None else link.max_downloads - link.downloads
        return {
            "root": self._listing.root(opened),
            "api": path_of(self._host, f"/api/v1/shares/{opened.secret}"),
            "kind": opened.kind.value,
            "title": self._title(opened, names),
            "crumbs": self._listing.crumbs(opened, names),
            "is_folder": opened.file.is_folder,
            "maker": self._maker(opened),
            "is_shown": opened.kind in SHOWN,
            "can_download": opened.kind in READERS,
            "expires": link.expires_at and iso_format(link.expires_at),
            "downloads_left": left,
        }

    def _drop_box(self, opened: OpenedShare, names: Sequence[str], csrf: str) -> Json:
        link, is_drop = opened.link, opened.kind in RECEIVERS and not names
        uploaded_by = request.args.get("uploadedBy", "").strip()
        form = {"uploadedBy": uploaded_by, **({"csrf": csrf} if csrf else {})}
        return {
            "is_drop": is_drop and not _is_full(link),
            "is_full": is_drop and _is_full(link),
            "drop_path": f"{self._listing.root(opened)}drop?{urlencode(form)}",
            "refusals": _DROP_FAULTS,
            "require_name": link.require_name,
            "allowed_types": link.allowed_types,
            "accepted_kinds": _ACCEPTED_KINDS,
            "is_named": bool(uploaded_by),
        }

    def _title(self, opened: OpenedShare, names: Sequence[str]) -> str:
        if names:
            return names[-1]
        return opened.link.label or (opened.file.name if opened.is_shown else "")


def _links(number: int, total: int) -> PageLinks:
    """Return the links to the other pages of a folder."""
    return page_links(
        {
            "totalCount": total,
            "pageNumber": number,
            "pageCount": -(-total // PER_PAGE),
            "hasPreviousPage": number > 1,
            "hasNextPage": number * PER_PAGE < total,
        }
    )


def _coding(opened: OpenedShare) -> PageCompression:
    """Return whether the page of a share is compressed: files, without a form."""
    shows_files = opened.is_shown and opened.file.is_folder and opened.kind not in RECEIVERS
    return ANY_SITE if shows_files and opened.is_open else False


def accepts_html() -> bool:
    """Return whether an error is a page: for all clients but those that accept JSON rather than HTML."""
    best = request.accept_mimetypes.best_match(("text/html", "application/json"), "text/html")
    return best == "text/html"


def _is_full(link: Link) -> bool:
    return link.max_bytes is not None and link.dropped_bytes >= link.max_bytes
