"""Log in, bind, step up and log out with providers of others, on a real server."""

import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import httpx
import pyotp
import pytest
from tests.support.config import FIXED_CAPTCHA, Table, lifted
from tests.support.outbox import messages_in
from tests.support.server import Server, serving, write_config
from tests.support.waiting import wait_until

from strongroom.testing.server import PASSWORD, free_port

from .providers import CLIENT, HAS_MOCK, RealProvider, certified, install, mock
from .visitor import Visitor

pytestmark = pytest.mark.extended

ONCE: Final = 32
SIZE: Final = 64 * 1024 * 1024
BLOCK: Final = 256 * 1024
CALLBACK: Final = "/api/v1/oidc-authorizations/callback"
PEOPLE: Final = {
    name: {"name": name.title(), "email": f"{name}@example.com", "email_verified": True}
    for name in ("ada", "bob", "carl", "dan", "eve", "flo", "gus")
}
_numbers = count()

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stage:
    """A server, and a provider that its configuration names."""

    server: Server
    folder: Path
    name: str
    provider: RealProvider

    def path(self, path: str) -> str:
        """Return the URL of a path of the server."""
        return f"{self.server.url}{path}"

    def log_in_on_page(self, person: str, visitor: Visitor | None = None) -> Visitor:
        """Log in by the button of the login page."""
        visitor = (visitor or Visitor()).open(self.path("/account/login"))
        begin = f"/api/v1/oidc-authorizations/begin?provider={self.name}"
        assert begin in visitor.page.text.replace("&amp;", "&")
        visitor.open(self.path(begin))
        self.provider.confirm(visitor, person)
        return visitor

    def redirect(
        self, client: httpx.Client, person: str, visitor: Visitor | None = None, **body: str
    ) -> dict[str, str]:
        """Confirm a login that began by the REST API; return the parameters of the redirect."""
        begun = client.post(
            self.path("/api/v1/oidc-authorization-requests"),
            json={"provider": self.name, "purpose": "login", **body},
        )
        assert begun.status_code == 201, begun.text
        visitor = visitor or Visitor()
        visitor.stop = self.path(f"{CALLBACK}/{self.name}")
        visitor.open(begun.json()["url"])
        if not visitor.url.startswith(visitor.stop):
            self.provider.confirm(visitor, person)
        visitor.stop, parameters = "none:", dict(parse_qsl(urlsplit(visitor.url).query))
        return {name: parameters[name] for name in ("code", "state", "iss") if name in parameters}

    def log_in(self, person: str, visitor: Visitor | None = None) -> dict[str, Any]:
        """Log in by the REST API; return the tokens."""
        with httpx.Client(timeout=60) as client:
            redirect = self.redirect(client, person, visitor)
            issued = client.post(self.path("/api/v1/oidc-authorizations"), json=redirect)
        assert issued.status_code == 200, issued.text
        tokens: dict[str, Any] = issued.json()
        return tokens

    def status(self, tokens: dict[str, Any]) -> int:
        """Return the status of a request with an access token."""
        headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
        return httpx.get(self.path("/users/me"), headers=headers, timeout=60).status_code

    def code(self, email: str, purpose: str) -> dict[str, str]:
        """Request a code for an address, and read it from the messages."""
        captcha = httpx.post(self.path("/captchas"), timeout=60).json()["id"]
        solved = {"id": captcha, "answer": FIXED_CAPTCHA["captcha"]["answer"]}
        body = {"recipient": email, "purpose": purpose, "captcha": solved}
        sent = httpx.post(self.path("/verification-codes"), json=body, timeout=60)
        assert sent.status_code < 300, sent.text
        found: list[str] = []

        def arrived() -> bool:
            sent_to = [item for item in messages_in(self.folder / "data") if email in str(item)]
            found[:] = [item["code"] for item in sent_to if "code" in item]
            return bool(found)

        wait_until(arrived)
        return {"id": sent.json()["id"], "code": found[-1]}


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Stage]]:
    folder = tmp_path_factory.mktemp("server")
    ports = free_port(), free_port()
    issuers = {"company": f"http://127.0.0.1:{ports[0]}", "mock": f"http://localhost:{ports[1]}"}
    oidc: Table = {
        "allow_insecure_loopback": True,
        "providers": {name: {"issuer": issuer, **CLIENT} for name, issuer in issuers.items()},
    }
    changes: Table = {
        "plugins": {"enabled": ["storage_local", "login_oidc", "login_pages", "factor_totp"]},
        "login": {"methods": ["password", "oidc"], "oidc": oidc},
    }
    script = install(tmp_path_factory.mktemp("node"))
    config = write_config(folder, f"sqlite:///{folder}/test.db", changes, lifted(), FIXED_CAPTCHA)
    with ExitStack() as stack:
        server = stack.enter_context(serving(config))
        real = stack.enter_context(certified(script, ports[0], server.url, PEOPLE))
        stages = {"company": Stage(server, folder, "company", real)}
        if HAS_MOCK:
            fake = stack.enter_context(mock(ports[1], PEOPLE))
            stages["mock"] = Stage(server, folder, "mock", fake)
        yield stages


@pytest.fixture(params=["company", "mock"])
def stage(stages: dict[str, Stage], request: pytest.FixtureRequest) -> Stage:
    if request.param not in stages:
        pytest.skip("there is no oidc-provider-mock")
    return stages[request.param]


@pytest.fixture
def company(stages: dict[str, Stage]) -> Stage:
    return stages["company"]


