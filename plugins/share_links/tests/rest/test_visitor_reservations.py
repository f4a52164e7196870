"""What announced uploads of visitors reserve of a tenant's quota and of a drop box."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select
from tests.support.api import Answer, Api, creation_headers, error_code
from tests.support.campaign import campaign_size
from tests.support.shares import ALL_KINDS, PLUGINS, Shared, Visitor

from strongroom.content.tenants.models import tenants
from strongroom.extensions.uploads.service import UploadService

MIB = 1024 * 1024
MINUTE = 60_000
PATCH = {"Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream"}
UPLOAD_MIB = campaign_size("VISITOR_UPLOAD_MIB", 20)
ANNOUNCEMENTS = campaign_size("ANNOUNCEMENTS", 100)

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config(
        {
            "files": {"max_file_bytes": 200 * MIB},
            "plugins": {"enabled": PLUGINS, "share_links": {"kinds": ALL_KINDS}},
        }
    ),
]


class Run:
    """A run of a job."""

    should_stop = False


@pytest.fixture
def shared(api: Api) -> Shared:
    return Shared.made(api)


def announce(visitor: Visitor, size: int, address: str = "198.51.100.1", **options: Any) -> Answer:
    return visitor.send(
        "POST",
        "/uploads",
        headers={**creation_headers(size, filename="a.bin"), **options.pop("headers", {})},
        environ_base={"REMOTE_ADDR": address},
        **options,
    )


def begun(visitor: Visitor, size: int, address: str = "198.51.100.1") -> str:
    created = announce(visitor, size, address)
    assert created.status_code == 201, created.text
    return created.headers["Location"].rpartition("/")[2]


def append(visitor: Visitor, upload: str, offset: int, content: bytes) -> Answer:
    headers = {**PATCH, "Upload-Offset": str(offset)}
    return visitor.send("PATCH", f"/uploads/{upload}", headers=headers, data=content)


def offset(visitor: Visitor, upload: str) -> int:
    head = visitor.send("HEAD", f"/uploads/{upload}", headers=PATCH)
    assert head.status_code == 200
    return int(head.headers["Upload-Offset"])


def limit(shared: Shared, quota: int) -> None:
    root = shared.api.person(admin=True)
    changed = shared.api.patch(shared.tenant, {"quotaBytes": quota}, by=root)
    assert changed.status_code == 200, changed.text


def reserved(shared: Shared) -> int:
    # From the database, because tokens expire while the clock advances.
    is_tenant = tenants.c.id == shared.tenant.rpartition("/")[2]
    with shared.api.container.database.read() as connection:
        return int(connection.execute(select(tenants.c.reserved_bytes).where(is_tenant)).scalar_one())


def member_uploads(shared: Shared, size: int) -> None:
    shared.api.upload(shared.tenant, shared.admin, "member.bin", bytes(size), None)


def test_announcements_leave_the_quota_to_members(shared: Shared) -> None:
    limit(shared, 10 * MIB)
    visitor = shared.share(kind="drop")
    for number in range(5):
        begun(visitor, 2 * MIB, f"198.51.100.{number}")
    assert reserved(shared) <= MIB
    member_uploads(shared, 8 * MIB)


def test_announcements_do_not_close_a_box(shared: Shared) -> None:
    visitor = shared.share(kind="drop", drop={"maxFiles": 2, "maxBytes": 10})
    for _ in range(2):
        begun(visitor, 10)
    left = visitor.get().json
    assert (left["remainingFiles"], left["remainingBytes"]) == (2, 10)
    assert visitor.drop("whole.txt", bytes(10)).status_code == 201


def test_an_address_has_four_open_announcements_in_a_share(shared: Shared) -> None:
    visitor = shared.share(kind="drop")
    uploads = [begun(visitor, 10) for _ in range(4)]
    refused = announce(visitor, 10)
    assert (refused.status_code, error_code(refused)) == (429, "error.too-many-open-uploads")
    assert 0 < int(refused.headers["Retry-After"]) <= 3600
    begun(visitor, 10, "198.51.100.2")
    begun(shared.share(shared.inside, kind="drop"), 10)
    assert append(visitor, uploads[0], 0, bytes(10)).status_code == 204
    begun(visitor, 10)


def test_a_network_counts_as_one_address(shared: Shared) -> None:
    visitor = shared.share(kind="drop")
    for number in range(4):
        begun(visitor, 10, f"2001:db8::{number + 1}")
    assert announce(visitor, 10, "2001:db8::ffff").status_code == 429


def test_an_hour_without_progress_ends_an_announcement(shared: Shared) -> None:
    visitor = shared.share(kind="drop", drop={"maxFiles": 1})
    upload = begun(visitor, 10 * MIB)
    assert append(visitor, upload, 0, b"a").status_code == 204
    shared.api.clock.advance(59 * MINUTE)
    assert append(visitor, upload, 1, b"a").status_code == 204
    assert error_code(announce(visitor, 1)) == "error.share-unavailable"
    shared.api.clock.advance(59 * MINUTE)
    shared.api.container.get(UploadService).collect()
    assert offset(visitor, upload) == 2
    shared.api.clock.advance(2 * MINUTE)
    jobs = shared.api.container.jobs()
    for name in ("core.expire_uploads", "share_links.settle_uploads"):
        jobs[name].run(Run())
    assert reserved(shared) == 0
    assert visitor.get().json["remainingFiles"] == 1


def test_an_upload_resumes_after_half_an_hour(shared: Shared) -> None:
    visitor = shared.share(kind="drop")
    upload = begun(visitor, 10)
    assert append(visitor, upload, 0, bytes(5)).status_code == 204
    shared.api.clock.advance(30 * MINUTE)
    assert append(visitor, upload, offset(visitor, upload), bytes(5)).status_code == 204
    assert reserved(shared) == 0


def test_the_reservation_grows_with_the_upload(shared: Shared) -> None:
    visitor = shared.share(kind="drop")
    size = UPLOAD_MIB * MIB
    upload, piece = begun(visitor, size), bytes(4 * MIB)
    for start in range(0, size, len(piece)):
        assert reserved(shared) == min(size, start + 8 * MIB)
        part = piece[: size - start]
        assert append(visitor, upload, start, part).status_code == 204
    before = shared.api.get(f"{shared.tenant}/usage", by=shared.admin).json
    assert (before["reservedBytes"], before["usedBytes"] > size) == (0, True)


def test_an_upload_beyond_the_quota_loses_nothing_acknowledged(shared: Shared) -> None:
    limit(shared, 12 * MIB)
    visitor = shared.share(kind="drop")
    upload = begun(visitor, 8 * MIB)
    assert append(visitor, upload, 0, bytes(4 * MIB)).status_code == 204
    member_uploads(shared, 6 * MIB)
    for part in (bytes(3 * MIB), bytes(4 * MIB)):
        refused = append(visitor, upload, 4 * MIB, part)
        assert (refused.status_code, error_code(refused)) == (507, "error.storage-full")
        assert offset(visitor, upload) == 4 * MIB
    limit(shared, 100 * MIB)
    assert append(visitor, upload, 4 * MIB, bytes(4 * MIB)).status_code == 204
    assert reserved(shared) == 0


def test_announcements_at_once_count_one_by_one(shared: Shared) -> None:
    visitor = shared.share(kind="drop")
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: announce(visitor, 10).status_code, range(16)))
    assert sorted(answers) == [201] * 4 + [429] * 12
    assert reserved(shared) == 40


def test_a_deleted_announcement_frees_what_it_reserved(shared: Shared) -> None:
    visitor = shared.share(kind="drop")
    upload = begun(visitor, 100 * MIB)
    assert append(visitor, upload, 0, bytes(10)).status_code == 204
    assert visitor.send("DELETE", f"/uploads/{upload}", headers=PATCH).status_code == 204
    assert reserved(shared) == 0


def test_a_flood_of_announcements_leaves_the_quota_to_members(shared: Shared) -> None:
    limit(shared, 100 * MIB)
    visitor, addresses = shared.share(kind="drop"), max(1, ANNOUNCEMENTS // 100)
    for number in range(ANNOUNCEMENTS):
        address = f"198.51.{100 + number % addresses // 200}.{number % addresses % 200}"
        assert announce(visitor, 50 * MIB, address).status_code in (201, 429)
    assert reserved(shared) <= 10 * MIB
    member_uploads(shared, 80 * MIB)
