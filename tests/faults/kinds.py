"""Kinds of faults: how each is injected, and how it is healed."""

import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from redis import Redis, RedisError

from tests.faults.databases import Database
from tests.faults.machines import Program
from tests.faults.sites import Site
from tests.support.disks import fill
from tests.support.waiting import wait_until


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Args:
        inject: begins it, and returns what ends it.
        seconds: how long it lasts.
        layouts: where it applies; empty: everywhere.
    """

    name: str
    inject: Callable[[Site], Callable[[], None]]
    seconds: float = 12.0
    layouts: tuple[str, ...] = ()

    def applies_to(self, site: Site) -> bool:
        """Whether the layout has the part that fails."""
        return not self.layouts or site.layout.name in self.layouts


def kill_instance(site: Site) -> Callable[[], None]:
    """Kill an instance."""
    program = site.instances[site.layout.instances[-1]]
    program.kill()
    return program.start


def freeze_instance(site: Site) -> Callable[[], None]:
    """Stop an instance for a while, as a machine that is suspended."""
    program = site.instances[site.layout.instances[-1]]
    program.signal(signal.SIGSTOP)
    return lambda: program.signal(signal.SIGCONT)


def restart_primary(site: Site) -> Callable[[], None]:
    """Kill the primary, and start it again on the same machine."""
    database = site.primary
    database.program.kill()
    return database.start


def kill_standby(site: Site) -> Callable[[], None]:
    """Kill the synchronous standby."""
    database = _standby(site)
    database.program.kill()
    return database.start


def fail_over(site: Site) -> Callable[[], None]:
    """Kill the primary, promote the standby, and let the former primary follow it."""
    former, standby = site.primary, _standby(site)
    former.program.kill()
    time.sleep(2)
    standby.promote()

    def return_as_standby() -> None:
        former.copy(standby)
        former.start()
        standby.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        standby.query("SELECT pg_reload_conf()")

    return return_as_standby


def part_instance_from_primary(site: Site) -> Callable[[], None]:
    """Lose all packets between an instance and the primary on another machine."""
    primary = site.primary.machine.name
    instance = next(name for name in site.layout.instances if name != primary)
    site.network.part(instance, primary)
    return lambda: site.network.join(instance, primary)


def part_primary_from_all(site: Site) -> Callable[[], None]:
    """Lose all packets between the machine of the primary and all other machines."""
    primary = site.primary.machine.name
    others = [name for name in site.layout.machines if name != primary]
    for other in others:
        site.network.part(primary, other)
    return lambda: _join_all(site, primary, others)


def part_primary_from_standby(site: Site) -> Callable[[], None]:
    """Lose all packets between the primary and the standbys."""
    primary = site.primary.machine.name
    others = [name for name in site.layout.databases if name != primary]
    for other in others:
        site.network.part(primary, other)
    return lambda: _join_all(site, primary, others)


def part_instance_from_balancer(site: Site) -> Callable[[], None]:
    """Lose all packets between an instance and the load balancer."""
    instance = site.layout.instances[-1]
    site.network.part(instance, site.layout.balancer)
    return lambda: site.network.join(instance, site.layout.balancer)


def part_instance_from_redis(site: Site) -> Callable[[], None]:
    """Lose all packets between an instance and the primary of Redis."""
    primary = _redis_primary(site).machine.name
    instance = next(name for name in site.layout.instances if name != primary)
    site.network.part(instance, primary)
    return lambda: site.network.join(instance, primary)


def part_instances_from_store(site: Site) -> Callable[[], None]:
    """Lose all packets between the instances and the store."""
    for name in site.layout.instances:
        site.network.part(name, site.layout.store)

    def join() -> None:
        for name in site.layout.instances:
            site.network.join(name, site.layout.store)

    return join


def lose_machine_of_primary(site: Site) -> Callable[[], None]:
    """Kill everything on the machine of the primary."""
    programs = site.programs_of(site.primary.machine.name)
    for program in programs:
        program.kill()

    def start() -> None:
        for program in programs:
            program.start()

    return start


def freeze_store(site: Site) -> Callable[[], None]:
    """Stop the store for a while."""
    program = site.programs["store"]
    program.signal(signal.SIGSTOP)
    return lambda: program.signal(signal.SIGCONT)


def kill_redis_replica(site: Site) -> Callable[[], None]:
    """Kill a replica of Redis."""
    program = _find_redis(site, b"slave")
    program.kill()
    return program.start


def kill_redis_primary(site: Site) -> Callable[[], None]:
    """Kill the primary of Redis."""
    program = _redis_primary(site)
    program.kill()
    return program.start


def freeze_redis_primary(site: Site) -> Callable[[], None]:
    """Stop the primary of Redis for a while."""
    program = _redis_primary(site)
    program.signal(signal.SIGSTOP)
    return lambda: program.signal(signal.SIGCONT)


def kill_sentinel(site: Site) -> Callable[[], None]:
    """Kill a Sentinel."""
    program = site.programs[f"sentinel-{site.layout.sentinels[-1]}"]
    program.kill()
    return program.start


def fill_disk_of_primary(site: Site) -> Callable[[], None]:
    """Fill the disk of the primary."""
    database = site.primary
    filler = fill(database.disk)

    def heal() -> None:
        filler.unlink()
        if database.program.process is None or database.program.process.poll() is not None:
            database.start()

    return heal


def fill_disk_of_instance(site: Site) -> Callable[[], None]:
    """Fill the disk of an instance's data_dir."""
    filler = fill(site.instances[site.layout.instances[-1]].machine.folder / "instance")
    return filler.unlink


