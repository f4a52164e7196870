"""Entry point of the plugin."""

from datetime import timedelta
from wsgiref.types import WSGIApplication

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.web import Blueprint, ErrorKind, StartPage
from strongroom_login_pages.application import LoginPagesApplication
from strongroom_login_pages.codes import LoginCodes
from strongroom_login_pages.models import metadata
from strongroom_login_pages.options import LoginPagesOptions
from strongroom_login_pages.routes import CODE_INVALID, make_routes

API_VERSION = "1.2"


@hookimpl
def register_options() -> type[LoginPagesOptions]:
    return LoginPagesOptions


@hookimpl
def register_tables() -> PluginTables:
    return PluginTables(metadata, migrations="strongroom_login_pages:migrations", revision="0001")


@hookimpl
def register_errors() -> list[ErrorKind]:
    return [CODE_INVALID]


@hookimpl
def register_jobs(host: HostAPI) -> list[Job]:
    return [Job("prune", timedelta(hours=1), LoginCodes(host).prune)]


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    return [make_routes(host, LoginCodes(host))]


@hookimpl
def register_start_pages() -> list[StartPage]:
    # The page of the account shows the login to those who are not logged in.
    return [StartPage("/account/", {"en": "Log in", "zh": "登录"})]


@hookimpl
def register_wsgi_applications(host: HostAPI) -> list[tuple[str, WSGIApplication]]:
    return [("/account", LoginPagesApplication(host, LoginCodes(host)))]
