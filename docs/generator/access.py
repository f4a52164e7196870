"""Generates the page of operations: what each requires of its caller, and the routes that have it."""

import re
from collections.abc import Iterator
from typing import Final

from flask import Flask

from strongroom.assembly.features import core_blueprints
from strongroom.assembly.operations import TABLES
from strongroom.content.nodes.operations import NodeRule
from strongroom.foundation.operations import OperationRule, collect_rows
from strongroom.web.http.routing import Operation

_PARAMETER: Final = re.compile("<([a-z_]+)>")

ACCESS = """\
# Access

What each operation requires of its caller. The server reads the same tables: for a route, for a call by
a plugin and for an item of a batch.

- **permission**: what the caller needs on the file or folder that the operation names, by a grant to the
  user or to a group, or as an administrator of the tenant ([permissions](../guides/permissions.md)). For
  uploads and new folders it is the folder; every member may create at the top level. Without a
  permission, a rule of the operation's own applies, such as a role in the tenant.
- **scope**: what an [access key](../guides/access-keys.md) needs. `files:share` includes `files:write`,
  which includes `files:read`. Without a scope, access keys are refused.
- **step-up**: the effect for which a recent second factor is needed ([step-up](step-up.md)).

The routes of plugins state their scopes in the OpenAPI document, as `x-access-key-scope`.
"""


def access_page() -> Iterator[str]:
    """Yield the pieces of the page: each table with its rows."""
    yield ACCESS
    routes = _routes()
    for table in TABLES:
        rows = collect_rows([table])
        has_permission = any(isinstance(row, NodeRule) for row in rows)
        yield f"\n## {_title(table.__doc__ or '')}\n\n"
        titles = ["operation", *(["permission"] if has_permission else []), "scope", "step-up", "routes"]
        yield f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}\n"
        for row in rows:
            cells = _cells(row, has_permission=has_permission)
            yield f"| {' | '.join([*cells, '<br>'.join(routes[row])])} |\n"


def _cells(row: OperationRule, *, has_permission: bool) -> list[str]:
    permission = f"`{row.permission.name.lower()}`" if isinstance(row, NodeRule) else ""
    scope = f"`{row.scope}`" if row.scope else ""
    return [row.name, *([permission] if has_permission else []), scope, row.sensitive or ""]


def _title(docstring: str) -> str:
    """Return the title of a table: what its operations are on, from the first line of its docstring."""
    _, _, subject = docstring.partition(" on ")
    for end in (":", ",", ".\n", "."):
        subject = subject.partition(end)[0]
    return subject.removeprefix("the ").capitalize()


def _routes() -> dict[OperationRule, list[str]]:
    """Return the routes of each row, with the requests for which it holds, if not for all."""
    routes: dict[OperationRule, list[str]] = {row: [] for row in collect_rows(TABLES)}
    for path, method, view in sorted(_operations(), key=lambda route: route[:2]):
        if view.rule in routes:
            routes[view.rule].append(f"`{method} {path}`")
            for row, condition in view.also.items():
                routes[row].append(f"`{method} {path}` if {condition}")
    return routes


def _operations() -> Iterator[tuple[str, str, Operation]]:
    """Yield the path, the method and the operation of each route of the core."""
    app = Flask("access", static_folder=None)
    for blueprint in core_blueprints():
        app.register_blueprint(blueprint.flask_blueprint())
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        if isinstance(view, Operation):
            for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
                yield _PARAMETER.sub(_camel_case, rule.rule), method, view


def _camel_case(parameter: re.Match[str]) -> str:
    first, *others = parameter[1].split("_")
    return f"{{{first}{''.join(word.capitalize() for word in others)}}}"
