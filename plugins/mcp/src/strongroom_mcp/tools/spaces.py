"""The spaces of the caller."""

from typing import Any

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom_mcp.protocol.registry import ToolResult
from strongroom_mcp.tools.arguments import MAX_PAGE, PAGE_SIZE, Arguments, integer
from strongroom_mcp.tools.failures import ToolFailed
from strongroom_mcp.tools.records import data_result
from strongroom_mcp.tools.tool import FileTool, has_scope


class SpacesArguments(Arguments):
    """The arguments of the list."""

    page = integer("The page, from 1 on; see nextPage of the result", 1, MAX_PAGE, 1)


def find_tenant(host: HostAPI, values: dict[str, Any]) -> str:
    """Return the space that the arguments name, or the only one that the caller can reach.

    Raises:
        ToolFailed: the arguments name none, and the caller is not limited to one.
    """
    caller = host.caller
    tenant_id = values.get("tenantId") or (caller.tenant_id if caller else None)
    if tenant_id is None:
        raise ToolFailed("Name the space by tenantId; spaces_list returns the ids.", "invalid-arguments")
    return str(tenant_id)


def list_spaces(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Return the spaces that the caller can reach."""
    caller = host.caller
    if caller and caller.tenant_id and not has_scope(host, Scope.TENANTS_READ):
        return data_result({"spaces": [{"tenantId": caller.tenant_id}], "nextPage": None})
    page = host.tenants.list(page=values["page"], size=PAGE_SIZE)
    spaces = [
        {"tenantId": tenant.id, "name": tenant.name}
        for tenant in page.items
        if not caller or caller.tenant_id in (None, tenant.id)
    ]
    return data_result({"spaces": spaces, "nextPage": page.next})


TOOLS = (
    FileTool(
        "spaces_list",
        "List spaces",
        "List the spaces that you can reach. A space (tenant) has folders and files. Needs the scope "
        "tenants:read if the access key is not limited to one space.",
        SpacesArguments,
        list_spaces,
    ),
)
