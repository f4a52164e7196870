"""Resumable uploads of the scripts: with the session and its secret, into the folders of the user."""

import base64
from typing import Any

import pytest
from tests.support.api import Answer, Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.foundation.database.upgrade import upgrade
from strongroom_login_pages.plugin import register_tables

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
SCRIPT = {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin", "Tus-Resumable": "1.0.0"}
BYTES = {"Content-Type": "application/offset+octet-stream"}

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


class Uploader:
    """A page with a script that uploads files of a user."""

    def __init__(self, api: Api, person: Person, tenant: str) -> None:
        self.browser = PageBrowser(api)
        self.browser.log_in(person.email)
        self.root = f"/console{tenant.removeprefix('/api/v1')}"
        page = self.browser.open(f"{self.root}/files/")
        assert page.status_code == 200
        self.secret = self.browser.forms["/console/logout"]["csrf"]

    def send(self, method: str, path: str, data: bytes = b"", **headers: str) -> Answer:
        """Send a request of the script, with the secret of the session unless a header has another."""
        sent = {**SCRIPT, "X-CSRF": self.secret, **{k.replace("_", "-"): v for k, v in headers.items()}}
        return self.browser.send_bytes(method, path, data, **sent)

    def create(self, name: str, size: int, query: str = "", **others: str) -> Answer:
        """Create an upload."""
        metadata = {"filename": name, **others}
        pairs = (f"{key} {base64.b64encode(text.encode()).decode()}" for key, text in metadata.items())
        length = {"Upload_Length": str(size), "Upload_Metadata": ",".join(pairs)}
        return self.send("POST", f"{self.root}/uploads{query}", b"", **length)

    def begin(self, name: str, size: int, query: str = "", **others: str) -> str:
        """Create an upload, and return its path."""
        answer = self.create(name, size, query, **others)
        assert answer.status_code == 201, answer.text
        return answer.headers["Location"]

    def append(self, upload: str, offset: int, content: bytes) -> Answer:
        return self.send("PATCH", upload, content, Upload_Offset=str(offset), **BYTES)


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Alice")


@pytest.fixture
def tenant(api: Api, person: Person) -> str:
    return api.tenant(person)


@pytest.fixture
def uploader(api: Api, person: Person, tenant: str) -> Uploader:
    return Uploader(api, person, tenant)


def names(api: Api, person: Person, tenant: str, folder: str | None = None) -> list[str]:
    inner = f"/{folder}/files" if folder else ""
    listed = api.get(f"{tenant}/owners/me/files{inner}", by=person)
    return [item["name"] for item in listed.json["data"]]


def test_an_upload_continues_at_its_offset(
    api: Api, person: Person, tenant: str, uploader: Uploader
) -> None:
    folder = api.folder(tenant, person, "Inbox")["id"]
    upload = uploader.begin("a <b>.txt", 10, f"?folder={folder}")
    assert upload.startswith(f"{uploader.root}/uploads/")
    assert uploader.append(upload, 0, b"01234").headers["Upload-Offset"] == "5"
    head = uploader.send("HEAD", upload)
    assert (head.status_code, head.headers["Upload-Offset"]) == (200, "5")
    assert (head.headers["Upload-Length"], head.headers["Tus-Resumable"]) == ("10", "1.0.0")
    assert uploader.append(upload, 3, b"34567").status_code == 409
    assert uploader.append(upload, 5, b"56789").status_code == 204
    assert names(api, person, tenant, folder) == ["a <b>.txt"]


def test_a_small_file_needs_one_request(
    api: Api, person: Person, tenant: str, uploader: Uploader
) -> None:
    length = {"Upload_Length": "4", "Upload_Metadata": "filename YS50eHQ="}
    answer = uploader.send("POST", f"{uploader.root}/uploads", b"tiny", **length, **BYTES)
    assert (answer.status_code, answer.headers["Upload-Offset"]) == (201, "4")
    assert names(api, person, tenant) == ["a.txt"]


def test_the_folders_of_a_path_are_created(
    api: Api, person: Person, tenant: str, uploader: Uploader
) -> None:
    folder = api.folder(tenant, person, "Inbox")["id"]
    for name in ("one.txt", "two.txt"):
        path = f"Trip/Day 1/{name}"
        uploader.append(uploader.begin(name, 1, f"?folder={folder}", relativePath=path), 0, b"x")
    assert names(api, person, tenant, folder) == ["Trip"]
    outside = uploader.create("x.txt", 1, f"?folder={folder}", relativePath="../x.txt")
    assert outside.status_code == 400


def test_the_user_chooses_what_happens_to_a_taken_name(
    api: Api, person: Person, tenant: str, uploader: Uploader
) -> None:
    uploader.append(uploader.begin("a.txt", 1), 0, b"x")
    assert uploader.create("a.txt", 1).status_code == 409
    assert uploader.create("a.txt", 1, "?onConflict=what").status_code == 409
    for rule, expected in (("replace", ["a.txt"]), ("rename", ["a (1).txt", "a.txt"])):
        uploader.append(uploader.begin("a.txt", 1, f"?onConflict={rule}"), 0, b"y")
        assert sorted(names(api, person, tenant)) == expected


def test_an_upload_can_be_cancelled(uploader: Uploader) -> None:
    upload = uploader.begin("a.txt", 5)
    assert uploader.send("DELETE", upload).status_code == 204
    assert uploader.send("HEAD", upload).status_code == 404


def test_clients_learn_what_the_server_supports(uploader: Uploader) -> None:
    described = uploader.send("OPTIONS", f"{uploader.root}/uploads")
    assert (described.status_code, described.headers["Tus-Version"]) == (204, "1.0.0")
    assert "creation-with-upload" in described.headers["Tus-Extension"]
    other = uploader.send("HEAD", uploader.begin("a.txt", 5), Tus_Resumable="0.2.2")
    assert other.status_code == 412


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE"])
def test_a_request_without_the_secret_is_refused(
    api: Api, person: Person, tenant: str, uploader: Uploader, method: str
) -> None:
    upload = uploader.begin("a.txt", 1)
    for secret in ("", "x" * len(uploader.secret)):
        headers: dict[str, Any] = {"X_CSRF": secret, "Upload_Offset": "0", "Upload_Length": "1", **BYTES}
        path = f"{uploader.root}/uploads" if method == "POST" else upload
        answer = uploader.send(method, path, b"x", **headers)
        assert (answer.status_code, answer.json["error"]["code"]) == (400, "error.form-refused")
    assert uploader.send("HEAD", upload).headers["Upload-Offset"] == "0"
    assert names(api, person, tenant) == []


def test_an_upload_of_another_user_is_missing(
    api: Api, person: Person, tenant: str, uploader: Uploader
) -> None:
    other = api.person()
    api.join(tenant, person, other)
    thief, upload = Uploader(api, other, tenant), uploader.begin("a.txt", 5)
    answers = [
        thief.send("HEAD", upload),
        thief.append(upload, 0, b"01234"),
        thief.send("DELETE", upload),
    ]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert uploader.send("HEAD", upload).headers["Upload-Offset"] == "0"


def test_an_upload_needs_a_folder_that_the_user_may_write_into(
    api: Api, person: Person, tenant: str, uploader: Uploader
) -> None:
    other = api.person()
    api.join(tenant, person, other)
    member, hidden = Uploader(api, other, tenant), api.folder(tenant, person, "Private")["id"]
    assert member.create("a.txt", 1, f"?folder={hidden}").status_code in (403, 404)
    elsewhere = api.tenant(other, "Other")
    path = f"/console{elsewhere.removeprefix('/api/v1')}/uploads"
    length = {"Upload_Length": "4", "Upload_Metadata": "filename YS50eHQ="}
    assert uploader.send("POST", path, b"", **length).status_code == 403


def test_the_upload_of_a_suspended_user_ends(
    api: Api, person: Person, tenant: str, uploader: Uploader
) -> None:
    upgrade(api.container.database.engine, {"login_pages": register_tables()})
    admin, upload = api.person(admin=True), uploader.begin("a.txt", 4)
    assert uploader.append(upload, 0, b"01").status_code == 204
    suspension = f"/users/{person.id}/suspension"
    assert api.post(suspension, by=admin).status_code == 200
    assert uploader.append(upload, 2, b"23").status_code == 401
    # The upload itself has ended too, not only the session.
    assert api.delete(suspension, by=admin).status_code == 200
    again = Uploader(api, person, tenant)
    assert again.append(upload, 2, b"23").status_code == 404
    assert again.browser.open(f"{again.root}/files/").text.count("a.txt") == 0
