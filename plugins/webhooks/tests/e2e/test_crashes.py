"""Servers die between a commit and its delivery: every committed event arrives, and no other."""

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.config import ONE_WORKER, Table, lifted
from tests.support.receiver import Exchange, Message, Receiver, receiving, says
from tests.support.server import EMAIL, Server, serving, write_config
from tests.support.waiting import STALL_SECONDS, wait_for_progress

from strongroom.assembly.container import build
from strongroom.foundation.config import load

from .rounds import Round, fork_rounds

pytestmark = pytest.mark.extended

ROUNDS = campaign_size("WEBHOOK_CRASHES", 12)
SERVER_ROUNDS = campaign_size("WEBHOOK_SERVER_CRASHES", 2)
AHEAD = 60_000
ENDPOINTS = ("/steady", "/flaky")

_context = multiprocessing.get_context("forkserver")


class Flaky:
    """Answers 500 to every fifth message."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, exchange: Exchange) -> None:
        self._count += 1
        says(204 if self._count % 5 else 500)(exchange)


@dataclass
class Campaign:
    """A tenant with two endpoints, and all that arrived there."""

    config: Path
    receiver: Receiver
    folders: str
    token: str
    tenant_id: str

    @property
    def acknowledged(self) -> Path:
        return self.config.with_name("acknowledged.txt")

    def round(self, number: int, *, writers: int) -> Round:
        ahead = (number + 1) * AHEAD
        return Round(self.config, number, ahead, self.folders, self.token, self.acknowledged, writers)

    def lines(self) -> list[str]:
        text = self.acknowledged.read_text() if self.acknowledged.exists() else ""
        return text.split("\n")[:-1]

    def has_lines(self, wanted: int) -> bool:
        return len(self.lines()) >= wanted

    def committed(self) -> dict[str, int]:
        """Return the sequence of each committed event, by its id."""
        container = build(load(self.config, {}))
        try:
            log = container.hosts.get("webhooks").events
            return {event.id: event.sequence for event in _events(log, self.tenant_id)}
        finally:
            container.close()

    def arrived(self, path: str) -> list[Message]:
        return [item for item in self.receiver.of(path) if item.json["type"] == "folder.created"]

    def wait_for(self, committed: dict[str, int]) -> None:
        """Wait until all of these events have arrived at both endpoints."""
        wait_for_progress(lambda: self.is_complete(committed), lambda: len(self.receiver.messages))

    def is_complete(self, committed: dict[str, int]) -> bool:
        return all(committed.keys() <= {*self.receiver.ids(path)} for path in ENDPOINTS)


def _events(log: Any, stream: str) -> Iterator[Any]:
    after = 0
    while events := log.read(stream, after, 1000):
        yield from events
        after = events[-1].sequence


@pytest.fixture
def campaign(tmp_path: Path, database_url: str) -> Iterator[Campaign]:
    with receiving() as receiver:
        options: Table = {
            "allow_hosts": [f"127.0.0.1:{receiver.port}"],
            "allow_http": True,
            "timeout_seconds": 2,
            "schedule_seconds": [0] * 10,
        }
        changes: Table = {
            "plugins": {"enabled": ["storage_local", "webhooks"], "webhooks": options},
            "tokens": {"lifetime_seconds": 86_400},
        }
        receiver.answers["/flaky"] = Flaky()
        config = write_config(tmp_path, database_url, ONE_WORKER, lifted(), changes)
        with serving(config) as server:
            yield begin(server, receiver)


def begin(server: Server, receiver: Receiver) -> Campaign:
    """Make the tenant and its endpoints, and stop the server."""
    server.create_user(EMAIL)
    client = Client.logged_in(server.url, EMAIL)
    made = client.expect(201, "POST", "/api/v1/tenants", {"name": "Acme"}).json()
    for path in ENDPOINTS:
        body = {"url": receiver.url(path), "eventTypes": ["folder.*"], "tenantId": made["id"]}
        client.expect(201, "POST", "/api/v1/webhook-endpoints", body)
    server.process.terminate()
    server.process.wait(timeout=STALL_SECONDS)
    assert client.token is not None
    folders = f"/api/v1/tenants/{made['id']}/folders"
    return Campaign(server.config, receiver, folders, client.token, made["id"])


def check(campaign: Campaign) -> None:
    """Compare the committed events with the ones that arrived."""
    committed = campaign.committed()
    folders = {line for line in campaign.lines() if line != "ready"}
    for path in ENDPOINTS:
        messages = campaign.arrived(path)
        bodies: dict[str, bytes] = {}
        for message in messages:
            assert bodies.setdefault(message.id, message.body) == message.body
        assert bodies.keys() == committed.keys(), "lost or phantom events"
        first = [committed[event_id] for event_id in bodies]
        assert first == sorted(first), "events overtook each other"
        assert {item.json["data"]["fileId"] for item in messages} >= folders, (
            "an answered change was lost"
        )


@pytest.fixture
def forks(campaign: Campaign) -> Iterator["Connection[Any, Any]"]:
    ours, theirs = _context.Pipe()
    process = _context.Process(target=fork_rounds, args=(campaign.config, theirs), daemon=True)
    process.start()
    yield ours
    process.kill()
    process.join(STALL_SECONDS)


def test_killed_processes_lose_and_invent_nothing(
    campaign: Campaign, forks: "Connection[Any, Any]"
) -> None:
    choose = random.Random(14)
    for number in range(ROUNDS):
        wanted = len(campaign.lines()) + 2
        with running(forks, campaign.round(number, writers=2)):
            wait_for_progress(partial(campaign.has_lines, wanted), campaign.lines)
            time.sleep(choose.uniform(0, 0.08))
    with running(forks, campaign.round(ROUNDS, writers=0)):
        committed = campaign.committed()
        campaign.wait_for(committed)
    assert len(committed) >= ROUNDS
    check(campaign)


@contextmanager
def running(forks: "Connection[Any, Any]", work: Round) -> Iterator[None]:
    """Run a round, and kill it."""
    forks.send(work)
    pid = forks.recv()
    yield
    os.kill(pid, signal.SIGKILL)
    forks.send(None)
    forks.recv()


def test_killed_servers_lose_and_invent_nothing(
    campaign: Campaign, forks: "Connection[Any, Any]"
) -> None:
    choose = random.Random(15)
    for number in range(SERVER_ROUNDS):
        with serving(campaign.config) as server:
            client = Client(server.url, campaign.token)
            for item in range(choose.randint(1, 8)):
                body = {"name": f"{number}-{item}"}
                client.expect(201, "POST", campaign.folders, body)
            server.kill()
    # Its clock is ahead, so that it does not wait until the claims of the killed servers have ended.
    with running(forks, campaign.round(SERVER_ROUNDS, writers=0)):
        committed = campaign.committed()
        campaign.wait_for(committed)
    check(campaign)
