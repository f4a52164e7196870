"""The reference layouts of ``docs/operate/availability.md``."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Layout:
    """Which program runs on which machine.

    Args:
        instances: the machines with an instance of the server.
        databases: the machines with PostgreSQL; the first one begins as the primary.
        redis: the machines with Redis, which counts the limits; the first one begins as a primary.
        sentinels: the machines with a Sentinel; none: Redis is a cluster.
        example: the folder of its files below ``examples``.
        store: the machine of the object store.
        balancer: the machine of the load balancer.
        has_patroni: whether Patroni chooses the primary, instead of a person.
        has_poolers: whether each PostgreSQL is behind a pgbouncer, with TLS.
    """

    name: str
    instances: tuple[str, ...]
    databases: tuple[str, ...]
    redis: tuple[str, ...] = ()
    sentinels: tuple[str, ...] = ()
    example: str = "three-zones"
    store: str = "store"
    balancer: str = "edge"
    has_patroni: bool = False
    has_poolers: bool = False

    @property
    def machines(self) -> tuple[str, ...]:
        """The names of all machines."""
        names = (*self.instances, *self.databases, self.store, self.balancer)
        return tuple(dict.fromkeys(names))


TWO: Final = Layout("two", ("one", "two"), ("one", "two"))
ZONES: Final = ("zone1", "zone2", "zone3")
SHARDS: Final = (*ZONES, "zone1b", "zone2b", "zone3b", "zone1c", "zone2c", "zone3c")
THREE: Final = Layout("three", ZONES, ZONES, ZONES, ZONES, has_patroni=True)
TEN: Final = Layout(
    "ten",
    (*SHARDS, "zone1d"),
    ZONES,
    SHARDS,
    example="ten-machines",
    has_patroni=True,
    has_poolers=True,
)
LAYOUTS: Final = {layout.name: layout for layout in (TWO, THREE, TEN)}
