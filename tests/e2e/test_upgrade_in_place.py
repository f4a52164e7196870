"""A database of the previous release, with rows in every table, is upgraded in place."""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine

from strongroom.foundation.database.upgrade import SCHEMA_REVISION
from strongroom.testing.server import to_toml
from tests.support.client import PASSWORD, Client
from tests.support.commands import run_command
from tests.support.config import FIXED_CAPTCHA, Table, change_config, read_toml
from tests.support.images import picture
from tests.support.login_pages import AuthenticatorApp
from tests.support.previous_release import (
    Release,
    columns_of,
    command,
    drop_all,
    fill_empty_tables,
    rows_of,
    set_oldest_code,
)
from tests.support.server import STRONGROOM, Server, serving
from tests.support.waiting import wait_until

ALICE, BOB = "alice@example.com", "bob"
TUS = {"Tus-Resumable": "1.0.0"}
BOOKKEEPING = {"installation", "alembic_version", "webhooks_alembic_version"}
CONTENT = bytes(range(256)) * 1000
HALF = len(CONTENT) // 2
HARD_TO_FILL = {
    "blob_holds",
    "browser_states",
    "direct_uploads",
    "event_dead_letters",
    "picture_variants",
    "plugin_shared_values",
    "plugin_values",
    "scans",
    "webhooks_deliveries",
}
REMEDY = "run a newer version of strongroom, or restore a backup made by this one"
PLUGIN_REMEDY = "install a newer version of the plugin, or restore a backup made with this one"
WITHOUT_WEBHOOKS: Table = {"plugins": {"enabled": ["storage_local", "factor_totp"]}}
EXPECTED = re.compile("strongroom: (DEVELOPMENT server|serving)\\b")


@pytest.fixture(scope="session")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return Release.extracted(tmp_path_factory.mktemp("previous"))


pytestmark = [
    pytest.mark.extended,
    pytest.mark.config(
        {
            "server": {"workers": 1},
            "plugins": {"enabled": ["storage_local", "factor_totp", "webhooks"]},
            **FIXED_CAPTCHA,
        }
    ),
]


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """The database, which is empty: each release creates its own tables."""
    engine = create_engine(database_url)
    drop_all(engine)
    yield engine
    engine.dispose()


@dataclass
class Scene:
    """What users of the previous release have, and must keep."""

    url: str
    tenant: str = ""
    alice: dict[str, Any] = field(default_factory=dict)
    bob: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    key: str = ""
    upload: str = ""
    photo: str = ""
    endpoint: str = ""
    recovery_codes: list[str] = field(default_factory=list)

    @property
    def by_alice(self) -> Client:
        return Client(self.url, self.alice["accessToken"])

    @property
    def by_bob(self) -> Client:
        return Client(self.url, self.bob["accessToken"])

    def post(self, path: str, body: dict[str, Any], status: int = 201) -> dict[str, Any]:
        return self.by_alice.expect(status, "POST", path, body).json()

    def log_in(self, username: str, status: int = 200) -> dict[str, Any]:
        body = {"username": username, "password": PASSWORD}
        return Client(self.url).expect(status, "POST", "/authorizations", body).json()

    def answer(self, refused: dict[str, Any], answer: dict[str, str]) -> dict[str, Any]:
        """Finish a login by a second factor."""
        body = {"challenge": {"id": refused["challenge"]["id"], **answer}}
        return Client(self.url).expect(200, "POST", "/authorizations", body).json()


def fill(server: Server) -> Scene:
    """Use the features of the previous release."""
    scene = Scene(server.url)
    admin = ("users", "create", "--email", ALICE, "--password-stdin", "--admin")
    command(server.config, *admin, stdin=PASSWORD)
    body = {"username": BOB, "name": "Bob", "password": PASSWORD, "captcha": solved(scene)}
    bob = Client(server.url).expect(201, "POST", "/users", body).json()["id"]
    scene.alice, scene.bob = scene.log_in(ALICE), scene.log_in(BOB)
    refresh = {"refreshToken": scene.alice["refreshToken"]}
    scene.alice = Client(server.url).expect(200, "POST", "/authorizations/refresh", refresh).json()
    scene.tenant = scene.by_alice.make_tenant("Acme")
    fill_files(scene, bob)
    fill_accounts(scene)
    return scene


