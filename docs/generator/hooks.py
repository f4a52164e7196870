"""The page of hooks, and of what they return."""

import inspect
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from generator.kinds import KINDS
from generator.prose import prose
from strongroom import hookspecs
from strongroom.plugin_api import API_VERSION
from strongroom.plugin_api.web import Server

HOOKS = f"""\
# Hooks

A plugin is a module named by an entry point in the group `strongroom.plugins`. It states
`API_VERSION = "{API_VERSION}"` and implements some of these functions, each marked with
`strongroom.plugin_api.hookimpl`. `strongroom plugins new` writes a whole one;
[the tutorials](../tutorials/index.md) tell how to go on from there.
"""


def hooks_page() -> Iterator[str]:
    """Yield the pieces of the page of hooks, and of what they return."""
    yield HOOKS
    for name, hook in vars(hookspecs).items():
        if name.startswith("register_"):
            yield f"\n## `{name}`\n\n{prose(hook)}\n"
    for kind in KINDS:
        yield f"\n## class `{kind.__name__}`\n\n`{kind.__module__}`. {prose(kind)}\n\n"
        yield from _methods(kind)
    yield f"\n## class `{Server.__name__}`\n\n`{Server.__module__}`. {prose(Server)}\n\n"
    yield from _lent(Server)


def _methods(kind: type[Any]) -> Iterator[str]:
    for name, member in vars(kind).items():
        if isinstance(member, FunctionType) and not name.startswith("_"):
            needed = "required" if name in kind.__abstractmethods__ else "optional"
            parameters = ", ".join([*inspect.signature(member).parameters][1:])
            summary = " ".join(prose(member).partition("\n\n")[0].split())
            yield f"- `{name}({parameters})`, {needed}: {summary}\n"


def _lent(kind: type[Any]) -> Iterator[str]:
    """Yield what a plugin is lent: it calls all of it, and implements none."""
    for name, member in vars(kind).items():
        if isinstance(member, FunctionType) and not name.startswith("_"):
            parameters = ", ".join([*inspect.signature(member).parameters][1:])
            summary = " ".join(prose(member).partition("\n\n")[0].split())
            yield f"- `{name}({parameters})`: {summary}\n"
