"""Every route of visitors in every state of a share: all closed shares get the same response."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.api import Answer, Api, error_code
from tests.support.shares import ALL_KINDS, PASSWORD, PLUGINS, Shared, Visitor

from strongroom.testing.clock import MINUTE

RULES = ("/api/v1/shares/<secret>", "/s/<secret>")
TUS = {"Tus-Resumable": "1.0.0"}
RAW = {
    "Content-Disposition": 'attachment; filename="x.txt"',
    "Content-Type": "application/octet-stream",
}
NAME = base64.b64encode(b"y.txt").decode()
OPEN = "open"


pytestmark = pytest.mark.config(
    {
        "plugins": {
            "enabled": PLUGINS,
            "share_links": {"kinds": ALL_KINDS, "anonymous_per_address": ["100000/hour"]},
        }
    }
)


@pytest.fixture
def shared(api: Api) -> Shared:
    return Shared.made(api)


def expire(shared: Shared, visitor: Visitor) -> None:
    shared.change(visitor.share, expiresAt="2026-06-21T00:01:00Z")
    shared.api.clock.advance(2 * MINUTE)


def exhaust(shared: Shared, visitor: Visitor) -> None:
    shared.change(visitor.share, maxDownloads=1)
    # Another client: ranges of the same visitor belong to its download.
    assert visitor.get("/download", headers={"User-Agent": "another"}).status_code == 200


def suspend(shared: Shared, visitor: Visitor) -> None:
    path = f"/users/{shared.maker.id}/suspension"
    assert shared.api.post(path, by=shared.api.person(admin=True)).status_code == 200


def delete_maker(shared: Shared, visitor: Visitor) -> None:
    reply = shared.api.delete("/users/me", by=shared.maker)
    assert reply.status_code == 200, reply.text


def take_manage(shared: Shared, visitor: Visitor) -> None:
    shared.grant("write")


def leave_tenant(shared: Shared, visitor: Visitor) -> None:
    path = f"{shared.tenant}/members/{shared.maker.id}"
    assert shared.api.delete(path, by=shared.admin).status_code == 200


def move_out(shared: Shared, visitor: Visitor) -> None:
    """Move it out of the folder that the maker manages."""
    path = f"{shared.tenant}/files/{shared.inside}"
    with shared.host.acting_as(shared.admin.id):
        shared.host.files.move(shared.tenant.rpartition("/")[2], shared.inside, None)
    assert shared.api.get(path, by=shared.maker).status_code == 403


def move_within(shared: Shared, visitor: Visitor) -> None:
    """Move it to another folder that the maker manages, where the share stays open."""
    other = shared.api.folder(shared.tenant, shared.maker, "Other", shared.folder)["id"]
    with shared.host.acting_as(shared.admin.id):
        shared.host.files.move(shared.tenant.rpartition("/")[2], shared.inside, other)


def delete_node(shared: Shared, visitor: Visitor) -> None:
    path = f"{shared.tenant}/files/{shared.inside}"
    assert shared.api.delete(path, by=shared.admin).status_code == 200


def delete_folder_around(shared: Shared, visitor: Visitor) -> None:
    path = f"{shared.tenant}/files/{shared.folder}"
    assert shared.api.delete(path, by=shared.admin).status_code == 200


def revoke(shared: Shared, visitor: Visitor) -> None:
    path = f"{shared.tenant}/shares/{visitor.share['id']}"
    assert shared.api.delete(path, by=shared.maker).status_code == 200


def disable(shared: Shared, visitor: Visitor) -> None:
    path = f"{shared.tenant}/share-policy"
    assert shared.api.put(path, {"kinds": ["read"]}, by=shared.admin).status_code == 200


def restrict_to_another_user(shared: Shared, visitor: Visitor) -> None:
    shared.change(visitor.share, audience={"userIds": [shared.maker.id]})
    visitor.person = shared.api.person()


def nothing(shared: Shared, visitor: Visitor) -> None:
    """Leave it open."""


OPEN_STATES: list[Callable[[Shared, Visitor], None]] = [nothing, move_within]
CLOSED_STATES: list[Callable[[Shared, Visitor], None]] = [
    expire,
    exhaust,
    suspend,
    delete_maker,
    take_manage,
    leave_tenant,
    move_out,
    delete_node,
    delete_folder_around,
    revoke,
    disable,
    restrict_to_another_user,
]


def begin_upload(visitor: Visitor) -> str:
    headers = {**TUS, "Upload-Length": "3", "Upload-Metadata": f"filename {NAME}"}
    created = visitor.send("POST", "/uploads", headers=headers)
    assert created.status_code == 201, created.text
    return created.headers["Location"].rpartition("/")[2]


def cells(shared: Shared) -> list[tuple[str, str]]:
    """Return all routes of visitors with their methods."""
    return sorted(
        (rule.rule, method)
        for rule in shared.api.app.url_map.iter_rules()
        if rule.rule.startswith(RULES)
        for method in rule.methods or ()
        if method != "OPTIONS"
    )


def call(shared: Shared, visitor: Visitor, upload_id: str, cell: tuple[str, str]) -> Answer:
    """Send a request that an open share fulfils."""
    rule, method = cell
    path = rule.replace("<secret>", visitor.secret).replace("<upload_id>", upload_id)
    is_folder = rule.endswith("<file_id>/files")
    path = path.replace("<file_id>", shared.inside if is_folder else shared.picture)
    path = path.replace("<path:path>", "dot.png").replace("<bundle_id>", "unknown")
    headers = {"X-Share-Proof": visitor.proof} if visitor.proof else {}
    if visitor.person:
        headers["Authorization"] = f"Bearer {visitor.person.token}"
    options: dict[str, Any] = {}
    if "/uploads" in rule:
        headers |= TUS
    if (rule.rpartition("/")[2], method) == ("uploads", "POST"):
        headers |= {"Upload-Length": "3", "Upload-Metadata": f"filename {NAME}"}
    elif method == "PATCH":
        headers |= {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
        options["data"] = b"a"
    elif method == "POST" and rule.endswith(("/files", "/drop")):
        headers |= RAW
        options["data"] = b"content"
    elif method == "POST":
        key = "data" if rule.startswith("/s/") else "json"
        options[key] = {} if "multi" in rule else {"password": PASSWORD}
    client = shared.api.app.test_client(use_cookies=False)
    return Answer(client.open(path, method=method, headers=headers, **options))


def outcome(shared: Shared, reply: Answer, cell: tuple[str, str]) -> str:
    """Return ``open``, or what a closed share answers."""
    if reply.status_code < 400:
        return OPEN
    if cell[1] == "HEAD":
        return str(reply.status_code)
    if cell[0].startswith("/s/"):
        return f"{reply.status_code} page" if "<html" in reply.text else reply.text
    return f"{reply.status_code} {error_code(reply)}"


def closed(cell: tuple[str, str]) -> str:
    if cell[1] == "HEAD":
        return "404"
    return "404 page" if cell[0].startswith("/s/") else "404 error.share-unavailable"


def in_order(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Put the deletion of the upload last, so that the others find it."""
    return sorted(found, key=lambda cell: (cell[1] == "DELETE", cell[1] == "PATCH"))


