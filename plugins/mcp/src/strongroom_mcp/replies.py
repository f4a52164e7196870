"""Requests and responses of WSGI."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from wsgiref.types import StartResponse, WSGIEnvironment

from strongroom_mcp.protocol.endpoint import HttpReply


def send_reply(reply: HttpReply, start_response: StartResponse) -> Iterable[bytes]:
    """Send a response."""
    headers = [*reply.headers.items()]
    if reply.body is not None:
        headers.append(("Content-Type", "application/json"))
    start_response(f"{reply.status} {HTTPStatus(reply.status).phrase}", headers)
    return [reply.content]


def read_headers(environ: WSGIEnvironment) -> Mapping[str, str]:
    """Return the headers of a request, with names in lower case and values without outer spaces."""
    headers = {
        name[5:].replace("_", "-").lower(): str(value).strip()
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    return {**headers, "content-type": str(environ.get("CONTENT_TYPE", ""))}
