"""Entry point of the plugin."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import click

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.pages import FindLoginRoute, LoginLink, StaticFiles
from strongroom.plugin_api.web import Blueprint, ErrorKind
from strongroom_login_oauth.links import login_links
from strongroom_login_oauth.routes import blueprints
from strongroom_login_oidc import back_channel
from strongroom_login_oidc.back_channel import INVALID, UNKNOWN
from strongroom_login_oidc.commands import make_commands
from strongroom_login_oidc.domains import domain_routes, find_route
from strongroom_login_oidc.method import OIDCLogin

API_VERSION = "2.0"


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [OIDCLogin]


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    return [*OIDCLogin.error_kinds(), INVALID, UNKNOWN]


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    flow = blueprints(host, OIDCLogin)
    # Without providers, the login is disabled.
    return [*flow, back_channel.routes] if flow else []


@hookimpl
def register_login_links(host: HostAPI) -> list[LoginLink]:
    return login_links(host, OIDCLogin)


@hookimpl
def register_login_routes(host: HostAPI) -> list[FindLoginRoute]:
    login = host.extension(OIDCLogin)
    routes = {} if login is None else domain_routes(login)
    return [partial(find_route, routes)] if routes else []


@hookimpl
def register_static_files() -> list[StaticFiles]:
    return [StaticFiles()]


@hookimpl
def register_commands(host: HostAPI) -> list[click.Command]:
    return [make_commands(host)]
