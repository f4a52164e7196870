"""Generates the page of routes that need a recent proof of the second factor."""

import re
from collections.abc import Iterator
from itertools import groupby

from strongroom.accounts.reauthentication import FRESH_LOGIN
from strongroom.http.sensitive import SENSITIVE

STEP_UP = """\
# Step-up

A user with a second factor must have proven it within the last {minutes} minutes to use these
routes. Otherwise the response is 401 `error.step-up-required`, with `acr_values` and `max_age` in
`WWW-Authenticate` ([RFC 9470](https://www.rfc-editor.org/rfc/rfc9470)). [The client asks for the
factor](../guides/second-factors.md#step-up), and repeats the request with the new access token.

`DELETE /api/v1/tenants/{{tenantId}}/files/{{fileId}}` needs it with `permanently=true` only.

Some of them need a proof of users without a second factor, too; the OpenAPI document states which.

| method | path | changes |
|---|---|---|
"""


def step_up_page() -> Iterator[str]:
    """Yield the pieces of the page of sensitive routes, by what they change."""
    yield STEP_UP.format(minutes=FRESH_LOGIN // 60_000)
    for changed, rows in groupby(SENSITIVE.items(), key=lambda row: row[1]):
        for (method, path), _ in rows:
            yield f"| `{method}` | `{_documented(path)}` | {changed} |\n"


def _documented(path: str) -> str:
    """Return a path with its parameters as in the OpenAPI document."""
    return re.sub(r"<(\w+)>", lambda found: "{" + _camel_case(found[1]) + "}", path)


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
