"""Generates the page of error codes."""

from collections.abc import Iterator

from generator.kinds import shipped
from generator.prose import required
from strongroom.foundation.errors import StrongroomError, catalogue
from strongroom.plugin_api.web import ErrorKind

ERRORS = """\
# Errors

Every error response has this body. The code is stable; the message is for developers and may change:

```json
{"error": {"code": "error.not-found", "message": "The resource does not exist.",
           "details": [{"field": "name", "code": "required", "message": "..."}], "requestId": "..."}}
```

`details` lists the invalid fields and is empty if there are none. `requestId` equals the response header
`X-Request-Id` and identifies the request in the server's log.

| status | code | message |
|---|---|---|
"""

PLUGIN_ERRORS = """
## The plugin `{plugin}`

| status | code | message |
|---|---|---|
"""


def errors_page() -> Iterator[str]:
    """Yield the pieces of the page of error codes: the core's first, then those of the plugins."""
    yield ERRORS
    for error in catalogue():
        yield error_row(error)
    for plugin, errors in _plugin_errors().items():
        yield PLUGIN_ERRORS.format(plugin=plugin)
        yield from map(error_row, errors)


def error_row(error: ErrorKind | type[StrongroomError]) -> str:
    """Return the row of an error."""
    message = required(error.message, f"the error {error.code}")
    return f"| {error.status} | `{error.code}` | {message} |\n"


def _plugin_errors() -> dict[str, list[ErrorKind]]:
    found: dict[str, list[ErrorKind]] = {}
    for plugin, error in shipped().call("register_errors"):
        found.setdefault(plugin.name, []).append(error)
    return found
