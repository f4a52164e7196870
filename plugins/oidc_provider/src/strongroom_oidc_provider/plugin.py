"""Entry point of the plugin."""

from collections.abc import Iterable

from click import Command

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.web import Blueprint, ErrorKind
from strongroom_oidc_provider import client_routes
from strongroom_oidc_provider.commands import make_commands
from strongroom_oidc_provider.errors import KINDS
from strongroom_oidc_provider.models import metadata
from strongroom_oidc_provider.options import ProviderOptions

API_VERSION = "2.0"


@hookimpl
def register_options() -> type[ProviderOptions]:
    return ProviderOptions


@hookimpl
def register_tables() -> PluginTables:
    return PluginTables(metadata, migrations="strongroom_oidc_provider:migrations", revision="0001")


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    return KINDS


@hookimpl
def register_blueprints() -> list[Blueprint]:
    return [client_routes.routes]


@hookimpl
def register_commands(host: HostAPI) -> list[Command]:
    return [make_commands(host)]
