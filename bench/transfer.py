"""Transfers of a large file, compared with a copy on the same disk, the peer and a bare SHA-256."""

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.client import Client, Json
from bench.forms import FORM_HEADERS, FORM_TAIL, form_head, raw_headers
from bench.harness import MEBIBYTE, Limit, Plan, Row, interleave
from bench.pocketbase import NAME as PEER
from bench.pocketbase import RECORDS, PeerClient, pocketbase
from bench.servers import Server, strongroom
from bench.usage import forget_peak, peak_bytes, resident_bytes

Sample = tuple[float, float]
"""Mebibytes a second, and by how many mebibytes the server's memory rose at most."""


def measure(plan: Plan) -> list[Row]:
    """Measure the speed of uploads and downloads, and the memory that they take."""
    with (
        TemporaryDirectory() as folder,
        strongroom(Path(folder)) as server,
        pocketbase(Path(folder)) as peer,
    ):
        transfers = Transfers(server, Path(folder), plan.transfer_bytes)
        peer_upload = transfers.upload_to(peer)
        copies, hashes, peers, *served = interleave(
            plan.rounds,
            transfers.copy,
            transfers.hash,
            peer_upload,
            transfers.upload_form,
            transfers.upload_raw,
            transfers.download,
        )
    size = f"{plan.transfer_bytes // MEBIBYTE} MiB"
    names = (f"upload {size}, multipart", f"upload {size}, raw", f"download {size}")
    limit = Limit("disk copy with fsync", _column(copies, 0))
    speeds = [
        Row(name, "MiB/s", _column(samples, 0), limit)
        for name, samples in zip(names, served, strict=True)
    ]
    speeds[1:1] = [
        Row(names[0], "MiB/s", _column(served[0], 0), Limit(other, _column(samples, 0)))
        for other, samples in (("SHA-256, 1 thread", hashes), (PEER, peers))
    ]
    memory = [
        Row(f"{name}: memory over idle", "MiB", _column(samples, 1), is_cost=True)
        for name, samples in zip(names, served, strict=True)
    ]
    return speeds + memory


def _column(samples: Sequence[Sample], index: int) -> list[float]:
    return [sample[index] for sample in samples]


class Transfers:
    """A file, and the ways it is transferred; each returns the speed and the peak of the memory."""

    def __init__(self, server: Server, folder: Path, size: int) -> None:
        self._pid = server.pid
        self._size = size
        self._path = folder / "original"
        self._checksum = _write_random(self._path, size)
        self._client = Client(server)
        self._idle = resident_bytes(server.pid)
        with self._path.open("rb") as file:
            node = self._client.upload(self._client.files, raw_headers("download.bin"), file)
        self._download_path = f"{self._client.files}/{node['id']}/download"

    def copy(self) -> Sample:
        target = self._path.with_name("copy")
        sample = self._sample(lambda: _copy(self._path, target))
        target.unlink()
        return sample

    def hash(self) -> Sample:
        digest = hashlib.sha256()

        def read() -> None:
            with self._path.open("rb", buffering=0) as file:
                while chunk := file.read(MEBIBYTE):
                    digest.update(chunk)

        return self._sample(read)

    def upload_to(self, peer: Server) -> Callable[[], Sample]:
        """Return what uploads the file to the peer."""
        client = PeerClient(peer)

        def send() -> None:
            with self._path.open("rb") as file:
                record = client.upload_file("form.bin", file)
            client.delete(f"{RECORDS}/{record['id']}")

        return lambda: self._sample(send)

    def upload_form(self) -> Sample:
        return self._upload(FORM_HEADERS, form_head("form.bin"), FORM_TAIL)

    def upload_raw(self) -> Sample:
        return self._upload(raw_headers("raw.bin"), b"", b"")

    def download(self) -> Sample:
        def receive() -> None:
            if self._client.download(self._download_path) != self._size:
                raise RuntimeError("the download is not whole")

        return self._sample(receive)

    def _upload(self, headers: dict[str, str], head: bytes, tail: bytes) -> Sample:
        stored: Json = {}

        def send() -> None:
            with self._path.open("rb") as file:
                stored.update(self._client.upload(self._client.files, headers, head, file, tail))

        sample = self._sample(send)
        if stored["checksum"] != self._checksum:
            raise RuntimeError("the upload differs from the sent file")
        self._client.delete(f"{self._client.files}/{stored['id']}")
        return sample

    def _sample(self, transfer: Callable[[], None]) -> Sample:
        forget_peak(self._pid)
        started = time.perf_counter()
        transfer()
        seconds = time.perf_counter() - started
        risen = peak_bytes(self._pid) - self._idle
        return self._size / MEBIBYTE / seconds, risen / MEBIBYTE


def _write_random(path: Path, size: int) -> str:
    """Write an incompressible file, and return its checksum in Strongroom's format."""
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for start in range(0, size, MEBIBYTE):
            chunk = os.urandom(min(MEBIBYTE, size - start))
            digest.update(chunk)
            file.write(chunk)
    return f"sha256:{digest.hexdigest()}"


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    with target.open("rb+") as file:
        os.fsync(file.fileno())
