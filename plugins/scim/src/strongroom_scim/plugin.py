"""Entry point of the plugin."""

from typing import TYPE_CHECKING, Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.discovery import DiscoveryDocument
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import Blueprint, ErrorKind, LargeBody, MountedApplication
from strongroom_scim.errors import KINDS
from strongroom_scim.options import ScimOptions
from strongroom_scim.paths import MAX_BODY, PREFIX, describe_resource, large_paths
from strongroom_scim.routes import routes

if TYPE_CHECKING:
    from strongroom_scim.application import ScimApplication

API_VERSION = "2.0"


@hookimpl
def register_options() -> type[ScimOptions]:
    return ScimOptions


@hookimpl
def register_errors() -> tuple[ErrorKind, ...]:
    return KINDS


@hookimpl
def register_blueprints() -> list[Blueprint]:
    return [routes]


@hookimpl
def register_discovery(host: HostAPI) -> list[DiscoveryDocument]:
    return [describe_resource(host)]


@hookimpl
def register_wsgi_applications(host: HostAPI) -> list[MountedApplication]:
    bodies = [LargeBody(method, path, MAX_BODY) for method, path in large_paths()]
    return [MountedApplication(PREFIX, _LateApplication(host), large_bodies=bodies)]


class _LateApplication:
    """Imports the application with the first request, because its models take half a second."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host
        self._application: ScimApplication | None = None

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        if self._application is None:
            from strongroom_scim.application import ScimApplication

            self._application = ScimApplication(self._host)
        return self._application(environ, start_response)
