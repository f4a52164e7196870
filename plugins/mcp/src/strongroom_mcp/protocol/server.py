"""The methods of the protocol."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from strongroom_mcp.protocol.messages import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    RESOURCE_NOT_FOUND,
    Message,
    ProtocolError,
)
from strongroom_mcp.protocol.registry import (
    Client,
    InvalidCursor,
    Prompt,
    Registry,
    ResourceNotFound,
    Resources,
    Tool,
    ToolResult,
)
from strongroom_mcp.protocol.revisions import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    SERVER_KEY,
    STATELESS,
    SUPPORTED,
    negotiate,
)

Result = dict[str, Any]

_HOUR: Final = 60 * 60 * 1000
_MINUTE: Final = 60 * 1000
_MAX_NAME: Final = 100
"""The maximum length of what a client says about itself."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server says about itself; ``instructions`` are for the model of the client."""

    name: str
    title: str
    version: str
    instructions: str

    def serialize(self) -> dict[str, str]:
        """Return the description of the protocol."""
        return {"name": self.name, "title": self.title, "version": self.version}


class Server:
    """Answers the methods of all revisions. It has no state."""

    def __init__(self, info: ServerInfo, registry: Registry) -> None:
        self._info = info
        self._registry = registry
        shared: dict[str, Callable[[Message, str], Result]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
        }
        if registry.resources:
            shared |= {
                "resources/list": self._list_resources,
                "resources/templates/list": self._list_templates,
                "resources/read": self._read_resource,
            }
        if registry.prompts:
            shared |= {"prompts/list": self._list_prompts, "prompts/get": self._get_prompt}
        self._stateless = {**shared, "server/discover": self._discover}
        self._handshake = {**shared, "initialize": self._initialize, "ping": _ping}

    def answer(self, message: Message, revision: str) -> Result:
        """Return the result of a request.

        Raises:
            ProtocolError: the method does not exist, or its parameters are invalid.
        """
        methods = self._stateless if revision == STATELESS else self._handshake
        method = methods.get(message.method)
        if method is None:
            raise ProtocolError(METHOD_NOT_FOUND, "The server does not have this method.")
        result = method(message, revision)
        if revision != STATELESS:
            return result
        meta = {SERVER_KEY: self._info.serialize(), **result.get("_meta", {})}
        return {"resultType": "complete", **result, "_meta": meta}

    def _discover(self, _: Message, revision: str) -> Result:
        return {
            "supportedVersions": [*SUPPORTED],
            "capabilities": self._capabilities,
            "instructions": self._info.instructions,
            **_cached(revision, _HOUR, "public"),
        }

    def _initialize(self, message: Message, _: str) -> Result:
        return {
            "protocolVersion": negotiate(message.params.get("protocolVersion")),
            "capabilities": self._capabilities,
            "serverInfo": self._info.serialize(),
            "instructions": self._info.instructions,
        }

    @property
    def _capabilities(self) -> Result:
        registry = self._registry
        offered = {"tools": True, "resources": registry.resources, "prompts": registry.prompts}
        return {name: {} for name, items in offered.items() if items}

    def _list_tools(self, message: Message, revision: str) -> Result:
        _refuse_cursor(message)
        tools = [_describe_tool(tool) for tool in self._registry.tools if tool.is_available()]
        return {"tools": tools, **_cached(revision, _MINUTE)}

    def _call_tool(self, message: Message, _: str) -> Result:
        tool, arguments = self._find_tool(message), message.params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, "The member arguments must be an object.")
        client = read_client(message)
        missing = {name: need for name, need in tool.requires.items() if name not in client.capabilities}
        if missing:
            data = {"requiredCapabilities": missing}
            raise ProtocolError(MISSING_CAPABILITY, "The client lacks a capability for this tool.", data)
        return _serialize_result(tool.call(arguments, client))

    def _find_tool(self, message: Message) -> Tool:
        name = message.params.get("name")
        for tool in self._registry.tools:
            if tool.name == name:
                return tool
        raise ProtocolError(INVALID_PARAMS, "There is no such tool; see tools/list.")

    @property
    def _resources(self) -> Resources:
        assert self._registry.resources is not None  # noqa: S101  otherwise, no method leads here
        return self._registry.resources

    def _list_resources(self, message: Message, revision: str) -> Result:
        cursor = message.params.get("cursor")
        if not isinstance(cursor, str | None):
            raise _invalid_cursor()
        try:
            page = self._resources.list(cursor)
        except InvalidCursor as error:
            raise _invalid_cursor() from error
        following = {} if page.cursor is None else {"nextCursor": page.cursor}
        return {"resources": [*page.items], **following, **_cached(revision, 0)}

    def _list_templates(self, message: Message, revision: str) -> Result:
        _refuse_cursor(message)
        return {"resourceTemplates": [*self._resources.templates], **_cached(revision, _HOUR, "public")}

    def _read_resource(self, message: Message, revision: str) -> Result:
        uri = message.params.get("uri")
        if not isinstance(uri, str):
            raise ProtocolError(INVALID_PARAMS, "The member uri must be a text.")
        try:
            contents = self._resources.read(uri, read_client(message))
        except ResourceNotFound as error:
            code = INVALID_PARAMS if revision == STATELESS else RESOURCE_NOT_FOUND
            raise ProtocolError(code, str(error) or "Resource not found", {"uri": uri}) from error
        return {"contents": [*contents], "_meta": {"untrusted": True}, **_cached(revision, 0)}

    def _list_prompts(self, message: Message, revision: str) -> Result:
        _refuse_cursor(message)
        prompts = [
            {"name": prompt.name, "description": prompt.description, "arguments": [*prompt.arguments]}
            for prompt in self._registry.prompts
        ]
        return {"prompts": prompts, **_cached(revision, _HOUR, "public")}

    def _get_prompt(self, message: Message, _: str) -> Result:
        prompt, values = self._find_prompt(message), message.params.get("arguments", {})
        needed = {item["name"] for item in prompt.arguments if item.get("required")}
        is_text = isinstance(values, dict) and all(isinstance(text, str) for text in values.values())
        if not is_text or not needed <= values.keys():
            raise ProtocolError(INVALID_PARAMS, "The arguments of the prompt are invalid.")
        return {"description": prompt.description, "messages": [*prompt.render(values)]}

    def _find_prompt(self, message: Message) -> Prompt:
        name = message.params.get("name")
        for prompt in self._registry.prompts:
            if prompt.name == name:
                return prompt
        raise ProtocolError(INVALID_PARAMS, "There is no such prompt; see prompts/list.")


