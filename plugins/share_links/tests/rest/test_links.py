"""Share links: made by users, and opened by visitors without an account."""

import hashlib
import json
from dataclasses import replace
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import select
from tests.support.api import Api, error_code
from tests.support.databases import on_postgresql
from tests.support.interleaving import Action, Interleaving
from tests.support.shares import ALL_KINDS, PASSWORD, PLUGINS, Shared

from strongroom.extensions.business_files.pictures import PictureProcessor
from strongroom.testing.clock import HOUR, MINUTE
from strongroom_share_links.models import metadata

DAY = 24 * HOUR
UNAVAILABLE = "error.share-unavailable"


pytestmark = pytest.mark.config({"plugins": {"enabled": PLUGINS, "share_links": {"kinds": ALL_KINDS}}})


@pytest.fixture
def shared(api: Api) -> Shared:
    return Shared.made(api)


def test_a_maker_who_left_the_tenant_exports_shares_without_their_labels(shared: Shared) -> None:
    share = shared.share(label="For Eve").share
    api, maker = shared.api, shared.maker
    assert api.delete(f"{shared.tenant}/members/{maker.id}", by=shared.admin).status_code == 200
    reply = api.post("/users/me/exports", by=maker)
    assert reply.status_code == 200, reply.text
    (record,) = json.loads(ZipFile(BytesIO(reply.data)).read("share-links-shares.json"))
    assert set(record) == {"id", "tenantId", "createdAt"}
    assert record["id"] == share["id"]


def test_a_visitor_reads_a_folder(shared: Shared) -> None:
    visitor = shared.share(label="For you")
    described = visitor.get().json
    assert (described["name"], described["type"], described["label"]) == ("Shared", "folder", "For you")
    names = [item["name"] for item in visitor.get("/files").json["data"]]
    assert names == ["Inside", "note.txt"]
    assert [i["name"] for i in visitor.get(f"/files/{shared.inside}/files").json["data"]] == ["dot.png"]
    reply = visitor.get(f"/files/{shared.file}/download")
    assert (reply.status_code, reply.data) == (200, b"0123456789" * 10)
    assert reply.headers["Cache-Control"] == "private, no-store"
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert "noindex" in reply.headers["X-Robots-Tag"]
    archive = visitor.get("/download")
    assert (archive.status_code, archive.data[:2]) == (200, b"PK")


def test_a_visitor_lists_by_name_or_with_folders_first(shared: Shared) -> None:
    for name in ("img10", "img9", "Zebra", "apple"):
        shared.api.upload(shared.tenant, shared.admin, name, b"a", shared.inside)
    for name in ("img1", "Banana"):
        shared.api.folder(shared.tenant, shared.admin, name, shared.inside)
    mixed = ["apple", "Banana", "dot.png", "img1", "img9", "img10", "Zebra"]
    folders = ["Banana", "img1", "apple", "dot.png", "img9", "img10", "Zebra"]
    lists = (shared.share(shared.inside), "/files"), (shared.share(), f"/files/{shared.inside}/files")
    for visitor, path in lists:
        for query, expected in ((path, mixed), (f"{path}?foldersFirst=true", folders)):
            listed = visitor.get(query).json["data"]
            assert [item["name"] for item in listed] == expected, query
        assert visitor.get(f"{path}?foldersFirst=yes").status_code == 400


def test_a_visitor_sees_nothing_outside(shared: Shared) -> None:
    visitor = shared.share()
    for path in ("", "/download", "/preview", "/files"):
        assert visitor.get(f"/files/{shared.outside}{path}").status_code in (403, 404), path
    body = {"fileIds": [shared.file, shared.outside]}
    assert visitor.send("POST", "/multi-files-download", json=body).status_code in (403, 404)
    assert visitor.get(f"/files/{shared.tenant.rpartition('/')[2]}/files").status_code in (403, 404)
    shared.api.request(
        "PATCH", f"{shared.tenant}/files/{shared.inside}", by=shared.admin, json={"parentId": None}
    )
    assert visitor.get(f"/files/{shared.picture}/download").status_code in (200, 403, 404)


