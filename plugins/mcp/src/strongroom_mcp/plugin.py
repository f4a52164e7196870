"""Entry point of the plugin."""

from collections.abc import Iterable

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.audit import AuditSentence
from strongroom.plugin_api.discovery import DiscoveryDocument
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import LargeBody, MountedApplication
from strongroom_mcp.audit_sentences import SENTENCES
from strongroom_mcp.callers import describe_resource
from strongroom_mcp.links import PREFIX
from strongroom_mcp.options import McpOptions
from strongroom_mcp.protocol.endpoint import MAX_BODY
from strongroom_mcp.routes import McpApplication

API_VERSION = "2.0"


@hookimpl
def register_options() -> type[McpOptions]:
    return McpOptions


@hookimpl
def register_audit_sentences() -> Iterable[AuditSentence]:
    return SENTENCES


@hookimpl
def register_discovery(host: HostAPI) -> list[DiscoveryDocument]:
    return [describe_resource(host)]


@hookimpl
def register_wsgi_applications(host: HostAPI) -> list[MountedApplication]:
    bodies = [LargeBody("POST", "/", MAX_BODY), LargeBody("PUT", "/uploads/<link>")]
    return [MountedApplication(PREFIX, McpApplication(host), large_bodies=bodies)]
