"""Drop boxes: files of people without an account, within limits, never seen and never overwritten."""

import base64
from dataclasses import replace
from io import BytesIO

import pytest
from flask.ctx import RequestContext
from tests.support.api import Answer, Api, Json, error_code
from tests.support.shares import ALL_KINDS, PLUGINS, PNG, Shared, Visitor

from strongroom.plugin_api.web import ApiError
from strongroom.testing.clock import HOUR
from strongroom_share_links.service import Shares

TUS = {"Tus-Resumable": "1.0.0"}
PATCH = {**TUS, "Content-Type": "application/offset+octet-stream"}
DAY = 24 * HOUR


pytestmark = pytest.mark.config({"plugins": {"enabled": PLUGINS, "share_links": {"kinds": ALL_KINDS}}})


@pytest.fixture
def shared(api: Api) -> Shared:
    return Shared.made(api)


def listed(shared: Shared, folder: str) -> list[Json]:
    path = f"{shared.tenant}/owners/me/files/{folder}/files"
    found: list[Json] = shared.api.get(path, by=shared.admin).json["data"]
    return found


def names(shared: Shared, folder: str | None = None) -> list[str]:
    return [item["name"] for item in listed(shared, folder or shared.folder)]


def begin(visitor: Visitor, name: str, size: int, query: str = "", **headers: str) -> Answer:
    encoded = base64.b64encode(name.encode()).decode()
    sent = {**TUS, "Upload-Length": str(size), "Upload-Metadata": f"filename {encoded}", **headers}
    return visitor.send("POST", f"/uploads{query}", headers=sent)


def append(visitor: Visitor, upload: str, offset: int, content: bytes) -> Answer:
    headers = {**PATCH, "Upload-Offset": str(offset)}
    return visitor.send("PATCH", f"/uploads/{upload}", headers=headers, data=content)


def drops(shared: Shared, share: Json) -> list[tuple[str, int, str | None]]:
    path = f"{shared.tenant}/shares/{share['id']}/openings?what=drop"
    found = shared.api.get(path, by=shared.maker).json["data"]
    return sorted((item["name"], item["size"], item["uploadedBy"]) for item in found)


def test_a_dropped_file_is_the_makers_and_replaces_nothing(shared: Shared) -> None:
    visitor = shared.share(kind="drop", notify=True)
    before = shared.api.get(shared.tenant, by=shared.admin).json["usedBytes"]
    for _ in range(2):
        assert visitor.drop("note.txt", b"mine").status_code == 201
    form = visitor.send(
        "POST",
        "/files?uploadedBy=Anna",
        data={"file": (BytesIO(b"form"), "note.txt")},
    )
    assert form.json == {"name": "note (3).txt", "size": 4}
    assert names(shared) == ["Inside", "note (1).txt", "note (2).txt", "note (3).txt", "note.txt"]
    whole = shared.api.get(f"{shared.tenant}/files/{shared.file}/download", by=shared.admin).data
    assert whole == b"0123456789" * 10
    assert shared.api.get(shared.tenant, by=shared.admin).json["usedBytes"] == before + 12
    assert drops(shared, visitor.share)[-1] == ("note (3).txt", 4, "Anna")
    assert any("from Anna" in message["text"] for message in shared.api.outbox())


def test_folders_are_created_and_no_name_is_revealed(shared: Shared) -> None:
    visitor = shared.share(kind="drop")
    paths = ["photos/2026/a.txt", "photos/b.txt", "note.txt/c.txt", "note.txt/d.txt"]
    for path in paths:
        answer = visitor.drop(path.rpartition("/")[2], b"x", f"?relativePath={path}")
        assert answer.status_code == 201, answer.text
    encoded = base64.b64encode(b"photos/2026/e.txt").decode()
    pairs = f"filename {base64.b64encode(b'e.txt').decode()},relativePath {encoded}"
    made = begin(visitor, "e.txt", 1, **{"Upload-Metadata": pairs})
    upload = made.headers["Location"].rpartition("/")[2]
    assert append(visitor, upload, 0, b"x").status_code == 204
    assert names(shared) == ["Inside", "note (1).txt", "note.txt", "photos"]
    found = {item["name"]: item["id"] for item in listed(shared, shared.folder)}
    assert names(shared, found["note (1).txt"]) == ["c.txt", "d.txt"]
    assert names(shared, found["photos"]) == ["2026", "b.txt"]
    (year,) = (item["id"] for item in listed(shared, found["photos"]) if item["name"] == "2026")
    assert names(shared, year) == ["a.txt", "e.txt"]
    refused = visitor.drop("a.txt", b"x", "?relativePath=../a.txt")
    assert error_code(refused) == "error.validation-failed"


