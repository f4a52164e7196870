"""What changed from plugin API 1.2 to 2.0, and where a plugin's source still uses the former one.

``strongroom plugins check`` and the page for authors of plugins read the same table.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ApiChange:
    """A change of the plugin API.

    Args:
        old: the former code: a member such as ``host.seal``, the name of an argument, an import, or the
            code of an error.
        new: what to write instead.
    """

    old: str
    new: str


def _moved(facet: str, **members: str) -> list[ApiChange]:
    return [ApiChange(f"host.{old}", f"host.{facet}.{new}") for old, new in members.items()]


def _kept(facet: str, *members: str) -> list[ApiChange]:
    return _moved(facet, **{member: member for member in members})


def _by_rest(facet: str, **routes: str) -> list[ApiChange]:
    return [
        ApiChange(f"host.{facet}.{old}", f'host.rest("{verb}", "/api/v1{path}")')
        for old, (verb, _, path) in ((old, route.partition(" ")) for old, route in routes.items())
    ]


def _renamed(module: str, **names: str) -> list[ApiChange]:
    path = f"strongroom.plugin_api.{module}"
    return [ApiChange(f"{path}.{old}", f"{path}.{new}") for old, new in names.items()]


_SCHEMAS: Final = "from strongroom.plugin_api.schemas"
_FILE: Final = "/tenants/{tenantId}/files/{fileId}"
_GROUP: Final = "/tenants/{tenantId}/groups/{groupId}"

MEMBERS: Final = (
    *_kept("secrets", "seal", "unseal", "keyed_hash", "hash_password", "verify_password"),
    *_moved("limits", limit_rate="check_rate"),
    *_kept("limits", "count_attempt", "forgive_attempt", "client_network", "require_captcha"),
    *_moved("logins", login_options="options", spend_state="consume_state"),
    *_kept("logins", "log_in", "bind", "unbind", "issue_state"),
    *_moved(
        "browser",
        browser_session="session",
        require_browser_session="require_session",
        finish_browser_login="finish_login",
        refuse_browser_login="refuse_login",
        finish_browser_connection="finish_connection",
    ),
    *_kept("browser", "login_path", "step_up_path"),
    *_moved("pages", page="render"),
    *_kept("pages", "login_links", "menu_items", "has_route", "forms"),
    *_moved("lists", list_page="page"),
    *_kept("lists", "collection"),
    *_kept("users", "administers"),
    ApiChange("host.login_method", "host.extension(CLASS)"),
    ApiChange("host.second_factor", "host.extension(CLASS)"),
    ApiChange("host.content_scanner", "host.extension(CLASS)"),
    ApiChange("host.user_id", "host.caller.user_id, where host.caller is not None"),
    ApiChange("host.key_id", "host.caller.key_id, where host.caller is not None"),
    ApiChange("host.plugin", "the name as a text"),
    ApiChange("host.static_path", '{{ static("NAME") }} in a template'),
    ApiChange("host.files.rename", "host.files.move(..., name=...)"),
    *_by_rest(
        "files",
        trashed="GET /tenants/{tenantId}/trash",
        restore="POST /tenants/{tenantId}/trash/{fileId}/restore",
        versions=f"GET {_FILE}/versions",
        grants=f"GET {_FILE}/owners",
        share=f"POST {_FILE}/owners",
        open_version=f"GET {_FILE}/versions/{{number}}/download",
        restore_version=f"POST {_FILE}/versions/{{number}}/restore",
        rewriting=f"PUT {_FILE}/content",
        unshare=f"DELETE {_FILE}/owners/{{ownerId}}",
        group_grants=f"GET {_FILE}/group-grants",
        share_with_group=f"POST {_FILE}/group-grants",
        unshare_with_group=f"DELETE {_FILE}/group-grants/{{groupId}}",
    ),
    *_by_rest(
        "tenants",
        create="POST /tenants",
        update="PATCH /tenants/{tenantId}",
        delete="DELETE /tenants/{tenantId}",
        group=f"GET {_GROUP}",
        create_group="POST /tenants/{tenantId}/groups",
        rename_group=f"PATCH {_GROUP}",
        delete_group=f"DELETE {_GROUP}",
        group_members=f"GET {_GROUP}/members",
    ),
    *_by_rest(
        "users",
        set_contact="PUT /users/{userId}/contacts/{kind}",
        remove_contact="DELETE /users/{userId}/contacts/{kind}",
        metadata="GET /users/{userId}/metadata",
        change_metadata="PATCH /users/{userId}/metadata",
        server_metadata="GET /users/{userId}/server-metadata",
        change_server_metadata="PATCH /users/{userId}/server-metadata",
    ),
    ApiChange("host.leases.holders", "values of the plugin in host.values"),
    ApiChange("host.browser.choose_language", "the switch of languages of strongroom/page.html"),
)
"""Members of the host, by their former names."""

LENT: Final = (
    ApiChange(
        "host.blueprint",
        "Blueprint(...) of strongroom.plugin_api.web as a variable of the module; its views are "
        "functions of the module and call current_host() of strongroom.plugin_api.request",
    ),
    ApiChange("host.tokens_schema", f"{_SCHEMAS} import IssuedTokensSchema"),
    ApiChange("host.credentials_schema", f"{_SCHEMAS} import BoundCredentialSchema"),
    ApiChange("host.credential_schema", f"{_SCHEMAS} import BoundCredentialSchema"),
    ApiChange("host.done_schema", f"{_SCHEMAS} import DoneSchema"),
    ApiChange("host.paging_query", f"{_SCHEMAS} import PagingQuery"),
    ApiChange("host.timestamp_field", f"{_SCHEMAS} import Timestamp"),
    ApiChange("host.collection_schema", f"{_SCHEMAS} import collection_schema"),
    ApiChange("host.login_errors", "HostErrors.LOG_IN of strongroom.plugin_api.web, in a list"),
    ApiChange("host.bind_errors", "HostErrors.BIND of strongroom.plugin_api.web, in a list"),
    ApiChange("host.unbind_errors", "HostErrors.UNBIND of strongroom.plugin_api.web, in a list"),
    ApiChange("host.state_errors", "HostErrors.STATES of strongroom.plugin_api.web, in a list"),
)
"""What plugins now import instead of getting it from the host."""

IMPORTS: Final = (
    ApiChange("strongroom.plugin_api.answers", "strongroom.plugin_api.http_timeouts"),
    ApiChange("strongroom.plugin_api.web.Server", "strongroom.plugin_api.host.HostAPI"),
    ApiChange("strongroom.plugin_api.web.HostAPI", "strongroom.plugin_api.host.HostAPI"),
    *_renamed("factors", kind_of="factor_kind", member_of="member_name"),
    *_renamed("file_pages", icon_of="get_icon"),
)
"""Modules and names that a plugin imports."""

ERROR_CODES: Final = (ApiChange("error.key-not-admitted", "error.key-not-accepted"),)
"""Codes of errors, which plugins compare with ``error.code``."""

_SERVER: Final = ApiChange("register_blueprints(server)", "register_blueprints(host)")
_HANDLE: Final = ApiChange(
    "PasswordlessFactor.handle_of(answer)", "PasswordlessFactor.get_handle(answer)"
)
_CODE: Final = ApiChange("Proofs.spend_code(...)", "Proofs.consume_code(...)")
_CSRF_VALUE: Final = ApiChange("host.browser.require_csrf(value)", "host.browser.require_csrf()")
_KEYWORDS: Final[Mapping[tuple[str, str | None], ApiChange]] = {
    ("operation", "admits"): ApiChange(
        "operation(..., admits=...)", "operation(..., authenticators=...)"
    ),
    ("authenticate", "admits"): ApiChange(
        "host.authenticate(..., admits=...)", "host.authenticate(..., authenticators=...)"
    ),
    ("require_browser_session", "admits_impersonation"): ApiChange(
        "host.require_browser_session(admits_impersonation=...)",
        "host.browser.require_session(accepts_impersonation=...)",
    ),
    ("acquire", "holder"): ApiChange("host.leases.acquire(..., holder=...)", "host.leases.acquire(...)"),
}
"""Keyword arguments, by the names of the method and the argument."""

ARGUMENTS: Final = (_SERVER, _HANDLE, _CODE, _CSRF_VALUE, *_KEYWORDS.values())
"""Hooks and methods, and their arguments."""

_HOST: Final = re.compile(r"(?:.*[._])?host(?:\(\))?")
_TYPES: Final = ("HostAPI", "Server")


def find_changes(source: str) -> Iterator[tuple[int, ApiChange]]:
    """Yield each use of the former API in a module, with its line, in the order of lines.

    An object counts as the host by its name, such as ``host``, ``self._host`` and ``current_host()``, by
    its annotation, or if such an argument is assigned to an attribute.

    Raises:
        SyntaxError: the source is no Python.
    """
    tree = ast.parse(source)
    names = _host_names(tree)
    members = {change.old: change for change in (*MEMBERS, *LENT)}
    imported, modules = {change.old: change for change in IMPORTS}, _module_names(tree)
    codes = {change.old: change for change in ERROR_CODES}
    changes: set[tuple[int, ApiChange]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (member := _member(node, names)) in members:
            changes.add((node.lineno, members[member]))
        elif isinstance(node, ast.Attribute) and (name := _imported(node, modules)) in imported:
            changes.add((node.lineno, imported[name]))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in codes:
            changes.add((node.lineno, codes[node.value]))
        elif isinstance(node, ast.FunctionDef | ast.Call | ast.ImportFrom | ast.Import):
            changes |= {(node.lineno, change) for change in _find_changes(node)}
    yield from sorted(changes, key=lambda item: (item[0], item[1].old))


def _member(node: ast.Attribute, names: set[str]) -> str:
    """Return a member of the host as ``host.seal`` or ``host.files.trashed``; empty for another one."""
    if _is_host(node.value, names):
        return f"host.{node.attr}"
    facet = node.value
    if isinstance(facet, ast.Attribute) and _is_host(facet.value, names):
        return f"host.{facet.attr}.{node.attr}"
    return ""


def _is_host(owner: ast.expr, names: set[str]) -> bool:
    text = ast.unparse(owner)
    return text in names or _HOST.fullmatch(text) is not None


def _host_names(tree: ast.Module) -> set[str]:
    """Return the arguments and attributes that are the host, such as ``api`` and ``self._api``."""
    nodes = [*ast.walk(tree)]
    arguments = (node for node in nodes if isinstance(node, ast.arg))
    names = {item.arg for item in arguments if item.arg == "server" or _is_host_type(item.annotation)}
    annotated = (node for node in nodes if isinstance(node, ast.AnnAssign))
    fields = {f"self.{ast.unparse(item.target)}" for item in annotated if _is_host_type(item.annotation)}
    assigned = (node for node in nodes if isinstance(node, ast.Assign) and _is_host(node.value, names))
    return names | fields | {ast.unparse(target) for item in assigned for target in item.targets}


def _module_names(tree: ast.Module) -> dict[str, str]:
    """Return the modules by the names that the source has for them, such as ``web``."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {item.asname or item.name: f"{node.module}.{item.name}" for item in node.names}
        elif isinstance(node, ast.Import):
            names |= {item.asname: item.name for item in node.names if item.asname}
    return names


