"""What a plugin tells the contract about its simulated platform."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, cast, get_args, get_type_hints

from authlib.oauth2.rfc7636 import create_s256_code_challenge

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import (
    Client,
    Credential,
    LoginAttempt,
    LoginMethod,
    VerificationCode,
)
from strongroom.testing.clock import ManualClock
from strongroom.testing.server import LiveServer, Reply, free_port, live_server
from strongroom_login_oauth.memory import MemoryValues
from strongroom_login_oauth.method import OAuthLogin, make_proof
from strongroom_login_oauth.provider import Start
from strongroom_login_oauth.routes import redirect_uri
from strongroom_login_oauth.testing.rest_client import RestClient, get_answer, query_parameters

__all__ = [
    "MEMBER",
    "OTHER",
    "OUTSIDER",
    "Harness",
    "PlatformHarness",
    "Through",
    "make_attempt",
    "make_login",
    "new_proof",
    "platform_server",
    "query_parameters",
]

MEMBER: Final = "member"
OTHER: Final = "other"
OUTSIDER: Final = "outsider"

Through = Callable[[str], str]
"""Returns the URL through which requests to a URL of the platform are sent, for faults on the way."""


class PlatformHarness(ABC):
    """A simulated platform, and the login method that sends requests to it.

    The platform runs while the harness exists.
    """

    method: ClassVar[type[LoginMethod[Any]]]
    """The login method of the plugin."""

    plugin: ClassVar[str] = ""
    """The name of the plugin in ``plugins.enabled``; empty for a one-file plugin."""

    files: ClassVar[tuple[Path, ...]] = ()
    """The module of a one-file plugin."""

    @abstractmethod
    def options(self, through: Through) -> Mapping[str, Any]:
        """Return the table ``[login.NAME]`` of the configuration, with one provider or app.

        Args:
            through: call it with the base URL of each interface that the server itself sends requests
                to, and put the result into the configuration.
        """

    @property
    @abstractmethod
    def secrets(self) -> tuple[str, ...]:
        """Secrets of the configuration, which no log may contain."""

    @abstractmethod
    def new_proof(self, login: Any) -> dict[str, str]:
        """Let a member confirm a login without a server; return its proof.

        Args:
            login: an object of :attr:`method`.
        """

    @abstractmethod
    def begin_login(self, server: LiveServer) -> Callable[[], Reply]:
        """Let a member confirm a login by the REST API; return the function that finishes it."""

    def begin_minute(self) -> None:  # noqa: B027  most platforms permit enough
        """Let the platform forget the requests that it limits per minute, before each login.

        A contract logs in some hundred times, faster than a platform permits.
        """


class Harness(PlatformHarness):
    """A simulated platform with two members and, if it has organisations, an outsider.

    It knows the redirect URIs of every port of 127.0.0.1.
    """

    method: ClassVar[type[OAuthLogin[Any]]]

    has_outsiders: ClassVar[bool] = True
    """Whether the configuration refuses people of other organisations."""

    reuses_codes: ClassVar[bool] = False
    """Whether the platform accepts a code twice, as a few real ones do."""

    @abstractmethod
    def approve(self, url: str, person: str = MEMBER) -> str:
        """Let a person confirm the login at the page of a URL; return the URL of the redirect.

        Args:
            person: :data:`MEMBER`, :data:`OTHER`, another member, or :data:`OUTSIDER`.
        """

    @abstractmethod
    def refuse(self, url: str) -> str:
        """Let a person refuse the login at the page of a URL; return the URL of the redirect."""

    def new_proof(self, login: OAuthLogin[Any]) -> dict[str, str]:
        """Let a member confirm a login at the first provider."""
        return new_proof(self, login)

    def begin_login(self, server: LiveServer) -> Callable[[], Reply]:
        """Let a member confirm a login at the only provider."""
        client = RestClient(server, self.method)
        answer = get_answer(self.method, self.approve(client.begin()["url"]))
        return lambda: client.finish(answer)


class _Host:
    """The part of a host that providers use, without a server."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.values = MemoryValues(self.clock)
        self.public_url = "http://127.0.0.1:8000"


