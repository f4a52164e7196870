"""Instances of a cluster record their configuration, and the doctor compares them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.api import Api
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.databases import on_sqlite

from strongroom.clock import DAY
from strongroom.extensions.observability.doctor import CheckState
from strongroom.extensions.observability.instances.checks import InstancesCheck
from strongroom.extensions.observability.instances.heartbeat import Heartbeat
from strongroom.extensions.observability.instances.models import Instance
from strongroom.extensions.observability.instances.services import InstanceServices
from strongroom.extensions.observability.instances.shared_sections import SIGNING_KEYS, make_digests
from strongroom.extensions.observability.instances.store import InstanceStore
from strongroom.foundation.config import load
from strongroom.foundation.database import Database
from strongroom.foundation.plugins.selection import select
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.sessions.signing_keys import load_keys
from strongroom.testing.clock import ManualClock
from strongroom.version import __version__

SECTIONS = {"server": "a", "login": "b", SIGNING_KEYS: "c"}
KEYS = SecretKeys("k" * 32)


@pytest.fixture
def store(api: Api) -> InstanceStore:
    return api.container.get(InstanceStore)


def make_instance(name: str, clock: ManualClock, **sections: str) -> Instance:
    return Instance(name, "1.0", clock.now(), 0, json.dumps({**SECTIONS, **sections}))


def find_faults(store: InstanceStore, clock: ManualClock) -> list[tuple[CheckState, str, str]]:
    findings = InstancesCheck(store, clock)()
    faults = [item for item in findings if item.state is not CheckState.OK]
    return [(fault.state, fault.part, fault.message) for fault in faults]


def test_an_instance_records_itself(api: Api, clock: ManualClock, store: InstanceStore) -> None:
    api.container.group(InstanceServices)._heartbeat.beat()
    api.container.group(InstanceServices)._heartbeat.beat()
    (instance,) = store.find_all()
    assert instance.name.endswith(f":{api.container.settings.server.port}")
    assert {"login", "tokens", SIGNING_KEYS} <= json.loads(instance.sections).keys()
    assert instance.version == __version__


@on_sqlite
def test_equal_instances_have_no_fault(store: InstanceStore, clock: ManualClock) -> None:
    for name in ("a:1", "b:1"):
        store.put(make_instance(name, clock))
    assert find_faults(store, clock) == []


@on_sqlite
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"login": "x"}, "differs from the other instances in [login]"),
        ({"login": "x", "server": "y"}, "differs from the other instances in [login], [server]"),
        ({SIGNING_KEYS: "x"}, "has other signing keys, so others refuse its tokens"),
        ({"plugins.extra": "x"}, "differs from the other instances in [plugins.extra]"),
    ],
)
def test_an_instance_that_differs_from_most_is_named(
    store: InstanceStore, clock: ManualClock, change: dict[str, str], said: str
) -> None:
    for name in ("a:1", "b:1"):
        store.put(make_instance(name, clock))
    store.put(make_instance("c:1", clock, **change))
    assert (CheckState.FAILED, "instances.c:1", said) in find_faults(store, clock)


@on_sqlite
def test_an_instance_that_ended_is_named_until_it_is_forgotten(
    store: InstanceStore, clock: ManualClock
) -> None:
    store.put(make_instance("a:1", clock))
    clock.advance(91_000)
    store.put(make_instance("b:1", clock))
    assert find_faults(store, clock) == [
        (CheckState.FAILED, "instances.a:1", "has not served for 91 seconds")
    ]
    clock.advance(DAY)
    assert store.prune() == 2
    assert find_faults(store, clock) == [
        (CheckState.WARNING, "instances", "no instance has served lately")
    ]


@on_sqlite
def test_a_version_and_a_clock_that_differ_are_warnings(
    store: InstanceStore, clock: ManualClock
) -> None:
    for name in ("a:1", "b:1"):
        store.put(make_instance(name, clock))
    store.put(replace(make_instance("c:1", clock), version="0.9", skew=-3500))
    assert find_faults(store, clock) == [
        (CheckState.WARNING, "instances.c:1", "its clock differs by -3.5 s"),
        (CheckState.WARNING, "instances.c:1", "has the version 0.9"),
    ]


@on_sqlite
def test_only_shared_sections_change_the_digests(api: Api, config: Path) -> None:
    def digests() -> dict[str, str]:
        configuration = load(config, {})
        settings = configuration.settings
        ring = load_keys(settings.keys_path, settings.tokens.algorithm)
        return make_digests(settings, select(configuration).all_sections(settings), ring, KEYS)

    first = digests()
    change_config(config, {"server": {"port": 1, "workers": 3}, "logging": {"level": "debug"}})
    assert digests() == first
    change_config(config, {"tokens": {"lifetime_seconds": 700}})
    assert {name for name, value in digests().items() if value != first[name]} == {"tokens"}


@on_sqlite
def test_a_heartbeat_stops_at_once(database: Database, clock: ManualClock) -> None:
    heartbeat = Heartbeat(InstanceStore(database, clock), clock, 1, {}, lambda: 0)
    heartbeat.start()
    heartbeat.close()
    assert heartbeat._thread is not None
    assert not heartbeat._thread.is_alive()


@on_sqlite
def test_the_command_compares_instances_on_request(server_config: Path) -> None:
    doctor = ("--config", str(server_config), "doctor")
    assert "instances" not in run_command(*doctor).stdout
    assert "no instance has served lately" in run_command(*doctor, "--cluster").stdout
