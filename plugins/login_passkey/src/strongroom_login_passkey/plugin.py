"""Entry point of the plugin."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.events import AuditedEvent
from strongroom.plugin_api.factors import SecondFactor
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import StaticFiles
from strongroom.plugin_api.web import Blueprint, ErrorKind
from strongroom_login_passkey.events import REGRESSED
from strongroom_login_passkey.factor import PasskeyFactor
from strongroom_login_passkey.routes import NOT_CONFIGURED, make_blueprints

API_VERSION = "2.0"


@hookimpl
def register_second_factors() -> list[type[SecondFactor[Any]]]:
    return [PasskeyFactor]


@hookimpl
def register_static_files() -> list[StaticFiles]:
    return [StaticFiles()]


@hookimpl
def register_errors() -> list[ErrorKind]:
    return [NOT_CONFIGURED]


@hookimpl
def register_event_types() -> list[AuditedEvent]:
    return [REGRESSED]


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    return make_blueprints(host)
