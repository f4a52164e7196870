"""Receivers of the guide verify messages of a real server, with the official libraries unchanged."""

import math
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.client import Client, Json
from tests.support.config import Table, lifted
from tests.support.npm import install_packages
from tests.support.pages import blocks_of
from tests.support.receiver import receiving
from tests.support.server import EMAIL, serving, write_config
from tests.support.source_tree import ROOT
from tests.support.waiting import wait_until

from strongroom.testing.server import free_port

pytestmark = pytest.mark.extended

GUIDE = ROOT / "docs/guides/webhooks.md"
ENDPOINTS = "/api/v1/webhook-endpoints"
PACKAGE = "standardwebhooks@1.1.1"
SAMPLES = 60
LIMIT_SECONDS = 0.3
LIMIT_REQUESTS = 8
PATIENCE = 60


@dataclass(frozen=True)
class Scene:
    """A server of two processes, a tenant, and a port that endpoints may have."""

    client: Client
    tenant_id: str
    port: int

    def endpoint(self) -> Json:
        body = {
            "url": f"http://127.0.0.1:{self.port}/",
            "eventTypes": ["folder.created"],
            "tenantId": self.tenant_id,
        }
        return self.client.expect(201, "POST", ENDPOINTS, body).json()

    def folder(self, name: str) -> None:
        path = f"/api/v1/tenants/{self.tenant_id}/folders"
        self.client.expect(201, "POST", path, {"name": name})

    def delete(self, endpoint: Json) -> None:
        self.client.expect(200, "DELETE", f"{ENDPOINTS}/{endpoint['id']}")

    def first_attempts(self, endpoint: Json) -> list[Json]:
        """Return the deliveries once each was attempted."""
        wait_until(lambda: self._are_attempted(endpoint))
        return self._deliveries(endpoint)

    def _are_attempted(self, endpoint: Json) -> bool:
        found = self._deliveries(endpoint)
        return bool(found) and all(item["attempt"] for item in found)

    def _deliveries(self, endpoint: Json) -> list[Json]:
        path = f"{ENDPOINTS}/{endpoint['id']}/deliveries"
        return list(self.client.expect(200, "GET", path).json()["data"])


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder, port = tmp_path_factory.mktemp("receivers"), free_port()
    options: Table = {"allow_hosts": [f"127.0.0.1:{port}"], "allow_http": True}
    changes: Table = {
        "server": {"workers": 2},
        "plugins": {"enabled": ["storage_local", "webhooks"], "webhooks": options},
    }
    config = write_config(folder, f"sqlite:///{folder}/database.sqlite3", lifted(), changes)
    with serving(config) as server:
        server.create_user(EMAIL)
        client = Client.logged_in(server.url, EMAIL)
        tenant = client.expect(201, "POST", "/api/v1/tenants", {"name": "Acme"}).json()
        yield Scene(client, tenant["id"], port)


@contextmanager
def program(command: list[str], folder: Path, port: int, secret: str) -> Iterator[None]:
    """Run a receiver until the block ends."""
    variables = {**os.environ, "PORT": str(port), "WEBHOOK_SECRET": secret}
    process = subprocess.Popen(command, cwd=folder, env=variables)
    try:
        wait_until(lambda: is_listening(port))
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


def code_of(language: str) -> str:
    (block,) = (block for block in blocks_of(GUIDE) if block.language == language)
    return block.content


def python_receiver(folder: Path) -> list[str]:
    (folder / "receiver.py").write_text(code_of("python"))
    return [sys.executable, "receiver.py"]


def typescript_receiver(folder: Path) -> list[str]:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    install_packages(folder, PACKAGE)
    # The code has no type annotations, so that it also is JavaScript.
    (folder / "receiver.mjs").write_text(code_of("ts"))
    return ["node", "receiver.mjs"]


@pytest.mark.parametrize(
    "receiver", [python_receiver, typescript_receiver], ids=["python", "typescript"]
)
def test_the_receiver_of_the_guide_accepts_messages_and_no_others(
    scene: Scene, tmp_path: Path, receiver: Callable[[Path], list[str]]
) -> None:
    command = receiver(tmp_path)
    known, unknown = scene.endpoint(), scene.endpoint()
    try:
        with program(command, tmp_path, scene.port, known["secret"]):
            scene.folder(f"{receiver.__name__} 文件夹")
            attempts = {}
            for endpoint in (known, unknown):
                (delivery,) = scene.first_attempts(endpoint)
                attempts[endpoint["id"]] = delivery
        assert attempts[known["id"]]["outcome"] == "succeeded", attempts
        assert attempts[known["id"]]["status"] == 204
        assert attempts[unknown["id"]]["status"] == 400
    finally:
        scene.delete(known)
        scene.delete(unknown)


def test_a_message_arrives_soon_after_the_commit(scene: Scene) -> None:
    endpoint = scene.endpoint()
    requests: list[float] = []
    delays: list[float] = []
    with receiving(scene.port) as receiver:
        for number in range(SAMPLES):
            started = time.monotonic()
            scene.folder(f"sample-{number}")
            committed = time.monotonic()
            assert receiver.arrived.acquire(timeout=PATIENCE)
            requests.append(committed - started)
            delays.append(receiver.messages[-1].at - committed)
    scene.delete(endpoint)
    # On a busy machine, everything takes longer: a delivery has several transactions, the request one.
    assert percentile(delays) <= max(LIMIT_SECONDS, LIMIT_REQUESTS * percentile(requests))


def percentile(values: list[float]) -> float:
    """Return the value that 95 % do not exceed."""
    return sorted(values)[math.ceil(len(values) * 0.95) - 1]
