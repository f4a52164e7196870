"""Generates the page of routes that need a recent proof of the second factor."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from strongroom.accounts.reauthentication import FRESH_LOGIN
from strongroom.app import BLUEPRINTS
from strongroom.http.openapi import Description
from strongroom.http.routing import SENSITIVE_KEY
from strongroom.plugin_api.authentication import Sensitive
from strongroom.version import __version__

STEP_UP = """\
# Step-up

A user with a second factor must have proven it within the last {minutes} minutes to use these
routes. Otherwise the response is 401 `error.step-up-required`, with `acr_values` and `max_age` in
`WWW-Authenticate` ([RFC 9470](https://www.rfc-editor.org/rfc/rfc9470)). [The client requests the
factor](../guides/second-factors.md#step-up), and repeats the request with the new access token.

The OpenAPI document marks them by `{key}`, those of plugins included, such as the bindings of WeChat.
`DELETE /api/v1/tenants/{{tenantId}}/files/{{fileId}}` needs it with `permanently=true` only.

Some of them need a proof of users without a second factor, too; the OpenAPI document states which.

| method | path | changes |
|---|---|---|
"""


def step_up_page() -> Iterator[str]:
    """Yield the pieces of the page of sensitive routes, by what they change."""
    yield STEP_UP.format(minutes=FRESH_LOGIN // 60_000, key=SENSITIVE_KEY)
    order = {str(kind): number for number, kind in enumerate(Sensitive)}
    rows = sorted(_sensitive_operations(), key=lambda row: order[row[0]])
    for changed, group in groupby(rows, key=lambda row: row[0]):
        for _, method, path in group:
            yield f"| `{method}` | `{path}` | {changed} |\n"


def _sensitive_operations() -> Iterator[tuple[str, str, str]]:
    """Yield what each sensitive operation of the core changes, its method and its path."""
    description = Description(BLUEPRINTS, version=__version__, server_url="", base_path="")
    paths: dict[str, dict[str, Any]] = description.document["paths"]
    for path, item in paths.items():
        for method, operation in item.items():
            if SENSITIVE_KEY in operation:
                yield operation[SENSITIVE_KEY], method.upper(), path
