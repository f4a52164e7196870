"""Entry point of the plugin."""

from collections.abc import Iterable
from datetime import timedelta

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.deactivation import Deactivate
from strongroom.plugin_api.erasers import FileEraser, TenantEraser
from strongroom.plugin_api.events import AuditedEvent, EventSubscriber
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.pages import StaticFiles
from strongroom.plugin_api.pruning import PruneStep
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.web import Blueprint, ErrorKind
from strongroom_share_links.errors import KINDS
from strongroom_share_links.events import EVENTS
from strongroom_share_links.maker_routes import make_maker_routes
from strongroom_share_links.models import metadata
from strongroom_share_links.options import ShareOptions
from strongroom_share_links.page_routes import make_pages
from strongroom_share_links.service import DELETED, RESTORED, shares_of
from strongroom_share_links.user_exports import share_exports
from strongroom_share_links.visitor_routes import make_visitor_routes

API_VERSION = "1.2"


@hookimpl
def register_options() -> type[ShareOptions]:
    return ShareOptions


@hookimpl
def register_tables() -> PluginTables:
    return PluginTables(metadata, migrations="strongroom_share_links:migrations", revision="0003")


@hookimpl
def register_event_types() -> Iterable[AuditedEvent]:
    return EVENTS


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    return KINDS


@hookimpl
def register_jobs(host: HostAPI) -> list[Job]:
    # As often as the core deletes expired uploads.
    return [Job("settle_uploads", timedelta(minutes=10), shares_of(host).settle_uploads)]


@hookimpl
def register_prune_steps(host: HostAPI) -> list[PruneStep]:
    return [PruneStep("shares", shares_of(host).prune)]


@hookimpl
def register_tenant_erasers(host: HostAPI) -> list[TenantEraser]:
    return [shares_of(host).erase_tenant]


@hookimpl
def register_file_erasers(host: HostAPI) -> list[FileEraser]:
    return [shares_of(host).erase_files]


@hookimpl
def register_event_subscribers(host: HostAPI) -> list[EventSubscriber]:
    shares = shares_of(host)
    return [
        EventSubscriber("deleted_tenants", (DELETED,), shares.close_tenant),
        EventSubscriber("restored_files", (RESTORED,), shares.close_restored),
    ]


@hookimpl
def register_deactivations(host: HostAPI) -> list[Deactivate]:
    return [shares_of(host).states.close_of_leaver]


@hookimpl
def register_user_exports(host: HostAPI) -> list[UserExport]:
    return share_exports(host)


@hookimpl
def register_static_files() -> list[StaticFiles]:
    return [StaticFiles()]


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    shares = shares_of(host)
    return [
        make_maker_routes(host, shares),
        *make_visitor_routes(host, shares),
        *make_pages(host, shares),
    ]