def test_a_password_hides_everything_but_the_kind(shared: Shared) -> None:
    visitor = shared.share(password=PASSWORD, label="Secret label")
    described = visitor.get()
    assert described.json == {
        "id": visitor.share["id"],
        "kind": "read",
        "needsPassword": True,
        "expired": False,
    }
    for path in ("/files", "/download", f"/files/{shared.file}/download", f"/files/{shared.file}"):
        reply = visitor.get(path)
        assert (reply.status_code, error_code(reply)) == (401, "error.share-password-required")
    assert error_code(visitor.prove("wrong password")) == "error.share-password-wrong"
    proven = visitor.prove()
    assert proven.status_code == 200
    assert f"share-{visitor.share['id']}=" in proven.headers["Set-Cookie"]
    assert "HttpOnly" in proven.headers["Set-Cookie"]
    assert visitor.get().json["label"] == "Secret label"
    assert visitor.get(f"/files/{shared.file}/download").status_code == 200


def test_a_proof_is_for_one_share_and_15_minutes(shared: Shared) -> None:
    visitor, other = (shared.share(password=PASSWORD) for _ in range(2))
    visitor.prove()
    other.proof = visitor.proof
    assert other.get("/files").status_code == 401
    shared.api.clock.advance(14 * MINUTE)
    assert visitor.get("/files").status_code == 200
    shared.api.clock.advance(2 * MINUTE)
    assert visitor.get("/files").status_code == 401
    visitor.prove()
    shared.change(visitor.share, password="another password")
    assert visitor.get("/files").status_code == 401
    for forged in (
        "",
        "x",
        "a.b.c.d.e",
        shared.host.secrets.seal("proof x y 1"),
        shared.host.secrets.seal("x"),
    ):
        visitor.proof = forged
        assert visitor.get("/files").status_code == 401


def test_a_proof_names_its_share(shared: Shared) -> None:
    visitor, end = shared.share(password=PASSWORD), shared.api.clock.now() + HOUR
    table = metadata.tables["share_links_links"]
    with shared.host.database.read() as tx:
        password = hashlib.sha256(tx.scalar(select(table.c.password_hash)).encode()).hexdigest()
    for link_id, status in ((visitor.share["id"], 200), ("another", 401)):
        visitor.proof = shared.host.secrets.seal(f"proof {link_id} {password} {end}")
        assert visitor.get("/files").status_code == status


def test_wrong_passwords_are_limited_per_address_and_share(shared: Shared) -> None:
    visitor = shared.share(password=PASSWORD)
    for _ in range(10):
        assert error_code(visitor.prove("wrong password")) == "error.share-password-wrong"
    assert error_code(visitor.prove()) == "error.captcha-required"
    captcha = shared.api.captcha()
    body = {"password": PASSWORD, "captcha": captcha}
    assert visitor.send("POST", "/proofs", json=body).status_code == 200
    elsewhere = {"environ_overrides": {"REMOTE_ADDR": "192.0.2.77"}}
    for _ in range(10):
        reply = visitor.send("POST", "/proofs", json={"password": PASSWORD}, **elsewhere)
        assert reply.status_code == 200
    for number in range(40):
        addresses = {"environ_overrides": {"REMOTE_ADDR": f"192.0.3.{number // 9}"}}
        visitor.send("POST", "/proofs", json={"password": "wrong password"}, **addresses)
    reply = visitor.send("POST", "/proofs", json={"password": PASSWORD}, **elsewhere)
    assert error_code(reply) == "error.captcha-required"
    shared.api.clock.advance(HOUR)
    assert visitor.prove().status_code == 200


def test_the_secret_is_stored_as_a_hash(shared: Shared) -> None:
    visitor = shared.share()
    assert len(visitor.secret) >= 22
    with shared.host.database.read() as tx:
        (row,) = tx.all(metadata.tables["share_links_links"].select())
    assert visitor.secret not in str(tuple(row))
    shown = shared.api.get(f"{shared.tenant}/shares/{visitor.share['id']}", by=shared.maker).json
    assert shown["url"] == visitor.share["url"]


