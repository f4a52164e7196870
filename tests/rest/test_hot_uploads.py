"""Small uploads, which are the most frequent writes: who may upload, names, headers and failures."""

import unicodedata
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import delete
from tests.rest.nasty_names import in_order, may_be_a_name, nasty_names
from tests.support.actors import LEVELS, NONE, UNKNOWN_ACTORS, WRITE, Actor, World
from tests.support.api import Answer, Api, Json, Person, error_code

from strongroom.content.nodes.models import Permission
from strongroom.content.storage.models import BlobState, blobs
from strongroom.plugin_api.storage import StorageUnavailable

pytestmark = pytest.mark.parametrize("form", [False, True], ids=["raw", "form"])


def upload(
    api: Api,
    path: str,
    person: Person,
    name: str,
    content: bytes,
    *,
    form: bool,
    headers: dict[str, str] | None = None,
    **options: Any,
) -> Answer:
    """Upload a file as the raw body, or as a form."""
    if form:
        headers = {"Content-Type": "multipart/form-data; boundary=limit", **(headers or {})}
        content = form_of(name, content)
    else:
        encoded = quote(name, safe="")
        disposition = f"filename*=UTF-8''{encoded}" if name else 'filename=""'
        headers = {"Content-Disposition": f"attachment; {disposition}", **(headers or {})}
    return api.post(path, by=person, headers=headers, data=content, **options)


def form_of(name: str, content: bytes) -> bytes:
    """Return a multipart/form-data body with a file, as browsers encode it (WHATWG HTML)."""
    quoted = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    head = f'--limit\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\n\r\n'
    return head.encode() + content + b"\r\n--limit--\r\n"


def names_at_top(api: Api, tenant: str, person: Person) -> list[str]:
    listed = api.get(f"{tenant}/owners/me/files?pageSize=200", by=person).json["data"]
    return [item["name"] for item in listed]


def refusal(actor: Actor, needs: Permission) -> int | None:
    if actor in UNKNOWN_ACTORS:
        return 401
    return 403 if LEVELS.get(actor, -1) < needs else None


@pytest.mark.parametrize("kind", ["folder", "nested folder", "file"])
def test_each_actor_uploads_where_the_actor_may_write(world: World, kind: str, form: bool) -> None:
    api, target = world.api, world.target(kind)
    for actor in Actor:
        person = world.people[actor]
        before = world.digest()
        path = f"{world.path}/files/{target.node}/files"
        answer = upload(api, path, person, f"{actor}", b"content", form=form)
        expected = refusal(actor, WRITE) or (409 if kind == "file" else 201)
        assert answer.status_code == expected, actor
        if expected == 201:
            check_made(api, answer, person, f"{actor}", target.node)
        else:
            assert world.digest() == before, actor


def check_made(api: Api, answer: Answer, person: Person, name: str, parent: str | None) -> None:
    """Check that a file is described and stored as it was sent."""
    node: Json = answer.json
    assert (node["name"], node["parentId"], node["size"]) == (name, parent, len(b"content"))
    assert node["owner"] == {"$ref": person.id}
    url = f"https://files.example.com/api/v1/tenants/{node['tenantId']}/files/{node['id']}"
    assert answer.headers["Location"] == url
    path = url.removeprefix("https://files.example.com")
    assert api.get(path, by=person).json == node
    assert api.get(f"{path}/download", by=person).data == b"content"


def test_each_member_uploads_to_the_top(world: World, form: bool) -> None:
    for actor in Actor:
        person = world.people[actor]
        answer = upload(world.api, f"{world.path}/files", person, f"{actor}", b"content", form=form)
        assert answer.status_code == (refusal(actor, NONE) or 201), actor
        if answer.status_code == 201:
            check_made(world.api, answer, person, f"{actor}", None)


def test_every_name_is_stored_or_refused(api: Api, form: bool) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    stored = set()
    for name in nasty_names():
        # UTF-8 has no lone surrogates, and browsers send a quotation mark as %22.
        if any(unicodedata.category(char) == "Cs" for char in name) or (form and "%22" in name):
            continue
        answer = upload(api, f"{tenant}/files", alice, name, b"content", form=form)
        final = unicodedata.normalize("NFC", name)
        if final in stored:
            assert (answer.status_code, error_code(answer)) == (409, "error.name-conflict"), name
        elif may_be_a_name(name):
            assert (answer.status_code, answer.json["name"]) == (201, final), name
            stored.add(final)
        else:
            assert answer.status_code == 400, name
    assert names_at_top(api, tenant, alice) == in_order(stored)[:200]


ODD_HEADERS = [
    ({"Content-Digest": "sha-256=:AAAA:"}, 400, "error.digest-mismatch"),
    ({"Repr-Digest": "nonsense"}, 400, "error.validation-failed"),
    ({"Content-Encoding": "gzip"}, 415, "error.unsupported-media-type"),
    ({"Content-Range": "bytes 0-6/7"}, 400, "error.validation-failed"),
    ({"Content-Type": "multipart/form-data"}, 400, "error.malformed-request"),
    ({"Content-Type": "multipart/form-data; boundary=other"}, 400, "error.upload-incomplete"),
]


