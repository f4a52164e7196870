"""Entry point of the plugin."""

from collections.abc import Iterable

from click import Command

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.audit import AuditSentence
from strongroom.plugin_api.deactivation import Deactivate
from strongroom.plugin_api.discovery import DiscoveryDocument
from strongroom.plugin_api.events import EventSubscriber
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import ConsoleSection, FindBrand, MenuItem
from strongroom.plugin_api.pruning import PruneStep
from strongroom.plugin_api.resources import ResourceKind
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.web import Blueprint, ErrorKind, MountedApplication
from strongroom_oidc_provider import provider_routes
from strongroom_oidc_provider.audit_sentences import SENTENCES
from strongroom_oidc_provider.clients import brand_routes
from strongroom_oidc_provider.clients import routes as client_routes
from strongroom_oidc_provider.clients.brands import Brands
from strongroom_oidc_provider.clients.commands import make_commands
from strongroom_oidc_provider.clients.pages import PREFIX, make_application_pages
from strongroom_oidc_provider.clients.registration import Registrations
from strongroom_oidc_provider.clients.resource_kinds import KINDS as RESOURCE_KINDS
from strongroom_oidc_provider.consents import routes as consent_routes
from strongroom_oidc_provider.consents.consents import Consents
from strongroom_oidc_provider.devices.devices import Devices
from strongroom_oidc_provider.errors import KINDS
from strongroom_oidc_provider.logins.codes import Codes
from strongroom_oidc_provider.logins.pushed import PushedRequests
from strongroom_oidc_provider.logout.backchannel import LogoutQueue
from strongroom_oidc_provider.logout.sender import TYPE, start_sending, stop_sending
from strongroom_oidc_provider.models import metadata
from strongroom_oidc_provider.options import ProviderOptions
from strongroom_oidc_provider.server_metadata import get_provider_metadata, get_server_metadata

API_VERSION = "2.0"


@hookimpl
def register_options() -> type[ProviderOptions]:
    return ProviderOptions


@hookimpl
def register_audit_sentences() -> Iterable[AuditSentence]:
    return SENTENCES


@hookimpl
def register_token_types() -> list[str]:
    return ["JWT", TYPE]


@hookimpl
def register_tables() -> PluginTables:
    return PluginTables(metadata, migrations="strongroom_oidc_provider:migrations", revision="0012")


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    return KINDS


@hookimpl
def register_discovery(host: HostAPI) -> list[DiscoveryDocument]:
    return [
        DiscoveryDocument("openid-configuration", get_provider_metadata(host)),
        DiscoveryDocument("oauth-authorization-server", get_server_metadata(host)),
    ]


@hookimpl
def register_prune_steps(host: HostAPI) -> list[PruneStep]:
    return [
        PruneStep("codes", host.get_service(Codes).prune),
        PruneStep("devices", host.get_service(Devices).prune),
        PruneStep("logins", host.get_service(LogoutQueue).prune),
        PruneStep("pushed_requests", host.get_service(PushedRequests).prune),
        PruneStep("registrations", host.get_service(Registrations).prune),
    ]


@hookimpl
def register_deactivations(host: HostAPI) -> list[Deactivate]:
    return [host.get_service(Consents).deactivate, host.get_service(LogoutQueue).deactivate]


@hookimpl
def register_event_subscribers(host: HostAPI) -> list[EventSubscriber]:
    queue = host.get_service(LogoutQueue)
    return [EventSubscriber("logouts", ("authorization.revoked",), queue.handle)]


@hookimpl
def register_user_exports(host: HostAPI) -> list[UserExport]:
    return [
        UserExport("consents", "Applications that you have allowed", host.get_service(Consents).export)
    ]


@hookimpl
def register_menu_items() -> list[MenuItem]:
    labels = {"en": "Connected applications", "zh": "已连接的应用"}
    return [MenuItem("/oauth2/consents", labels, order=50, icon="puzzle", place="account")]


@hookimpl
def register_console_sections() -> list[ConsoleSection]:
    labels = {"en": "Applications", "zh": "应用"}
    return [ConsoleSection(f"{PREFIX}/", labels, "puzzle", "security", order=75)]


@hookimpl
def register_wsgi_applications(host: HostAPI) -> list[MountedApplication]:
    return [make_application_pages(host)]


@hookimpl
def register_page_brands(host: HostAPI) -> list[FindBrand]:
    return [host.get_service(Brands).find_brand]


@hookimpl
def register_resource_kinds() -> Iterable[ResourceKind]:
    return RESOURCE_KINDS


@hookimpl
def register_blueprints() -> list[Blueprint]:
    return [brand_routes.routes, client_routes.routes, consent_routes.routes, provider_routes.routes]


@hookimpl
def register_commands(host: HostAPI) -> list[Command]:
    return [make_commands(host)]


@hookimpl
def start(host: HostAPI) -> None:
    start_sending(host)


@hookimpl
def stop() -> None:
    stop_sending()
