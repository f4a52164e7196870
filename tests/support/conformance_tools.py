"""What the conformance suite of the Model Context Protocol calls by name, on the protocol of agents."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.serving import make_server
from werkzeug.wsgi import get_input_stream

from strongroom_mcp.protocol.endpoint import Endpoint
from strongroom_mcp.protocol.registry import (
    Client,
    Hints,
    Prompt,
    Registry,
    ResourceNotFound,
    ResourcePage,
    Resources,
    Tool,
    ToolResult,
    text_block,
)
from strongroom_mcp.protocol.server import Server, ServerInfo
from strongroom_mcp.replies import read_headers, send_reply
from tests.support.shares import PNG

Json = Mapping[str, Any]

_TEMPLATE: Final = re.compile("test://template/([^/]+)/data")
_IMAGE: Final = {
    "type": "image",
    "data": base64.b64encode(PNG).decode(),
    "mimeType": "image/png",
}
_WAVE: Final = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"
_AUDIO: Final = {"type": "audio", "data": base64.b64encode(_WAVE).decode(), "mimeType": "audio/wav"}


def embed(uri: str, media_type: str, text: str) -> Json:
    """Return a block with a resource."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "text": text}}


_CONTENTS: Final[Mapping[str, Sequence[Json]]] = {
    "test_simple_text": [text_block("This is a simple text response for testing.")],
    "test_image_content": [_IMAGE],
    "test_audio_content": [_AUDIO],
    "test_embedded_resource": [
        embed("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text_block("Multiple content types test:"),
        _IMAGE,
        embed("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "test_error_handling": [text_block("This tool intentionally returns an error for testing")],
    "test_streaming_elicitation": [text_block("done")],
    "test_logging_tool": [text_block("done")],
    "test_missing_capability": [text_block("never")],
}


def make_tool(name: str, content: Sequence[Json]) -> Tool:
    """Return a tool that always returns the same."""
    result = ToolResult(content, is_error=name == "test_error_handling")

    def call(arguments: Json, client: Client) -> ToolResult:
        return result

    requires: Json = {"sampling": {}} if name == "test_missing_capability" else {}
    return Tool(name, f"Tests {name}.", {"type": "object"}, call, hints=Hints(), requires=requires)


def list_resources(cursor: str | None) -> ResourcePage:
    """Return the direct resources."""
    return ResourcePage(
        [
            {"uri": f"test://static-{kind}", "name": kind, "description": kind, "mimeType": media_type}
            for kind, media_type in (("text", "text/plain"), ("binary", "image/png"))
        ]
    )


def read_resource(uri: str, client: Client) -> Sequence[Json]:
    """Return the contents of a resource."""
    if uri == "test://static-text":
        text = "This is the content of the static text resource."
        return [{"uri": uri, "mimeType": "text/plain", "text": text}]
    if uri == "test://static-binary":
        return [{"uri": uri, "mimeType": "image/png", "blob": _IMAGE["data"]}]
    if match := _TEMPLATE.fullmatch(uri):
        data = {"id": match[1], "templateTest": True, "data": f"Data for ID: {match[1]}"}
        return [{"uri": uri, "mimeType": "application/json", "text": json.dumps(data)}]
    raise ResourceNotFound


def say(*blocks: Json) -> Sequence[Json]:
    """Return messages of the user."""
    return [{"role": "user", "content": block} for block in blocks]


def _argument(name: str) -> Json:
    return {"name": name, "description": f"The {name}", "required": True}


_PROMPTS: Final = (
    Prompt(
        "test_simple_prompt",
        "Simple",
        lambda values: say(text_block("This is a simple prompt for testing.")),
    ),
    Prompt(
        "test_prompt_with_arguments",
        "With arguments",
        lambda values: say(
            text_block(f"Prompt with arguments: arg1='{values['arg1']}', arg2='{values['arg2']}'")
        ),
        [_argument("arg1"), _argument("arg2")],
    ),
    Prompt(
        "test_prompt_with_embedded_resource",
        "With a resource",
        lambda values: say(
            embed(values["resourceUri"], "text/plain", "Embedded resource content for testing."),
            text_block("Please process the embedded resource above."),
        ),
        [_argument("resourceUri")],
    ),
    Prompt(
        "test_prompt_with_image",
        "With an image",
        lambda values: say(_IMAGE, text_block("Please analyze the image above.")),
    ),
)
_TEMPLATE_OF_DATA: Final = {
    "uriTemplate": "test://template/{id}/data",
    "name": "data",
    "description": "Data by id",
    "mimeType": "application/json",
}


def make_registry() -> Registry:
    """Return everything that the suite calls."""
    tools = [make_tool(name, content) for name, content in _CONTENTS.items()]
    resources = Resources(list_resources, read_resource, [_TEMPLATE_OF_DATA])
    return Registry(tools, resources, _PROMPTS)


def make_application(origin: str) -> WSGIApplication:
    """Return the application with the tools of the suite, for callers without a token."""
    server = Server(ServerInfo("conformance", "Conformance", "1", "Tools of tests."), make_registry())
    endpoint = Endpoint(server, [origin])

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        headers = read_headers(environ)
        reply = endpoint.refuse(environ["REQUEST_METHOD"], headers)
        if reply is None:
            size = int(environ.get("CONTENT_LENGTH") or 0)
            reply = endpoint.answer(headers, environ["wsgi.input"].read(size))
        return send_reply(reply, start_response)

    return application


def with_token(application: WSGIApplication, token: str) -> WSGIApplication:
    """Return an application whose requests all have a token, which the suite cannot send."""

    def call(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ["HTTP_AUTHORIZATION"] = f"Bearer {token}"
        # A development server does not end the body.
        environ["wsgi.input"] = get_input_stream(environ)
        return application(environ, start_response)

    return call


@contextmanager
def serve(application: WSGIApplication, port: int) -> Iterator[None]:
    """Serve an application at a port of the loopback interface until the block ends."""
    server = make_server("127.0.0.1", port, application, threaded=True)
    thread = Thread(target=server.serve_forever, name="conformance")
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
