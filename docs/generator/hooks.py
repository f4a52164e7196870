"""Generates the page of hooks, with links to the classes that they register."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from generator.kinds import KINDS
from generator.plugin_api import api_modules, described, link, public_names
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
            if links := [*_returned(hook)]:
                yield f"\nReturns: {', '.join(links)}.\n"
    yield "\n## Classes of extensions\n\n| class | |\n|---|---|\n"
    kinds: tuple[type[Any], ...] = (*KINDS, HostAPI)
    for kind in kinds:
        yield f"| {link(kind, 'plugin-api/')} | {_summary(kind)} |\n"
    yield "\n## Errors that plugins raise or catch\n\n| class | |\n|---|---|\n"
    for kind in _exceptions():
        yield f"| {link(kind, 'plugin-api/')} | {_summary(kind)} |\n"
    yield OPTIONS
    yield RESULTS


def _summary(kind: type[Any]) -> str:
    return cell(code((inspect.getdoc(kind) or "").partition("\n\n")[0]))


def _returned(hook: Callable[..., Any]) -> Iterator[str]:
    """Yield links to the classes and types of the plugin API in what a hook returns."""
    (function,) = ast.parse(inspect.getsource(hook)).body
    returns = function.returns if isinstance(function, ast.FunctionDef) else None
    names = set(re.findall(r"\w+", ast.unparse(returns))) if returns else set()
    for module in api_modules():
        page = module.__name__.rpartition(".")[2]
        for name in sorted(names & set(public_names(module))):
            item = getattr(module, name)
            is_class = isinstance(item, type)
            yield link(item, "plugin-api/") if is_class else f"[`{name}`](plugin-api/{page}.md)"


def _exceptions() -> Iterator[type[Any]]:
    """Yield the exceptions of the plugin API."""
    for module in api_modules():
        for name in public_names(module):
            item = getattr(module, name)
            if isinstance(item, type) and issubclass(item, Exception):
                yield item
