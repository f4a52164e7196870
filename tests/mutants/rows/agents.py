"""Mutants: agents."""

from typing import Final

from tests.mutants.modules import agents

_PROTOCOL: Final = "mcp/rest/test_protocol.py"
_CLIENTS: Final = "mcp/rest/test_client_tokens.py"
_TOOLS: Final = "mcp/rest/test_reading_tools.py"

ROWS: Final = (
    agents(
        "agents-origin",
        "Pages of other origins reach no tool.",
        "protocol/headers.py::is_own_origin",
        "return origin is None or origin.lower() in allowed",
        "return True",
        f"{_PROTOCOL}::TestHttp::test_pages_of_other_origins_are_refused",
    ),
    agents(
        "agents-caller",
        "A request needs a token or an access key with a scope of files.",
        "callers.py::find_caller",
        "host.authenticate(scope=Scope.FILES_READ, audience=get_resource(host))",
        "host.authenticate(scope=Scope.TENANTS_READ, audience=get_resource(host))",
        f"{_PROTOCOL}::TestHttp::test_a_request_needs_a_caller",
    ),
    agents(
        "agents-audience",
        "A client's token for another service opens no tool.",
        "callers.py::find_caller",
        "host.authenticate(scope=Scope.FILES_READ, audience=get_resource(host))",
        "host.authenticate(scope=Scope.FILES_READ)",
        f"{_CLIENTS}::test_each_kind_of_token_opens_its_own_service",
    ),
    agents(
        "agents-scopes-of-a-client",
        "A client learns the scopes that it lacks.",
        "tools/tool.py::call",
        "if isinstance(failure, ScopeMissing) and host.caller and host.caller.client_id:",
        "if False:",
        f"{_CLIENTS}::test_a_client_learns_all_scopes_of_a_tool",
    ),
    agents(
        "agents-rate",
        "The requests of a key are limited.",
        "routes.py::McpApplication._limit_rate",
        'self._host.limits.check_rate("calls", [rate], caller.key_id or caller.user_id)',
        "pass",
        f"{_PROTOCOL}::test_the_rate_of_a_key_is_limited",
    ),
    agents(
        "agents-headers",
        "The headers of a request equal the values in its body.",
        "protocol/revisions.py::find_revision",
        "_require_headers(message, headers)",
        "pass",
        f"{_PROTOCOL}::TestStateless::test_headers_repeat_the_body",
    ),
    agents(
        "agents-record",
        "Each call is recorded with the key and the client.",
        "tools/tool.py::record_call",
        'host.audit("call", kind, target, details)',
        "pass",
        f"{_TOOLS}::test_each_call_is_recorded_with_the_key_and_the_client",
    ),
    agents(
        "agents-budget",
        "A search in content ends with its budget.",
        "tools/grep.py::Search.run",
        "if limit := self.budget.end:",
        "if limit := None:",
        f"{_TOOLS}::TestGrep::test_a_limit_stops_it_and_a_cursor_continues",
    ),
    agents(
        "agents-length",
        "One call reads a bounded number of bytes.",
        "tools/arguments.py::integer",
        "validate=validate.Range(least, most)",
        "validate=validate.Range(least)",
        f"{_TOOLS}::test_other_content_is_read_as_base64",
    ),
    agents(
        "agents-scope",
        "A key without the scope of a tool does not run it.",
        "tools/tool.py::_run",
        "if not has_scope(host, tool.scope):",
        "if False:",
        "mcp/rest/test_writing_tools.py::test_a_key_has_the_tools_of_its_scopes",
    ),
    agents(
        "agents-revision",
        "A file that has changed since it was read is not overwritten.",
        "tools/writing.py::write_file",
        'tenant_id, file_id, source, size=len(content), revision=values["revision"]',
        "tenant_id, file_id, source, size=len(content)",
        "mcp/rest/test_writing_tools.py::test_content_is_replaced_by_the_revision_that_was_read",
    ),
    agents(
        "agents-trash",
        "Agents delete nothing permanently.",
        "tools/changing.py::trash_file",
        "if not host.files.has_trash:",
        "if False:",
        "mcp/rest/test_writing_tools.py::test_nothing_is_deleted_without_a_trash",
    ),
    agents(
        "agents-own-folder",
        "The folder of a key stays.",
        "tools/changing.py::require_within",
        "if caller and caller.file_id == file_id:",
        "if False:",
        "mcp/rest/test_writing_tools.py::test_the_folder_of_the_key_stays",
    ),
    agents(
        "agents-link-end",
        "A link of an agent expires.",
        "links.py::open_link",
        "return link if link.kind == kind and host.clock.now() < link.expires_at else None",
        "return link if link.kind == kind else None",
        "mcp/rest/test_links.py::test_a_file_is_downloaded_for_a_minute",
    ),
    agents(
        "agents-link-key",
        "A link of an agent ends with its key.",
        "links.py::Link.delegation",
        "self.user_id, self.tenant_id, self.file_id, level, required=level, key_id=self.key_id",
        "self.user_id, self.tenant_id, self.file_id, level, required=level",
        "mcp/rest/test_links.py::test_a_link_ends_with_the_key_and_the_right",
    ),
    agents(
        "agents-link-kind",
        "A link to download takes no upload.",
        "links.py::open_link",
        "return link if link.kind == kind and host.clock.now() < link.expires_at else None",
        "return link if host.clock.now() < link.expires_at else None",
        "mcp/rest/test_links.py::test_a_link_is_for_one_kind_of_request",
    ),
)