def slow_disk_of_primary(site: Site) -> Callable[[], None]:
    """Delay each sync of the primary by 200 ms."""
    processes = [f"--attach={pid}" for pid in site.primary.program.processes()]
    delay = "--inject=fsync,fdatasync:delay_exit=200000"
    quiet = ["-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"]
    command = ["strace", "-f", *quiet, delay, *processes]
    tracer = subprocess.Popen(command)

    def heal() -> None:
        assert tracer.poll() is None, "strace ended"
        tracer.terminate()
        tracer.wait()

    return heal


def slow_packets_of_primary(site: Site) -> Callable[[], None]:
    """Let packets leave the machine of the primary at the rate of a modem."""
    machine = site.primary.machine
    machine.slow_down()
    return machine.speed_up


def jump(seconds: int) -> Callable[[Site], Callable[[], None]]:
    """Return a fault that sets the clock of an instance, while it runs."""

    def inject(site: Site) -> Callable[[], None]:
        name = site.layout.instances[-1]
        program = site.instances[name]
        offset, library = program.machine.folder / "clock", program.machine.folder / "clock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, CLOCK], check=True)
        offset.write_bytes(bytes(8))
        program.restart(LD_PRELOAD=str(library), STRONGROOM_TEST_CLOCK=str(offset))
        wait_until(lambda: site.is_ready(name))
        _set_clock(offset, seconds)
        wait_until(lambda: abs(site.clock_error(name) - seconds) < CLOCK_TOLERANCE_SECONDS)
        return lambda: _set_clock(offset, 0)

    return inject


def _set_clock(offset: Path, seconds: int) -> None:
    # In place: the process has mapped the file.
    with offset.open("r+b") as file:
        file.write(seconds.to_bytes(8, "little", signed=True))


def kill_pooler(site: Site) -> Callable[[], None]:
    """Kill the pgbouncer of the primary."""
    program = site.programs[f"pgbouncer-{site.primary.machine.name}"]
    program.kill()
    return program.start


def expire_certificates(site: Site) -> Callable[[], None]:
    """Let the certificates of the poolers expire, and connect again after that."""
    lifetime = timedelta(seconds=3)
    for name in site.layout.databases:
        site.certify(name, lifetime)
    time.sleep(lifetime.total_seconds() + 1)
    for name in site.layout.databases:
        site.programs[f"pgbouncer-{name}"].restart()

    def renew() -> None:
        for name in site.layout.databases:
            site.certify(name, timedelta(days=1))

    return renew


def _join_all(site: Site, machine: str, others: list[str]) -> None:
    for other in others:
        site.network.join(machine, other)


def _redis_primary(site: Site) -> Program:
    return _find_redis(site, b"master")


def _find_redis(site: Site, role: bytes) -> Program:
    for name in site.layout.redis:
        program = site.programs[f"redis-{name}"]
        address = program.machine.address
        with (
            suppress(RedisError),
            Redis(host=address, password=REDIS_PASSWORD, socket_timeout=2) as client,
        ):
            if client.role()[0] == role:
                return program
    raise AssertionError(f"there is no Redis with the role {role!r}")


def _standby(site: Site) -> Database:
    """Return the standby that commits wait for."""
    primary = site.primary
    address = primary.query(
        "SELECT host(client_addr) FROM pg_stat_replication ORDER BY sync_state = 'sync' DESC LIMIT 1"
    )
    return next(item for item in site.databases.values() if item.machine.address == address)


PLAIN: Final = ("two",)
PATRONI: Final = ("three", "ten")
REDIS: Final = ("three", "ten")
POOLERS: Final = ("ten",)
REDIS_PASSWORD: Final = "redis-secret"
CLOCK_TOLERANCE_SECONDS: Final = 60
CLOCK: Final = Path(__file__).with_name("clock.c")

KINDS: Final = (
    Kind("an instance is killed", kill_instance),
    Kind("an instance hangs", freeze_instance),
    Kind("an instance and the load balancer are parted", part_instance_from_balancer),
    Kind("an instance and the primary are parted", part_instance_from_primary),
    Kind("the primary is killed and starts again", restart_primary),
    Kind("the primary is killed and the standby is promoted", fail_over, layouts=PLAIN),
    Kind("the machine of the primary is lost", lose_machine_of_primary, 40, layouts=PATRONI),
    Kind("the primary is parted from all others", part_primary_from_all, 40, layouts=PATRONI),
    Kind("the primary and its standbys are parted", part_primary_from_standby, 20),
    Kind("a standby is killed", kill_standby, 20),
    Kind("pgbouncer is killed", kill_pooler, layouts=POOLERS),
    Kind("the certificates of pgbouncer expire", expire_certificates, layouts=POOLERS),
    Kind("the primary of Redis is killed", kill_redis_primary, 20, layouts=REDIS),
    Kind("a replica of Redis is killed", kill_redis_replica, layouts=REDIS),
    Kind("the primary of Redis hangs", freeze_redis_primary, 20, layouts=REDIS),
    Kind("an instance and the primary of Redis are parted", part_instance_from_redis, layouts=REDIS),
    Kind("a Sentinel is killed", kill_sentinel, layouts=("three",)),
    Kind("the store hangs", freeze_store),
    Kind("the instances and the store are parted", part_instances_from_store),
    Kind("the disk of the primary is full", fill_disk_of_primary),
    Kind("the disk of an instance is full", fill_disk_of_instance),
    Kind("the disk of the primary is slow: 200 ms for a sync", slow_disk_of_primary),
    Kind("the network of the primary is slow: 512 kbit/s", slow_packets_of_primary),
    Kind("the clock of an instance jumps forward by an hour", jump(3600)),
    Kind("the clock of an instance jumps back by an hour", jump(-3600)),
)
