"""The requests to links: downloads and uploads, which need no token but the link."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIEnvironment

from strongroom.plugin_api.host import HostAPI
from strongroom_mcp.links import Link, open_link
from strongroom_mcp.protocol.endpoint import HttpReply
from strongroom_mcp.replies import send_reply
from strongroom_mcp.tools.records import file_record

Answer = Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]]

METHODS: Final[Mapping[str, tuple[str, ...]]] = {"downloads": ("GET", "HEAD"), "uploads": ("PUT",)}

_RATE: Final = "600/minute"


def find_answer(host: HostAPI, environ: WSGIEnvironment) -> Answer:
    """Return the response to a request below the prefix of the plugin."""
    kind, _, sealed = environ["PATH_INFO"].removeprefix("/").partition("/")
    methods = METHODS.get(kind)
    if methods is None:
        return _reply(HttpReply(404))
    if environ["REQUEST_METHOD"] not in methods:
        return _reply(HttpReply(405, headers={"Allow": ", ".join(methods)}))
    host.limits.check_rate("links", [_RATE])
    link = open_link(host, kind, sealed)
    if link is None:
        return _reply(HttpReply(404))
    with host.acting_for(link.delegation):
        if kind == "downloads":
            answer: Answer = host.files.send(link.tenant_id, link.file_id)
            return answer
        return _reply(HttpReply(201 if link.name else 200, _receive(host, environ, link)))


def _receive(host: HostAPI, environ: WSGIEnvironment, link: Link) -> dict[str, Any]:
    """Store the body as a new file, or as the content of a file that has not changed."""
    length, source = environ.get("CONTENT_LENGTH"), environ["wsgi.input"]
    size = int(length) if length else None
    if link.name is None:
        file = host.files.replace(
            link.tenant_id, link.file_id, source, size=size, revision=link.revision
        )
    else:
        file = host.files.upload(link.tenant_id, link.file_id, link.name, source, size=size)
    key_id = None if link.client_id else link.key_id
    maker = {"keyId": key_id, "client": link.client_id}
    details = {"tool": "files_upload_link", **maker, "tenant": link.tenant_id}
    host.audit("upload", "file", file.id, details)
    return file_record(file)


def _reply(reply: HttpReply) -> Answer:
    def answer(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return send_reply(reply, start_response)

    return answer
