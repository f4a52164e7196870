"""No limit is exceeded when another Redis becomes the primary."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from limits.errors import StorageError
from tests.support.campaign import campaign_size
from tests.support.redis_groups import Cluster, Node, SentinelGroup
from tests.support.waiting import SLACK_SECONDS, wait_until

from strongroom.foundation.config.redis_urls import RedisAddress
from strongroom.foundation.limits.backends import in_redis, storage_fault
from strongroom.foundation.limits.redis_clients import TooFewReplicas

DAY = 86400
SPENDERS = 6
SECRETS = 1000


storages: list[Any] = []


def open_storage(url: str) -> Any:
    storage = in_redis(RedisAddress.parse(url)).open(Flask(__name__), lambda: "client").storage
    storages.append(storage)
    return storage


@pytest.fixture(autouse=True)
def close_storages() -> Iterator[None]:
    yield
    while storages:
        storages.pop().servers.close()


@dataclass
class Spenders:
    """Threads that use secrets, each of which is valid once, and a limit of ten.

    A refusal because of the backend is no use; any other exception fails the test.
    """

    url: str
    secrets: int
    uses: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Use secrets until the block ends."""
        done = threading.Event()
        with ThreadPoolExecutor(SPENDERS) as pool:
            spenders = [pool.submit(self._spend, done, seed) for seed in range(SPENDERS)]
            try:
                yield
            finally:
                done.set()
        for spender in spenders:
            spender.result()

    def _spend(self, done: threading.Event, seed: int) -> None:
        chance, storage = random.Random(seed), open_storage(self.url)
        while not done.is_set():
            secret = f"secret-{chance.randrange(self.secrets)}"
            for key, limit in ((secret, 1), (f"limit-{secret[-1]}", 10)):
                self._use(storage, key, limit)

    def _use(self, storage: Any, key: str, limit: int) -> None:
        try:
            is_used = storage.acquire_entry(key, limit, DAY)
        except StorageError as error:
            with self._lock:
                self.refusals[type(error.storage_error).__name__] += 1
            time.sleep(0.02)
            return
        if is_used:
            with self._lock:
                self.uses[key] += 1

    def require_exact(self) -> None:
        """Check that nothing was used more often than allowed."""
        assert self.uses, "nothing was used"
        excess = {key: n for key, n in self.uses.items() if n > (10 if key.startswith("limit") else 1)}
        assert excess == {}, f"{len(excess)} of {len(self.uses)}; refusals: {self.refusals}"


@pytest.fixture
def group(tmp_path: Path) -> Iterator[SentinelGroup]:
    with SentinelGroup.serving(tmp_path) as group:
        yield group


def wait_for_another(group: SentinelGroup, former: Node) -> None:
    """Return once another node is the primary, and counts."""
    storage = open_storage(group.url)
    wait_until(lambda: group.primary() is not former, seen=group.views)
    wait_until(lambda: storage_fault(storage) is None, seen=lambda: storage_fault(storage))


def test_a_partitioned_and_a_killed_primary_grant_nothing_twice(group: SentinelGroup) -> None:
    old = group.primary()
    # A client that does not notice the partition.
    at_old, at_new = open_storage(f"{old.url}?replicas=1"), open_storage(group.url)
    assert [at_old.acquire_entry("subject", 3, DAY) for _ in range(2)] == [True, True]
    group.gate.shut()
    with pytest.raises(StorageError) as refusal:
        at_old.acquire_entry("subject", 3, DAY)
    assert isinstance(refusal.value.storage_error, TooFewReplicas)
    wait_for_another(group, old)
    assert [at_new.acquire_entry("subject", 3, DAY) for _ in range(2)] == [True, False]
    # Neither counts nor reads are answered by the old one.
    for ask in (at_old.acquire_entry, at_old.get_moving_window):
        with pytest.raises(StorageError):
            ask("subject", 3, DAY)
    group.gate.open()
    wait_for_demotion(old)
    spenders = Spenders(group.url, SECRETS)
    with spenders.spending():
        wait_until(lambda: len(spenders.uses) > SPENDERS)
        former = wait_for_replicas(group)
        former.kill()
        wait_for_another(group, former)
    spenders.require_exact()
    assert not at_new.acquire_entry("subject", 3, DAY)


