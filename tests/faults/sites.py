"""Layouts that run: the machines, their programs and the users."""

import json
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.request import urlopen

import boto3  # type: ignore[import-untyped]  # it has no types
import psycopg

from strongroom.identity.sessions.signing_keys import create_key_file
from tests.faults.certificates import Authority
from tests.faults.clients import Caller
from tests.faults.databases import Database, mount_disk
from tests.faults.layouts import Layout
from tests.faults.ledger import Ledger
from tests.faults.machines import Machine, Network, Program
from tests.faults.traffic import PASSWORD, Traffic, User, enrol, join_all
from tests.faults.zones import ADDRESSES, SUPERUSER, Zone
from tests.support.config import (
    FIXED_CAPTCHA,
    Table,
    base_config,
    lifted,
    main_storage,
    merged,
    write_toml,
)
from tests.support.waiting import wait_until

STRONGROOM: Final = Path(sys.executable).with_name("strongroom")
APPLICATION_PORT: Final = 8000
STORE_PORT: Final = 9000
CAPTCHA_SECONDS: Final = 300
ADMIN: Final = "admin@example.com"
INSTANCE_DISK_MIB: Final = 64

_STORE: Final = Path(__file__).with_name("store.py")


@dataclass
class Site:
    """A layout that runs."""

    layout: Layout
    network: Network
    folder: Path
    databases: dict[str, Database] = field(default_factory=dict)
    instances: dict[str, Program] = field(default_factory=dict)
    programs: dict[str, Program] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    users: list[User] = field(default_factory=list)
    authority: Authority | None = None

    @classmethod
    @contextmanager
    def running(cls, layout: Layout, folder: Path, users: int) -> Iterator["Site"]:
        """Build a layout and stop it at the end of the block."""
        network = Network(folder)
        network.create()
        for name in layout.machines:
            network.add(name)
        site = cls(layout, network, folder)
        try:
            site.build(users)
            yield site
        finally:
            for program in site.all_programs():
                program.kill()
            network.remove()

    def all_programs(self) -> list[Program]:
        """Return the programs of all machines."""
        databases = [database.program for database in self.databases.values()]
        started = [*self.instances.values(), *self.programs.values(), *databases]
        return [program for program in started if program.process is not None]

    def programs_of(self, machine: str) -> list[Program]:
        """Return the programs of a machine."""
        return [program for program in self.all_programs() if program.machine.name == machine]

    def build(self, users: int) -> None:
        """Start everything, from the database to the load balancer."""
        self._start_databases()
        self._start_store()
        create_key_file(self.folder / "keys.json", "HS256", 0)
        (self.folder / "outbox.jsonl").touch()
        first = self.layout.instances[0]
        for name in self.layout.instances:
            self._prepare_instance(name)
        self.command(first, "db", "upgrade")
        self.command(first, "users", "create", "--email", ADMIN, "--admin", "--password-stdin")
        for program in self.instances.values():
            program.start()
        self._start_balancer()
        wait_until(self.is_whole)
        self.users = enrol(self.url, self.ledger, {"email": ADMIN}, users)
        join_all(self.users)

    def is_whole(self) -> bool:
        """Return whether every instance is ready, and every standby follows the primary."""
        return all(self.is_ready(name) for name in self.instances) and self._is_replicated()

    def _is_replicated(self) -> bool:
        with suppress(psycopg.Error, AssertionError):
            streaming = "SELECT count(*) FILTER (WHERE state = 'streaming') = %d"
            synchronous = " AND bool_or(sync_state = 'sync') FROM pg_stat_replication"
            number = len(self.databases) - 1
            return bool(self.primary.query(streaming % number + synchronous))
        return False

    def is_ready(self, name: str) -> bool:
        """Return whether an instance is ready, and misses no part."""
        address = self.network.machines[name].address
        with (
            suppress(OSError),
            urlopen(f"http://{address}:{APPLICATION_PORT}/readyz", timeout=3) as response,
        ):
            return "notes" not in json.load(response)
        return False

    def clock_error(self, name: str) -> float:
        """Return by how many seconds the clock of an instance is fast."""
        address = self.network.machines[name].address
        caller = Caller(f"http://{address}:{APPLICATION_PORT}", Ledger())
        answer = caller.send("verify", "POST", "/captchas", {})
        if not answer.is_success:
            return 0.0
        end = datetime.fromisoformat(answer.json()["expiresAt"])
        return end.timestamp() - CAPTCHA_SECONDS - time.time()

    def command(self, machine: str, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        """Run a command of ``strongroom`` on a machine."""
        config = self.folder / f"{machine}.toml"
        entered = self.network.machines[machine].command(STRONGROOM, "--config", config, *arguments)
        done = subprocess.run(entered, input=PASSWORD, capture_output=True, text=True, check=False)
        assert done.returncode in codes, (arguments, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    @property
    def url(self) -> str:
        """The load balancer."""
        return f"http://{self.network.machines[self.layout.balancer].address}:{APPLICATION_PORT}"

    def traffic(self, per_second: int) -> Traffic:
        """Return the requests of the users."""
        return Traffic(self.url, self.ledger, self.users, self.folder / "outbox.jsonl", per_second)

    @property
    def primary(self) -> Database:
        """The PostgreSQL that takes writes."""
        for database in self.databases.values():
            with suppress(Exception):
                if database.query("SELECT pg_is_in_recovery()") is False:
                    return database
        raise AssertionError("there is no primary")

    def zone(self, name: str) -> Zone:
        """Return a machine as one of the examples; the layout of two machines has files of three."""
        machines = [self.network.machines[other] for other in self.layout.instances]
        number = self.layout.instances.index(name)
        store = self.network.machines[self.layout.store].address
        named = dict(zip(ADDRESSES, machines, strict=False))
        return Zone(list(ADDRESSES)[number], named, store, self.layout.example)

    def _start_patroni(self) -> None:
        for name in self.layout.databases:
            self._start(f"etcd-{name}", self.zone(name).etcd())
        first = self.network.machines[self.layout.databases[0]]

        def is_healthy() -> bool:
            with suppress(AssertionError):
                first.run("etcdctl", "--endpoints", f"{first.address}:2379", "endpoint", "health")
                return True
            return False

        wait_until(is_healthy)
        self.zone(self.layout.databases[0]).run_script("etcd-password.sh")
        for name in self.layout.databases:
            database = self.databases[name] = Database(self.network.machines[name], SUPERUSER)
            database.program = self.zone(name).patroni(database)
            database.program.start()
            wait_until(database.answers)
        self.primary.query("CREATE ROLE strongroom LOGIN PASSWORD 'database-secret'")
        self.primary.query("CREATE DATABASE strongroom OWNER strongroom")
        wait_until(lambda: bool(self.primary.query("SHOW synchronous_standby_names")))

    def _start_redis(self) -> None:
        primary = next(iter(ADDRESSES)) if self.layout.sentinels else ""
        for name in self.layout.redis:
            self._start(f"redis-{name}", self.zone(name).redis(primary))
        for name in self.layout.sentinels:
            self._start(f"sentinel-{name}", self.zone(name).sentinel())
        if self.layout.redis and not self.layout.sentinels:
            self._join_cluster()

    def _join_cluster(self) -> None:
        first = self.zone(self.layout.redis[0])

        def is_created() -> bool:
            with suppress(AssertionError):
                first.run_script("redis-cluster.sh")
                return True
            return False

        wait_until(is_created)

    def _start_poolers(self) -> None:
        self.authority = Authority.create(self.folder / "poolers.crt")
        for name in self.layout.databases:
            self.certify(name, timedelta(days=1))
            self._start(f"pgbouncer-{name}", self.zone(name).pooler())

    def certify(self, name: str, lifetime: timedelta) -> None:
        """Renew the certificate of a machine's pooler, as a timer does."""
        assert self.authority is not None
        machine = self.network.machines[name]
        self.authority.issue(machine.address, lifetime, machine.folder)
        if (pooler := self.programs.get(f"pgbouncer-{name}")) is not None:
            pooler.signal(signal.SIGHUP)

    def _start(self, name: str, program: Program) -> None:
        self.programs[name] = program
        program.start()

    def _start_databases(self) -> None:
        self._start_redis()
        if self.layout.has_patroni:
            self._start_patroni()
        else:
            self._start_plain_databases()
        if self.layout.has_poolers:
            self._start_poolers()

    def _start_plain_databases(self) -> None:
        names = self.layout.databases
        for name in names:
            self.databases[name] = Database(self.network.machines[name])
        primary = self.databases[names[0]]
        primary.create()
        primary.start()
        primary.query("CREATE ROLE strongroom LOGIN")
        primary.query("CREATE DATABASE strongroom OWNER strongroom")
        for name in names[1:]:
            self.databases[name].copy(primary)
            self.databases[name].start()
        if names[1:]:
            primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
            primary.query("SELECT pg_reload_conf()")

    def _start_store(self) -> None:
        machine = self.network.machines[self.layout.store]
        command = [sys.executable, _STORE, machine.address, STORE_PORT]
        self.programs["store"] = Program("store", machine, command)
        self.programs["store"].start()
        client = boto3.client(
            "s3",
            endpoint_url=f"http://{machine.address}:{STORE_PORT}",
            region_name="eu-central-1",
            aws_access_key_id="test-key",
            aws_secret_access_key="test-secret",
        )
        where = {"LocationConstraint": "eu-central-1"}

        def is_created() -> bool:
            with suppress(Exception):
                client.create_bucket(Bucket="files", CreateBucketConfiguration=where)
                return True
            return False

        wait_until(is_created)
        client.close()

    def _prepare_instance(self, name: str) -> None:
        machine = self.network.machines[name]
        config = write_toml(self.folder / f"{name}.toml", *self._config(machine))
        data = machine.folder / "instance"
        data.mkdir()
        mount_disk(data, INSTANCE_DISK_MIB)
        command = [STRONGROOM, "--config", config, "serve"]
        self.instances[name] = Program("strongroom", machine, command)

    def _config(self, machine: Machine) -> tuple[Table, ...]:
        hosts = ",".join(f"{database.machine.address}:5432" for database in self.databases.values())
        store = self.network.machines[self.layout.store].address
        bucket = {
            "backend": "s3",
            "bucket": "files",
            "region": "eu-central-1",
            "endpoint_url": f"http://{store}:{STORE_PORT}",
            "access_key_id": "test-key",
            "secret_access_key": "test-secret",
        }
        own: dict[str, Any] = {
            "server": {
                "mode": None,
                "host": machine.address,
                "port": APPLICATION_PORT,
                "workers": 1,
                "data_dir": f"{machine.folder}/instance",
                "public_url": "https://files.example.com",
                "secret_key": "uT5v0cQm3sXk9wZrB7nLd2yHfJ4gPeAa",
                "trusted_proxies": ["10.99.0.0/24"],
            },
            "plugins": {"enabled": ["storage_s3", "login_email", "share_links"]},
            "messages": {
                "email": ["console"],
                "sms": ["console"],
                "smtp": None,
                "aliyun_sms": None,
                "console": {"outbox": f"{self.folder}/outbox.jsonl"},
            },
            "tokens": {
                "algorithm": None,
                "keys_file": f"{self.folder}/keys.json",
                "lifetime_seconds": 7200,
            },
            "limits": {"login_failures_before_captcha": 1000},
            "login": {"methods": ["password", "email_code"]},
        }
        url = f"postgresql+psycopg://strongroom@{hosts}/strongroom"
        base = base_config(self.folder, url)
        example = self._example(machine) if self.layout.has_patroni else {}
        return (base, *main_storage(bucket), FIXED_CAPTCHA, lifted(), example, own)

    def _example(self, machine: Machine) -> Table:
        authority = {"/etc/strongroom/poolers.crt": self.folder / "poolers.crt"}
        paths = authority if self.layout.has_poolers else {}
        zone = self.zone(machine.name)
        example = tomllib.loads(zone.file("strongroom.toml", paths).read_text())
        url = {"database": {"url": zone.file("database_url", paths).read_text().strip()}}
        return merged(example, {"server": {"workers": 1}}, url)

    def _start_balancer(self) -> None:
        machine = self.network.machines[self.layout.balancer]
        config = self.zone(self.layout.instances[0]).file("haproxy.cfg")
        command = ["haproxy", "-db", "-f", config]
        self.programs["haproxy"] = Program("haproxy", machine, command)
        self.programs["haproxy"].start()
