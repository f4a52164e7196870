"""A server for the tests of the client."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, free_port, live_server
from strongroom_client import Client
from strongroom_client.api import tenants
from strongroom_client.models import NewTenant


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server for all tests."""
    folder = tmp_path_factory.mktemp("server")
    plugins = [
        "share_links",
        "factor_totp",
        "login_pages",
        "login_passkey",
        "password_schemes",
        "oidc_provider",
    ]
    port = free_port()
    config = {
        # Browsers have no passkeys for an IP address.
        "server": {"public_url": f"http://localhost:{port}"},
        "users": {"link_url": "https://app.example.com/password#"},
        "captcha": {"provider": "fixed", "answer": "42"},
    }
    with live_server(folder, plugins=plugins, config=config, port=port) as server:
        yield server


@pytest.fixture(scope="session")
def alice(server: LiveServer) -> LiveUser:
    """The user of most tests."""
    return server.user()


@pytest.fixture
def client(server: LiveServer, alice: LiveUser) -> Iterator[Client]:
    """A client with a login."""
    with Client(server.url) as client:
        client.log_in(alice.email, PASSWORD)
        yield client


@pytest.fixture(scope="session")
def root(server: LiveServer) -> LiveUser:
    """An administrator of the server."""
    return server.user(admin=True)


@pytest.fixture
def administrator(server: LiveServer, root: LiveUser) -> Iterator[Client]:
    """A client with the login of an administrator."""
    with Client(server.url) as client:
        client.log_in(root.email, PASSWORD)
        yield client


@pytest.fixture
def tenant_id(client: Client) -> str:
    return client.send(tenants.create_tenant(body=NewTenant(name="Acme"))).id


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file that needs three requests."""
    path = tmp_path / "large.bin"
    path.write_bytes(bytes(range(256)) * 65_536 + b"and the rest")
    return path
