"""The entry point of the plugin."""

from wsgiref.types import WSGIApplication

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ErrorKind
from strongroom_directory_listing.application import READ_ONLY, DirectoryListing

API_VERSION = "2.0"


@hookimpl
def register_wsgi_applications(host: HostAPI) -> list[tuple[str, WSGIApplication]]:
    return [("/browse", DirectoryListing(host))]


@hookimpl
def register_errors() -> list[ErrorKind]:
    return [READ_ONLY]