def test_a_drop_box_shows_nothing(shared: Shared) -> None:
    visitor = shared.share(kind="drop")
    assert visitor.get().json.keys() == {
        *("id", "kind", "needsPassword", "expired", "label", "expiresAt"),
        *("drop", "remainingFiles", "remainingBytes"),
    }
    for path in ("/files", "/download", f"/files/{shared.file}", f"/files/{shared.file}/download"):
        assert error_code(visitor.get(path)) == "error.share-kind"
    assert error_code(visitor.send("POST", f"/files/{shared.inside}/files")) == "error.share-kind"


def test_its_limits_hold(shared: Shared) -> None:
    limits = {"maxFiles": 2, "maxBytes": 100, "allowedTypes": ["image/*"], "requireName": True}
    visitor = shared.share(kind="drop", drop=limits)
    assert visitor.share["drop"] == {**limits, "layout": "flat"}
    unnamed = visitor.drop("a.png", PNG)
    assert error_code(unnamed) == "error.share-name-required"
    assert [item["field"] for item in unnamed.json["error"]["details"]] == ["uploadedBy"]
    assert error_code(visitor.drop("a.png", PNG, "?uploadedBy=%20")) == "error.share-name-required"
    named = "?uploadedBy=Anna"
    assert error_code(visitor.drop("a.png", b"text", named)) == "error.unsupported-media-type"
    assert error_code(visitor.drop("a.png", bytes(101), named)) == "error.share-drop-too-large"
    assert visitor.drop("a.png", PNG, named).status_code == 201
    assert visitor.get().json["remainingFiles"] == 1
    assert visitor.get().json["remainingBytes"] == 100 - len(PNG)
    assert error_code(visitor.drop("b.png", PNG, named)) == "error.share-drop-too-large"
    assert names(shared) == ["a.png", "Inside", "note.txt"]
    chunked = {"environ_overrides": {"wsgi.input_terminated": True}}
    headers = {"Content-Disposition": 'attachment; filename="c"', "Transfer-Encoding": "chunked"}
    reply = visitor.send("POST", f"/files{named}", headers=headers, **chunked)
    assert error_code(reply) in ("error.share-length-required", "error.length-required")


def test_a_full_box_says_that_it_is_full_whatever_the_size(shared: Shared) -> None:
    visitor = shared.share(kind="drop", drop={"maxBytes": 4})
    assert visitor.drop("a.txt", b"1234").status_code == 201
    for size in (1, 2, 5):
        reply = visitor.drop("b.txt", bytes(size))
        assert (reply.status_code, error_code(reply)) == (413, "error.share-drop-full")
    page = visitor.api.app.test_client().post(
        f"/s/{visitor.secret}/drop", data={"file": (BytesIO(b"12"), "b.txt")}
    )
    assert (page.status_code, "is full or has ended" in page.text) == (413, True)


def test_a_form_may_fill_its_room_but_not_exceed_it(shared: Shared) -> None:
    visitor = shared.share(kind="drop", drop={"maxBytes": 10})

    def send(content: bytes) -> int:
        form = {"file": (BytesIO(content), "a.txt")}
        return visitor.send("POST", "/files", data=form).status_code

    assert send(bytes(11)) == 413
    assert send(bytes(6)) == 201
    assert visitor.get().json["remainingBytes"] == 4
    assert send(bytes(5)) == 413
    assert visitor.get().json["remainingBytes"] == 4
    assert send(bytes(4)) == 201
    assert visitor.get().json["remainingBytes"] == 0
    assert send(b"x") == 413
    assert send(bytes(20_000)) == 413


