"""Tenants with domains and providers, and people who log in by them."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from tests.support import totp
from tests.support.api import Answer, Api, Json, Person
from tests.support.config import Table, lifted, write_api_config
from tests.support.wechat import Browser

from strongroom.foundation.database.upgrade import upgrade
from strongroom.plugin_api.events import SERVER
from strongroom.testing.clock import ManualClock
from strongroom_login_sso.service import EVENTS, SingleSignOn

from ..company import CLIENT, Company, serving_company
from ..dns_server import DnsServer, serving_dns

REQUESTS: Final = "/api/v1/sso-authorization-requests"
AUTHORIZATIONS: Final = "/api/v1/sso-authorizations"
IDS: Final = "/api/v1/users/me/sso-ids"
ROUTES: Final = "/api/v1/login-routes"


@dataclass
class Space:
    """A tenant with a domain, a provider and an administrator with a second factor."""

    spaces: "Spaces"
    path: str
    admin: Person
    domain: str
    company: Company
    domain_id: str = ""
    provider: Json = field(default_factory=dict)
    app: totp.App | None = None

    @property
    def id(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def provider_path(self) -> str:
        return f"{self.path}/identity-providers/{self.provider['id']}"

    def publish(self) -> None:
        """Publish the TXT record."""
        shown = self.spaces.api.get(f"{self.path}/domains/{self.domain_id}", by=self.admin).json
        texts = self.spaces.dns.texts.setdefault(f"{shown['recordName']}.", [])
        texts.append(shown["recordValue"])

    def unpublish(self) -> None:
        """Remove the TXT record."""
        self.spaces.dns.texts.pop(f"_strongroom.{self.domain}.", None)

    def verify(self) -> Answer:
        return self.spaces.api.post(f"{self.path}/domains/{self.domain_id}/verification", by=self.admin)

    def change(self, by: Person | None = None, **changes: Any) -> Answer:
        """Change the provider."""
        return self.spaces.api.patch(self.provider_path, changes, by=by or self.admin)

    def log_in(self, address: str | None, sub: str | None = None, **claims: Any) -> Answer:
        """Log in by the provider, in a browser of its own."""
        browser = Browser(self.spaces.api)
        return browser.post(AUTHORIZATIONS, self.redirect(browser, address, sub, **claims))

    def redirect(
        self,
        browser: Browser,
        address: str | None,
        sub: str | None = None,
        by: Person | None = None,
        **claims: Any,
    ) -> Json:
        """Confirm a login at the provider; return the parameters of the redirect."""
        purpose = {"purpose": "bind"} if by else {}
        began = browser.post(REQUESTS, {"provider": self.provider["id"], **purpose}, by)
        assert began.status_code == 201, began.text
        self.company.now = self.spaces.api.clock.now() / 1000
        stated = {"email": address, "email_verified": True, "name": "Ann", **claims}
        return self.company.confirm(began.json["url"], sub=sub or address or "nobody", **stated)

    def enforce(self) -> Answer:
        """Enforce the provider, after a login of the administrator by it."""
        tried = self.spaces.finish(self, self.log_in(self.admin.email))
        assert tried.status_code == 200, tried.text
        self.admin = self.spaces.again(self)
        return self.change(enforced=True, breakGlassIds=[self.admin.id])

    def deliver(self) -> None:
        """Deliver the events of members and factors, as the server does in the background."""
        host = self.spaces.api.container.hosts.get("login_sso")
        for event in host.events.read(SERVER, 0, 1000):
            if event.type in EVENTS:
                self.spaces.service.handle(event)

    def members(self) -> Mapping[str, str]:
        """Return the roles of the members."""
        listed = self.spaces.api.get(f"{self.path}/members?pageSize=200", by=self.admin).json["data"]
        return {item["user"]["$ref"]: item["role"] for item in listed}


@dataclass
class Spaces:
    """A server with spaces."""

    api: Api
    dns: DnsServer
    companies: list[Company]
    number: int = 0

    def create(self, *, domain: str | None = None, proven: bool = True, number: int = 0) -> Space:
        """Create a space with a provider; by default with a proven domain."""
        self.number += 1
        domain = domain or f"company{self.number}.example"
        admin = self.api.person(email=f"admin{self.number}@{domain}", name="Admin")
        path = self.api.tenant(admin, f"Company {self.number}")
        space = Space(self, path, admin, domain, self.companies[number])
        space.app = totp.enrol(self.api, admin)
        space.admin = self.again(space)
        added = self.api.post(f"{path}/domains", {"domain": domain}, by=space.admin)
        assert added.status_code == 201, added.text
        space.domain_id = added.json["id"]
        if proven:
            space.publish()
            assert space.verify().status_code == 200
        body = {"label": f"Company {self.number}", "issuer": space.company.url, **CLIENT}
        created = self.api.post(f"{path}/identity-providers", body, by=space.admin)
        assert created.status_code == 201, created.text
        space.provider = created.json
        return space

    def again(self, space: Space) -> Person:
        """Log the administrator of a space in again, with a password and the second factor."""
        issued = self.finish(space, self.api.log_in(space.admin.email))
        assert issued.status_code == 200, issued.text
        return Person(space.admin.id, space.admin.email, issued.headers["X-Access-Token"])

    def finish(self, space: Space, challenged: Answer) -> Answer:
        """Answer the challenge of the administrator of a space."""
        assert challenged.status_code == 401, challenged.text
        assert space.app is not None
        return totp.meet(self.api, challenged.json["challenge"], totp=space.app.next_code())

    def check_domains(self) -> None:
        """Run the job."""
        jobs = self.api.container.job_runner(self.api.container.jobs())
        jobs.register()
        jobs.run_now("login_sso.check_domains")

    @property
    def service(self) -> SingleSignOn:
        service: SingleSignOn = self.api.container.hosts.get("login_sso").get_service(SingleSignOn)
        return service

    def route(self, email: str) -> Answer:
        """Look up how people with an address log in."""
        return self.api.post(ROUTES, {"email": email})


@contextmanager
def running_spaces(
    folder: Path, database_url: str, *changes: Table, plugins: tuple[str, ...] = ()
) -> Iterator[Spaces]:
    """Run a server with three providers on loopback, and a DNS server."""
    clock = ManualClock()
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        totp.use_clock(clock, patch)
        companies = [stack.enter_context(serving_company(clock.now() / 1000)) for _ in range(3)]
        server = stack.enter_context(serving_dns())
        sso = {
            "nameservers": [f"127.0.0.1:{server.port}"],
            "dns_timeout": 2.0,
            "allow_hosts": [company.url.removeprefix("http://") for company in companies],
            "allow_http": True,
        }
        enabled = ["storage_local", "factor_totp", "login_email", "login_sso", *plugins]
        config = write_api_config(
            folder,
            database_url,
            {
                "plugins": {"enabled": enabled, "login_sso": sso},
                "login": {"methods": ["password", "email_code", "sso"], "sso": {"read_timeout": 30.0}},
                # A slow machine must not let a limit refuse what a test is not about.
                **lifted(),
            },
            *changes,
        )
        api = stack.enter_context(Api.running(config, clock))
        upgrade(api.container.database.engine, api.container.selection.plugins.tables)
        yield Spaces(api, server, companies)
