"""Three tenants with three providers: their people log in on the login page, in both languages."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import Browser, expect
from tests.support.browsers import needs_chromium
from tests.support.config import lifted
from tests.support.server import Server, serving, write_config

from strongroom.testing.server import PASSWORD

from ..company import CLIENT, Company, serving_company
from ..dns_server import serving_dns

pytestmark = [pytest.mark.extended, needs_chromium]

BUTTONS: Final = {"en": "Log in with {}", "zh": "{}登录"}
LOCALES: Final = {"en": "en-US", "zh": "zh-CN"}


@dataclass
class Tenant:
    """A tenant with its domain and its provider."""

    server: Server
    id: str
    name: str
    domain: str
    company: Company

    def members(self, token: str) -> int:
        """Return the number of members."""
        headers = {"Authorization": f"Bearer {token}"}
        url = f"{self.server.url}/api/v1/tenants/{self.id}/members"
        return len(httpx.get(url, headers=headers, timeout=60).json()["data"])


@dataclass
class Stage:
    """The server with its tenants, and the token of their administrator."""

    server: Server
    tenants: list[Tenant]
    token: str


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("server")
    with ExitStack() as stack:
        dns = stack.enter_context(serving_dns())
        companies = [stack.enter_context(serving_company(time.time())) for _ in range(3)]
        sso: dict[str, Any] = {
            "nameservers": [f"127.0.0.1:{dns.port}"],
            "allow_hosts": [company.url.removeprefix("http://") for company in companies],
            "allow_http": True,
        }
        changes: dict[str, Any] = {
            "plugins": {"enabled": ["storage_local", "login_pages", "login_sso"], "login_sso": sso},
            "login": {"methods": ["password", "sso"]},
        }
        config = write_config(folder, f"sqlite:///{folder}/test.db", changes, lifted())
        server = stack.enter_context(serving(config))
        server.create_user("root@example.org", PASSWORD)
        client = stack.enter_context(httpx.Client(base_url=server.url, timeout=60))
        body = {"username": "root@example.org", "password": PASSWORD}
        token = client.post("/authorizations", json=body).json()["accessToken"]
        client.headers["Authorization"] = f"Bearer {token}"
        tenants = []
        for number, company in enumerate(companies):
            name, domain = f"Company {number}", f"company{number}.example"
            tenant = Tenant(
                server, _post(client, "/api/v1/tenants", name=name)["id"], name, domain, company
            )
            path = f"/api/v1/tenants/{tenant.id}"
            added = _post(client, f"{path}/domains", domain=domain)
            dns.texts[f"{added['recordName']}."] = [added["recordValue"]]
            assert _post(client, f"{path}/domains/{added['id']}/verification")["isProven"]
            _post(client, f"{path}/identity-providers", label=name, issuer=company.url, **CLIENT)
            tenants.append(tenant)
        yield Stage(server, tenants, token)


def _post(client: httpx.Client, path: str, **body: str) -> Any:
    answer = client.post(path, json=body) if body else client.post(path)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize("number", range(3))
def test_a_person_is_led_to_the_provider_of_the_company(
    browser: Browser, stage: Stage, language: str, number: int
) -> None:
    tenant = stage.tenants[number]
    email = f"ann.{language}@{tenant.domain}"
    tenant.company.now = time.time()
    tenant.company.claims = {"sub": email, "email": email, "email_verified": True, "name": "Ann"}
    before = tenant.members(stage.token)
    with browser.new_context(locale=LOCALES[language]) as context:
        page = context.new_page()
        page.goto(f"{stage.server.url}/account/login")
        page.locator("input[name=username]").fill(email)
        page.locator("input[name=username]").press("Enter")
        page.get_by_text(BUTTONS[language].format(tenant.name)).click()
        expect(page).to_have_title(tenant.company.url)
        page.get_by_role("link").click()
        expect(page).to_have_url(f"{stage.server.url}/account/")
    assert tenant.members(stage.token) == before + 1


@pytest.mark.parametrize("language", LOCALES)
def test_an_address_of_no_company_leads_to_the_password(
    browser: Browser, stage: Stage, language: str
) -> None:
    with browser.new_context(locale=LOCALES[language]) as context:
        page = context.new_page()
        page.goto(f"{stage.server.url}/account/login")
        page.locator("input[name=username]").fill("ann@unknown.example")
        page.locator("input[name=username]").press("Enter")
        expect(page.locator("input[type=password]")).to_be_visible()