def test_a_download_counts_with_its_first_byte(shared: Shared) -> None:
    visitor = shared.share(shared.file, maxDownloads=2)
    path = f"/files/{shared.file}/download"
    assert visitor.send("HEAD", path).status_code == 200
    tag = visitor.send("HEAD", path).headers["ETag"]
    assert visitor.get(path, headers={"If-None-Match": tag}).status_code == 304
    assert visitor.get(path, headers={"Range": "bytes=900-"}).status_code == 416
    first = visitor.get(path, headers={"Range": "bytes=0-19"})
    assert (first.status_code, first.data) == (206, b"0123456789" * 2)
    cookie = first.headers["Set-Cookie"].partition(";")[0]
    rest = visitor.get(path, headers={"Range": "bytes=20-", "Cookie": cookie})
    assert (rest.status_code, len(rest.data)) == (206, 80)
    assert visitor.get().json["remainingDownloads"] == 1
    # Another client begins a download of its own, wherever it starts.
    other, third = ({"User-Agent": name} for name in ("other", "third"))
    assert visitor.get(path, headers={"Range": "bytes=50-", **other}).status_code == 206
    for again in ({}, {"Range": "bytes=50-"}):
        reply = visitor.get(path, headers={**again, **third})
        assert (reply.status_code, error_code(reply)) == (404, UNAVAILABLE)
    assert error_code(visitor.get(headers=third)) == UNAVAILABLE
    assert shared.state(visitor.share) == "exhausted"
    # The counted download continues, but not without end.
    part = {"Range": "bytes=20-", "Cookie": cookie}
    assert visitor.get(path, headers=part).status_code == 206
    with shared.host.database.write() as tx:
        tx.execute(metadata.tables["share_links_downloads"].update().values(remaining=79))
    assert visitor.get(path, headers=part).status_code == 404
    with shared.host.database.write() as tx:
        tx.execute(metadata.tables["share_links_downloads"].update().values(remaining=10_000))
    shared.api.clock.advance(2 * HOUR)
    assert visitor.get(path, headers=part).status_code == 404


@pytest.mark.parametrize("size", [6, 6000])
def test_a_counted_download_of_a_small_file_is_no_hundred_copies(shared: Shared, size: int) -> None:
    file = shared.api.upload(shared.tenant, shared.admin, "small", b"x" * size, shared.folder)["id"]
    visitor, path = shared.share(file, maxDownloads=1), f"/files/{file}/download"
    first = visitor.get(path)
    cookie = first.headers["Set-Cookie"].partition(";")[0]
    ranges = [{"Range": "bytes=1-", "Cookie": cookie}, {"Range": "bytes=1-"}] * 5
    got = [visitor.get(path, headers=headers) for headers in ranges]
    assert [reply.status_code for reply in got] == [206] + [404] * 9
    assert sum(len(reply.data) for reply in got if reply.status_code == 206) < size


def test_an_archive_counts_once(shared: Shared) -> None:
    visitor = shared.share(maxDownloads=1)
    whole = visitor.send("POST", "/multi-files-download", json={})
    assert whole.status_code == 200
    cookie = whole.headers["Set-Cookie"].partition(";")[0]
    location = whole.headers["Content-Location"]
    assert location.startswith(visitor.root)
    again = location.removeprefix(visitor.root)
    rest = visitor.get(again, headers={"Range": "bytes=10-", "Cookie": cookie})
    assert rest.data == whole.data[10:]
    other = {"User-Agent": "other"}
    assert visitor.get(again, headers={"Range": "bytes=10-", **other}).status_code == 404
    assert visitor.send("POST", "/multi-files-download", json={}, headers=other).status_code == 404


def test_a_preview_gives_no_original(shared: Shared) -> None:
    visitor = shared.share(kind="preview")
    assert visitor.get("/files").status_code == 200
    for path in ("/download", f"/files/{shared.file}/download", f"/files/{shared.picture}/download"):
        assert error_code(visitor.get(path)) == "error.share-kind"
    assert error_code(visitor.send("POST", "/multi-files-download", json={})) == "error.share-kind"
    picture = visitor.get(f"/files/{shared.picture}/preview")
    assert (picture.status_code, picture.headers["Content-Type"]) == (200, "image/png")
    text = visitor.get(f"/files/{shared.file}/preview")
    assert text.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert error_code(visitor.get(f"/files/{shared.inside}/preview")) == "error.share-no-preview"
    assert error_code(visitor.drop("x", b"x")) == "error.share-kind"