def fill_files(scene: Scene, bob: str) -> None:
    """Create files, grants, an unfinished upload and a picture."""
    folder = scene.post(f"{scene.tenant}/folders", {"name": "Reports 报告"})["id"]
    for name, content in (("small.txt", b"Kept."), ("large.bin", CONTENT), ("empty", b"")):
        scene.files[scene.by_alice.upload(scene.tenant, name, content)["id"]] = content
    file_id = next(iter(scene.files))
    member = f"{scene.tenant}/members/{bob}"
    scene.by_alice.expect(200, "PUT", member, {"role": "member"})
    for node in (folder, file_id):
        scene.post(f"{scene.tenant}/files/{node}/owners", {"ownerId": bob, "permission": "read"})
    body = {"fileIds": [file_id]}
    scene.by_alice.expect(200, "POST", f"{scene.tenant}/multi-files-download", body)
    name = base64.b64encode(b"resumed.bin").decode()
    headers = {**TUS, "Upload-Length": str(len(CONTENT)), "Upload-Metadata": f"filename {name}"}
    created = scene.by_alice.request("POST", f"{scene.tenant}/uploads", None, headers)
    scene.upload = f"{scene.tenant}/uploads/{created.json()['id']}"
    append(scene, 0, CONTENT[:HALF])
    form = {"Content-Type": "image/png", "Content-Disposition": 'attachment; filename="photo.png"'}
    photo = scene.by_alice.request("POST", "/api/v1/files/photos", picture(), form)
    assert photo.status == 201, photo.content
    scene.photo = photo.json()["fileName"]
    scene.by_alice.expect(200, "GET", f"/api/v1/files/{scene.photo}?width=320")


def fill_accounts(scene: Scene) -> None:
    """Create keys, endpoints, codes and a second factor of Bob."""
    body = {"name": "Backup", "scopes": ["files:read"]}
    scene.key = scene.post("/users/me/access-keys", body)["key"]
    scene.post(f"{scene.tenant}/service-accounts", {"name": "Robot"})
    tenant_id = scene.tenant.rpartition("/")[2]
    hook = {"url": "https://hooks.example.com/", "eventTypes": ["file.*"], "tenantId": tenant_id}
    scene.endpoint = scene.post("/api/v1/webhook-endpoints", hook)["id"]
    code = {"recipient": "carol@example.com", "purpose": "register", "captcha": solved(scene)}
    scene.post("/verification-codes", code)
    solved(scene)
    factors = "/users/me/factors"
    begun = scene.by_bob.expect(201, "POST", factors, {"type": "totp", "name": "Phone"}).json()
    app = AuthenticatorApp(begun["shown"]["secret"])
    answer = {"answer": app.code()}
    scene.by_bob.expect(201, "POST", f"{factors}/{begun['id']}/confirmation", answer)
    scene.bob = scene.answer(scene.log_in(BOB, 401), {"totp": app.code()})
    sheet = scene.by_bob.expect(201, "POST", factors, {"type": "recoveryCode"}).json()
    confirmed = scene.by_bob.expect(201, "POST", f"{factors}/{sheet['id']}/confirmation", {}).json()
    scene.recovery_codes = confirmed["shown"]["recoveryCodes"]
    assert scene.log_in(BOB, 401)["challenge"]["id"]


def solved(scene: Scene) -> dict[str, str]:
    """Return the solution of a new captcha."""
    captcha = Client(scene.url).expect(201, "POST", "/captchas", {}).json()
    return {"id": captcha["id"], "answer": "42"}


def append(scene: Scene, offset: int, content: bytes) -> None:
    media_type = {"Content-Type": "application/offset+octet-stream"}
    headers = {**TUS, **media_type, "Upload-Offset": str(offset)}
    response = scene.by_alice.request("PATCH", scene.upload, content, headers)
    assert response.status == 204, response.content


def verify(scene: Scene, server: Server) -> None:
    """Check that users of the previous release find all that they had."""
    verify_logins(scene)
    verify_files(scene)
    # The upgrade has indexed the names.
    found = scene.by_alice.expect(200, "GET", f"{scene.tenant}/search?query=small").json()
    assert [node["id"] for node in found["data"]] == [next(iter(scene.files))]
    endpoints = scene.by_alice.expect(200, "GET", "/api/v1/webhook-endpoints").json()["data"]
    assert [endpoint["id"] for endpoint in endpoints] == [scene.endpoint]
    ready = Client(scene.url).expect(200, "GET", "/readyz").json()
    assert "notes" not in ready
    for arguments in (["audit", "verify"], ["storage", "fsck", "--checksums"], ["doctor"]):
        server.command(*arguments)