def read_client(message: Message) -> Client:
    """Return the client that a request names in its ``_meta``; its texts are cut."""
    info, capabilities = message.meta.get(CLIENT_KEY), message.meta.get(CAPABILITIES_KEY)
    name, version = (_get_text(info, key) for key in ("name", "version"))
    return Client(name, version, capabilities if isinstance(capabilities, dict) else {})


def _get_text(info: object, key: str) -> str:
    value = info.get(key) if isinstance(info, dict) else None
    return value[:_MAX_NAME] if isinstance(value, str) else ""


def _ping(_: Message, __: str) -> Result:
    return {}


def _cached(revision: str, milliseconds: int, scope: str = "private") -> Result:
    """Return how long a client may keep a result, which older revisions do not have."""
    return {"ttlMs": milliseconds, "cacheScope": scope} if revision == STATELESS else {}


def _refuse_cursor(message: Message) -> None:
    """Refuse a cursor of a list with one page."""
    if message.params.get("cursor") is not None:
        raise _invalid_cursor()


def _invalid_cursor() -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, "The cursor is not one of this list.")


def _describe_tool(tool: Tool) -> Result:
    title = {"title": tool.title} if tool.title else {}
    return {
        "name": tool.name,
        **title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": {**title, **tool.hints.serialize()},
    }


def _serialize_result(result: ToolResult) -> Result:
    content: Sequence[Mapping[str, Any]] = result.content
    structured = {} if result.structured is None else {"structuredContent": result.structured}
    meta = {"_meta": {**result.meta}} if result.meta else {}
    return {"content": [*content], **structured, "isError": result.is_error, **meta}
