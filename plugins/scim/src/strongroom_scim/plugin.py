"""Entry point of the plugin."""

from typing import TYPE_CHECKING, Any, Final

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.discovery import DiscoveryDocument
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import ConsoleSection, SpaceSection
from strongroom.plugin_api.web import Blueprint, ErrorKind, LargeBody, MountedApplication
from strongroom_scim.errors import KINDS
from strongroom_scim.options import ScimOptions
from strongroom_scim.pages import PREFIX as PAGE_PREFIX
from strongroom_scim.pages import SPACE_PATH, make_directory_pages
from strongroom_scim.paths import MAX_BODY, PREFIX, describe_resource, large_paths
from strongroom_scim.routes import routes

if TYPE_CHECKING:
    from strongroom_scim.application import ScimApplication

API_VERSION = "2.0"

_LABELS: Final = {"en": "Directories", "zh": "目录同步"}


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
    scim = MountedApplication(PREFIX, _LateApplication(host), large_bodies=bodies)
    return [scim, make_directory_pages(host)]


@hookimpl
def register_console_sections() -> list[ConsoleSection]:
    return [ConsoleSection(f"{PAGE_PREFIX}/", _LABELS, "refresh-cw", "people", order=65)]


@hookimpl
def register_space_sections() -> list[SpaceSection]:
    roles = frozenset({"admin"})
    return [SpaceSection(SPACE_PATH, _LABELS, "refresh-cw", order=145, roles=roles)]


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
