"""The one-file plugins of examples/plugins.d, together on a live server."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from strongroom.testing.server import LiveServer, free_port, live_server
from tests.support.waiting import wait_until

FILES = sorted((Path(__file__).parents[2] / "examples" / "plugins.d").glob("*.py"))


class Receiver(ThreadingHTTPServer):
    """Receives events; it refuses the first one, as if it were away."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls: list[tuple[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204 if self.server.calls else 503)
        self.end_headers()
        self.server.calls.append((self.headers["X-Event-Id"], body))

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        thread = threading.Thread(target=receiver.serve_forever)
        thread.start()
        yield receiver
        receiver.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, receiver: Receiver, shared_database_url: str
) -> Iterator[LiveServer]:
    receiver.calls.clear()
    folder = tmp_path_factory.mktemp("server") / "not" / "yet"
    unknown = "0" * 32
    config = {
        "scanning": {"scanners": ["programs"]},
        "plugins": {
            "post_events": {"url": f"http://127.0.0.1:{receiver.server_port}/events"},
            "list_members": {"user_id": unknown, "tenant_id": unknown},
            "prune_drafts": {"user_id": unknown, "tenant_id": unknown},
            "number_documents": {"user_id": unknown, "tenant_id": unknown},
            "company_network": {"networks": ["127.0.0.0/8"]},
            "sync_staff": {"user_id": unknown, "feed": str(folder / "staff.json")},
        },
    }
    port, url = free_port(), shared_database_url
    with live_server(folder, files=FILES, config=config, database_url=url, port=port) as server:
        assert server.url == f"http://127.0.0.1:{port}"
        yield server


def test_an_event_is_posted_again_until_it_is_accepted(server: LiveServer, receiver: Receiver) -> None:
    alice = server.user()
    file = server.upload(server.tenant(alice), alice, "note.txt", b"Content.")
    wait_until(lambda: len(receiver.calls) > 1)
    refused, accepted = receiver.calls[:2]
    assert refused == accepted
    assert accepted[1]["type"] == "file.created"
    assert file["id"] in json.dumps(accepted[1]["data"])


@pytest.mark.parametrize(
    ("name", "content"), [("setup.exe", b"x"), ("SETUP.EXE", b"x"), ("note.txt", b"MZ\x90\x00")]
)
def test_a_program_is_refused(server: LiveServer, name: str, content: bytes) -> None:
    alice = server.user()
    reply = server.send_file(server.tenant(alice), alice, name, content)
    assert (reply.status, reply.error) == (422, "error.program-refused")


def test_the_job_runs_as_its_user(server: LiveServer) -> None:
    alice = server.user()
    tenant = server.tenant(alice)
    drafts = server.folder_in(tenant, alice, "Drafts")
    file = server.upload(tenant, alice, "new.txt", b"New.", drafts["id"])
    text = server.config.read_text()
    config = server.config.with_name("job.toml")
    config.write_text(
        text.replace('user_id = "' + "0" * 32, f'user_id = "{alice.id}').replace(
            'tenant_id = "' + "0" * 32, f'tenant_id = "{tenant}'
        )
    )
    job = LiveServer(server.url, server.folder, config, server.log)
    assert "succeeded" in job.command("jobs", "run", "prune_drafts.prune")
    # It is not old.
    path = f"/api/v1/tenants/{tenant}/files/{file['id']}"
    assert server.request("GET", path, by=alice).status == 200