def test_the_last_file_closes_it(shared: Shared) -> None:
    visitor = shared.share(kind="drop", drop={"maxFiles": 1})
    upload = begin(visitor, "a.txt", 4).headers["Location"].rpartition("/")[2]
    assert append(visitor, upload, 0, b"mi").status_code == 204
    assert error_code(visitor.drop("b.txt", b"b")) == "error.share-unavailable"
    assert append(visitor, upload, 2, b"ne").status_code == 204
    assert error_code(visitor.get()) == "error.share-unavailable"
    assert names(shared) == ["a.txt", "Inside", "note.txt"]


def test_requests_that_began_at_the_same_time_share_the_room(shared: Shared) -> None:
    """Each opened was opened before the first file arrived."""
    visitor, shares = shared.share(kind="drop", drop={"maxFiles": 2}), shared.host.get_service(Shares)
    headers = {"Content-Disposition": 'attachment; filename="a.txt"'}

    def request() -> RequestContext:
        path = f"{visitor.root}/files"
        return shared.api.app.test_request_context(path, method="POST", headers=headers, data=b"a")

    with request():
        opened = shares.opener.open(visitor.secret)
    for _ in range(2):
        with request():
            assert shares.file_requests.receive(opened, opened.file.id, None).size == 1
    with request(), pytest.raises(ApiError) as refused:
        shares.file_requests.receive(opened, opened.file.id, None)
    assert refused.value.code == "error.share-unavailable"
    assert names(shared) == ["a (1).txt", "a.txt", "Inside", "note.txt"]


def test_an_upload_continues(shared: Shared) -> None:
    visitor = shared.share(kind="drop", drop={"maxBytes": 1000})
    described = visitor.send("OPTIONS", "/uploads")
    assert (described.status_code, described.headers["Tus-Version"]) == (204, "1.0.0")
    created = begin(visitor, "long.txt", 10, "?uploadedBy=Anna")
    assert created.status_code == 201
    assert created.headers["Location"].startswith("http")
    upload = created.headers["Location"].rpartition("/")[2]
    assert append(visitor, upload, 0, b"01234").headers["Upload-Offset"] == "5"
    assert error_code(append(visitor, upload, 3, b"x")) == "error.offset-conflict"
    head = visitor.send("HEAD", f"/uploads/{upload}", headers=TUS)
    assert (head.headers["Upload-Offset"], head.headers["Upload-Length"]) == ("5", "10")
    assert head.headers["Tus-Resumable"] == "1.0.0"
    done = append(visitor, upload, 5, b"56789")
    assert (done.status_code, "Content-Location" in done.headers) == (204, False)
    assert append(visitor, upload, 10, b"").status_code == 204
    assert drops(shared, visitor.share) == [("long.txt", 10, "Anna")]
    assert visitor.get().json["remainingBytes"] == 990


def test_an_upload_belongs_to_one_share(shared: Shared) -> None:
    visitor, other = shared.share(kind="drop"), shared.share(kind="drop")
    upload = begin(visitor, "a.txt", 4).headers["Location"].rpartition("/")[2]
    own = shared.api.request(
        "POST",
        f"{shared.tenant}/uploads",
        by=shared.maker,
        headers={**TUS, "Upload-Length": "4", "Upload-Metadata": "filename YQ=="},
    ).headers["Location"]
    for thief, found in ((other, upload), (visitor, own.rpartition("/")[2])):
        for method in ("HEAD", "GET", "DELETE", "PATCH"):
            headers = {**PATCH, "Upload-Offset": "0"}
            reply = thief.send(method, f"/uploads/{found}", headers=headers)
            assert reply.status_code == 404, method
    assert visitor.send("DELETE", f"/uploads/{upload}", headers=TUS).status_code == 204
    assert visitor.send("HEAD", f"/uploads/{upload}", headers=TUS).status_code == 404