def verify_logins(scene: Scene) -> None:
    # Tokens, refresh tokens, passwords, keys and factors.
    assert scene.by_alice.expect(200, "GET", "/users/me").json()["email"] == ALICE
    refresh = {"refreshToken": scene.alice["refreshToken"]}
    scene.alice = Client(scene.url).expect(200, "POST", "/authorizations/refresh", refresh).json()
    scene.log_in(ALICE)
    Client(scene.url, scene.key).expect(200, "GET", f"{scene.tenant}/owners/me/files")
    by_code = {"recoveryCode": scene.recovery_codes.pop()}
    scene.bob = scene.answer(scene.log_in(BOB, 401), by_code)


def verify_files(scene: Scene) -> None:
    nodes = {node["id"]: node for node in scene.by_alice.files(scene.tenant)}
    assert {"Reports 报告", "small.txt", "large.bin", "empty"} <= {n["name"] for n in nodes.values()}
    for file_id, content in scene.files.items():
        assert nodes[file_id]["checksum"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert scene.by_alice.download(scene.tenant, file_id) == content
    file_id = next(iter(scene.files))
    assert scene.by_bob.download(scene.tenant, file_id) == scene.files[file_id]
    assert scene.by_alice.expect(200, "GET", f"/api/v1/files/{scene.photo}").content
    if scene.upload:
        append(scene, HALF, CONTENT[HALF:])
        (resumed,) = (n for n in scene.by_alice.files(scene.tenant) if n["name"] == "resumed.bin")
        assert scene.by_alice.download(scene.tenant, resumed["id"]) == CONTENT
        scene.upload = ""


@pytest.fixture
def server_config(server_config: Path) -> Path:
    """A configuration that both releases understand."""
    table = read_toml(server_config)
    del table["advanced"]
    server_config.write_text(to_toml(table))
    return server_config


def assert_refused(config: Path, *arguments: str) -> None:
    """Check that a command of the previous release refuses the database in one line."""
    refused = command(config, *arguments, check=False)
    output = refused.stdout + refused.stderr
    assert refused.returncode != 0, output
    assert REMEDY in output or PLUGIN_REMEDY in output
    assert "Traceback" not in output


def is_refused_by_probe(server: Server) -> bool:
    """Return whether ``/readyz`` refuses the database."""
    response = Client(server.url).request("GET", "/readyz")
    return response.status == 503 and REMEDY in response.content.decode()


def filled_by_previous(previous: Release, engine: Engine, config: Path) -> Scene:
    """Create a database of the previous release with a row in every table, and use its features."""
    with previous.in_use():
        command(config, "db", "upgrade")
        with serving(config, program=STRONGROOM) as server:
            scene = fill(server)
    # What needs a bucket, a scanner or a lost response: rows of any content.
    assert set(fill_empty_tables(engine)) <= HARD_TO_FILL
    return scene


def test_a_database_of_the_previous_release_is_upgraded_in_place(
    previous: Release, engine: Engine, server_config: Path
) -> None:
    scene = filled_by_previous(previous, engine, server_config)
    before = {name: rows for name, rows in rows_of(engine).items() if name not in BOOKKEEPING}
    assert all(before.values())

    assert f"-> {SCHEMA_REVISION}" in run_command("--config", str(server_config), "db", "upgrade").stdout
    assert rows_of(engine, columns_of(before)) == before
    for number in range(2):
        log = server_config.with_name(f"start{number}.log")
        with serving(server_config, log) as server:
            scene.url = server.url
            verify(scene, server)
        assert [line for line in log.read_text().splitlines() if not EXPECTED.match(line)] == []

    with previous.in_use():
        # The plugin's tables have changed.
        assert_refused(server_config, "serve")
        assert_refused(server_config, "db", "upgrade")
        change_config(server_config, WITHOUT_WEBHOOKS)
        # As long as no migration contracts the core's schema, the previous release can serve it.
        with serving(server_config, program=STRONGROOM) as server:
            verify_files(scene)
            set_oldest_code(engine, SCHEMA_REVISION)
            wait_until(lambda: is_refused_by_probe(server))
        for name in ("serve", "doctor"):
            assert_refused(server_config, name)
