"""The pages of single sign-on of a space."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.browser_pages import Screen, Visitor
from tests.support.config import Table
from tests.support.screens.stage import Stage, full_stage
from tests.support.screens.steps import open_as

_OPTIONS: Final[Table] = {
    # No DNS server answers, so no domain of a screen is ever proven.
    "plugins": {
        "login_sso": {"nameservers": ["127.0.0.1:9"], "dns_timeout": 0.1, "providers_per_tenant": 100}
    },
    "login": {"methods": ["password", "email_code", "sso"]},
    "second_factors": {"required_for": []},
}
NAMES: Final = (
    r"acme\.example|Acme|_strongroom\S+|strongroom-domain-verification=\w+|groups|engineers"
    r"|Microsoft Entra ID|Google Workspace|Okta|OneLogin|Keycloak|authentik"
)


@contextmanager
def sso_stage(folder: Path) -> Iterator[Stage]:
    """Run a server whose spaces may have providers of their own."""
    with full_stage(folder, _OPTIONS, more=("console", "login_sso")) as stage:
        yield stage


def _root(visitor: Visitor) -> str:
    return f"/single-sign-on/{visitor.stage.tenant}/"


def show_nothing(visitor: Visitor) -> None:
    open_as(visitor, visitor.stage.maker.email, _root(visitor))


def show_domain_form(visitor: Visitor) -> None:
    show_nothing(visitor)
    visitor.press("[commandfor=new-domain]")


def add_domain(visitor: Visitor) -> None:
    show_domain_form(visitor)
    visitor.fill(domain="acme.example")
    visitor.press("#new-domain form button:not([type=button])")
    visitor.page.wait_for_selector(".record")


def ask_about_domain(visitor: Visitor) -> None:
    add_domain(visitor)
    visitor.follow("a[href$='/removal']")


def show_provider_form(visitor: Visitor) -> None:
    show_nothing(visitor)
    visitor.go(f"{_root(visitor)}providers/new")


def add_provider(visitor: Visitor) -> None:
    show_provider_form(visitor)
    visitor.fill(
        label="Acme", issuer="https://id.acme.example", clientId="files", clientSecret="a-secret"
    )
    visitor.press(".sso form > button")
    visitor.page.wait_for_selector("#redirect-uri")


def show_rule_form(visitor: Visitor) -> None:
    add_provider(visitor)
    visitor.press("[commandfor=new-rule]")


def ask_about_provider(visitor: Visitor) -> None:
    add_provider(visitor)
    visitor.follow("a[href$='/removal']")


def _screen(name: str, template: str, step: Callable[[Visitor], None]) -> Screen:
    return Screen(name, f"login_sso/{template}", step, names=NAMES)


SINGLE_SIGN_ON: Final = (
    _screen("no single sign-on", "single_sign_on", show_nothing),
    _screen("form of a domain", "single_sign_on", show_domain_form),
    _screen("domain that waits for its record", "single_sign_on", add_domain),
    _screen("removal of a domain", "domain_removal", ask_about_domain),
    _screen("form of a provider of a space", "provider_new", show_provider_form),
    _screen("provider of a space", "provider", add_provider),
    _screen("form of a rule of groups", "provider", show_rule_form),
    _screen("removal of a provider", "provider_removal", ask_about_provider),
)
