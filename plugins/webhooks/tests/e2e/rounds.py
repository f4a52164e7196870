"""One process that commits events and delivers them, until it is killed.

A round is forked from a process that has imported the core, because a thousand servers would take an
hour. It has the server's own threads and services, without sockets. Its clock is ahead by a number of
seconds, so that the claims of killed rounds have ended.
"""

import os
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from strongroom.assembly.app import create_app, get_container
from strongroom.foundation.config import load


@dataclass(frozen=True)
class AheadClock:
    """The system's time, ahead by some milliseconds."""

    ahead: int

    def now(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead


@dataclass(frozen=True)
class Round:
    """What a round does.

    Args:
        config: the configuration.
        number: the number of the round.
        ahead: how far its clock is ahead, in milliseconds.
        folders: the path of the collection to which folders are added.
        token: an access token.
        acknowledged: the file to which the ids of created folders are appended.
        writers: how many threads create folders; with none, it only delivers.
    """

    config: Path
    number: int
    ahead: int
    folders: str
    token: str
    acknowledged: Path
    writers: int = 2


def fork_rounds(config: Path, commands: "Connection[Any, Any]") -> None:
    """Fork a round for each command, and answer its process id; any other message reaps the last one.

    Args:
        config: the configuration of the rounds.
        commands: the other end of a pipe.
    """
    # Built once before the forks, because imports and caches take most of the time of a round.
    get_container(create_app(load(config, {}))).close()
    pid = 0
    while True:
        command = commands.recv()
        if not isinstance(command, Round):
            os.waitpid(pid, 0)
            commands.send(pid)
            continue
        pid = os.fork()
        if pid == 0:
            run_round(command)
        commands.send(pid)


def run_round(work: Round) -> None:
    """Create folders and deliver their events, without end."""
    app = create_app(load(work.config, {}), AheadClock(work.ahead))
    container = get_container(app)
    container.register_event_sinks()
    container.start()
    acknowledged = os.open(work.acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(writer: int) -> None:
        client = app.test_client()
        headers = {"Authorization": f"Bearer {work.token}"}
        number = 0
        while True:
            number += 1
            body = {"name": f"{work.number}-{writer}-{number}"}
            answer = client.post(work.folders, json=body, headers=headers)
            assert answer.status_code == 201, answer.data
            assert answer.json is not None
            os.write(acknowledged, f"{answer.json['id']}\n".encode())

    for writer in range(work.writers):
        threading.Thread(target=write, args=(writer,), daemon=True).start()
    os.write(acknowledged, b"ready\n")
    threading.Event().wait()