def test_counts_are_refused_soon_without_replicas(group: SentinelGroup) -> None:
    storage = open_storage(group.url)
    assert storage.acquire_entry("subject", 1, DAY)
    for node in group.nodes[1:]:
        node.kill()
    began = time.monotonic()
    with pytest.raises(StorageError):
        storage.acquire_entry("other", 1, DAY)
    assert time.monotonic() - began < 2 + SLACK_SECONDS
    assert storage_fault(storage) == "It refuses writes: NOREPLICAS."


def kill_and_restart(node: Node, wait: Callable[[], None]) -> None:
    node.kill()
    wait()
    node.start()


def suspend(node: Node, wait: Callable[[], None]) -> None:
    # When it continues, it still believes to be the primary, and clients are connected to it.
    node.stop()
    wait()
    node.resume()


@pytest.mark.extended
def test_over_repeated_failovers_nothing_is_granted_twice(group: SentinelGroup) -> None:
    rounds = campaign_size("REDIS_FAILOVERS", 10)
    spenders = Spenders(group.url, SECRETS)
    chance = random.Random(1)
    with spenders.spending():
        for _ in range(rounds):
            time.sleep(chance.random())
            former = wait_for_replicas(group)
            failure = chance.choice([kill_and_restart, suspend])
            failure(former, partial(wait_for_another, group, former))
            wait_for_demotion(former)
    spenders.require_exact()
    # Those that were counted, but not acknowledged, are lost.
    assert len([key for key in spenders.uses if key.startswith("secret")]) > SECRETS * 0.9


def wait_for_agreement(group: SentinelGroup, *conditions: Callable[[Node], bool]) -> Node:
    """Return the primary once conditions of it hold, and no Sentinel replaces one.

    A busy machine causes failovers of its own. When the primary fails that one of them promotes, the
    failover of another Sentinel overlaps, and both can end with two nodes that follow each other. No
    Sentinel promotes either of them.
    """
    primaries: list[Node] = []

    def is_agreed() -> bool:
        primaries[:] = [group.primary()]
        # The Sentinels last: a primary that is replaced meanwhile may answer late.
        return all(holds(*primaries) for holds in (*conditions, group.is_agreed))

    wait_until(is_agreed, seen=group.views)
    return primaries[0]


def wait_for_replicas(group: SentinelGroup) -> Node:
    """Return the primary once all others follow it."""
    return wait_for_agreement(group, group.has_all_replicas)


def wait_for_demotion(node: Node) -> None:
    wait_until(node.is_replica)


@pytest.mark.extended
def test_a_replica_that_still_loads_is_not_promoted(tmp_path: Path) -> None:
    # As the documentation demands; Sentinels with less may choose by what they knew before the failure.
    rounds = campaign_size("REDIS_FAILOVERS", 10) // 2
    chance = random.Random(2)
    with SentinelGroup.serving(tmp_path, down_after_ms=5000) as group:
        spenders = Spenders(group.url, SECRETS)
        with spenders.spending():
            for _ in range(rounds):
                former = wait_for_agreement(group)
                former.kill()
                wait_for_another(group, former)
                former.start()
                time.sleep(chance.random() * 2)
        spenders.require_exact()


@pytest.mark.extended
def test_over_failovers_of_a_cluster_nothing_is_granted_twice(tmp_path: Path) -> None:
    rounds = campaign_size("REDIS_FAILOVERS", 10)
    with Cluster.serving(tmp_path, replicas=2) as cluster:
        spenders = Spenders(cluster.url, SECRETS)
        storage = open_storage(cluster.url)
        with spenders.spending():
            for number in range(rounds):
                primaries = [node for node in cluster.nodes if node.replicas()]
                former = primaries[number % len(primaries)]
                time.sleep(0.5)
                former.kill()
                time.sleep(1.5)
                wait_until(lambda: storage_fault(storage) is None, seen=lambda: storage_fault(storage))
                former.start()
                wait_for_demotion(former)
                wait_until(cluster.is_complete)
        spenders.require_exact()