def test_abandoned_uploads_free_their_room(shared: Shared) -> None:
    class Run:
        should_stop = False

    visitor = shared.share(kind="drop", drop={"maxFiles": 2, "maxBytes": 10})
    first = begin(visitor, "a.txt", 6).headers["Location"].rpartition("/")[2]
    upload = begin(visitor, "b.txt", 4).headers["Location"].rpartition("/")[2]
    assert append(visitor, first, 0, bytes(5)).status_code == 204
    assert append(visitor, upload, 0, bytes(3)).status_code == 204
    assert error_code(visitor.get()) == "error.share-unavailable"
    assert visitor.send("DELETE", f"/uploads/{upload}", headers=TUS).status_code == 204
    assert visitor.get().json["remainingBytes"] == 5
    shared.api.clock.advance(30 * DAY)
    shared.host.get_service(Shares).settle_uploads(Run())
    left = visitor.get().json
    assert (left["remainingFiles"], left["remainingBytes"]) == (2, 10)
    assert error_code(visitor.drop("c.txt", bytes(11))) == "error.share-drop-too-large"
    assert visitor.get().json["remainingFiles"] == 2


def test_visitors_have_folders_of_their_own(shared: Shared) -> None:
    visitor = shared.share(shared.inside, "drop", drop={"layout": "by-visitor"})
    for sender in ("Anna", "Bob", "Anna", "../x", "", "."):
        assert visitor.drop("a.txt", b"a", f"?uploadedBy={sender}").status_code == 201, sender
    made = names(shared, shared.inside)
    assert made == ["_", "_x", "?", "Anna", "Bob", "dot.png"]
    path = f"{shared.tenant}/owners/me/files/{shared.inside}/files"
    found = {i["name"]: i["id"] for i in shared.api.get(path, by=shared.admin).json["data"]}
    assert names(shared, found["Anna"]) == ["a (1).txt", "a.txt"]
    assert shared.api.delete(f"{shared.tenant}/files/{found['Anna']}", by=shared.admin).json["success"]
    assert visitor.drop("a.txt", b"a", "?uploadedBy=Anna").status_code == 201


def test_a_write_share_shows_what_was_dropped(shared: Shared) -> None:
    visitor = shared.share(kind="write")
    dropped = visitor.drop("new.txt", b"new").json
    assert visitor.get(f"/files/{dropped['id']}/download").data == b"new"
    below = visitor.send(
        "POST",
        f"/files/{shared.inside}/files",
        headers={"Content-Disposition": 'attachment; filename="x"', "Content-Type": "text/plain"},
        data=b"x",
    )
    assert below.status_code == 201
    assert names(shared, shared.inside) == ["dot.png", "x"]
    outside = visitor.send("POST", f"/files/{shared.outside}/files", data=b"x")
    assert outside.status_code in (400, 403, 404)


def test_a_full_tenant_refuses_drops(shared: Shared) -> None:
    root = shared.api.person(admin=True)
    quota = shared.api.patch(shared.tenant, {"quotaBytes": 200}, by=root)
    assert quota.status_code == 200, quota.text
    visitor = shared.share(kind="drop", drop={"maxFiles": 5})
    assert error_code(visitor.drop("a.txt", bytes(500))) == "error.storage-full"
    assert visitor.get().json["remainingFiles"] == 5


def test_an_audience_is_checked_for_drops_as_well(shared: Shared) -> None:
    visitor = shared.share(kind="drop", audience="members")
    assert error_code(visitor.drop("a.txt", b"a")) == "error.share-login-required"
    assert replace(visitor, person=shared.admin).drop("a.txt", b"a").status_code == 201


