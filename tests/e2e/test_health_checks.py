"""Load balancers that poll ``/readyz`` keep serving what needs no part that is unavailable."""

import http.client
import shutil
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from strongroom.testing.server import free_port
from tests.e2e.cluster import EMAIL, NGINX, Cluster, running
from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.disks import fill, small_disk
from tests.support.server import is_listening
from tests.support.waiting import wait_until

HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
DISK_BYTES = 48 * 1024 * 1024
# Longer than both balancers need to remove an instance: two checks, and the age of a report.
SECONDS = campaign_size("HEALTH_CHECK_SECONDS", 4)
LOST = 0
PAUSE_SECONDS = 0.02

pytestmark = [
    pytest.mark.skipif(HAPROXY is None or NGINX is None, reason="haproxy or nginx is not installed"),
    pytest.mark.extended,
]

HAPROXY_CONFIG = """\
defaults
    mode http
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    timeout check 2s
listen nodes
    bind 127.0.0.1:{port}
    option httpchk GET /readyz
    default-server check inter 500ms fall 2 rise 1
    server first 127.0.0.1:{first}
    server second 127.0.0.1:{second}
"""

# nginx has no health checks of its own, so it asks before each request.
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
        server 127.0.0.1:{first} max_fails=1 fail_timeout=2s;
        server 127.0.0.1:{second} max_fails=1 fail_timeout=2s;
    }}
    server {{
        listen 127.0.0.1:{port};
        proxy_connect_timeout 2s;
        location = /readyz {{
            proxy_pass http://nodes;
            proxy_pass_request_body off;
            proxy_set_header Content-Length "";
        }}
        location / {{
            auth_request /readyz;
            proxy_pass http://nodes;
        }}
    }}
}}
"""


@contextmanager
def balancer(folder: Path, name: str, ports: list[int]) -> Iterator[str]:
    """Run a load balancer before two nodes, and yield its URL."""
    text, command = {
        "haproxy": (HAPROXY_CONFIG, [HAPROXY, "-db", "-f"]),
        "nginx": (NGINX_CONFIG, [NGINX, "-c"]),
    }[name]
    own, port = folder / name, free_port()
    own.mkdir()
    config = own / "config"
    first, second = ports
    config.write_text(text.format(folder=own, port=port, first=first, second=second))
    with (own / "output").open("wb") as output:
        process = subprocess.Popen([*map(str, command), config], stdout=output, stderr=output)
    try:
        wait_until(lambda: is_listening(port), seen=(own / "output").read_text)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


class Readers:
    """Clients that read their own user all the time, through each balancer."""

    def __init__(self, urls: dict[str, str], token: str) -> None:
        self._clients = {name: Client(url, token) for name, url in urls.items()}
        self._stop = threading.Event()

    @contextmanager
    def reading(self) -> Iterator[Counter[tuple[str, int]]]:
        """Read until the block ends; yield the number of responses by balancer and status."""
        responses = Counter[tuple[str, int]]()
        with ThreadPoolExecutor(len(self._clients)) as pool:
            work = [pool.submit(self._read, name, responses) for name in self._clients]
            try:
                yield responses
            finally:
                self._stop.set()
        for each in work:
            each.result()

    def _read(self, name: str, responses: Counter[tuple[str, int]]) -> None:
        while not self._stop.wait(PAUSE_SECONDS):
            status = LOST
            with suppress(OSError, http.client.HTTPException):
                status = self._clients[name].request("GET", "/users/me").status
            responses[name, status] += 1


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    with small_disk(DISK_BYTES) as folder:
        yield folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, disk: Path) -> Iterator[Cluster]:
    # PostgreSQL is another user's when run as root, and cannot look into pytest's own folder.
    with (
        tempfile.TemporaryDirectory(prefix="strongroom-cluster-") as folder,
        running(tmp_path_factory.mktemp("cluster"), Path(folder), disk) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def urls(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("balancers")
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(balancer(folder, name, cluster.ports))
            for name in ("haproxy", "nginx")
        }


@contextmanager
def store_refuses(cluster: Cluster, _disk: Path) -> Iterator[None]:
    cluster.s3.shut()
    yield
    cluster.s3.open()


@contextmanager
def store_hangs(cluster: Cluster, _disk: Path) -> Iterator[None]:
    cluster.s3.hang()
    yield
    cluster.s3.shut()
    cluster.s3.open()


@contextmanager
def redis_is_stopped(cluster: Cluster, _disk: Path) -> Iterator[None]:
    cluster.redis.kill()
    yield
    cluster.redis.start()


@contextmanager
def database_is_full(_cluster: Cluster, disk: Path) -> Iterator[None]:
    filler = fill(disk)
    yield
    filler.unlink()


Fault = Callable[[Cluster, Path], AbstractContextManager[None]]

FAULTS: dict[Fault, str] = {
    store_refuses: "storages.main",
    store_hangs: "storages.main",
    redis_is_stopped: "limits",
    database_is_full: "database",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_requests_that_need_no_unavailable_part_are_served(
    fault: Fault, cluster: Cluster, disk: Path, urls: dict[str, str]
) -> None:
    token = Client.logged_in(cluster.nodes[0].url, EMAIL).token
    assert token is not None
    node = Client(cluster.nodes[0].url)

    def notes() -> set[str]:
        return set(node.expect(200, "GET", "/readyz").json().get("notes", {}))

    with Readers(urls, token).reading() as responses:
        with fault(cluster, disk):
            wait_until(lambda: FAULTS[fault] in notes(), seen=notes)
            ends_at = time.monotonic() + SECONDS
            wait_until(lambda: time.monotonic() > ends_at)
        wait_until(lambda: not notes(), seen=notes)
    assert set(responses) == {("haproxy", 200), ("nginx", 200)}, responses
