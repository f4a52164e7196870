"""The contract of names that lead to logins, with a provider for the addresses of its company."""

import time
from collections.abc import Iterator, Sequence

import pytest

from strongroom.testing.pages import LoginRoutesContract
from strongroom.testing.server import LiveServer, live_server

from .harness import ProviderHarness
from .hostile import HostileProvider, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with serving(HostileProvider()) as provider:
        options = ProviderHarness(provider, time.time).options(lambda url: url)
        company = {**options["providers"]["company"], "login_domains": ["example.com"]}
        oidc = {**options, "providers": {"company": {**company, "label": "Example Ltd."}}}
        config = {"login": {"methods": ["password", "oidc"], "oidc": oidc}}
        folder, plugins = tmp_path_factory.mktemp("server"), ["login_pages", "login_oidc"]
        with live_server(folder, plugins=plugins, config=config) as server:
            yield server


class TestRoutes(LoginRoutesContract):
    @pytest.fixture
    def address(self) -> str:
        return "Ann@Example.COM"

    @pytest.fixture
    def other_names(self) -> Sequence[str]:
        return [
            "ann@example.org",
            "ann@sub.example.com",
            "ann@notexample.com",
            "ann@example.com.evil.example",
            "example.com",
            "+8613800000000",
        ]

    @pytest.fixture
    def label(self) -> str:
        return "Log in with Example Ltd."
