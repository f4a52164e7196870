"""Providers of others on loopback: npm ``oidc-provider``, and ``oidc-provider-mock``."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest
from tests.support.npm import install_packages
from tests.support.server import is_listening
from tests.support.waiting import wait_until

from .visitor import Visitor

PACKAGE: Final = "oidc-provider@9.13.3"
SCRIPT: Final = Path(__file__).with_name("provider.mjs")
CLIENT: Final = {"client_id": "strongroom", "client_secret": "s3cret: of+the/client %"}

HAS_MOCK: Final = find_spec("oidc_provider_mock") is not None

Json = dict[str, Any]


@dataclass(frozen=True)
class RealProvider:
    """A provider that runs.

    Args:
        confirm: logs a person in on its pages, where a visitor is.
        end: confirms the logout on its page.
        has_back_channel: whether it sends logout tokens.
    """

    issuer: str
    confirm: Callable[[Visitor, str], object]
    end: Callable[[Visitor], object]
    has_back_channel: bool


def install(folder: Path) -> Path:
    """Install the npm package next to its script; return the script."""
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    install_packages(folder, PACKAGE, options=("--ignore-scripts",))
    return Path(shutil.copy(SCRIPT, folder))


@contextmanager
def certified(script: Path, port: int, server: str, people: Json) -> Iterator[RealProvider]:
    """Run npm ``oidc-provider``, which is certified by the OpenID Foundation."""
    issuer = f"http://127.0.0.1:{port}"
    client = {
        **CLIENT,
        "redirect_uris": [f"{server}/api/v1/oidc-authorizations/callback/company"],
        "post_logout_redirect_uris": [f"{server}/account/login"],
        "backchannel_logout_uri": f"{server}/api/v1/oidc-logouts/company",
        "backchannel_logout_session_required": True,
        "token_endpoint_auth_method": "client_secret_basic",
    }
    options = json.dumps({"issuer": issuer, "client": client, "people": people})
    with subprocess.Popen(
        ["node", script, options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            lines = process.stdout or ()
            assert any("listening" in line for line in lines), "the provider does not start"
            yield RealProvider(issuer, _confirm, _end, has_back_channel=True)
        finally:
            process.terminate()


def _confirm(visitor: Visitor, person: str) -> None:
    if "/interaction/" in visitor.path:
        visitor.submit(login=person, password="any")
    if "/interaction/" in visitor.path:
        visitor.submit()


def _end(visitor: Visitor) -> None:
    visitor.submit("/confirm", logout="yes")


@contextmanager
def mock(port: int, people: Json) -> Iterator[RealProvider]:
    """Run ``oidc-provider-mock``, in a process because of the warnings of its libraries."""
    users = [json.dumps({"sub": name, **claims}) for name, claims in people.items()]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    command += [part for user in users for part in ("--user-claims", user)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: is_listening(port))
            yield RealProvider(
                f"http://localhost:{port}",
                lambda visitor, person: visitor.open(visitor.url, {"sub": person}),
                lambda visitor: visitor.submit("/confirm"),
                has_back_channel=False,
            )
        finally:
            process.terminate()