@pytest.mark.parametrize("state", OPEN_STATES)
def test_every_route_of_an_open_share_answers(
    shared: Shared, state: Callable[[Shared, Visitor], None]
) -> None:
    visitor = shared.share(shared.inside, kind="write")
    upload_id = begin_upload(visitor)
    state(shared, visitor)
    wrong = {}
    for cell in in_order(cells(shared)):
        found = outcome(shared, call(shared, visitor, upload_id, cell), cell)
        # The archive is unknown, which no share has closed.
        expected = ("404", "404 error.not-found") if "<bundle_id>" in cell[0] else (OPEN,)
        if found not in expected:
            wrong[cell] = found
    assert wrong == {}
    assert len(cells(shared)) >= 24


@pytest.mark.parametrize("state", CLOSED_STATES)
def test_every_route_of_a_closed_share_answers_the_same(
    shared: Shared, state: Callable[[Shared, Visitor], None]
) -> None:
    visitor = shared.share(shared.inside, kind="write", label="Hidden")
    upload_id = begin_upload(visitor)
    unknown = Visitor(shared.api, {"url": "/s/" + "x" * 32})
    state(shared, visitor)
    wrong = {}
    for cell in in_order(cells(shared)):
        reply = call(shared, visitor, upload_id, cell)
        found = outcome(shared, reply, cell)
        expected = closed(cell)
        if state is exhaust and "<upload_id>" in cell[0]:
            # An upload that has begun has its room.
            expected = OPEN
        same = reply.text if cell[0].startswith("/s/") else ""
        other = call(shared, unknown, upload_id, cell)
        is_same = not same or without_nonce(same) == without_nonce(other.text)
        if found != expected or (expected != OPEN and not is_same):
            wrong[cell] = found
    assert wrong == {}


def without_nonce(text: str) -> str:
    return "".join(part for part in text.split('"') if "nonce" not in part and len(part) != 22)


