"""The catalogue of events: each recorded action has a type or is listed as none; data as described."""

import ast
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tests.support.api import Api
from tests.support.features import ALL_FEATURES
from tests.support.scene import Scene

import strongroom
from strongroom.assembly.features import core_events
from strongroom.content.nodes.events import FileAction
from strongroom.plugin_api.events import SERVER, Event, matches
from strongroom.testing.events import SAMPLE_DATA, sample_event
from strongroom.web.core_events import CoreEvent

CATALOGUE = core_events(ALL_FEATURES)
EVENT_TYPES = CATALOGUE.types
ACTION = re.compile(r"[a-z]+(-[a-z]+)*\.[a-z]+(-[a-z]+)*")
SECRETS = ("password", "token", "@", "127.0.0.1", "address", "user_agent")


RECORDING = ("activity.audit.service", "identity.users.credential_changes")
"""The modules through which actions are recorded."""


def _texts(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        item.value for item in nodes if isinstance(item, ast.Constant) and isinstance(item.value, str)
    }


def recorded_actions() -> set[str]:
    """Return the texts like "noun.verb" that modules which record audit events pass to functions."""
    found = set()
    for path in Path(strongroom.__file__).parent.rglob("*.py"):
        text = path.read_text()
        if not any(f"strongroom.{module} import" in text for module in RECORDING):
            continue
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and "ForeignKey" not in ast.unparse(call.func):
                found |= _texts(call.args)
            if isinstance(call, ast.Dict):
                found |= _texts(call.values)
            if isinstance(call, ast.Assign | ast.AnnAssign) and isinstance(call.value, ast.Constant):
                found.add(str(call.value.value))
    return {text for text in found if ACTION.fullmatch(text)} | {"login"}


def test_each_recorded_action_is_an_event_or_listed_as_none() -> None:
    published = [outcome for event in declared_events() for outcome in event.sources]
    silent = [outcome for feature in ALL_FEATURES for outcome in feature.silent_actions]
    assert recorded_actions() == {action for action, _ in (*published, *silent)}
    assert len({*published, *silent}) == len(published) + len(silent), "declared twice"


def declared_events() -> list[CoreEvent]:
    return [event for feature in ALL_FEATURES for event in feature.register_event_types()]


def test_features_that_share_a_type_declare_the_same() -> None:
    for event in declared_events():
        assert event.type == EVENT_TYPES[event.type.name]


def test_each_type_has_a_source() -> None:
    of_server = {name for name, _ in CATALOGUE.sources.values()}
    of_tenants = {action.value for action in FileAction} - {FileAction.DOWNLOADED.value}
    assert {name: item.is_of_tenant_stream for name, item in EVENT_TYPES.items()} == {
        **dict.fromkeys(of_server, False),
        **dict.fromkeys(of_tenants, True),
    }
    for name in EVENT_TYPES:
        assert re.fullmatch(r"[a-zA-Z0-9_]+(\.[a-zA-Z0-9_]+)+", name)


@pytest.fixture
def events(api: Api) -> list[Event]:
    """The events of a tenant in which each kind of change happens."""
    scene = Scene(api)
    folder, file = scene.folder("folder"), scene.file("file")
    url = f"{scene.path}/files/{file['id']}"
    api.request("PUT", f"{url}/content", by=scene.admin, data=b"new")
    api.patch(url, {"name": "renamed"}, by=scene.admin)
    api.put(f"{url}/directory", {"parentId": folder["id"]}, by=scene.admin)
    scene.grant(file, scene.alice, "read", hours=1)
    scene.revoke(file, scene.alice)
    api.delete(url, by=scene.admin)
    api.patch(scene.path, {"name": "Other"}, by=scene.admin)
    api.delete(f"{scene.path}/members/{scene.bob.id}", by=scene.admin)
    server_admin = api.person(admin=True)
    api.log_in(scene.bob.email, "wrong")
    api.log_in("nobody@example.com", "wrong")
    for change in ("SUSPENDED", "ACTIVE"):
        api.patch(f"/users/{scene.bob.id}", {"status": change}, by=server_admin)
    api.delete("/authorizations/current", by=scene.alice)
    api.delete(scene.path, by=scene.admin)
    log = api.container.events.log
    return [*log.read(SERVER, 0, 1000), *log.read(scene.path.rpartition("/")[2], 0, 1000)]


def test_the_data_of_events_are_as_described(events: list[Event]) -> None:
    types = {event.type for event in events}
    assert len(types) >= 17, types
    assert {"file.moved", "grant.set", "member.added", "login.failed", "tenant.deleted"} <= types
    for event in events:
        body: dict[str, Any] = json.loads(event.json())
        jsonschema_rs.validate(EVENT_TYPES[event.type].schema(), body)
        described = {item.name for item in EVENT_TYPES[event.type].fields}
        assert body["data"].keys() <= described, event.type
        assert len(event.json()) < 20_000


def test_events_contain_no_secrets_and_no_addresses(events: list[Event]) -> None:
    for event in events:
        text = json.dumps(dict(event.data))
        assert not [word for word in SECRETS if word in text.replace('"method": "password"', "")], text


def test_events_of_tenants_name_them(events: list[Event]) -> None:
    for event in events:
        if event.type.startswith(("file.", "folder.", "grant.", "tenant.", "member.")):
            assert event.tenant_id is not None, event.type


def test_sequences_rise_and_ids_are_unique(events: list[Event]) -> None:
    for stream in {event.stream for event in events}:
        sequences = [event.sequence for event in events if event.stream == stream]
        assert sequences == sorted(set(sequences))
    assert len({event.id for event in events}) == len(events)
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", event.id) for event in events)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("*", True), ("file.*", True), ("file.created", True), ("file.moved", False), ("fil.*", False)],
)
def test_patterns_match_names_and_groups(pattern: str, expected: bool) -> None:
    assert matches([pattern], "file.created") is expected


def test_plugins_with_rows_about_files_and_tenants_have_samples_of_their_end() -> None:
    assert {"file.purged", "tenant.purged"} <= SAMPLE_DATA.keys()
    assert sample_event("tenant.purged").subject == sample_event("tenant.purged").tenant_id


@pytest.mark.parametrize("event_type", SAMPLE_DATA)
def test_the_samples_for_plugins_are_as_described(event_type: str) -> None:
    body = json.loads(sample_event(event_type).json())
    jsonschema_rs.validate(EVENT_TYPES[event_type].schema(), body)
