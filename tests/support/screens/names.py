"""The login page that asks for the name first."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.browser_pages import Screen, Visitor
from tests.support.config import Table
from tests.support.screens.stage import Stage, full_stage
from tests.support.screens.steps import path

_COMPANY: Final = {
    "issuer": "https://id.example.com",
    "client_id": "strongroom",
    "client_secret": "a-secret",
    "login_domains": ["acme.example"],
    "label": "Acme",
}
_OPTIONS: Final[Table] = {
    "login": {
        "methods": ["password", "email_code", "oidc"],
        "oidc": {"providers": {"acme": _COMPANY}},
    }
}


@contextmanager
def named_stage(folder: Path) -> Iterator[Stage]:
    """Run a server whose login page offers a provider to the addresses of a company."""
    with full_stage(folder, _OPTIONS, more=("login_oidc",)) as stage:
        yield stage


def enter_name(visitor: Visitor) -> None:
    visitor.go("/account/login")
    visitor.fill(username="alice@example.com")
    visitor.press("button[value=name]")
    visitor.page.wait_for_selector("#password")


def enter_company_name(visitor: Visitor) -> None:
    visitor.go("/account/login")
    visitor.fill(username="alice@acme.example")
    visitor.press("button[value=name]")
    visitor.page.wait_for_selector("#password")


_LOGIN: Final = "login_pages/sign_in/login"

NAMED: Final = (
    Screen("login that asks for the name", _LOGIN, path("/account/login")),
    Screen("login of a name", _LOGIN, enter_name),
    Screen("login of a name of a company", _LOGIN, enter_company_name),
)
