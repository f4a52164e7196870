"""A server in this process with all presets, and the platforms that they log in at."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tests.support.api import Answer, Api, Person
from tests.support.config import lifted, write_api_config
from tests.support.wechat import Browser

from strongroom.testing.clock import ManualClock
from strongroom_login_oidc.presets import PRESETS
from strongroom_simulators.oidc_providers import Person as Account
from strongroom_simulators.oidc_providers import agree

from ..preset_logins import SiteOf, preset_sites
from .browsers import AUTHORIZATIONS, IDS, REQUESTS

CALLBACK: Final = "https://files.example.com/api/v1/oidc-authorizations/callback"
TRUSTED: Final = "-trusted"
"""The end of the names of providers whose addresses are trusted."""


class Platforms:
    """Logs accounts of platforms into the server. Each account is of one test."""

    def __init__(self, api: Api, site_of: SiteOf) -> None:
        self.api = api
        self.site_of = site_of
        self._number = 70_000

    def account(self, preset: str, email: Any = None, **claims: Any) -> Account:
        """Open an account at a platform, whose address the platform has verified."""
        self._number += 1
        subject = str(self._number)
        standard = self.site_of(preset).platform.people["lin"].claims
        members = {**standard, **_address(preset, email), **claims}
        if preset == "microsoft" and "oid" not in claims:
            members["oid"] = f"00000000-0000-0000-0000-{self._number:012}"
        return self.change(preset, Account(subject, subject, "Mallory", None, claims=members))

    def change(self, preset: str, account: Account, **changes: Any) -> Account:
        """Change an account at its platform."""
        changed = replace(account, **changes)
        self.site_of(preset).add(changed)
        return changed

    def move(self, preset: str, account: Account, email: Any) -> Account:
        """Change the address of an account at its platform."""
        claims = {**account.claims, **_address(preset, email)}
        return self.change(preset, account, claims=claims)

    def redirect(
        self, browser: Browser, name: str, account: Account, by: Person | None = None
    ) -> dict[str, str]:
        """Agree at the platform; return what it sends back."""
        purpose = {"purpose": "bind"} if by else {}
        began = browser.post(REQUESTS, {"provider": name, **purpose}, by)
        assert began.status_code == 201, began.text
        answer = agree(began.json["url"], account.id)
        return {key: answer[key] for key in ("code", "state", "iss", "user") if key in answer}

    def log_in(self, name: str, account: Account) -> Answer:
        """Log an account in, in a browser of its own."""
        browser = Browser(self.api)
        return browser.post(AUTHORIZATIONS, self.redirect(browser, name, account))

    def bind(self, name: str, account: Account, by: Person) -> Answer:
        """Bind an account to a user, with a code sent to the user's address."""
        browser = Browser(self.api)
        redirect = self.redirect(browser, name, account, by)
        return browser.post(IDS, {**redirect, "heldCode": self.api.code(by.email, "bind")}, by)

    def unbind(self, by: Person) -> Answer:
        """Unbind the accounts of a user, with a code sent to the user's address."""
        code = self.api.code(by.email, "unbind")
        headers = {"X-Verification-Code": f"{code['id']}.{code['code']}"}
        return self.api.delete(IDS, by=by, headers=headers)

    def credentials(self, of: Person) -> set[tuple[str, str]]:
        """Return the kinds and values of the credentials of a user."""
        listed = self.api.get("/users/me/credentials", by=of).json["data"]
        return {(item["kind"], item["value"]) for item in listed}


def _address(preset: str, email: Any) -> dict[str, Any]:
    """Return the claims of an address that a platform has verified."""
    if preset == "github":
        return {"emails": [{"email": email, "primary": True, "verified": True}]}
    if preset == "gitee":
        return {"emails": [{"email": email, "state": "confirmed", "scope": ["primary"]}]}
    verified = "emailVerified" if preset == "casdoor" else "email_verified"
    return {"email": email, verified: True}


def uris_of(preset: str) -> tuple[str, ...]:
    """Return the redirect URIs of the providers with a preset."""
    return (f"{CALLBACK}/{preset}", f"{CALLBACK}/{preset}{TRUSTED}")


@contextmanager
def platforms(folder: Path, database_url: str) -> Iterator[Platforms]:
    """Run a server with each preset twice: as it is, and with addresses that are trusted."""
    clock = ManualClock()
    with preset_sites(folder, uris_of, clock.now() / 1000) as site_of:
        providers = _providers(site_of)
        # A platform that is slow on a busy machine is not unavailable.
        oidc = {"providers": providers, "allow_insecure_loopback": True, "read_timeout": 30.0}
        changes = {
            "plugins": {"enabled": ["storage_local", "login_oidc"]},
            "login": {"methods": ["password", "oidc"], "oidc": oidc},
            **lifted(),
        }
        config = write_api_config(folder, database_url, changes)
        with Api.running(config, clock) as api:
            yield Platforms(api, site_of)


def _providers(site_of: SiteOf) -> Mapping[str, Any]:
    sections: dict[str, Any] = {}
    for preset in PRESETS:
        section = {**site_of(preset).section}
        if "private_key_file" in section:
            section["private_key_file"] = str(section["private_key_file"])
        sections[preset] = section
        if preset != "microsoft":
            sections[preset + TRUSTED] = {**section, "trust_email": True}
    return sections
