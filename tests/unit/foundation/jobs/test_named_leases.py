"""Leases by name: one holder at a time, or several that share the name, in all processes."""

import subprocess
import sys
from collections import Counter
from functools import partial
from typing import Final

import pytest
from tests.support.http import at_once

from strongroom.foundation.database import Database
from strongroom.foundation.jobs.named_leases import NamedLeases
from strongroom.plugin_api.leases import Lease
from strongroom.testing.clock import ManualClock

pytestmark = pytest.mark.both_databases

TERM: Final = 1_000
NAMES: Final = 4
ACQUIRE: Final = f"""
import sys
from tests.support.http import at_once
from strongroom.clock import SystemClock
from strongroom.foundation.database import Database
from strongroom.foundation.jobs.named_leases import NamedLeases

leases = NamedLeases(Database(sys.argv[1]), SystemClock())
print("ready", flush=True)
sys.stdin.readline()
for number in range({NAMES}):
    name = f"import {{number}}"
    take = lambda: leases.acquire("acme", name, 60_000, shared=False)
    print(sum(lease is not None for lease in at_once([take] * 8)), flush=True)
"""


@pytest.fixture
def leases(database: Database, clock: ManualClock) -> NamedLeases:
    return NamedLeases(database, clock)


def acquire(
    leases: NamedLeases, name: str = "import", *, plugin: str = "acme", shared: bool = False
) -> Lease | None:
    return leases.acquire(plugin, name, TERM, shared=shared)


def test_of_sixteen_threads_one_acquires_a_name(leases: NamedLeases) -> None:
    acquired = at_once([partial(acquire, leases)] * 16)
    assert len([lease for lease in acquired if lease is not None]) == 1


def test_of_sixteen_threads_in_two_processes_one_acquires_a_name(database_url: str) -> None:
    command = [sys.executable, "-c", ACQUIRE, database_url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(2)]  # type: ignore[call-overload]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 2
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    counts = [[int(line) for line in process.communicate()[0].split()] for process in processes]
    assert [sum(of_name) for of_name in zip(*counts, strict=True)] == [1] * NAMES


def test_a_lease_excludes_others_until_it_ends(leases: NamedLeases, clock: ManualClock) -> None:
    assert acquire(leases)
    clock.advance(TERM - 1)
    assert acquire(leases) is None
    clock.advance(1)
    assert acquire(leases) is not None


def test_a_renewed_lease_lasts_from_the_renewal(leases: NamedLeases, clock: ManualClock) -> None:
    lease = acquire(leases)
    assert lease
    clock.advance(TERM - 1)
    renewed = leases.renew("acme", lease.id, 5 * TERM)
    assert renewed
    assert renewed.expires_at == clock.now() + 5 * TERM
    clock.advance(5 * TERM - 1)
    assert acquire(leases) is None


def test_an_ended_lease_is_neither_renewed_nor_released(leases: NamedLeases, clock: ManualClock) -> None:
    lease = acquire(leases)
    assert lease
    clock.advance(TERM)
    assert leases.renew("acme", lease.id, TERM) is None
    assert not leases.release("acme", lease.id)
    assert acquire(leases) is not None
    assert leases.renew("acme", lease.id, TERM) is None


def test_a_released_name_is_free_at_once(leases: NamedLeases) -> None:
    lease = acquire(leases)
    assert lease
    assert leases.release("acme", lease.id)
    assert not leases.release("acme", lease.id)
    assert acquire(leases) is not None


def test_the_leases_of_another_plugin_neither_exclude_nor_can_be_changed(leases: NamedLeases) -> None:
    lease = acquire(leases)
    assert lease
    assert acquire(leases, plugin="other") is not None
    assert leases.renew("other", lease.id, TERM) is None
    assert not leases.release("other", lease.id)
    assert acquire(leases) is None


def test_shared_leases_exclude_only_one_that_is_not_shared(leases: NamedLeases) -> None:
    shared = [acquire(leases, shared=True) for _ in range(3)]
    assert None not in shared
    assert acquire(leases) is None
    for lease in shared:
        assert lease
        assert leases.release("acme", lease.id)
    assert acquire(leases) is not None
    assert acquire(leases, shared=True) is None


def test_shared_and_other_leases_that_race_never_coexist(leases: NamedLeases) -> None:
    for number in range(4):
        contenders = [partial(acquire, leases, f"{number}", shared=shared) for shared in (True, False)]
        kinds = Counter(lease.is_shared for lease in at_once(contenders * 4) if lease)
        assert kinds in ({True: 4}, {False: 1})


def test_ended_leases_are_pruned(leases: NamedLeases, clock: ManualClock) -> None:
    for name in ("a", "b"):
        acquire(leases, name)
    clock.advance(TERM)
    acquire(leases, "c")
    assert leases.prune() == 2
    assert leases.prune() == 0
    assert acquire(leases, "c") is None
