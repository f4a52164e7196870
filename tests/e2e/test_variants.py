"""Variants of pictures: concurrent requests in all processes share one stored variant."""

import io
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import func, select

from strongroom.content.storage.blob_removal import ABANDONED_AFTER
from strongroom.content.storage.models import BlobState, blobs
from strongroom.content.storage.service import BlobService
from strongroom.extensions.business_files.models import business_files, picture_variants
from strongroom.extensions.storage_maintenance.fsck import StorageCheck
from strongroom.testing.clock import MINUTE
from tests.e2e.offline import services
from tests.support.client import Client, Response
from tests.support.http import at_once
from tests.support.server import serving
from tests.support.stores import stored_files

pytestmark = pytest.mark.extended

WAYS = 32
PATIENCE = 120
WIDTHS = (320, 640)


def picture() -> bytes:
    target = io.BytesIO()
    Image.effect_noise((1600, 1200), 60).convert("RGB").save(target, "JPEG")
    return target.getvalue()


def upload(client: Client) -> str:
    """Upload a photo and return its path."""
    headers = {"Content-Disposition": 'attachment; filename="a.jpg"'}
    send = partial(client.request, "POST", "/api/v1/files/photos", picture(), headers)
    # On a busy machine, too many pictures wait.
    while (response := send()).status == 503:
        pass
    assert response.status == 201, response.content
    return f"/api/v1/files/{response.json()['fileName']}"


def collect_a_day_later(config: Path) -> None:
    with services(config, ABANDONED_AFTER + MINUTE) as container:
        container.get(BlobService).collect()
        assert list(container.get(StorageCheck).run(checksums=True)) == []


def rows(config: Path) -> dict[str, int]:
    """Return the numbers of pictures, variants, stored blobs and all blobs."""
    counted = select(func.count()).select_from
    stored = counted(blobs).where(blobs.c.state == BlobState.STORED.value)
    queries = {
        "pictures": counted(business_files),
        "variants": counted(picture_variants),
        "stored": stored,
        "blobs": counted(blobs),
    }
    with services(config) as container, container.database.read() as connection:
        return {name: connection.execute(query).scalar_one() for name, query in queries.items()}


def objects(config: Path) -> int:
    return len(stored_files(config.parent / "files"))


def test_thirty_two_concurrent_requests_for_two_widths_create_two_variants(server_config: Path) -> None:
    with serving(server_config) as server:
        server.create_user("alice@example.com")
        path = upload(Client.logged_in(server.url, "alice@example.com"))
        visitor = Client(server.url)
        calls: list[Callable[[], Response]] = [
            partial(visitor.request, "GET", f"{path}?width={WIDTHS[number % len(WIDTHS)]}")
            for number in range(WAYS)
        ]
        replies = at_once(calls)
        assert {reply.status for reply in replies} == {200}
        assert len({reply.content for reply in replies}) == len(WIDTHS)
    assert rows(server_config) == {"pictures": 1, "variants": 2, "stored": 3, "blobs": 3}
    assert objects(server_config) == 3


def test_a_picture_deleted_while_its_variants_are_made_leaves_nothing(server_config: Path) -> None:
    with serving(server_config) as server:
        server.create_user("alice@example.com")
        alice = Client.logged_in(server.url, "alice@example.com")
        for _ in range(3):
            path = upload(alice)
            calls: list[Callable[[], Response]] = [
                partial(alice.request, "GET", f"{path}?width={width}") for width in WIDTHS * 4
            ]
            calls.append(partial(alice.request, "DELETE", path))
            replies = at_once(calls)
            assert replies[-1].status == 200
            assert {reply.status for reply in replies} <= {200, 404}
        server.command("storage", "gc")
        assert server.command("storage", "fsck", "--checksums") == "0 faults, 0 repaired\n"
    assert rows(server_config) == {"pictures": 0, "variants": 0, "stored": 0, "blobs": 0}
    assert objects(server_config) == 0


def test_a_crash_amid_uploads_and_variants_loses_nothing_acknowledged_and_leaves_nothing(
    server_config: Path,
) -> None:
    acknowledged: list[str] = []
    enough = threading.Event()

    def work(client: Client) -> None:
        with suppress(OSError, HTTPException):
            for width in WIDTHS * 50:
                acknowledged.append(upload(client))
                if len(acknowledged) >= WAYS // 4:
                    enough.set()
                client.request("GET", f"{acknowledged[-1]}?width={width}")

    with serving(server_config) as server:
        server.create_user("alice@example.com")
        alice = Client.logged_in(server.url, "alice@example.com")

        def kill() -> None:
            assert enough.wait(PATIENCE)
            server.kill()

        actions: list[Callable[[], None]] = [*[partial(work, alice)] * 6, kill]
        at_once(actions)
    with serving(server_config) as server:
        visitor = Client(server.url)
        for path in acknowledged:
            for query in ("", "?width=320"):
                response = visitor.request("GET", path + query)
                assert response.status == 200
                Image.open(io.BytesIO(response.content)).load()
        collect_a_day_later(server_config)
    found = rows(server_config)
    assert found["pictures"] >= len(acknowledged)
    assert (
        found["blobs"]
        == found["stored"]
        == found["pictures"] + found["variants"]
        == objects(server_config)
    )
