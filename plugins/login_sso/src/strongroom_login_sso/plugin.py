"""Entry point of the plugin."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.audit import AuditSentence
from strongroom.plugin_api.deactivation import Deactivate
from strongroom.plugin_api.erasers import TenantEraser
from strongroom.plugin_api.events import EventSubscriber
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.login_conditions import CheckLogin
from strongroom.plugin_api.pages import FindLoginRoute, SpaceSection
from strongroom.plugin_api.provisioning import FindAddressOwner
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.web import Blueprint, ErrorKind, MountedApplication
from strongroom_login_oauth.routes import blueprints
from strongroom_login_sso import routes
from strongroom_login_sso.audit_sentences import SENTENCES
from strongroom_login_sso.errors import KINDS
from strongroom_login_sso.method import SsoLogin
from strongroom_login_sso.models import metadata
from strongroom_login_sso.options import SsoOptions
from strongroom_login_sso.pages import PREFIX, make_sso_pages
from strongroom_login_sso.service import EVENTS, SingleSignOn

API_VERSION = "2.0"


@hookimpl
def register_options() -> type[SsoOptions]:
    return SsoOptions


@hookimpl
def register_audit_sentences() -> Iterable[AuditSentence]:
    return SENTENCES


@hookimpl
def register_tables() -> PluginTables:
    # A restore of one tenant restores none of them: a domain may be another tenant's by now, and the
    # secret of a client may have been revoked.
    return PluginTables(metadata, migrations="strongroom_login_sso:migrations", revision="0001")


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [SsoLogin]


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    return [*SsoLogin.error_kinds(), *KINDS]


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    flow = blueprints(host, SsoLogin)
    # Without the login method, no tenant has a use for domains.
    return [*flow, routes.routes] if flow else []


@hookimpl
def register_login_routes(host: HostAPI) -> list[FindLoginRoute]:
    # Without the login method, no address leads to a provider.
    is_enabled = host.extension(SsoLogin) is not None
    return [host.get_service(SingleSignOn).find_page_route] if is_enabled else []


@hookimpl
def register_wsgi_applications(host: HostAPI) -> list[MountedApplication]:
    return [make_sso_pages(host)]


@hookimpl
def register_space_sections() -> list[SpaceSection]:
    labels = {"en": "Single sign-on", "zh": "单点登录"}
    administrators = frozenset({"admin"})
    # With the login method, the server has its routes.
    route = "/api/v1/tenants/any/identity-providers"
    path = f"{PREFIX}/{{tenant}}/"
    return [SpaceSection(path, labels, "log-in", order=145, roles=administrators, route=route)]


@hookimpl
def register_login_conditions(host: HostAPI) -> list[CheckLogin]:
    return [host.get_service(SingleSignOn).rules.check]


@hookimpl
def register_address_owners(host: HostAPI) -> list[FindAddressOwner]:
    return [host.get_service(SingleSignOn).find_address_owner]


@hookimpl
def register_deactivations(host: HostAPI) -> list[Deactivate]:
    return [host.get_service(SingleSignOn).deactivate]


@hookimpl
def register_event_subscribers(host: HostAPI) -> list[EventSubscriber]:
    service = host.get_service(SingleSignOn)
    return [EventSubscriber("members", EVENTS, service.handle)]


@hookimpl
def register_tenant_erasers(host: HostAPI) -> list[TenantEraser]:
    return [host.get_service(SingleSignOn).erase_tenant]


@hookimpl
def register_jobs(host: HostAPI) -> list[Job]:
    service = host.get_service(SingleSignOn)
    return [Job("check_domains", timedelta(minutes=10), service.check_domains)]