@contextmanager
def platform_server(
    folder: Path,
    harness: PlatformHarness,
    *,
    plugins: Sequence[str],
    config: Mapping[str, Any],
    database_url: str | None = None,
    port: int | None = None,
) -> Iterator[LiveServer]:
    """Run a server at an address of 127.0.0.1, whose redirect URIs platforms know."""
    port = port or free_port()
    server = {"public_url": f"http://127.0.0.1:{port}", **config.get("server", {})}
    with live_server(
        folder,
        plugins=plugins,
        files=harness.files,
        config={**config, "server": server},
        database_url=database_url,
        port=port,
    ) as running:
        yield running


def make_login(harness: PlatformHarness, through: Through = lambda url: url, **changes: Any) -> Any:
    """Return the login method of a harness, without a server.

    Args:
        through: as for :meth:`Harness.options`.
        changes: further options.
    """
    table = {**harness.options(through), **changes}
    login: Any = harness.method(_dataclass(harness.method.options_type, table), _NoProofs())
    login.attach(cast("HostAPI", _Host()))
    return login


def make_attempt(method: str, proof: Mapping[str, str]) -> LoginAttempt:
    """Return an attempt with a proof."""
    return LoginAttempt(Client("192.0.2.1"), method=method, proof=proof)


def new_proof(
    harness: Harness,
    login: OAuthLogin[Any],
    *,
    provider: str | None = None,
    person: str = MEMBER,
    user_agent: str = "",
) -> dict[str, str]:
    """Let a person confirm a login without a server; return its proof.

    Args:
        provider: the name of the provider; by default, the first one.
    """
    name = provider or next(iter(login.providers))
    verifier = secrets.token_urlsafe(48)
    start = Start(
        state=f"contract0{secrets.token_hex(16)}",
        redirect_uri=redirect_uri(login.host, login, name),
        nonce=secrets.token_urlsafe(24),
        code_challenge=create_s256_code_challenge(verifier),
        user_agent=user_agent,
    )
    url = login.providers[name].authorize_url(start)
    redirect = query_parameters(harness.approve(url, person))
    assert redirect.get("state") == start.state
    code = next(redirect[name] for name in login.code_parameters if name in redirect)
    known = {name: redirect[name] for name in login.parameters if name in redirect}
    kept = {
        "name": name,
        "redirect_uri": start.redirect_uri,
        "nonce": start.nonce,
        "code_verifier": verifier,
    }
    return make_proof(login.selector, kept, {"code": code, **known})


def _dataclass(kind: type[Any], table: Mapping[str, Any]) -> Any:
    """Return options as the server reads them from a table."""
    hints = get_type_hints(kind)
    known = {field.name for field in fields(kind)}
    assert table.keys() <= known, f"unknown options: {sorted(table.keys() - known)}"
    return kind(**{name: _converted(hints[name], value) for name, value in table.items()})


def _converted(hint: Any, value: Any) -> Any:
    inner = [part for part in (hint, *get_args(hint)) if is_dataclass(part)]
    if isinstance(value, Mapping) and inner:
        kind = cast("type[Any]", inner[0])
        if hint is kind:
            return _dataclass(kind, value)
        return {name: _dataclass(kind, item) for name, item in value.items()}
    if isinstance(value, str) and Path in (hint, *get_args(hint)):
        return Path(value)
    return tuple(value) if isinstance(value, list) else value


class _NoProofs:
    """The core verifies no proofs."""

    def identify(self, text: str) -> Credential | None:
        kind = "email" if "@" in text else "mobile"
        return Credential(kind, text.lower())

    def check_password(self, username: str, password: str) -> Credential | None:  # noqa: ARG002
        return None

    def consume_code(
        self,
        code: VerificationCode,  # noqa: ARG002
        recipient: str,  # noqa: ARG002
        purpose: str,  # noqa: ARG002
        *,
        client: Client | None = None,  # noqa: ARG002
    ) -> Credential | None:
        return None