def test_a_refused_upload_leaves_no_folder(shared: Shared) -> None:
    limits = {"layout": "by-visitor", "allowedTypes": ["image/png"], "maxFiles": 2}
    visitor = shared.share(shared.inside, "drop", drop=limits)
    for number in range(5):
        refused = visitor.drop("a.png", b"no picture", f"?uploadedBy=Visitor {number}")
        assert refused.status_code == 415, refused.text
    headers = {**TUS, "Upload-Length": "10", "Upload-Metadata": "filename YS5wbmc="}
    begun = visitor.send("POST", "/uploads?uploadedBy=Resuming", headers=headers)
    assert begun.status_code == 201, begun.text
    path = f"/uploads/{begun.headers['Location'].rpartition('/')[2]}"
    sent = {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    refused = visitor.send("PATCH", path, headers=sent, data=b"no picture")
    assert refused.status_code == 415, refused.text
    assert names(shared, shared.inside) == ["dot.png"]
    assert visitor.drop("a.png", PNG, "?uploadedBy=Anna").status_code == 201
    assert names(shared, shared.inside) == ["Anna", "dot.png"]


def test_a_folder_of_a_visitor_stays_the_visitors_wherever_the_maker_moves_it(shared: Shared) -> None:
    visitor = shared.share(shared.folder, "drop", drop={"layout": "by-visitor"})
    assert visitor.drop("a.txt", b"a", "?uploadedBy=Anna").status_code == 201
    path = f"{shared.tenant}/owners/me/files/{shared.folder}/files"
    found = {i["name"]: i["id"] for i in shared.api.get(path, by=shared.admin).json["data"]}
    tenant = shared.tenant.rpartition("/")[2]
    with shared.host.acting_as(shared.admin.id):
        shared.host.files.move(tenant, found["Anna"], shared.inside, "Post")
    assert visitor.drop("b.txt", b"b", "?uploadedBy=Anna").status_code == 201
    assert names(shared, found["Anna"]) == ["a.txt", "b.txt"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("www.evil.example", "www evil example, 1 bytes"),
        ("me@evil.example", "me evil example, 1 bytes"),
        ("Sign in at evil.zip", "Sign in at evil zip, 1 bytes"),
        ("[a](evil.example)", "a evil example, 1 bytes"),
        ("annual report.pdf", "annual report pdf, 1 bytes"),
    ],
)
def test_the_name_of_a_dropped_file_is_no_link_in_the_message(
    shared: Shared, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    texts: list[str] = []
    monkeypatch.setattr(type(shared.host), "notify", lambda _, *message: texts.append(message[-1]))
    visitor = shared.share(kind="drop", notify=True)
    assert visitor.drop(name, b"a", "?uploadedBy=Eve").status_code == 201
    assert texts[-1].endswith(f" {told}, from Eve")
    path = f"{shared.tenant}/shares/{visitor.share['id']}/openings?what=drop"
    [opening] = shared.api.get(path, by=shared.maker).json["data"]
    assert opening["name"] == name


@pytest.mark.parametrize(
    ("sent", "stored", "told"),
    [
        ("Eve%0D%0A%0D%0ASign in", "Eve Sign in", "from Eve Sign in"),
        (
            "https://evil.example/login?x",
            "https://evil.example/login?x",
            "from https evil example login?x",
        ),
        ("a%01b%1B%5B31m%E2%80%AEc", "a b [31m c", "from a b 31m c"),
        ("www.evil.example", "www.evil.example", "from www evil example"),
        ("me@evil.example", "me@evil.example", "from me evil example"),
        ("Dr. Who", "Dr. Who", "from Dr. Who"),
        ("%0D%0A", None, "from ?"),
    ],
)
def test_the_name_of_a_sender_is_one_line_without_links(
    shared: Shared, monkeypatch: pytest.MonkeyPatch, sent: str, stored: str | None, told: str
) -> None:
    texts: list[str] = []
    monkeypatch.setattr(type(shared.host), "notify", lambda _, *message: texts.append(message[-1]))
    visitor = shared.share(kind="drop", notify=True)
    assert visitor.drop("a.txt", b"a", f"?uploadedBy={sent}").status_code == 201
    path = f"{shared.tenant}/shares/{visitor.share['id']}/openings?what=drop"
    [opening] = shared.api.get(path, by=shared.maker).json["data"]
    assert opening["uploadedBy"] == stored
    assert texts[-1].endswith(told)