def _imported(node: ast.Attribute, modules: Mapping[str, str]) -> str:
    """Return an attribute of a module by its full name."""
    owner = ast.unparse(node.value)
    return f"{modules.get(owner, owner)}.{node.attr}"


def _is_host_type(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation).strip("'\"").endswith(_TYPES)


def _find_changes(node: ast.FunctionDef | ast.Call | ast.ImportFrom | ast.Import) -> Iterator[ApiChange]:
    match node:
        case ast.FunctionDef(name="register_blueprints"):
            yield from [_SERVER] * any(item.arg == "server" for item in node.args.args)
        case ast.FunctionDef(name="handle_of"):
            yield _HANDLE
        case ast.Call(func=ast.Attribute(attr="spend_code")):
            yield _CODE
        case ast.Call(func=ast.Attribute(attr="require_csrf")):
            yield from [_CSRF_VALUE] * bool(node.args)
        case ast.Call(func=ast.Attribute(attr=method)):
            yield from (
                _KEYWORDS[method, item.arg] for item in node.keywords if (method, item.arg) in _KEYWORDS
            )
        case ast.ImportFrom():
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (item for item in IMPORTS if item.old in (node.module, *named))
        case ast.Import():
            yield from (item for item in IMPORTS if item.old in [alias.name for alias in node.names])
