"""Generates the page about the changes of the plugin API, for authors of plugins."""

from collections.abc import Iterator
from typing import Final

from generator.prose import cell
from strongroom.foundation.plugins.api_changes import (
    ARGUMENTS,
    ERROR_CODES,
    IMPORTS,
    LENT,
    MEMBERS,
    ApiChange,
)

INTRODUCTION: Final = """\
# From plugin API 1.2 to 2.0

A server with plugin API 2.0 refuses a plugin for 1.x before anything starts. `strongroom plugins check
NAME` reads its source and prints a line for each use of what changed, with the file, the line and what
to write instead:

<!-- not run: an example of the output -->
```
acme/plugin.py:31: host.seal is now host.secrets.seal
```

1. Run the check, and change each line that it names.
2. Set `API_VERSION = "2.0"`.
3. Run the check again, which now runs the contract tests, too.

The check knows the host by its name, such as `host`, `self._host` and `current_host()`, or by an
annotation with `HostAPI`. It does not find a member behind another name.
"""

ROUTES: Final = """
## Routes

Views are functions of a module, and a `Blueprint` is a variable of it. They get their host, and objects
that the plugin keeps for it, when they are called:

<!-- not run: the tutorial of routes has a complete plugin -->
```python
from strongroom.plugin_api.request import current_host
from strongroom.plugin_api.web import Access, Blueprint

routes = Blueprint("clock", description="The time.")


@routes.operation("GET", "/api/v1/clock", access=Access.PUBLIC, returns=ClockSchema)
def get_time() -> dict[str, int]:
    return {"now": current_host().clock.now()}
```

The hook `register_blueprints` returns `[routes]`. [The tutorial of routes](../tutorials/routes.md) has
the rest.

## New hooks

`register_tenant_erasers` and `register_file_erasers` remove rows of the plugin with the tenants and
files that they are about, and `register_prune_steps` removes expired rows.
[Hooks](../reference/hooks.md) describes them.
"""


def api_changes_page() -> Iterator[str]:
    """Yield the pieces of the page."""
    yield INTRODUCTION
    yield from _table("Members of the host", MEMBERS)
    yield from _table("Classes that the host has lent", LENT)
    yield from _table("Methods and arguments", ARGUMENTS)
    yield from _table("Imports", IMPORTS)
    yield from _table("Codes of errors", ERROR_CODES)
    yield ROUTES


def _table(title: str, changes: tuple[ApiChange, ...]) -> Iterator[str]:
    yield f"\n## {title}\n\n| 1.2 | 2.0 |\n|---|---|\n"
    for change in changes:
        yield f"| `{change.old}` | {cell(_code(change.new))} |\n"


def _code(text: str) -> str:
    is_prose = " of " in text or " as " in text or " where " in text or " in a " in text
    return text if is_prose else f"`{text}`"
