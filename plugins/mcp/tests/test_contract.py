"""Runs the contract tests of options, discovery and WSGI applications."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.testing.audit import AuditSentencesContract
from strongroom.testing.discovery import DiscoveryContract
from strongroom.testing.server import LiveServer, live_server
from strongroom.testing.state import OpenedPlugin, OptionsContract, opened_plugin
from strongroom.testing.wsgi import WsgiApplicationContract
from strongroom_mcp.options import McpOptions


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "mcp") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("server"), plugins=["mcp"]) as server:
        yield server


class TestOptions(OptionsContract):
    """The options."""


class TestDiscovery(DiscoveryContract):
    """The metadata of the protected resource."""


class TestApplication(WsgiApplicationContract):
    """The application. Methods other than POST are refused before the caller is known."""

    private = False

    @pytest.fixture
    def prefix(self) -> str:
        return "/mcp"


@pytest.mark.parametrize(
    "origin", ["agent.example", "https://agent.example/", "ftp://agent.example", ""]
)
def test_an_origin_has_a_scheme_and_a_host_only(origin: str) -> None:
    with pytest.raises(ValueError, match="origins"):
        McpOptions(origins=(origin,))


class TestAuditSentences(AuditSentencesContract):
    """What people read about audit records."""
