"""Entry point of the plugin."""

from collections.abc import Iterable

from click import Command

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.audit import AuditSentence
from strongroom.plugin_api.erasers import TenantEraser
from strongroom.plugin_api.events import EventSink
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.metrics import Metric
from strongroom.plugin_api.pruning import PruneStep
from strongroom.plugin_api.resources import ResourceKind
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.web import Blueprint, ErrorKind
from strongroom_webhooks.audit_sentences import SENTENCES
from strongroom_webhooks.commands import make_commands
from strongroom_webhooks.errors import KINDS
from strongroom_webhooks.metrics import make_metrics
from strongroom_webhooks.models import metadata
from strongroom_webhooks.options import WebhookOptions
from strongroom_webhooks.resource_kinds import KINDS as RESOURCE_KINDS
from strongroom_webhooks.routes import routes
from strongroom_webhooks.service import Webhooks, start_sending, stop_sending
from strongroom_webhooks.sink import WebhookSink

API_VERSION = "2.0"


@hookimpl
def register_options() -> type[WebhookOptions]:
    return WebhookOptions


@hookimpl
def register_audit_sentences() -> Iterable[AuditSentence]:
    return SENTENCES


@hookimpl
def register_tables() -> PluginTables:
    return PluginTables(metadata, migrations="strongroom_webhooks:migrations", revision="0002")


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    return KINDS


@hookimpl
def register_event_sinks(host: HostAPI) -> list[EventSink]:
    return [WebhookSink(host.get_service(Webhooks))]


@hookimpl
def register_prune_steps(host: HostAPI) -> list[PruneStep]:
    return [PruneStep("deliveries", host.get_service(Webhooks).prune)]


@hookimpl
def register_tenant_erasers(host: HostAPI) -> list[TenantEraser]:
    return [host.get_service(Webhooks).erase_tenant]


@hookimpl
def register_metrics(host: HostAPI) -> list[Metric]:
    return make_metrics(host.database, host.clock)


@hookimpl
def register_resource_kinds() -> Iterable[ResourceKind]:
    return RESOURCE_KINDS


@hookimpl
def register_blueprints() -> list[Blueprint]:
    return [routes]


@hookimpl
def register_commands(host: HostAPI) -> list[Command]:
    return [make_commands(host)]


@hookimpl
def start(host: HostAPI) -> None:
    start_sending(host)


@hookimpl
def stop() -> None:
    stop_sending()
