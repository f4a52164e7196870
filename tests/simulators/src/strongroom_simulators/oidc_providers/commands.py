"""The command ``strongroom oidc simulator``."""

from pathlib import Path
from typing import Any, Final

import click

from strongroom_simulators.listening import listening, run
from strongroom_simulators.oidc_providers.configuration import provider_section
from strongroom_simulators.oidc_providers.samples import PROVIDERS, sample_provider
from strongroom_simulators.oidc_providers.server import Simulator

CALLBACK: Final = "/api/v1/oidc-authorizations/callback"

MANUAL: Final = """\
The simulator listens on {url}. Configure the server, in development only:

[login.oidc]
allow_insecure_loopback = true
[login.oidc.providers.{preset}]
{members}

People: {people}."""


@click.command()
@click.option(
    "--preset",
    type=click.Choice(list(PROVIDERS)),
    default="openid",
    show_default=True,
    help="The provider; `openid` has no traps of its own.",
)
@listening(8092)
@click.option(
    "--server", default="http://127.0.0.1:8000", show_default=True, help="The public URL of the server."
)
@click.option(
    "--key-file",
    type=click.Path(path_type=Path),
    default=Path("apple-simulator.pem"),
    show_default=True,
    help="Where the private key of the client is written, at Apple.",
)
def simulator(preset: str, host: str, port: int, server: str, key_file: Path) -> None:
    """Serve a provider of logins with made-up people, until interrupted."""
    provider = sample_provider(preset, f"{server.rstrip('/')}{CALLBACK}/{preset}")
    service = Simulator(provider, host=host, port=port)
    section = provider_section(preset, provider, key_file)
    members = "\n".join(f"{name} = {_toml(value)}" for name, value in section.items())
    run(service, MANUAL, provider.people, preset=preset, members=members)


def _toml(value: Any) -> str:
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
