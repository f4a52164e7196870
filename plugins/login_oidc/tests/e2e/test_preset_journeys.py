"""A real browser logs in at simulated platforms, which are another site than the server."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.support.browsers import needs_chromium
from tests.support.config import Table
from tests.support.server import Server

from strongroom.testing.server import free_port
from strongroom_simulators.oidc_providers import Simulator, sample_provider
from strongroom_simulators.oidc_providers.configuration import provider_section

BEGIN = "/api/v1/oidc-authorizations/begin?provider="
PRESETS = ("apple", "google", "github", "qq")

EACH = pytest.mark.parametrize(
    "preset",
    ["apple", "github", *(pytest.param(name, marks=pytest.mark.extended) for name in ("google", "qq"))],
)

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def shared_changes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """The server is at ``localhost``, and the platforms are at ``127.0.0.1``."""
    folder, port = tmp_path_factory.mktemp("keys"), free_port()
    own = f"http://localhost:{port}"
    with ExitStack() as stack:
        providers = {}
        for preset in PRESETS:
            provider = sample_provider(preset, f"{own}/api/v1/oidc-authorizations/callback/{preset}")
            stack.enter_context(Simulator(provider))
            providers[preset] = provider_section(preset, provider, folder / f"{preset}.pem")
        oidc = {"providers": providers, "allow_insecure_loopback": True, "read_timeout": 30.0}
        yield {
            "server": {"port": port, "public_url": own},
            "plugins": {"enabled": ["storage_local", "login_oidc", "login_pages"]},
            "login": {"methods": ["password", "oidc"], "oidc": oidc},
        }


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(locale="en-GB")
    yield context
    context.close()


def at_platform(context: BrowserContext, server: Server, preset: str) -> Page:
    """Return the page of a platform, to which the server has led the browser."""
    page = context.new_page()
    page.goto(f"{own_url(server)}{BEGIN}{preset}")
    expect(page.get_by_text("requests a login")).to_be_visible()
    return page


def own_url(server: Server) -> str:
    return server.url.replace("127.0.0.1", "localhost")


@EACH
def test_a_person_who_agrees_is_logged_in(
    preset: str, context: BrowserContext, shared_server: Server
) -> None:
    page = at_platform(context, shared_server, preset)
    page.get_by_label("林 小雨").check()
    page.get_by_role("button", name="Agree").click()
    page.wait_for_url(f"{own_url(shared_server)}/**")
    page.goto(f"{own_url(shared_server)}/account")
    expect(page.get_by_text("林 小雨").first).to_be_visible()


@EACH
def test_a_person_who_refuses_is_at_the_login_page_again(
    preset: str, context: BrowserContext, shared_server: Server
) -> None:
    page = at_platform(context, shared_server, preset)
    page.get_by_role("button", name="Refuse").click()
    page.wait_for_url(f"{own_url(shared_server)}/**")
    expect(page.get_by_role("status")).to_be_visible()
    page.goto(f"{own_url(shared_server)}/account")
    expect(page.get_by_label("Password")).to_be_visible()
