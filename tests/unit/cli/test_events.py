"""``strongroom events``: tail, replay, status and schemas; and what the doctor reports of events."""

import json
from collections.abc import Sequence
from pathlib import Path

import jsonschema_rs
from tests.support.commands import run_command
from tests.support.databases import on_sqlite
from tests.support.scene import Scene

from strongroom.extensions.observability.checks import EventsCheck
from strongroom.extensions.observability.doctor import CheckState
from strongroom.plugin_api.events import Event, EventRejected, EventSink

pytestmark = on_sqlite


class Receiver(EventSink):
    name = "receiver"
    types = ("file.*",)

    def __init__(self) -> None:
        self.names: list[str] = []
        self.rejects = False

    def deliver(self, events: Sequence[Event]) -> None:
        if self.rejects:
            raise EventRejected
        self.names += [event.data["name"] for event in events]


def run(config: Path, *arguments: str) -> str:
    result = run_command("--config", str(config), "events", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def tenant_of(scene: Scene) -> str:
    return scene.path.rpartition("/")[2]


def test_tail_prints_the_events_of_a_stream(scene: Scene, config: Path) -> None:
    scene.folder("folder")
    scene.file("one")
    stream = ("--stream", tenant_of(scene), "--after", "0", "--no-follow")
    lines = [json.loads(line) for line in run(config, "tail", *stream).splitlines()]
    assert [(line["sequence"], line["type"]) for line in lines] == [
        (1, "folder.created"),
        (2, "file.created"),
    ]
    assert lines[1]["data"]["name"] == "one"
    (only,) = run(config, "tail", *stream, "--type", "file.*").splitlines()
    assert json.loads(only)["type"] == "file.created"
    of_server = run(config, "tail", "--after", "0", "--no-follow")
    assert "tenant.created" in of_server
    assert run(config, "tail", "--no-follow") == ""


def test_replay_delivers_events_again(scene: Scene, config: Path) -> None:
    receiver, delivery = Receiver(), scene.api.container.events.delivery
    delivery.add(receiver)
    delivery.deliver_all()
    for name in ("one", "two"):
        scene.file(name)
    delivery.deliver_all()
    where = ("--stream", tenant_of(scene), "--sink", "receiver")
    assert "2 to 2" in run(config, "replay", *where, "--after", "1")
    delivery.deliver_all()
    assert receiver.names == ["one", "two", "two"]
    for arguments, reason in (
        ((*where[:2], "--sink", "other", "--after", "0"), "known are: receiver"),
        ((*where, "--after", "3"), "has the sequence 2"),
    ):
        result = run_command("--config", str(config), "events", "replay", *arguments)
        assert (result.returncode, reason in result.stderr) == (1, True)


def test_status_and_the_doctor_report_dead_letters(scene: Scene, config: Path) -> None:
    receiver, events = Receiver(), scene.api.container.events
    events.delivery.add(receiver)
    events.delivery.deliver_all()
    check = EventsCheck(events.positions)
    assert [finding.state for finding in check()] == [CheckState.OK]
    receiver.rejects = True
    scene.file("one")
    events.delivery.deliver_all()
    (finding,) = check()
    assert (finding.part, finding.state) == ("events.receiver", CheckState.WARNING)
    assert "1 events were given up" in finding.message
    status = json.loads(run(config, "status", "--json"))
    assert (status["sinks"], status["failing"]) == (["receiver"], [])
    assert (status["dead"][0]["sequence"], status["dead"][0]["type"]) == (1, "file.created")
    assert "dead: sink receiver" in run(config, "status")


def test_schemas_are_valid(config: Path) -> None:
    schemas = json.loads(run(config, "schemas"))
    assert schemas["file.moved"]["properties"]["data"]["required"][0] == "fileId"
    for schema in schemas.values():
        jsonschema_rs.meta.validate(schema)