def test_a_preview_is_scaled_once_and_only_for_its_visitors(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, real = list[Any](), PictureProcessor._work

    def work(*sent: Any) -> int:
        runs.append(sent)
        return real(*sent)

    monkeypatch.setattr(PictureProcessor, "_work", work)
    visitor, path = shared.share(), f"/files/{shared.picture}/preview"
    first, second = visitor.get(path), visitor.get(path)
    assert (first.status_code, second.data, len(runs)) == (200, first.data, 1)
    shared.grant("read")
    assert visitor.get(path).status_code == 404


def test_a_preview_counts_if_downloads_are_limited(shared: Shared) -> None:
    for kind in ("read", "preview"):
        visitor = shared.share(shared.file, kind=kind, maxDownloads=1)
        path = f"/files/{shared.file}/preview"
        assert visitor.send("HEAD", path).status_code == 200
        assert visitor.get(path).data == b"0123456789" * 10
        other = {"User-Agent": "other"}
        for method in ("GET", "HEAD"):
            assert visitor.send(method, path, headers=other).status_code == 404
        assert visitor.get(f"/files/{shared.file}/download", headers=other).status_code == 404


def test_content_in_quarantine_is_not_given(shared: Shared) -> None:
    visitor = shared.share()
    with shared.api.container.database.write() as connection:
        connection.exec_driver_sql("UPDATE nodes SET scan = 'infected' WHERE blob_key IS NOT NULL")
    for path in (f"/files/{shared.file}/download", f"/files/{shared.file}/preview", "/download"):
        reply = visitor.get(path)
        assert b"0123" not in reply.data, path
        assert b"\x89PNG" not in reply.data, path


def test_a_share_ends(shared: Shared) -> None:
    visitor = shared.share()
    assert visitor.share["expiresAt"] is not None
    shared.api.clock.advance(90 * DAY)
    # The tokens have expired as well, so only the visitor's side is asked.
    assert error_code(visitor.get()) == UNAVAILABLE


def test_wrong_shares_are_refused(shared: Shared) -> None:
    bodies: tuple[dict[str, Any], ...] = (
        {"expiresAt": "2000-01-01T00:00:00Z"},
        {"expiresAt": "2999-01-01T00:00:00Z"},
        {"expiresAt": "2026-01-01"},
        {"expiresAt": 5},
        {"maxDownloads": 0},
        {"password": "short"},
        {"audience": "nobody"},
        {"audience": {"userIds": []}},
        {"audience": {"userIds": ["\x00"]}},
        {"kind": "drop", "node": shared.file},
        {"drop": {"allowedTypes": ["*"]}},
        {"unknown": 1},
    )
    for body in bodies:
        assert shared.try_to_share(**{"kind": "read", **body}).status_code == 400, body
    refused = shared.try_to_share(kind="drop", drop={"allowedTypes": ["png"]}).json["error"]["details"]
    assert refused[0]["message"] == 'Must be like "image/png" or "image/*".'


def test_only_those_who_manage_a_file_share_it(shared: Shared) -> None:
    stranger = shared.api.person()
    assert shared.try_to_share(by=stranger).status_code == 403
    shared.grant("write")
    assert error_code(shared.try_to_share()) == "error.share-forbidden"
    shared.grant("manage")
    visitor = shared.share()
    one = f"{shared.tenant}/shares/{visitor.share['id']}"
    for method in ("GET", "PATCH", "DELETE"):
        reply = shared.api.request(method, one, by=stranger, json={"label": "x"})
        assert error_code(reply) == "error.share-not-found"
    member = shared.api.person()
    shared.api.join(shared.tenant, shared.admin, member)
    assert error_code(shared.api.get(one, by=member)) == "error.share-not-found"
    assert shared.api.get(f"{one}/openings", by=member).status_code == 404
    assert shared.api.get(f"{shared.tenant}/shares", by=member).json["data"] == []
    assert shared.api.get(f"{shared.tenant}/shares", by=stranger).status_code == 403
    assert shared.api.get(one, by=shared.admin).status_code == 200
    assert shared.api.delete(one, by=shared.maker).status_code == 200
    assert error_code(visitor.get()) == UNAVAILABLE


def test_a_maker_without_manage_still_sees_why_and_deletes(shared: Shared) -> None:
    visitor = shared.share()
    shared.grant("read")
    assert error_code(visitor.get()) == UNAVAILABLE
    (listed,) = shared.api.get(f"{shared.tenant}/shares?stale=true", by=shared.maker).json["data"]
    assert (listed["id"], listed["state"]) == (visitor.share["id"], "not-managed")
    assert shared.api.get(f"{shared.tenant}/shares?stale=false", by=shared.maker).json["data"] == []
    reply = shared.api.delete(f"{shared.tenant}/shares/{visitor.share['id']}", by=shared.maker)
    assert reply.status_code == 200


def test_openings_are_recorded(shared: Shared) -> None:
    visitor = shared.share(notify=True, maxDownloads=1)
    visitor.get(environ_overrides={"REMOTE_ADDR": "203.0.113.7"})
    shared.api.clock.advance(MINUTE)
    visitor.get(f"/files/{shared.file}/download", environ_overrides={"REMOTE_ADDR": "2001:db8:1:2::3"})
    path = f"{shared.tenant}/shares/{visitor.share['id']}/openings"
    listed = shared.api.get(path, by=shared.maker).json["data"]
    assert [(item["what"], item["address"]) for item in reversed(listed)] == [
        ("open", "203.0.113.0/24"),
        ("download", "2001:db8:1::/48"),
    ]
    assert len(shared.api.get(f"{path}?what=open", by=shared.maker).json["data"]) == 1
    texts = [message["text"] for message in shared.api.outbox()]
    assert any("was opened" in text for text in texts)
    assert any("no downloads left" in text for text in texts)


def test_the_audience_is_checked(shared: Shared) -> None:
    member, other = shared.api.person(), shared.api.person()
    shared.api.join(shared.tenant, shared.admin, member)
    outcomes = {}
    for audience in ("logged-in", "members", {"userIds": [other.id]}):
        visitor = shared.share(audience=audience)
        assert visitor.share["audience"] == audience
        for who, person in (("none", None), ("member", member), ("other", other)):
            reply = replace(visitor, person=person).get("/files")
            outcomes[str(audience)[:10], who] = reply.status_code
    assert list(outcomes.values()) == [401, 200, 200, 401, 200, 404, 401, 404, 200]


def test_shared_with_me_lists_what_is_for_the_caller(shared: Shared) -> None:
    member, other = shared.api.person(), shared.api.person()
    shared.api.join(shared.tenant, shared.admin, member)
    shared.share()
    of_members = shared.share(audience="members")
    named = shared.share(audience={"userIds": [other.id]}, password=PASSWORD, label="hidden")
    found = shared.api.get("/api/v1/shared-with-me", by=member).json["data"]
    assert [(item["id"], item["name"]) for item in found] == [(of_members.share["id"], "Shared")]
    (item,) = shared.api.get("/api/v1/shared-with-me", by=other).json["data"]
    assert (item["url"], item["name"], item["label"]) == (named.share["url"], None, "")
    shared.change(named.share, audience="anyone")
    assert shared.api.get("/api/v1/shared-with-me", by=other).json["data"] == []
    assert shared.api.get("/api/v1/shared-with-me", by=shared.maker).json["data"] == []


def test_a_tenant_has_stricter_rules(shared: Shared) -> None:
    path = f"{shared.tenant}/share-policy"
    open_link, with_password = shared.share(), shared.share(password=PASSWORD)
    assert shared.api.put(path, {"password": "required"}, by=shared.maker).status_code == 403
    assert shared.api.put(path, {"password": "required"}, by=shared.admin).status_code == 200
    assert shared.api.get(path, by=shared.maker).json["password"] == "required"
    assert error_code(shared.try_to_share()) == "error.share-policy"
    assert (open_link.get().status_code, with_password.get().status_code) == (404, 200)
    shared.api.put(path, {"kinds": ["drop"], "maxLifetimeDays": 1}, by=shared.admin)
    assert with_password.get().status_code == 404
    assert error_code(shared.try_to_share()) == "error.share-policy"
    assert shared.state(with_password.share) == "disabled"
    shared.api.put(path, {"who": "tenant-admins"}, by=shared.admin)
    assert shared.try_to_share().status_code == 403
    assert shared.try_to_share(by=shared.admin).status_code == 201
    shared.api.put(path, {"who": "nobody"}, by=shared.admin)
    assert shared.try_to_share(by=shared.admin).status_code == 403
    shared.api.put(path, {"enabled": False}, by=shared.admin)
    assert open_link.get().status_code == 404
    shared.api.put(path, {}, by=shared.admin)
    assert open_link.get().status_code == 200


@pytest.mark.parametrize("value", [0, 1, 1.0, "true", "no", []])
def test_a_boolean_is_true_or_false(shared: Shared, value: Any) -> None:
    policy = f"{shared.tenant}/share-policy"
    refused = shared.api.put(policy, {"enabled": value}, by=shared.admin)
    [detail] = refused.json["error"]["details"]
    assert (refused.status_code, detail["field"]) == (400, "enabled")
    # In a nested schema as well.
    refused = shared.try_to_share(kind="drop", drop={"requireName": value})
    assert [item["field"] for item in refused.json["error"]["details"]] == ["drop.requireName"]
    for good in (True, False, None):
        assert shared.api.put(policy, {"enabled": good}, by=shared.admin).status_code == 200


def test_a_change_needs_the_present_revision(shared: Shared) -> None:
    visitor = shared.share()
    assert shared.change(visitor.share, revision=1, label="New").json["label"] == "New"
    assert error_code(shared.change(visitor.share, revision=1, label="Old")) == "error.share-conflict"
    changed = shared.change(visitor.share, maxDownloads=3, password=PASSWORD, notify=True).json
    assert (changed["maxDownloads"], changed["hasPassword"]) == (3, True)
    assert shared.change(visitor.share, password=None).json["hasPassword"] is False


@on_postgresql
def test_changes_without_a_revision_are_made_one_after_the_other(shared: Shared) -> None:
    def prepare() -> tuple[Action, Action]:
        share = shared.share().share
        return (
            lambda: shared.change(share, label="one").status_code,
            lambda: shared.change(share, notify=True).status_code,
        )

    assert set(Interleaving(shared.api.container.database).every(prepare)) == {(200, 200)}


def test_each_change_is_audited_without_secrets(shared: Shared) -> None:
    root = shared.api.person(admin=True)
    visitor = shared.share(password=PASSWORD)
    shared.change(visitor.share, label="x")
    shared.api.delete(f"{shared.tenant}/shares/{visitor.share['id']}", by=shared.maker)
    for action in ("create", "update", "delete"):
        (event,) = shared.api.get(f"/audit-events?action=share_links.{action}", by=root).json["data"]
        assert event["target"] == {"type": "share", "id": visitor.share["id"]} or event
        assert visitor.secret not in str(event)
        assert PASSWORD not in str(event)


def test_each_change_is_an_event(shared: Shared) -> None:
    log = shared.host.events
    before = log.newest("server")
    visitor = shared.share(password=PASSWORD)
    shared.change(visitor.share, label="x")
    shared.api.delete(f"{shared.tenant}/shares/{visitor.share['id']}", by=shared.maker)
    events = [event for event in log.read("server", before) if event.type.startswith("share.")]
    assert [event.type for event in events] == ["share.created", "share.updated", "share.deleted"]
    assert events[0].data == {
        "shareId": visitor.share["id"],
        "tenantId": visitor.share["tenantId"],
        "fileId": shared.folder,
        "kind": "read",
        "hasPassword": True,
        "actor": {"$ref": shared.maker.id},
    }
    assert events[0].tenant_id == visitor.share["tenantId"]


def test_requests_are_limited_per_address(shared: Shared) -> None:
    visitor = shared.share()
    unknown = replace(visitor, share={"url": "/s/unknown"})
    for _ in range(600):
        if unknown.get().status_code == 429:
            break
    assert error_code(visitor.get()) == "error.too-many-requests"
    assert visitor.get(environ_overrides={"REMOTE_ADDR": "192.0.2.77"}).status_code == 200
