"""The EICAR test file in many wrappings, with ClamAV's own daemon."""

import bz2
import gzip
import io
import lzma
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from functools import partial
from pathlib import Path

import pytest
from tests.support import clamd
from tests.support.api import Api, error_code
from tests.support.config import Table, merged, write_api_config
from tests.support.databases import on_sqlite
from tests.support.features import needs

from strongroom.content.scanning.feature import ScanningFeature
from strongroom.content.scanning.worker import ScanWorker
from strongroom.testing.clock import ManualClock
from strongroom.testing.scanning import eicar, zipped

pytestmark = [
    pytest.mark.skipif(not clamd.is_installed(), reason="clamd is not installed"),
    needs(ScanningFeature),
]

NAME = "eicar.com"
INLINE = 64 * 1024
PADDING = bytes(2 * INLINE)


def stored_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(NAME, eicar())
    return buffer.getvalue()


def nested(depth: int) -> bytes:
    content = zipped(NAME, eicar())
    for level in range(depth):
        content = zipped(f"{level}.zip", content)
    return content


def tar(mode: str = "w") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]  # any mode
        member = tarfile.TarInfo(NAME)
        member.size = len(eicar())
        archive.addfile(member, io.BytesIO(eicar()))
    return buffer.getvalue()


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.com", "b@example.com", "Invoice"
    message.set_content("See the attachment.")
    message.add_attachment(eicar(), maintype="application", subtype="octet-stream", filename=NAME)
    return bytes(message)


def document() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<document/>")
        archive.writestr("word/embeddings/oleObject1.bin", eicar())
    return buffer.getvalue()


def behind_padding() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("padding", PADDING)
        archive.writestr(NAME, eicar())
    return buffer.getvalue()


def encrypted() -> bytes:
    # The flag of encryption is bit 0 of the general purpose flags, in both headers.
    content = bytearray(zipped(NAME, eicar()))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


WRAPPINGS: dict[str, Callable[[], bytes]] = {
    "eicar.com": eicar,
    "deflated.zip": partial(nested, 0),
    "stored.zip": stored_zip,
    "zip in a zip": partial(nested, 1),
    "zip in a zip in a zip": partial(nested, 2),
    "tar": tar,
    "tar.gz": partial(tar, "w:gz"),
    "tar.bz2 in a zip": lambda: zipped("a.tar.bz2", tar("w:bz2")),
    "gz": lambda: gzip.compress(eicar()),
    "bz2": lambda: bz2.compress(eicar()),
    "xz": lambda: lzma.compress(eicar()),
    "eml": mail,
    "docx": document,
    "jar": lambda: zipped("META-INF/eicar.class", eicar()),
    "behind padding.zip": behind_padding,
    "encrypted.zip": encrypted,
}


@pytest.fixture(scope="module")
def daemon() -> Iterator[clamd.Clamd]:
    with tempfile.TemporaryDirectory(prefix="clamd") as name, clamd.running(Path(name)) as daemon:
        yield daemon


@pytest.fixture
def socket(daemon: clamd.Clamd) -> Path:
    return daemon.socket


@pytest.fixture
def config_changes(socket: Path) -> Table:
    return configuration(socket)


def configuration(socket: Path) -> Table:
    return {
        "plugins": {"enabled": ["storage_local", "scan_clamd"]},
        "scanning": {
            "scanners": ["clamd"],
            "on_unscannable": "refuse",
            "clamd": {"socket": str(socket)},
        },
        "advanced": {"scan_inline_max_bytes": INLINE},
    }


@on_sqlite
def test_every_wrapping_is_refused_or_held(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    assert len(WRAPPINGS) >= 12
    for name, wrap in WRAPPINGS.items():
        content = wrap()
        answer = api.send(tenant, alice, name, content)
        if len(content) <= INLINE:
            wanted = "unscannable" if name == "encrypted.zip" else "infected"
            assert (answer.status_code, error_code(answer)) == (422, f"error.content-{wanted}"), name
            continue
        download = f"{tenant}/files/{answer.json['id']}/download"
        assert error_code(api.get(download, by=alice)) == "error.not-scanned-yet", name
        assert api.container.get(ScanWorker).run_due() == 1
        assert error_code(api.get(download, by=alice)) == "error.quarantined", name
    good = api.upload(tenant, alice, "good.zip", zipped("a.txt", b"content"))
    assert good["scan"] == "clean"


@on_sqlite
def test_big_files_are_held_and_found(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    for name, wrap in WRAPPINGS.items():
        # Every file of a ZIP with padding exceeds the size that is scanned inline.
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("padding", PADDING)
            archive.writestr(name, wrap())
        node = api.upload(tenant, alice, f"{name}.big", buffer.getvalue())
        download = f"{tenant}/files/{node['id']}/download"
        assert error_code(api.get(download, by=alice)) == "error.not-scanned-yet", name
        assert api.container.get(ScanWorker).run_due() == 1
        assert error_code(api.get(download, by=alice)) == "error.quarantined", name


def test_nothing_can_be_read_while_the_daemon_is_gone(
    tmp_path: Path, database_url: str, clock: ManualClock
) -> None:
    """Two nodes; the daemon is killed between the uploads and the scans, and started again."""
    folder = Path(tempfile.mkdtemp(prefix="clamd"))
    config = write_api_config(
        tmp_path,
        database_url,
        merged(configuration(folder / "clamd.ctl"), {"advanced": {"scan_threads": 1}}),
    )
    with Api.running(config, clock) as api, Api.running(config, clock) as other:
        alice = api.person()
        tenant = api.tenant(alice)
        with clamd.running(folder) as daemon:
            node = api.upload(tenant, alice, "before", b"content")
            assert node["scan"] == "clean"
            daemon.kill()
            small = api.upload(tenant, alice, "small", eicar())
            big = api.upload(tenant, alice, "big", behind_padding())
            good = api.upload(tenant, alice, "good", b"good")
            for server in (api, other):
                server.container.get(ScanWorker).run_due()
        paths = {item["name"]: f"{tenant}/files/{item['id']}/download" for item in (small, big, good)}
        for server in (api, other):
            for path in paths.values():
                answer = server.get(path, by=alice)
                assert error_code(answer) == "error.not-scanned-yet"
                assert answer.headers["Retry-After"]
        with clamd.running(folder):
            clock.advance(60_000)
            scanned = [server.container.get(ScanWorker).run_due() for server in (other, api)]
            assert sum(scanned) == len(paths)
        assert error_code(api.get(paths["small"], by=alice)) == "error.quarantined"
        assert error_code(api.get(paths["big"], by=alice)) == "error.quarantined"
        assert api.get(paths["good"], by=alice).data == b"good"
    shutil.rmtree(folder)
