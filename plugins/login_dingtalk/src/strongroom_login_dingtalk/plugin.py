"""Entry point of the plugin."""

from collections.abc import Iterable
from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.pages import LoginLink, StaticFiles
from strongroom.plugin_api.web import Blueprint, ErrorKind
from strongroom_login_dingtalk.method import DingTalkLogin
from strongroom_login_oauth.links import login_links
from strongroom_login_oauth.members import member_jobs
from strongroom_login_oauth.routes import blueprints

API_VERSION = "2.0"


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [DingTalkLogin]


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    return DingTalkLogin.error_kinds()


@hookimpl
def register_login_links(host: HostAPI) -> list[LoginLink]:
    return login_links(host, DingTalkLogin)


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    return blueprints(host, DingTalkLogin)


@hookimpl
def register_static_files() -> list[StaticFiles]:
    return [StaticFiles()]


@hookimpl
def register_jobs(host: HostAPI) -> list[Job]:
    return member_jobs(host, DingTalkLogin)
