"""Restarts of a service lose no request, POSTs included, behind Caddy and behind nginx."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from ssl import SSLContext

import pytest

from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import change_config, read_toml
from tests.support.databases import on_sqlite
from tests.support.deployments import caddy_before, init_small, prepare_small
from tests.support.load import BURST_THREADS, Burst, Load
from tests.support.nginx import nginx_before
from tests.support.server import EMAIL, NODE, STRONGROOM, copy_config, write_config
from tests.support.service_manager import ServiceManager
from tests.support.waiting import wait_until

pytestmark = pytest.mark.extended

RESTARTS = campaign_size("RESTARTS", 1)
AROUND = 80
"""Requests before the first and after the last restart, at 40 per second."""

Proxy = Callable[[Path], AbstractContextManager[tuple[str, SSLContext | None]]]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, ServiceManager]]:
    """A small deployment with an administrator, in the folder that is yielded, and its service."""
    place = tmp_path_factory.mktemp("small")
    folder = init_small(place)
    prepare_small(folder)
    with ServiceManager(place, [folder / "strongroomctl", "serve"]).running() as service:
        yield folder, service


@contextmanager
def caddy(folder: Path) -> Iterator[tuple[str, SSLContext | None]]:
    with caddy_before(folder) as url:
        yield url, None


@contextmanager
def nginx(folder: Path) -> Iterator[tuple[str, SSLContext | None]]:
    place = folder.parent / "nginx"
    place.mkdir()
    port = port_of(folder)
    proxy = nginx_before(place, (port, port), source=folder / "nginx")
    with proxy.running():
        yield f"https://127.0.0.1:{proxy.port}", proxy.context()


def port_of(folder: Path) -> int:
    port = read_toml(folder / "strongroom.toml")["server"]["port"]
    assert isinstance(port, int)
    return port


def restart_under(load: Load, services: list[ServiceManager]) -> None:
    """Restart the services one after another, repeatedly, with requests before and after."""
    with load.running():
        wait_until(lambda: load.number >= AROUND)
        for _ in range(RESTARTS):
            for service in services:
                service.restart()
        after = load.number + AROUND
        wait_until(lambda: load.number >= after)


def require_folders(client: Client, load: Load) -> None:
    """Check that each POST that was answered has created one folder."""
    user = client.expect(200, "GET", "/users/me").json()["id"]
    page = client.expect(200, "GET", f"{load.tenant}/owners/{user}/files?pageSize=1").json()
    assert page["meta"]["totalCount"] == load.answers["POST", 201], page["meta"]


def require_no_failure(client: Client, load: Load) -> None:
    sys.stdout.write(f"{RESTARTS} restarts, {dict(load.answers)}, slowest {load.slowest:.1f} s\n")
    assert load.failures == {}
    require_folders(client, load)


@pytest.mark.parametrize("proxy", [caddy, nginx])
def test_restarts_of_a_small_server_lose_no_request(
    small: tuple[Path, ServiceManager], proxy: Proxy
) -> None:
    folder, service = small
    with proxy(folder) as (url, context):
        client = Client.logged_in(f"http://127.0.0.1:{port_of(folder)}", EMAIL)
        assert client.token is not None
        load = Load(url, client.make_tenant("Acme"), client.token, context=context)
        restart_under(load, [service])
        require_no_failure(client, load)


@on_sqlite
def test_a_connection_that_is_accepted_while_the_server_stops_is_answered(
    tmp_path: Path, database_url: str
) -> None:
    config = write_config(tmp_path, database_url)
    url = f"http://127.0.0.1:{read_toml(config)['server']['port']}"
    with ServiceManager(tmp_path, [STRONGROOM, "serve", "--config", config]).running() as service:
        burst = Burst(url)
        with burst.running():
            for _ in range(2 * RESTARTS):
                before = burst.answers.total()
                wait_until(lambda: burst.answers.total() > before + 5 * BURST_THREADS)  # noqa: B023
                service.restart()
    assert set(burst.answers) == {200}, burst.answers


@on_sqlite
def test_a_rolling_restart_of_two_nodes_loses_no_request(tmp_path: Path, database_url: str) -> None:
    first = write_config(tmp_path, database_url, NODE, {"server": {"drain_seconds": 5}})
    create_user(first)
    with ExitStack() as stack:
        services, ports = [], []
        for config in (first, copy_config(first, "second.toml")):
            folder = tmp_path / config.stem
            folder.mkdir()
            service = ServiceManager(folder, [STRONGROOM, "serve", "--config", config])
            services.append(stack.enter_context(service.running()))
        ports = [
            read_toml(first)["server"]["port"],
            read_toml(tmp_path / "second.toml")["server"]["port"],
        ]
        (tmp_path / "nginx").mkdir()
        proxy = nginx_before(tmp_path / "nginx", ports)
        stack.enter_context(proxy.running())
        client = Client.logged_in(f"http://127.0.0.1:{ports[0]}", EMAIL)
        assert client.token is not None
        load = Load(
            f"https://127.0.0.1:{proxy.port}",
            client.make_tenant("Acme"),
            client.token,
            context=proxy.context(),
        )
        restart_under(load, services)
        require_no_failure(client, load)


def create_user(config: Path) -> None:
    arguments = ["users", "create", "--email", EMAIL, "--password-stdin"]
    result = run_command("--config", str(config), *arguments, stdin="Correct1Horse")
    assert result.returncode == 0, result.stderr


def test_the_sockets_of_processes_that_are_not_needed_are_given_back(
    small: tuple[Path, ServiceManager],
) -> None:
    folder, service = small
    assert len(service.stored) == 2
    change_config(folder / "strongroom.toml", {"server": {"workers": 1}})
    service.restart()
    assert len(service.stored) == 1
    # The kernel chooses the socket of each connection.
    for _ in range(20):
        Client(f"http://127.0.0.1:{port_of(folder)}").expect(200, "GET", "/livez")
    change_config(folder / "strongroom.toml", {"server": {"workers": 2}})
    service.restart()
    assert len(service.stored) == 2