def test_every_route_of_a_share_with_a_password_needs_the_proof(shared: Shared) -> None:
    visitor = shared.share(shared.inside, kind="write", password=PASSWORD)
    visitor.prove()
    upload_id = begin_upload(visitor)
    proven = visitor.proof
    allowed = {
        ("/api/v1/shares/<secret>", "GET"),
        ("/api/v1/shares/<secret>/proofs", "POST"),
        ("/s/<secret>", "GET"),
        ("/s/<secret>", "POST"),
        ("/s/<secret>/", "GET"),
    }
    for proof in (None, "forged"):
        visitor.proof, wrong = proof, {}
        for cell in in_order(cells(shared)):
            reply = call(shared, visitor, upload_id, cell)
            method = "GET" if cell[1] == "HEAD" else cell[1]
            is_allowed = (cell[0], method) in allowed
            if (reply.status_code < 400) is not is_allowed:
                wrong[cell] = reply.status_code
            assert "dot.png" not in reply.text
            assert reply.status_code in (200, 303, 401, 403)
        assert wrong == {}
    visitor.proof = proven
    for cell in in_order(cells(shared)):
        if "<bundle_id>" not in cell[0]:
            assert call(shared, visitor, upload_id, cell).status_code < 400, cell


def test_a_kind_allows_its_own_requests_only(shared: Shared) -> None:
    reads = {"files", "files/x", "files/x/files"}
    gets = reads | {"files/x/preview"}
    bodies = {"files/x/download", "download", "multi-files-download"}
    drops = {"POST files", "POST uploads"}
    allowed = {
        "read": gets | bodies,
        "preview": gets,
        "drop": drops,
        "write": gets | bodies | drops | {"POST files/x/files"},
    }
    for kind, expected in allowed.items():
        visitor = shared.share(shared.inside, kind=kind)
        found = set()
        for cell in cells(shared):
            rule, method = cell
            if rule.startswith("/s/") or "<bundle_id>" in rule or "<upload_id>" in rule:
                continue
            short = rule.removeprefix("/api/v1/shares/<secret>").strip("/").replace("<file_id>", "x")
            if not short or short == "proofs" or method == "HEAD":
                continue
            if call(shared, visitor, "", cell).status_code < 400:
                is_drop = method == "POST" and "multi" not in short
                found.add(f"POST {short}" if is_drop else short)
        assert found == expected, kind


def requests_of_the_tenant(shared: Shared) -> list[tuple[str, str]]:
    """Return the method and the path of each route of the tenant, with the ids of the shared nodes."""
    ids = {"file_id": shared.file, "parent_id": shared.folder, "owner_id": shared.maker.id}
    ids |= {"tenant_id": shared.tenant.rpartition("/")[2], "number": "1"}
    found = []
    for rule in shared.api.app.url_map.iter_rules():
        methods = (rule.methods or set()) - {"OPTIONS", "HEAD"}
        if rule.rule.startswith("/api/v1/tenants/<tenant_id>") and methods:
            built = rule.build({name: ids.get(name, "unknown") for name in rule.arguments})
            assert built is not None
            found.append((methods.pop(), built[1]))
    return found


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_share_opens_no_route_of_the_tenant(shared: Shared, kind: str) -> None:
    visitor = shared.share(shared.folder, kind=kind, password=PASSWORD)
    assert visitor.prove().status_code == 200
    presented = [
        {"X-Share-Proof": str(visitor.proof)},
        {"Authorization": f"Bearer {visitor.secret}"},
        {"X-Access-Token": str(visitor.proof)},
    ]
    client = shared.api.app.test_client(use_cookies=False)
    wrong = {}
    for method, path in requests_of_the_tenant(shared):
        for headers in presented:
            status = client.open(path, method=method, headers=headers).status_code
            if status != 401:
                wrong[method, path] = status
    assert wrong == {}
    assert len(requests_of_the_tenant(shared)) >= 60
    assert {"POST files-batches"} <= {
        f"{method} {path.rpartition('/')[2]}" for method, path in requests_of_the_tenant(shared)
    }


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_share_gives_a_user_no_permission_of_its_own(shared: Shared, kind: str) -> None:
    """A member without a grant who opens a share stays without one, in batches as well."""
    member = shared.api.person()
    shared.api.join(shared.tenant, shared.admin, member)
    shared.share(shared.folder, kind=kind, audience={"userIds": [member.id]})
    items = [
        {"operation": "copy", "fileId": shared.file, "parentId": None},
        {"operation": "move", "fileId": shared.file, "parentId": None},
        {"operation": "trash", "fileId": shared.file},
        {"operation": "revoke", "fileId": shared.file, "ownerId": shared.maker.id},
    ]
    body = {"atomic": False, "items": items}
    answer = shared.api.post(f"{shared.tenant}/files-batches", body, by=member)
    assert [result["status"] for result in answer.json["results"]] == [403] * 4
    for suffix in ("", "/download", "/versions", "/owners"):
        path = f"{shared.tenant}/files/{shared.file}{suffix}"
        assert shared.api.get(path, by=member).status_code == 403, suffix
