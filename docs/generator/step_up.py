"""Generates the page of routes that need a recent proof of the second factor."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from strongroom.assembly.features import core_blueprints
from strongroom.identity.accounts.reauthentication import FRESH_LOGIN
from strongroom.plugin_api.authentication import Sensitive
from strongroom.version import __version__
from strongroom.web.http.openapi import Description
from strongroom.web.http.route_descriptions import SENSITIVE_IF_KEY, SENSITIVE_KEY

STEP_UP = """\
# Step-up

A user with a second factor must have proven it within the last {minutes} minutes to use these
routes. Otherwise the response is 401 `error.step-up-required`, with `acr_values` and `max_age` in
`WWW-Authenticate` ([RFC 9470](https://www.rfc-editor.org/rfc/rfc9470)). [The client requests the
factor](../guides/second-factors.md#step-up), and repeats the request with the new access token.

The proof belongs to an effect: each route that has the effect needs it, and so do the calls of the
host by plugins. The OpenAPI document marks these routes by `{key}`; `{condition}` names the requests
that need the proof, if not all do. Some of them need a proof of users without a second factor, too;
the OpenAPI document states which.

Routes that only end a right, such as revoking a key or a login, need no proof, because they must be
quick. Grants on files, members of groups, share links and webhooks need none either: they give what
users and administrators give every day, and can be taken back.
"""


def step_up_page() -> Iterator[str]:
    """Yield the pieces of the page: each effect with the routes that have it."""
    yield STEP_UP.format(minutes=FRESH_LOGIN // 60_000, key=SENSITIVE_KEY, condition=SENSITIVE_IF_KEY)
    order = {str(kind): number for number, kind in enumerate(Sensitive)}
    rows = sorted(_sensitive_operations(), key=lambda row: order[row[0]])
    for changed, group in groupby(rows, key=lambda row: row[0]):
        kind = Sensitive(changed)
        yield f"\n## {str(kind).capitalize()}\n\nA route that {kind.effect}.\n\n"
        yield "| method | path | if |\n|---|---|---|\n"
        for _, method, path, condition in group:
            yield f"| `{method}` | `{path}` | {condition} |\n"


def _sensitive_operations() -> Iterator[tuple[str, str, str, str]]:
    """Yield the kind of each sensitive operation of the core, its method, path and condition."""
    description = Description(core_blueprints(), version=__version__, server_url="", base_path="")
    paths: dict[str, dict[str, Any]] = description.document["paths"]
    for path, item in paths.items():
        for method, operation in item.items():
            if SENSITIVE_KEY in operation:
                condition = operation.get(SENSITIVE_IF_KEY, "")
                yield operation[SENSITIVE_KEY], method.upper(), path, condition
