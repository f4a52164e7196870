"""A tool over files, and what holds for all of them: scope, arguments, failures and the audit record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_mcp.protocol.registry import Client, Hints, Tool, ToolResult, text_block
from strongroom_mcp.tools.arguments import MAX_ID, Arguments, describe, parse
from strongroom_mcp.tools.failures import ScopeMissing, ToolFailed, translate

READ_ONLY: Final = Hints(is_read_only=True, is_idempotent=True)


@dataclass(frozen=True, slots=True)
class FileTool:
    """A tool over the files of the caller.

    Args:
        scope: the scope that an access key needs for it.
        run: runs it with arguments that are valid.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[HostAPI, dict[str, Any]], ToolResult]
    scope: Scope = Scope.FILES_READ
    hints: Hints = READ_ONLY

    def bind(self, host: HostAPI) -> Tool:
        """Return the tool of the protocol, for a host."""
        return Tool(
            self.name,
            self.description,
            describe(self.arguments),
            partial(call, host, self),
            self.title,
            self.hints,
            partial(is_listed, host, self.scope),
        )


def is_listed(host: HostAPI, scope: Scope) -> bool:
    """Return whether the caller sees the tools of a scope: a client can request it from its user."""
    caller = host.caller
    return has_scope(host, scope) or (caller is not None and caller.client_id is not None)


def has_scope(host: HostAPI, scope: Scope) -> bool:
    """Return whether the caller may use a scope; a user without an access key may use all."""
    caller = host.caller
    return caller is not None and (caller.scopes is None or scope in caller.scopes)


def call(host: HostAPI, tool: FileTool, arguments: Mapping[str, Any], client: Client) -> ToolResult:
    """Run a tool for the caller, and record the call.

    Raises:
        ScopeMissing: the caller is a client with a grant, which can request further scopes.
    """
    failure: ToolFailed | None = None
    try:
        result = _run(host, tool, arguments)
    except ToolFailed as error:
        failure = error
        result = ToolResult([text_block(str(error))], is_error=True)
    record_call(host, tool.name, arguments, client, failure)
    if isinstance(failure, ScopeMissing) and host.caller and host.caller.client_id:
        raise failure
    return result


def _run(host: HostAPI, tool: FileTool, arguments: Mapping[str, Any]) -> ToolResult:
    if not has_scope(host, tool.scope):
        raise ScopeMissing(tool.scope, tool.scope)
    values = parse(tool.arguments, arguments)
    try:
        return tool.run(host, values)
    except ApiError as error:
        if error.scope is not None and host.caller and host.caller.client_id:
            raise ScopeMissing(tool.scope, error.scope) from error
        raise translate(error) from error


def record_call(
    host: HostAPI,
    tool: str,
    arguments: Mapping[str, Any],
    client: Client,
    failure: ToolFailed | None = None,
) -> None:
    """Record a call in the audit log: the user, the key or the client, the file, the outcome.

    The program is what the sender says about itself; the server adds the client of a grant.
    """
    caller = host.caller
    assert caller is not None  # noqa: S101  the request was authenticated
    kind, target = _target(arguments, caller.user_id)
    details = {
        "tool": tool,
        "keyId": None if caller.client_id else caller.key_id,
        "program": f"{client.name} {client.version}".strip() or None,
        "tenant": _read_id(arguments, "tenantId") or caller.tenant_id,
        "outcome": failure.code if failure else "ok",
    }
    host.audit("call", kind, target, details)


def _target(arguments: Mapping[str, Any], user_id: str) -> tuple[str, str]:
    """Return the type and the id of what a call names first: a file, a folder, a space, or nothing."""
    for kind, name in (("file", "fileId"), ("file", "folderId"), ("tenant", "tenantId")):
        if id_ := _read_id(arguments, name):
            return kind, id_
    return "user", user_id


def _read_id(arguments: Mapping[str, Any], name: str) -> str | None:
    """Return an id, which is perhaps not valid, if the audit log can store it."""
    id_ = arguments.get(name)
    return id_ if isinstance(id_, str) and 0 < len(id_) <= MAX_ID and id_.isprintable() else None