@pytest.mark.parametrize(("headers", "status", "code"), ODD_HEADERS)
def test_a_header_that_refuses_an_upload(
    api: Api, headers: dict[str, str], status: int, code: str, form: bool
) -> None:
    if form and "Content-Type" in headers:
        return
    alice = api.person()
    tenant = api.tenant(alice)
    answer = upload(api, f"{tenant}/files", alice, "a", b"content", form=form, headers=headers)
    assert (answer.status_code, error_code(answer)) == (status, code)
    assert names_at_top(api, tenant, alice) == []


def test_headers_and_sizes_that_an_upload_may_have(api: Api, form: bool) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    path = f"{tenant}/files"
    for number, headers in enumerate(({"Expect": "100-continue"}, {"Content-Encoding": "identity"})):
        answer = upload(api, path, alice, f"{number}", b"content", form=form, headers=headers)
        assert answer.status_code == 201, headers
    for size in (0, 1, 64 * 1024, 64 * 1024 + 1):
        content = bytes(number % 251 for number in range(size))
        node = upload(api, path, alice, f"of {size}", content, form=form).json
        assert api.get(f"{path}/{node['id']}/download", by=alice).data == content
    for query, status in (
        ("?onConflict=rename", 201),
        ("?onConflict=replace", 201),
        ("?onConflict=fail", 409),
        ("?onConflict=nonsense", 400),
        ("?a=b", 400),
    ):
        answer = upload(api, path + query, alice, "0", b"content", form=form)
        assert answer.status_code == status, query
    for content, kind in (
        (b"%PDF-1.7", "application/pdf"),
        ("Grüße".encode(), "text/plain; charset=utf-8"),
        (b"\x00", "application/octet-stream"),
    ):
        node = upload(api, path, alice, f"{kind}".replace("/", " "), content, form=form).json
        assert node["contentType"] == kind


def test_an_upload_without_a_name_is_refused(api: Api, form: bool) -> None:
    alice = api.person()
    path = f"{api.tenant(alice)}/files"
    if form:
        answer = api.post(
            path, by=alice, data={"file": "not a file"}, content_type="multipart/form-data"
        )
    else:
        answer = api.post(path, by=alice, data=b"content", headers={"Content-Disposition": "attachment"})
    assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")


def test_an_upload_that_fails_is_not_tried_again(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, form: bool
) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    tried = []

    def fail(*_: object, **__: object) -> None:
        tried.append(1)
        raise StorageUnavailable("away")

    monkeypatch.setattr("strongroom.content.storage.service.BlobService.receive", fail)
    answer = upload(api, f"{tenant}/files", alice, "a.txt", b"content", form=form)
    assert (answer.status_code, error_code(answer), len(tried)) == (503, "error.unavailable", 1)
    assert answer.headers["Retry-After"]
    monkeypatch.setattr("strongroom.content.storage.service.BlobService.receive", lambda *_, **__: 1 / 0)
    failed = upload(api, f"{tenant}/files", alice, "a.txt", b"content", form=form)
    assert (failed.status_code, error_code(failed)) == (500, "error.internal")
    assert "ZeroDivisionError" in caplog.text
    assert "division" not in failed.text
    assert names_at_top(api, tenant, alice) == []


def test_a_taken_name_is_refused(api: Api, form: bool) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    for status in (201, 409):
        answer = upload(api, f"{tenant}/files", alice, "a.txt", b"content", form=form)
        assert answer.status_code == status
    assert names_at_top(api, tenant, alice) == ["a.txt"]


@pytest.mark.parametrize("length", ["8", "2000", "70000"])
def test_a_body_that_ends_early_is_refused(api: Api, form: bool, length: str) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    # The form's own lines take more than eight bytes.
    if form and length == "8":
        return
    environ = {"CONTENT_LENGTH": length}
    answer = upload(api, f"{tenant}/files", alice, "a", b"content", form=form, environ_overrides=environ)
    assert (answer.status_code, error_code(answer)) == (400, "error.upload-incomplete")
    assert names_at_top(api, tenant, alice) == []


@pytest.mark.parametrize("length", ["-1", "a", "", "7, 7"])
def test_a_malformed_length_is_no_length(api: Api, form: bool, length: str) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    environ = {"CONTENT_LENGTH": length}
    answer = upload(api, f"{tenant}/files", alice, "a", b"content", form=form, environ_overrides=environ)
    # The gateway refuses such requests; here, they count as requests without a length.
    if form:
        assert (answer.status_code, error_code(answer)) == (400, "error.upload-incomplete")
    else:
        assert (answer.status_code, answer.json["size"]) == (201, 0)


def test_reserved_rows_that_a_failover_lost_cost_one_retry(api: Api, form: bool) -> None:
    alice = api.person()
    path = f"{api.tenant(alice)}/files"
    # The second upload reserves another row in advance.
    for name in ("a.txt", "b.txt"):
        assert upload(api, path, alice, name, b"content", form=form).status_code == 201
    # A standby that is promoted may lack them, because reserving is not durable.
    with api.container.database.write() as connection:
        connection.execute(delete(blobs).where(blobs.c.state == BlobState.PENDING.value))
    lost = upload(api, path, alice, "c.txt", b"content", form=form)
    assert (lost.status_code, error_code(lost)) == (503, "error.unavailable")
    assert lost.headers["Retry-After"] == "1"
    assert upload(api, path, alice, "c.txt", b"content", form=form).status_code == 201
    assert api.stored_objects() == 3
