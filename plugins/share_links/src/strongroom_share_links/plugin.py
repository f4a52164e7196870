"""Entry point of the plugin."""

from collections.abc import Iterable
from datetime import timedelta

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.audit import AuditSentence
from strongroom.plugin_api.deactivation import Deactivate
from strongroom.plugin_api.erasers import FileEraser, TenantEraser
from strongroom.plugin_api.events import AuditedEvent, EventSubscriber
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.pages import StaticFiles
from strongroom.plugin_api.pruning import PruneStep
from strongroom.plugin_api.resources import ResourceKind
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.web import Blueprint, ErrorKind
from strongroom_share_links import creator_routes, page_routes, visitor_routes
from strongroom_share_links.audit_sentences import SENTENCES
from strongroom_share_links.errors import KINDS
from strongroom_share_links.events import EVENTS
from strongroom_share_links.models import metadata
from strongroom_share_links.options import ShareOptions
from strongroom_share_links.resource_kinds import KINDS as RESOURCE_KINDS
from strongroom_share_links.service import DELETED, RESTORED, Shares
from strongroom_share_links.user_exports import share_exports

API_VERSION = "2.0"


@hookimpl
def register_options() -> type[ShareOptions]:
    return ShareOptions


@hookimpl
def register_audit_sentences() -> Iterable[AuditSentence]:
    return SENTENCES


@hookimpl
def register_tables() -> PluginTables:
    # The links themselves are left out: their secrets may have been revoked since.
    return PluginTables(
        metadata,
        migrations="strongroom_share_links:migrations",
        revision="0004",
        tenant_tables=["share_links_policies"],
    )


@hookimpl
def register_event_types() -> Iterable[AuditedEvent]:
    return EVENTS


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    return KINDS


@hookimpl
def register_jobs(host: HostAPI) -> list[Job]:
    # As often as the core deletes expired uploads.
    return [Job("settle_uploads", timedelta(minutes=10), host.get_service(Shares).settle_uploads)]


@hookimpl
def register_prune_steps(host: HostAPI) -> list[PruneStep]:
    return [PruneStep("shares", host.get_service(Shares).prune)]


@hookimpl
def register_tenant_erasers(host: HostAPI) -> list[TenantEraser]:
    return [host.get_service(Shares).erase_tenant]


@hookimpl
def register_file_erasers(host: HostAPI) -> list[FileEraser]:
    return [host.get_service(Shares).erase_files]


@hookimpl
def register_event_subscribers(host: HostAPI) -> list[EventSubscriber]:
    shares = host.get_service(Shares)
    return [
        EventSubscriber("deleted_tenants", (DELETED,), shares.close_tenant),
        EventSubscriber("restored_files", (RESTORED,), shares.close_restored),
    ]


@hookimpl
def register_deactivations(host: HostAPI) -> list[Deactivate]:
    return [host.get_service(Shares).states.close_of_leaver]


@hookimpl
def register_user_exports(host: HostAPI) -> list[UserExport]:
    return share_exports(host)


@hookimpl
def register_static_files() -> list[StaticFiles]:
    return [StaticFiles()]


@hookimpl
def register_resource_kinds() -> Iterable[ResourceKind]:
    return RESOURCE_KINDS


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    pages = [page_routes.routes] if host.options.page else []
    return [creator_routes.routes, visitor_routes.routes, visitor_routes.uploads, *pages]
