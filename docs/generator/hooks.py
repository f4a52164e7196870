"""Generates the page of hooks, with links to the classes that they register."""

import inspect
from collections.abc import Iterator
from typing import Any, Final

from generator.kinds import KINDS
from generator.plugin_api import described, link
from generator.prose import cell, code
from strongroom.foundation.config.schema import OPTION_TYPES
from strongroom.foundation.plugins import hookspecs
from strongroom.plugin_api import API_VERSION
from strongroom.plugin_api.host import HostAPI

HOOKS: Final = f"""\
# Hooks

A plugin is a module named by an entry point in the group `strongroom.plugins`. It declares
`API_VERSION = "{API_VERSION}"` and implements some of these functions, each decorated with
`strongroom.plugin_api.hookimpl`. `strongroom plugins new` writes a complete plugin, and
[the tutorials](../tutorials/index.md) continue from there. [Plugin API](plugin-api/index.md) has every
class that a plugin implements, calls, receives, returns or raises.
"""

OPTIONS: Final = f"""
## Options

`register_options` and `options_type` name a frozen dataclass whose fields are made by `option()`. A
field has one of these types: {OPTION_TYPES}. `host.options` has the type that the hook returned.
"""

RESULTS: Final = """
## What the host returns

`host.options` is what `register_options` has declared. `log_in`, `bind` and `unbind` of `host.logins`
return what a view returns: a value for `IssuedTokensSchema`, `BoundCredentialSchema` or `DoneSchema`,
with status and headers. `host.pages.render` and `host.error_response` return a Flask response. All
others are classes of [the plugin API](plugin-api/index.md).
"""


def hooks_page() -> Iterator[str]:
    """Yield the pieces of the page of hooks."""
    yield HOOKS
    for name, hook in vars(hookspecs).items():
        if hasattr(hook, "strongroom_spec"):
            parameters = ", ".join(inspect.signature(hook).parameters)
            text = described(inspect.getdoc(hook) or "", name)
            yield f"\n## `{name}`\n\n```python\n{name}({parameters})\n```\n\n{text}"
    yield "\n## Classes of extensions\n\n| class | |\n|---|---|\n"
    kinds: tuple[type[Any], ...] = (*KINDS, HostAPI)
    for kind in kinds:
        summary = cell(code((inspect.getdoc(kind) or "").partition("\n\n")[0]))
        yield f"| {link(kind, 'plugin-api/')} | {summary} |\n"
    yield OPTIONS
    yield RESULTS
