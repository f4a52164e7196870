"""Creates the usual folders in each new tenant, as the user who created it."""

from dataclasses import dataclass
from functools import partial

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.events import Event, EventSubscriber
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError

API_VERSION = "2.0"


@dataclass(frozen=True, slots=True)
class TenantFoldersOptions:
    """The keys of ``[plugins.tenant_folders]``."""

    names: tuple[str, ...] = option(
        ("Incoming", "Projects", "Archive"), help="The names of the folders."
    )


@hookimpl
def register_options() -> type[TenantFoldersOptions]:
    return TenantFoldersOptions


@hookimpl
def register_event_subscribers(host: HostAPI) -> list[EventSubscriber]:
    return [EventSubscriber("create", ("tenant.created",), partial(create_folders, host))]


def create_folders(host: HostAPI, event: Event) -> None:
    """Create the folders in the tenant of an event."""
    with host.acting_as(event.data["actor"]["$ref"]):
        for name in host.options.names:
            try:
                host.files.create_folder(event.data["tenantId"], None, name)
            except ApiError as error:
                # An event may be delivered again, and a tenant may have been deleted since.
                if error.code not in ("error.name-conflict", "error.forbidden"):
                    raise
