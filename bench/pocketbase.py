"""The peer: PocketBase, a Go server with the same job on SQLite, as it comes."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from bench.client import EMAIL, PASSWORD, HttpClient
from bench.forms import FORM_HEADERS, FORM_TAIL, form_head
from bench.harness import MEBIBYTE
from bench.servers import HOST, START_SECONDS, Server, running
from strongroom.testing.server import free_port

NAME: Final = "PocketBase"
LOGIN: Final = "/api/collections/users/auth-with-password"
RECORDS: Final = "/api/collections/files/records"

_PROGRAM: Final = str(Path(sys.executable).with_name("pocketbase"))
_SUPERUSER: Final = {"identity": "root@example.com", "password": PASSWORD}
_MINE: Final = "owner = @request.auth.id"
_COLLECTION: Final = {
    "name": "files",
    "type": "base",
    "listRule": _MINE,
    "viewRule": _MINE,
    "createRule": _MINE,
    "deleteRule": _MINE,
    "fields": [
        {"name": "name", "type": "text"},
        {"name": "owner", "type": "relation", "collectionId": "_pb_users_auth_", "maxSelect": 1},
        {
            "name": "file",
            "type": "file",
            "maxSelect": 1,
            "maxSize": 1024 * MEBIBYTE,
            "protected": True,
        },
    ],
    "indexes": ["CREATE INDEX idx_files_owner ON files (owner, name)"],
}


@contextmanager
def pocketbase(folder: Path) -> Iterator[Server]:
    """Run PocketBase, with a user who has logged in and a collection of files, until the block ends."""
    data = str(folder / "pocketbase")
    superuser = [_PROGRAM, "superuser", "upsert", *_SUPERUSER.values(), "--dir", data]
    subprocess.run(superuser, stdout=subprocess.DEVNULL, timeout=START_SECONDS, check=True)  # noqa: S603
    port = free_port()
    command = [_PROGRAM, "serve", "--http", f"{HOST}:{port}", "--dir", data]
    with running(command, port, folder / "pocketbase.conf") as server:
        yield server


class PeerClient(HttpClient):
    """A user of PocketBase with a collection of files, logged in.

    Args:
        server: the server, which knows neither yet.
    """

    def __init__(self, server: Server) -> None:
        super().__init__(server.port)
        issued = self.post("/api/collections/_superusers/auth-with-password", _SUPERUSER)
        superuser = HttpClient(server.port, {"Authorization": issued["token"]})
        superuser.post("/api/collections", _COLLECTION)
        user = {"email": EMAIL, "password": PASSWORD, "passwordConfirm": PASSWORD}
        self.owner: str = superuser.post("/api/collections/users/records", user)["id"]
        issued = self.post(LOGIN, {"identity": EMAIL, "password": PASSWORD})
        self.headers["Authorization"] = issued["token"]

    def upload_file(self, name: str, content: bytes | BinaryIO) -> dict[str, str]:
        """Upload a file, and return its record."""
        head = form_head(name, {"name": name, "owner": self.owner})
        record: dict[str, str] = self.upload(RECORDS, FORM_HEADERS, head, content, FORM_TAIL)
        return record

    def download_path(self, record: dict[str, str]) -> str:
        """Return the path of a record's file, with a token that is good for three minutes."""
        token = self.post("/api/files/token", {})["token"]
        return f"/api/files/files/{record['id']}/{record['file']}?token={token}"