def test_a_person_logs_in_on_the_page_and_out_at_the_provider(stage: Stage) -> None:
    visitor = stage.log_in_on_page("ada")
    assert (visitor.path, visitor.page.status_code) == ("/account/", 200)
    visitor.submit("/logout")
    assert visitor.url.startswith(stage.provider.issuer)
    stage.provider.end(visitor)
    assert visitor.url == stage.path("/account/login")
    assert "You are logged out." in visitor.page.text
    assert visitor.open(stage.path("/account/")).path == "/account/login"
    # The provider asks again who it is.
    visitor.open(stage.path(f"/api/v1/oidc-authorizations/begin?provider={stage.name}"))
    assert visitor.url.startswith(stage.provider.issuer)


def test_a_person_logs_in_by_the_rest_api_and_is_the_same_user(stage: Stage) -> None:
    first, second = stage.log_in("bob"), stage.log_in("bob")
    assert first["user"]["id"] == second["user"]["id"]
    assert first["user"]["name"] == "Bob" or stage.name == "mock"
    assert stage.status(second) == 200


def test_of_many_uses_of_one_code_at_once_one_logs_in(stage: Stage) -> None:
    with httpx.Client(timeout=60) as client:
        redirect = stage.redirect(client, "carl")

        def use(_: int) -> int:
            url = stage.path("/api/v1/oidc-authorizations")
            return httpx.post(url, json=redirect, cookies=client.cookies, timeout=60).status_code

        with ThreadPoolExecutor(ONCE) as pool:
            statuses = list(pool.map(use, range(ONCE)))
    assert statuses.count(200) == 1
    assert {status for status in statuses if status != 200} <= {400, 401}


def test_a_user_binds_and_unbinds_an_account(stage: Stage) -> None:
    email = f"owner{next(_numbers)}@example.com"
    owner = stage.server.create_user(email, PASSWORD)["id"]
    with httpx.Client(timeout=60) as client:
        body = {"username": email, "password": PASSWORD}
        issued = client.post(stage.path("/authorizations"), json=body).json()
        client.headers["Authorization"] = f"Bearer {issued['accessToken']}"
        redirect = stage.redirect(client, "dan", purpose="bind")
        ids = stage.path("/api/v1/users/me/oidc-ids")
        bound = client.post(ids, json={**redirect, "heldCode": stage.code(email, "bind")})
        assert bound.status_code == 201, bound.text
        assert stage.log_in("dan")["user"]["id"] == owner
        code = stage.code(email, "unbind")
        unbound = client.delete(ids, headers={"X-Verification-Code": f"{code['id']}.{code['code']}"})
        assert unbound.status_code == 200, unbound.text
    assert stage.log_in("dan")["user"]["id"] != owner


def test_the_provider_ends_all_logins_of_a_session_and_no_others(company: Stage) -> None:
    here, elsewhere = Visitor(), Visitor()
    company.log_in_on_page("eve", here)
    by_rest, other = company.log_in("eve", here), company.log_in("eve", elsewhere)
    assert [company.status(by_rest), company.status(other)] == [200, 200]
    here.open(company.path("/account/")).submit("/logout")
    assert company.status(by_rest) == 200
    # Its confirmation sends the logout token before it redirects.
    company.provider.end(here)
    assert [company.status(by_rest), company.status(other)] == [401, 200]


def test_the_session_is_known_after_a_second_factor(company: Stage) -> None:
    tokens = company.log_in("flo")
    headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
    with httpx.Client(base_url=company.server.url, headers=headers, timeout=60) as client:
        begun = client.post("/users/me/factors", json={"kind": "totp", "name": "Phone"}).json()
        secret = pyotp.TOTP(begun["shown"]["secret"])
        body = {"answer": secret.now()}
        enrolled = client.post(f"/users/me/factors/{begun['id']}/confirmation", json=body)
        assert enrolled.status_code == 201, enrolled.text
    visitor = company.log_in_on_page("flo")
    assert visitor.path == "/account/challenge"
    visitor.submit("/challenge", totp=secret.generate_otp(int(time.time()) // 30 + 1))
    assert visitor.path == "/account/"
    end = f"{company.provider.issuer}/session/end?client_id={CLIENT['client_id']}"
    # The logout begins at the provider, which informs the server.
    visitor.open(end).submit("/confirm", logout="yes")
    assert visitor.open(company.path("/account/")).path == "/account/login"


def test_a_download_in_progress_ends_with_the_session(company: Stage) -> None:
    visitor = Visitor()
    company.log_in_on_page("gus", visitor)
    tokens = company.log_in("gus", visitor)
    headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
    with httpx.Client(base_url=company.server.url, headers=headers, timeout=60) as client:
        tenant = client.post("/api/v1/tenants", json={"name": "Acme"}).json()["id"]
        files = {"file": ("large.bin", bytes(SIZE))}
        file = client.post(f"/api/v1/tenants/{tenant}/files", files=files).json()["id"]
        with client.stream("GET", f"/api/v1/tenants/{tenant}/files/{file}/download") as download:
            visitor.open(company.path("/account/")).submit("/logout")
            company.provider.end(visitor)
            began, received = time.monotonic(), 0
            with suppress(httpx.RemoteProtocolError):
                for chunk in download.iter_raw(BLOCK):
                    received += len(chunk)
                    # A client that is slower than the check, which is done once a second.
                    assert company.status(tokens) == 401
    logger.info("%d bytes in %.1f s after the logout", received, time.monotonic() - began)
    assert received < SIZE
